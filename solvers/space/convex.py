# SPDX-License-Identifier: GPL-3.0-or-later
"""The least signed distance of segments from convex polyhedra.

Inside, the signed distance of a point is its height over the nearest face's plane, the largest of all its (negative)
heights. Along a segment this largest height is convex and in pieces linear; its least is where two pieces meet, or at
an end. A segment that stays outside comes nearest with an end to a face, or with any of its points to an edge.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..model.convex import Convex

NOTHING = 1e-30  # in place of a length of 0 in divisions
EXACT = 1e-13  # of the heights: less gain counts as none
MOST_CUTS = 64
AT_ONCE = 64  # segments that are compared with all edges: a bound of the memory

Closest = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Nearest(NamedTuple):
    """Where segments (...) come nearest to a body, or are deepest in it."""

    distance: np.ndarray  # (...,) below 0 inside
    normals: np.ndarray  # (..., 3) gradient of the distance to moves of the point
    share: np.ndarray  # (...,) of the segment, of that point


def placed(convex: Convex, places: np.ndarray) -> np.ndarray:
    """The corners (F, V, 3) of a body that points (F, 4, 3) place."""
    corners = places[:, None, 0].copy()
    for axis in range(3):
        corners = corners + convex.corners[:, axis, None] * (places[:, axis + 1] - places[:, 0])[:, None]
    return corners


def nearest(convex: Convex, corners: np.ndarray, start: np.ndarray, end: np.ndarray, closest: Closest) -> Nearest:
    """Segments (F, C, 3) and a body with its corners (F, V, 3). closest : of two segments each; see `contacts`."""
    a, b, c = (corners[:, convex.triangles[:, k]] for k in range(3))
    raw = _unit(np.cross(b - a, c - a))
    middle = corners.mean(1)[:, None]
    normals = raw * np.where((raw * (a - middle)).sum(-1) < 0.0, -1.0, 1.0)[..., None]  # a mirror turns windings round
    heights = [(normals[:, None] * (part[:, :, None] - a[:, None])).sum(-1) for part in (start, end)]
    found = _deepest(heights[0], heights[1], normals)
    outside = found.distance > 0.0
    frame, segment = np.nonzero(outside)
    sides = np.stack([np.cross(raw, q - p) for p, q in ((a, b), (b, c), (c, a))])
    for begin in range(0, len(frame), AT_ONCE):
        f, s = frame[begin : begin + AT_ONCE], segment[begin : begin + AT_ONCE]
        p, q = start[f, s], end[f, s]
        one, other = (corners[f[:, None], convex.edges[:, k]] for k in range(2))
        whole = np.zeros_like(one)
        on, foot = closest(whole + p[:, None], whole + q[:, None], one, other)
        away = on - foot
        far = np.sqrt((away * away).sum(-1))
        best = _at(far, np.argmin(far, -1)), _at(away, np.argmin(far, -1)), _at(on, np.argmin(far, -1))
        least, along = best[0], best[1] / np.maximum(best[0], NOTHING)[:, None]
        square = np.maximum(((q - p) ** 2).sum(-1), NOTHING)
        share = np.clip(((best[2] - p) * (q - p)).sum(-1) / square, 0.0, 1.0)
        for which, point in enumerate((p, q)):
            height = heights[which][f, s]
            over = height > 0.0
            for side, origin in zip(sides, (a, b, c), strict=True):
                over &= (side[f] * (point[:, None] - origin[f])).sum(-1) >= 0.0
            height = np.where(over, height, np.inf)
            face = np.argmin(height, -1)
            nearer = _at(height, face) < least
            least = np.where(nearer, _at(height, face), least)
            along = np.where(nearer[:, None], _at(normals[f], face), along)
            share = np.where(nearer, float(which), share)
        kept = least > NOTHING  # one that only touches keeps the plane's normal
        found.distance[f, s] = least
        found.normals[f, s] = np.where(kept[:, None], along, found.normals[f, s])
        found.share[f, s] = share
    return found


def _deepest(first: np.ndarray, last: np.ndarray, normals: np.ndarray) -> Nearest:
    """The least along segments of the largest height; first, last : heights (F, C, T) of their ends over planes."""
    slopes = last - first
    left, right = np.argmax(first, -1), np.argmax(last, -1)
    inner = (_at(slopes, left) < 0.0) & (_at(slopes, right) > 0.0)
    share = np.where(_at(slopes, left) >= 0.0, 0.0, 1.0)
    size = EXACT * np.maximum(np.abs(first), np.abs(last)).max(-1)
    going = inner
    for _ in range(MOST_CUTS):
        falls, rises = _at(slopes, left), _at(slopes, right)
        cut = (_at(first, right) - _at(first, left)) / np.where(inner, falls - rises, 1.0)
        share = np.where(inner, np.clip(cut, 0.0, 1.0), share)
        lines = first + share[..., None] * slopes
        top = np.argmax(lines, -1)
        going = going & (_at(lines, top) > np.maximum(_at(lines, left), _at(lines, right)) + size)
        if not going.any():
            break
        down = _at(slopes, top) < 0.0
        left, right = np.where(going & down, top, left), np.where(going & ~down, top, right)
    falls, rises = _at(slopes, left), _at(slopes, right)
    part = np.where(inner, rises / np.where(inner, rises - falls, 1.0), share == 0.0)[..., None]
    frame = np.arange(len(normals))[:, None]
    along = part * normals[frame, left] + (1.0 - part) * normals[frame, right]
    return Nearest((first + share[..., None] * slopes).max(-1), along, share)


def _at(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The entries of the last axis but those of vectors, one for each row: (..., T) or (..., T, 3)."""
    if values.ndim > index.ndim + 1:
        return np.take_along_axis(values, index[..., None, None], -2)[..., 0, :]
    return np.take_along_axis(values, index[..., None], -1)[..., 0]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1)), NOTHING)[..., None]
