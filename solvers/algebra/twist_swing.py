# SPDX-License-Identifier: GPL-3.0-or-later
"""Twist-swing coordinates of a ball joint: `q = swing * twist` (Kenwright eq. 33).

Coordinates are `(twist, swing_1, swing_2)` in radians: the turn about the twist axis, then the rotation vector of the
swing, which lies in the plane perpendicular to that axis. For the twist axis Y the two swing components are X and Z (a
bone points along Y); for X they are Y and Z, for Z they are X and Y.
"""

import numpy as np

from . import quaternion
from .arctan2 import arctan2

SWING_AXES = {0: (1, 2), 1: (0, 2), 2: (0, 1)}


def decompose(q: np.ndarray, axis: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Swing and twist (..., 4) each, with `q = swing * twist`, of unit quaternions (..., 4).

    `axis`: 0, 1 or 2, the twist axis (Kenwright eq. 32, 33, 34; the last with its misprints corrected). For a swing of
    a half turn the twist is undetermined and set to the identity.
    """
    w, a = q[..., 0], q[..., 1 + axis]
    length = np.sqrt(w * w + a * a)
    undetermined = length < 1e-12
    safe = np.where(undetermined, 1.0, length)
    twist = np.zeros_like(q)
    twist[..., 0] = np.where(undetermined, 1.0, w / safe)
    twist[..., 1 + axis] = np.where(undetermined, 0.0, a / safe)
    return quaternion.product(q, quaternion.conjugate(twist)), twist


def coordinates(q: np.ndarray, axis: int = 1) -> np.ndarray:
    """`(twist, swing_1, swing_2)` (..., 3) of unit quaternions (..., 4); twist in (-pi, pi], |swing| <= pi."""
    swing, twist = decompose(q, axis)
    swing_vector = quaternion.log(swing)
    angle = 2.0 * arctan2(twist[..., 1 + axis], twist[..., 0])
    angle = np.where(angle > np.pi, angle - 2.0 * np.pi, np.where(angle <= -np.pi, angle + 2.0 * np.pi, angle))
    first, second = SWING_AXES[axis]
    return np.stack([angle, swing_vector[..., first], swing_vector[..., second]], -1)


def _swing_vector(x: np.ndarray, axis: int) -> np.ndarray:
    """Rotation vector (..., 3) of the swing of coordinates (..., 3)."""
    first, second = SWING_AXES[axis]
    vector = np.zeros_like(x)
    vector[..., first], vector[..., second] = x[..., 1], x[..., 2]
    return vector


def compose(x: np.ndarray, axis: int = 1) -> np.ndarray:
    """Unit quaternions (..., 4) of coordinates (..., 3): the inverse of `coordinates`."""
    twist = np.zeros((*x.shape[:-1], 4))
    twist[..., 0], twist[..., 1 + axis] = np.cos(0.5 * x[..., 0]), np.sin(0.5 * x[..., 0])
    return quaternion.product(quaternion.exp(_swing_vector(x, axis)), twist)


def body_jacobian(x: np.ndarray, axis: int = 1) -> np.ndarray:
    """`C` (..., 3, 3): `C` times the coordinates' rates is the angular velocity in the turned joint's frame.

    With `q = exp(s) twist`: a rate `ds` turns the frame before the twist by `J_r(s) ds`, which the twist turns into the
    joint's frame; the twist does not move its own axis.
    """
    vector = _swing_vector(x, axis)
    right = np.swapaxes(quaternion.left_jacobian(vector), -1, -2)  # (..., 3, 3)
    twist_vector = np.zeros_like(x)
    twist_vector[..., axis] = -x[..., 0]
    undo_twist = quaternion.to_matrix(quaternion.exp(twist_vector))
    carried = undo_twist @ right
    first, second = SWING_AXES[axis]
    twist_axis = np.zeros_like(x)
    twist_axis[..., axis] = 1.0
    return np.stack([twist_axis, carried[..., first], carried[..., second]], -1)
