# SPDX-License-Identifier: GPL-3.0-or-later
"""The signed distance of segments from convex polyhedra.

Outside, a segment comes nearest with an end to a face, or with any of its points to an edge. Inside, the distance is
that of the shortest way out, below 0: the least move that parts the two is along the normal of a face or at right
angles to the segment and an edge (the separating axes of two convex bodies). Which way is the shortest also depends a
little on the segment above, so that a hand and its forearm leave on the same side.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..model.convex import Convex

NOTHING = 1e-30  # in place of a length of 0 in divisions
PARALLEL = 1e-12  # square of the sine below which an edge counts as parallel to a segment
ABOVE = 0.25  # share of how far the segment above has to go along the same way
AT_ONCE = 64  # segments that are compared with all edges: a bound of the memory

Segment = tuple[np.ndarray, np.ndarray]
"""The start and the end (3,) of a segment."""
Closest = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Nearest(NamedTuple):
    """Where segments (...) come nearest to a body, or how they leave it."""

    distance: np.ndarray  # (...,) below 0 inside
    normals: np.ndarray  # (..., 3) unit gradient of the distance to moves of the point
    share: np.ndarray  # (...,) of the segment, of that point


def placed(convex: Convex, places: np.ndarray) -> np.ndarray:
    """The corners (F, V, 3) of a body that points (F, 4, 3) place."""
    corners = places[:, None, 0].copy()
    for axis in range(3):
        corners = corners + convex.corners[:, axis, None] * (places[:, axis + 1] - places[:, 0])[:, None]
    return corners


def nearest(
    convex: Convex, corners: np.ndarray, start: np.ndarray, end: np.ndarray, closest: Closest,
    above: tuple[np.ndarray, np.ndarray] | None = None,
) -> Nearest:  # fmt: skip
    """Segments (F, C, 3) and a body with its corners (F, V, 3).

    closest : of two segments each; see `contacts`. above : starts and ends (F, C, 3) of the segments that these hang
        on.
    """
    above = (start, end) if above is None else above
    a, b, c = (corners[:, convex.triangles[:, k]] for k in range(3))
    raw = _unit(np.cross(b - a, c - a))
    middle = corners.mean(1)[:, None]
    normals = raw * np.where((raw * (a - middle)).sum(-1) < 0.0, -1.0, 1.0)[..., None]  # a mirror turns windings round
    heights = [(normals[:, None] * (part[:, :, None] - a[:, None])).sum(-1) for part in (start, end)]
    sunk = np.minimum(*heights)  # (F, C, T) of the lower end over each plane
    others = [(normals[:, None] * (part[:, :, None] - a[:, None])).sum(-1) for part in above]
    ways = sunk + ABOVE * np.minimum(np.minimum(*others), 0.0)
    parted = sunk.max(-1, keepdims=True) > 0.0
    face = np.argmax(np.where(parted, sunk, ways), -1)
    found = Nearest(_at(sunk, face), normals[np.arange(len(normals))[:, None], face],
                    np.where(_at(heights[0], face) <= _at(heights[1], face), 0.0, 1.0))  # fmt: skip
    for f, s in zip(*np.nonzero(found.distance <= 0.0), strict=True):
        segment, hung = (start[f, s], end[f, s]), (above[0][f, s], above[1][f, s])
        _leave_by_edges(found, (f, s), ways[f, s].max(), segment, hung, corners[f], convex.edges, closest)
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


def _leave_by_edges(
    found: Nearest, at: tuple[int, int], way: float, segment: Segment, above: Segment, corners: np.ndarray,
    edges: np.ndarray, closest: Closest,
) -> None:  # fmt: skip
    """Let a segment (3,), (3,) leave at right angles to an edge where that is shorter than along a face's normal.

    way : the best that leads along a face's normal, with the share of the segment `above`.
    """
    start, end = segment
    along, first = end - start, corners[edges[:, 0]]
    sides = corners[edges[:, 1]] - first
    across = np.cross(sides, along)
    square = (across * across).sum(-1)
    meets = np.flatnonzero(square > PARALLEL * (along @ along) * (sides * sides).sum(-1))
    if not meets.size:
        return
    axes = across[meets] / np.sqrt(square[meets])[:, None]
    axes = np.stack([axes, -axes])  # (2, E, 3)
    furthest = (axes @ corners.T).max(-1)
    parted = axes @ start - furthest
    ways = parted + ABOVE * np.minimum(np.minimum(*(axes @ end_above for end_above in above)) - furthest, 0.0)
    apart = parted > 0.0  # then it is outside, whatever the way
    side, number = np.unravel_index(np.argmax(np.where(apart.any(), parted, ways)), parted.shape)
    if not (apart.any() or ways[side, number] > way):
        return
    axis = axes[side, number]
    edge = edges[np.argmax((corners @ axis)[edges].sum(-1))]  # of parallel ones the one that it leaves last
    point, _ = closest(start, end, corners[edge[0]], corners[edge[1]])
    found.distance[at], found.normals[at] = parted[side, number], axis
    found.share[at] = np.clip((point - start) @ along / (along @ along), 0.0, 1.0)


def _at(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The entries of the last axis but those of vectors, one for each row: (..., T) or (..., T, 3)."""
    if values.ndim > index.ndim + 1:
        return np.take_along_axis(values, index[..., None, None], -2)[..., 0, :]
    return np.take_along_axis(values, index[..., None], -1)[..., 0]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1)), NOTHING)[..., None]
