# SPDX-License-Identifier: GPL-3.0-or-later
"""Knees that rest on the ground: where they are, and what that asks of the ankle, the hips and the leg's plane.

A thigh and a shin keep their lengths. So a knee that has its place holds the hip on a sphere around it, and the ankle
on another one; what is left open is the turn of the whole leg about the line from hip to ankle, which puts the knee
there.
"""

import numpy as np

from ..algebra import quaternion
from .contacts import lengths, runs

_NEAR = 0.1  # of a leg's length from its line: there a knee takes its place the less, the nearer it is
_LEAST = 1e-12


def resting(
    knee: np.ndarray, rests: np.ndarray, ankle: np.ndarray, heights: np.ndarray | None
) -> np.ndarray:  # fmt: skip
    """The places (G, 3) of a knee while it rests, NaN elsewhere: one for each run of `rests` (G,), the mean one.

    knee : (G, 3), where it is. ankle : (G, 3), by how much the ankle moves so that its foot stands; NaN where it does
    not. The knee goes along, so that the shin keeps its length. heights : (G,), how high a knee rests, if known.
    """
    found, carried = np.full(knee.shape, np.nan), knee + np.nan_to_num(ankle)
    for begin, end in runs(rests):
        found[begin:end] = carried[begin:end].mean(0)
        if heights is not None:
            found[begin:end, 2] = heights[begin:end].mean()
    return found


def below(knee: np.ndarray, ankle: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The places (G, 3) nearest to an ankle's that are a shin's length (G,) from a knee (G, 3)."""
    line = ankle - knee
    return knee + line * (lower / np.maximum(lengths(line), _LEAST))[:, None]


def between(
    knee: np.ndarray, lower: np.ndarray, pivot: np.ndarray, apart: np.ndarray, ankle: np.ndarray
) -> np.ndarray:  # fmt: skip
    """The places (G, 3) nearest to an ankle's that are so far from a knee (G, 3) and from the foot's pivot (G, 3).

    lower, apart : (G,), how far. If no place is, that on the line between them which is as far from the knee.
    """
    line = pivot - knee
    far = np.maximum(lengths(line), _LEAST)
    way = line / far[:, None]
    along = np.clip((far**2 + lower**2 - apart**2) / (2.0 * far), -lower, lower)
    aside = ankle - knee
    aside = aside - (aside * way).sum(-1, keepdims=True) * way
    radius = np.sqrt(lower**2 - along**2) / np.maximum(lengths(aside), _LEAST)
    return knee + along[:, None] * way + radius[:, None] * aside


def to_hip(knee: np.ndarray, hip: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much (G,) a hip is too near to a resting knee, and the unit ways (G, 3) from the knee to it."""
    line = hip - knee
    far = lengths(line)
    return upper - far, line / np.maximum(far, _LEAST)[:, None]


def swivel(hip: np.ndarray, ankle: np.ndarray, knee: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The rotation vectors (F, 3) about the lines from hip to ankle that bring a knee as near as they can to a place.

    All places are (F, 3); NaN where none is wanted. The knee of an almost straight leg hardly moves however far it is
    turned, so such a leg is turned less.
    """
    line = ankle - hip
    axis = line / np.maximum(lengths(line), _LEAST)[:, None]
    own, other = (quaternion.cross(axis, place - hip) for place in (knee, wanted))
    straight = (_NEAR * (lengths(knee - hip) + lengths(ankle - knee))) ** 2 - lengths(own) * lengths(other)
    along = (own * other).sum(-1) + np.maximum(straight, 0.0)
    angle = np.arctan2((axis * quaternion.cross(own, other)).sum(-1), along)
    return angle[:, None] * axis
