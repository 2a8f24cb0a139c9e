# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts rotation channels in Blender's rotation modes to unit quaternions and back. NumPy only.

A rotation channel has four numbers in every mode: a quaternion `w x y z`, an axis-angle `angle x y z`, or Euler angles
`x y z` and an unused number. A quaternion has several channel values (sign, whole turns, the other Euler solution); the
one nearest to a reference is chosen, so that keys stay continuous and a frame's channels depend on that frame only.
"""

import numpy as np

from ...solvers.algebra import quaternion

QUATERNION, AXIS_ANGLE = "QUATERNION", "AXIS_ANGLE"
EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
SIZES = {QUATERNION: 4, AXIS_ANGLE: 4, **dict.fromkeys(EULER_ORDERS, 3)}
PATHS = {
    QUATERNION: "rotation_quaternion",
    AXIS_ANGLE: "rotation_axis_angle",
    **dict.fromkeys(EULER_ORDERS, "rotation_euler"),
}
PATH_SIZES = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
NO_ROTATION = {
    QUATERNION: (1.0, 0.0, 0.0, 0.0),
    AXIS_ANGLE: (0.0, 0.0, 1.0, 0.0),
    **dict.fromkeys(EULER_ORDERS, (0.0, 0.0, 0.0, 0.0)),
}
MIRRORED = {
    "rotation_quaternion": (1.0, 1.0, -1.0, -1.0),
    "rotation_axis_angle": (1.0, 1.0, -1.0, -1.0),
    "rotation_euler": (1.0, -1.0, -1.0, 1.0),
}
"""What Blender's mirrored paste multiplies rotation channels by; it negates the location's X."""
_TURN = 2.0 * np.pi


def to_quaternion(mode: str, channels: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation channels (..., 4) of one mode; a zero quaternion or axis is no rotation."""
    if mode == QUATERNION:
        return quaternion.normalize(channels)
    if mode == AXIS_ANGLE:
        axis = channels[..., 1:]
        length = np.sqrt((axis * axis).sum(-1, keepdims=True))
        half = 0.5 * channels[..., :1]
        unit = axis / np.where(length > 0.0, length, 1.0)
        cosine = np.where(length > 0.0, np.cos(half), 1.0)
        return np.concatenate([cosine, unit * np.sin(half)], -1)
    turns = [quaternion.exp(channels[..., k, None] * np.eye(3)[k]) for k in ("XYZ".index(letter) for letter in mode)]
    return quaternion.product(turns[2], quaternion.product(turns[1], turns[0]))


def from_quaternion(mode: str, q: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Rotation channels (..., 4) of unit quaternions (..., 4), the ones nearest to `reference` channels (..., 4)."""
    if mode == QUATERNION:
        return q * np.copysign(1.0, (q * reference).sum(-1, keepdims=True))
    if mode == AXIS_ANGLE:
        return _axis_angle(q, reference)
    angles = _euler(mode, quaternion.to_matrix(q), reference[..., :3])
    return np.concatenate([angles, reference[..., 3:]], -1)


def _axis_angle(q: np.ndarray, reference: np.ndarray) -> np.ndarray:
    vector = quaternion.log(q)
    angle = np.sqrt((vector * vector).sum(-1, keepdims=True))
    axis = np.where(angle > 1e-9, vector / np.maximum(angle, 1e-300), reference[..., 1:])
    turned = np.where((axis * reference[..., 1:]).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.concatenate([_nearest_turn(turned * angle, reference[..., :1]), turned * axis], -1)


def _euler(order: str, matrix: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Angles (..., 3) about x, y, z of matrices `R_k R_j R_i` for the order `ijk`, nearest to the reference.

    At gimbal lock only the sum of the outer two is determined, so the last is taken from the reference.
    """
    i, j, k = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    cosine = np.hypot(matrix[..., i, i], matrix[..., j, i])
    b = np.arctan2(-sign * matrix[..., k, i], cosine)
    locked = cosine < 1e-6
    c = np.where(locked, reference[..., k], np.arctan2(sign * matrix[..., j, i], matrix[..., i, i]))
    # R_k(c)^-1 R = R_j R_i, which gives a at full precision
    cos_c, sin_c = np.cos(c), np.sin(c)
    a = np.arctan2(
        sin_c * matrix[..., i, k] - sign * cos_c * matrix[..., j, k],
        cos_c * matrix[..., j, j] - sign * sin_c * matrix[..., i, j],
    )
    both = np.empty((2, *reference.shape))
    both[0, ..., i], both[0, ..., j], both[0, ..., k] = a, b, c
    both[1, ..., i], both[1, ..., j], both[1, ..., k] = a + np.pi, np.pi - b, c + np.pi
    both = _nearest_turn(both, reference)
    away = np.abs(both - reference).sum(-1)
    return np.where(((away[0] <= away[1]) | locked)[..., None], both[0], both[1])


def _nearest_turn(angle: np.ndarray, reference: np.ndarray) -> np.ndarray:
    return angle + _TURN * np.round((reference - angle) / _TURN)
