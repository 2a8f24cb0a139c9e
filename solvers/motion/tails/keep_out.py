# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that are turned about their heads until they are out of capsules, such as the limbs of a body."""

from math import cos, inf, sin, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from .triples import LEAST, Triple, cross, dot, plus, scaled

ALONG = np.array([1.0, 2.0, 3.0]) / 3.0  # the places of a bone that stay outside, as shares of its length
_SHARES, _AXES = ALONG.tolist(), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NEAR = 1e-4  # of a bone's length: deeper than this counts as inside
_TRIES, _MOST = 12, 0.3  # turns, and the largest one of them
_BESIDE, _MARGIN = 0.25, 1.5  # of a bone's length, and of what moves in a frame: what is further away is not near
_ONES = np.ones(3)
_HEAD_ON = 0.05  # the sine between a bone and the way out below which a turn is cautious


class Bodies(NamedTuple):
    """C capsules over F frames, and how near to them the places `ALONG` B bones may come.

    segments : (F, C, 2, 3) their two ends. room : (B, K, C) the distance that each place keeps from each segment: the
    radius, or less where it is nearer than that at rest.
    """

    segments: np.ndarray
    room: np.ndarray


def places(heads: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """The places (..., B, K, 3) `ALONG` bones from `heads` along `ways` (..., B, 3)."""
    return heads[..., None, :] + ALONG[:, None] * ways[..., None, :]


def offsets(points: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """The ways (..., C, 3) from the nearest places of segments (..., C, 2, 3) to points (..., 3)."""
    start, line = segments[..., 0, :], segments[..., 1, :] - segments[..., 0, :]
    way = points[..., None, :] - start
    share = _dots(way, line) / np.maximum(_dots(line, line), LEAST)
    return way - np.minimum(np.maximum(share, 0.0), 1.0)[..., None] * line


Capsule: TypeAlias = tuple[Triple, Triple, float, list[float]]
"""The start of a segment, its way, the square of its length, and the distance that each place of a bone keeps."""


def kept_out(head: Triple, way: Triple, capsules: list[Capsule]) -> Triple:
    """The way of a bone from its head, as long as `way`, that is turned out of capsules as little as needed.

    It is turned away from the capsule that it is deepest in, by the turn that would bring the place out on a straight
    way, until none is left: Newton's method on the distance, which is convex. A bone whose head is too deep inside
    stays. Returns `way` itself if it is outside.
    """
    length = max(sqrt(dot(way, way)), LEAST)
    for _ in range(_TRIES):
        depth, out = _deepest(head, way, capsules)
        if depth <= _NEAR * length:
            break
        unit, normal = scaled(way, 1.0), scaled(out, 1.0)
        least = min(range(3), key=lambda axis: abs(unit[axis]))
        normal = plus(normal, cross(unit, _AXES[least]), _NEAR)  # head-on any side will do
        side = plus(normal, unit, -dot(normal, unit))
        turn = min(depth / length / max(sqrt(dot(side, side)), _HEAD_ON), _MOST)
        way = plus(scaled(side, length * sin(turn)), unit, length * cos(turn))
    return way


def _deepest(head: Triple, way: Triple, capsules: list[Capsule]) -> tuple[float, Triple]:
    """How far the tip of a bone has to move for the place of it that is deepest inside, and the way out from there."""
    most, out = -inf, (0.0, 0.0, 0.0)
    for start, line, square, rooms in capsules:
        begin = plus(head, start, -1.0)
        for along, room in zip(_SHARES, rooms, strict=True):
            place = plus(begin, way, along)
            share = min(max(dot(place, line) / square, 0.0), 1.0)
            place = plus(place, line, -share)
            depth = (room - sqrt(dot(place, place))) / along
            if depth > most:
                most, out = depth, place
    return most, out


class Reached:
    """The bodies that B bones can touch: of all, those in reach on a frame, and of these, those that are near."""

    def __init__(self, bodies: Bodies, roots: np.ndarray, reach: np.ndarray, length: np.ndarray, steps: int) -> None:
        """Of bones with `length` (B,), in chains that begin at `roots` (F, N, 3) and `reach` (N,) as far from there.

        steps : from each frame to the next, for `near`.
        """
        ends, room = bodies.segments, bodies.room
        following = np.minimum(np.arange(len(ends)) + 1, len(ends) - 1)
        moves = np.linalg.norm(ends[following] - ends, axis=-1).max(-1)[:, None]
        moves = moves + np.linalg.norm(roots[following] - roots, axis=-1)[..., None]
        away = np.linalg.norm(offsets(roots, ends[:, None]), axis=-1) - reach[:, None] - room.max((0, 1))
        self._steps, self._frames = steps, list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]()
        for frame, near in enumerate((away < _MARGIN * moves).any(1)):
            start, own = ends[frame, near], room[..., near]
            wide = own + _BESIDE * length[:, None, None]
            self._frames.append((start, ends[following[frame], near] - start, own, wide * wide))

    def near(self, step: int, heads: np.ndarray, ways: np.ndarray) -> dict[int, list[Capsule]]:
        """The capsules that bones (B, 3) are near to at a step, by the bones that are near to any."""
        frame, after = divmod(step, self._steps)
        start, way, room, squares = self._frames[frame]
        if not len(start):
            return {}
        segments = start + (after / self._steps) * way
        out = offsets(places(heads, ways), segments)
        touched = (_dots(out, out) < squares).any(1)
        found = dict[int, list[Capsule]]()
        for bone, body in np.argwhere(touched).tolist() if touched.any() else ():
            begin, end = map(tuple, segments[body].tolist())
            line = plus(end, begin, -1.0)
            capsule = begin, line, max(dot(line, line), LEAST), room[bone, :, body].tolist()
            found.setdefault(bone, []).append(capsule)
        return found


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a . b` (...) of (..., 3)."""
    return (a * b) @ _ONES
