# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that are turned about their heads until they are out of capsules, such as the limbs of a body."""

from typing import NamedTuple

import numpy as np

ALONG = np.array([1.0, 2.0, 3.0]) / 3.0  # the places of a bone that stay outside, as shares of its length
_NEAR = 1e-4  # of a bone's length: deeper than this counts as inside
_TRIES, _MOST = 12, 0.3  # turns, and the largest one of them
_LEAST, _HEAD_ON = 1e-12, 0.05  # lengths, and the sine between a bone and the way out below which a turn is cautious


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
    """The ways (..., C, 3) from the nearest places of segments (C, 2, 3) to points (..., 3)."""
    start, line = segments[:, 0], segments[:, 1] - segments[:, 0]
    way = points[..., None, :] - start
    share = (way * line).sum(-1) / np.maximum((line * line).sum(-1), _LEAST)
    return way - np.clip(share, 0.0, 1.0)[..., None] * line


def kept_out(heads: np.ndarray, ways: np.ndarray, segments: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Ways (B, 3) of bones from their heads, as long as `ways`, that are turned out of capsules as little as needed.

    Each bone is turned away from the capsule that it is deepest in, by the turn that would bring the place out on a
    straight way, until none is left: Newton's method on the distance, which is convex. A bone whose head is too deep
    inside stays. segments, room : as of `Bodies`, on one frame.
    """
    length = np.maximum(np.sqrt((ways * ways).sum(-1, keepdims=True)), _LEAST)
    rows = np.arange(len(ways))
    for _ in range(_TRIES):
        out = offsets(places(heads, ways), segments)
        distance = np.sqrt((out * out).sum(-1))
        deep = ((room - distance) / ALONG[:, None]).reshape(len(ways), -1)
        worst = deep.argmax(-1)
        depth = deep[rows, worst][:, None] / length
        if depth.max() <= _NEAR:
            break
        unit: np.ndarray = ways / length
        near = np.maximum(distance.reshape(len(ways), -1)[rows, worst], _LEAST)
        normal: np.ndarray = out.reshape(len(ways), -1, 3)[rows, worst] / near[:, None]
        normal = normal + _NEAR * np.cross(unit, np.eye(3)[np.abs(unit).argmin(-1)])  # head-on any side will do
        side = normal - (normal * unit).sum(-1, keepdims=True) * unit
        sine = np.maximum(np.sqrt((side * side).sum(-1, keepdims=True)), _LEAST)
        turn = np.clip(depth / np.maximum(sine, _HEAD_ON), 0.0, _MOST)
        ways = length * (np.cos(turn) * unit + np.sin(turn) * side / sine)
    return ways
