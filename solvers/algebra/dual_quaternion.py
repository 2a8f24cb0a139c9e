# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit dual quaternions `Q = r + eps d` as rigid transforms, over arrays of any leading shape.

Eight numbers: real part `r` (`w x y z`, the rotation), then dual part `d = 1/2 t r` (Kenwright eq. 12, second form):
rotate first, then translate. `product(A, B)` applies `B` first, so `world = product(parent, local)`.
"""

import numpy as np

from . import quaternion
from .by_row import by_row

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def _product_tensor() -> np.ndarray:
    """`T` (64, 8): `(a + eps b)(c + eps e) = ac + eps (ae + bc)`, contracted as in `quaternion.product`."""
    hamilton = quaternion.PRODUCT.reshape(4, 4, 4)
    table = np.zeros((8, 8, 8))
    table[:4, :4, :4] = hamilton
    table[:4, 4:, 4:] = hamilton
    table[4:, :4, 4:] = hamilton
    return table.reshape(64, 8)


def _placement_tensor() -> np.ndarray:
    """`T` (32, 12): outer(r, Q) to the rotation matrix, row by row, and the translation `2 d conj(r)`."""
    table = np.zeros((4, 8, 12))
    table[:, :4, :9] = quaternion.MATRIX.reshape(4, 4, 9)
    hamilton = quaternion.PRODUCT.reshape(4, 4, 4)
    table[:, 4:, 9:] = 2.0 * np.einsum("dri,r->rdi", hamilton, quaternion.CONJUGATE)[:, :, 1:]
    return table.reshape(32, 12)


_PRODUCT = _product_tensor()
_PLACEMENT = _placement_tensor()
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`A B` of (..., 8) and (..., 8): first `B`, then `A`."""
    outer = a[..., :, None] * b[..., None, :]
    return by_row(outer.reshape(*outer.shape[:-2], 64), _PRODUCT)


def conjugate(q: np.ndarray) -> np.ndarray:
    """Quaternion conjugate of both parts (..., 8): the inverse of a unit dual quaternion."""
    return q * _CONJUGATE


def norm(q: np.ndarray) -> np.ndarray:
    """Dual norm (..., 2) `|r| + eps (r . d)/|r|`; (1, 0) for a unit dual quaternion."""
    real = np.sqrt((q[..., :4] ** 2).sum(-1))
    return np.stack([real, (q[..., :4] * q[..., 4:]).sum(-1) / np.maximum(real, 1e-300)], -1)


def normalize(q: np.ndarray) -> np.ndarray:
    """Nearest unit dual quaternion (..., 8): real part of length 1, dual part orthogonal to it.

    A real part of zero length becomes the identity.
    """
    length = np.sqrt((q[..., :4] ** 2).sum(-1, keepdims=True))
    real, dual = quaternion.normalize(q[..., :4]), q[..., 4:] / np.where(length > 0.0, length, 1.0)
    return np.concatenate([real, dual - real * (real * dual).sum(-1, keepdims=True)], -1)


def from_parts(rotation: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """Transform (..., 8) that turns by `rotation` (..., 4), then moves by `translation` (..., 3)."""
    rotation, translation = np.broadcast_arrays(
        rotation, np.concatenate([np.zeros_like(translation[..., :1]), translation], -1)
    )
    return np.concatenate([rotation, 0.5 * quaternion.product(translation, rotation)], -1)


def rotation(q: np.ndarray) -> np.ndarray:
    """Rotation part (..., 4) of a unit dual quaternion."""
    return q[..., :4]


def translation(q: np.ndarray) -> np.ndarray:
    """Translation (..., 3) of a unit dual quaternion: the vector part of `2 d conj(r)`."""
    return 2.0 * quaternion.product(q[..., 4:], quaternion.conjugate(q[..., :4]))[..., 1:]


def placement(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrices (..., 3, 3) and translations (..., 3) of unit dual quaternions (..., 8), in one contraction."""
    outer = q[..., :4, None] * q[..., None, :]
    both = by_row(outer.reshape(*q.shape[:-1], 32), _PLACEMENT)
    return both[..., :9].reshape(*q.shape[:-1], 3, 3), both[..., 9:]


def transform(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) moved by unit dual quaternions (..., 8)."""
    return quaternion.rotate(q[..., :4], points) + translation(q)


def exp(twist: np.ndarray) -> np.ndarray:
    """Twist (..., 6) `(rotation vector, linear part)` to a unit dual quaternion (..., 8).

    The transform is the screw motion of the twist over unit time: translation = `J_l(v) u` (Sola 2018, eq. 172).
    """
    v, u = twist[..., :3], twist[..., 3:]
    return from_parts(quaternion.exp(v), (quaternion.left_jacobian(v) @ u[..., None])[..., 0])


def log(q: np.ndarray) -> np.ndarray:
    """Unit dual quaternion (..., 8) to its twist (..., 6), rotation part of length <= pi; inverse of `exp`."""
    v = quaternion.log(q[..., :4])
    u = (quaternion.left_jacobian_inverse(v) @ translation(q)[..., None])[..., 0]
    return np.concatenate([v, u], -1)
