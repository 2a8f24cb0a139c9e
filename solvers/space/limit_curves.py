# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of bones as curves: the border of the swing, and the range of the twist. NumPy only.

A curve of a limit is a row of coordinates, (twist, swing X, swing Z) in radians, of which `places` gives the points in
space. All functions work on B bones at once. Limits `lo` and `hi` are (B, 3), of the same three.
"""

import numpy as np

from ..algebra import quaternion, twist_swing
from ..model.limits import FULL_TURN


def swing_border(twist: np.ndarray, lo: np.ndarray, hi: np.ndarray, count: int) -> np.ndarray:
    """Coordinates (B, count, 3) along the border of the swing at a twist (B,): a closed curve.

    A swing of more than half a turn is shown as half a turn. `count` is a multiple of 4.
    """
    lo, hi = lo[:, None, 1:], hi[:, None, 1:]
    turn = FULL_TURN * np.arange(count) / count
    circle = np.stack([np.cos(turn), np.sin(turn)], -1)
    circle[np.abs(circle) < 1e-12] = 0.0
    centre = np.clip(0.0, lo, hi)
    border = centre + np.where(circle >= 0.0, hi - centre, centre - lo) * circle
    length = np.sqrt((border * border).sum(-1, keepdims=True))
    border = border * np.minimum(1.0, np.pi / np.maximum(length, 1e-12))
    return np.concatenate([np.broadcast_to(twist[:, None, None], (len(twist), count, 1)), border], -1)


def swing_path(x: np.ndarray, count: int) -> np.ndarray:
    """Coordinates (B, count, 3) from no swing to the swing of `x` (B, 3), at the twist of `x`."""
    share = np.ones((1, count, 3))
    share[..., 1:] = np.linspace(0.0, 1.0, count)[:, None]
    return share * x[:, None]


def twist_path(x: np.ndarray, begin: np.ndarray, end: np.ndarray, count: int) -> np.ndarray:
    """Coordinates (B, count, 3) from the twist `begin` to the twist `end` (B,), at the swing of `x` (B, 3)."""
    path = np.repeat(x[:, None], count, 1)
    path[..., 0] = begin[:, None] + (end - begin)[:, None] * np.linspace(0.0, 1.0, count)
    return path


def places(frames: np.ndarray, heads: np.ndarray, tips: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Returns the places (B, K, 3) of points of bones whose rotations have some coordinates (B, K, 3).

    frames : (B, 3, 3) orientations of the bones without a rotation of their own. heads : (B, 3). tips : (B, 3) one
    point of each bone, from its head, in its own frame.
    """
    turned = quaternion.rotate(twist_swing.compose(coordinates), np.broadcast_to(tips[:, None], coordinates.shape))
    return heads[:, None] + turned @ np.swapaxes(frames, -1, -2)
