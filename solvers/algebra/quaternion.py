# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit quaternions `w x y z` and rotation vectors, over arrays of any leading shape.

`q` and `-q` are the same rotation; `log` takes the shorter one. `product(a, b)` turns by `b` first, then by `a`.
Products are written as one contraction with a constant tensor: on arrays of some dozen joints a NumPy call costs more
than its arithmetic, so fewer calls are faster than fewer multiplications.
"""

import numpy as np

from .by_row import by_row

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])

UNIT = 1e-15  # a quaternion whose squared length is this near to 1 is of unit length

LEAST = 1e-300  # keeps squares above 0, so that quotients at angle 0 take their limit values


def _product_tensor() -> np.ndarray:
    """`T` (16, 4) with `product(a, b) = outer(a, b).ravel() @ T` (Hamilton's table)."""
    table = np.zeros((4, 4, 4))
    for left, right, result, sign in [
        (0, 0, 0, 1), (0, 1, 1, 1), (0, 2, 2, 1), (0, 3, 3, 1),
        (1, 0, 1, 1), (1, 1, 0, -1), (1, 2, 3, 1), (1, 3, 2, -1),
        (2, 0, 2, 1), (2, 1, 3, -1), (2, 2, 0, -1), (2, 3, 1, 1),
        (3, 0, 3, 1), (3, 1, 2, 1), (3, 2, 1, -1), (3, 3, 0, -1),
    ]:  # fmt: skip
        table[left, right, result] = sign
    return table.reshape(16, 4)


def _matrix_tensor() -> np.ndarray:
    """`M` (16, 9) with `to_matrix(q) = (outer(q, q).ravel() @ M).reshape(3, 3)` for a unit quaternion."""
    w, x, y, z = range(4)
    tensor = np.zeros((4, 4, 3, 3))
    for i in range(3):
        tensor[w, w, i, i] = 1.0
        for k in (x, y, z):
            tensor[k, k, i, i] = 1.0 if k == i + 1 else -1.0
    for i, j, wk, sign in [(0, 1, z, -1), (1, 0, z, 1), (0, 2, y, 1), (2, 0, y, -1), (1, 2, x, -1), (2, 1, x, 1)]:
        tensor[i + 1, j + 1, i, j] = 2.0
        tensor[w, wk, i, j] = 2.0 * sign
    return tensor.reshape(16, 9)


def _forms_tensor() -> np.ndarray:
    """`T` (9, 16): `m.ravel() @ T` are four multiples of the quaternion of a rotation matrix `m`, but for their 1s."""
    table = np.zeros((3, 3, 4, 4))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        table[k, k, [0, 1, 2, 3], [0, 1, 2, 3]] = [1.0, *(1.0 if axis == k else -1.0 for axis in range(3))]
        table[j, i, [0, k + 1], [k + 1, 0]] = 1.0
        table[i, j, [0, k + 1], [k + 1, 0]] = -1.0
        for row, column in ((i, j), (j, i)):
            table[row, column, [i + 1, j + 1], [j + 1, i + 1]] = 1.0
    return table.reshape(9, 16)


PRODUCT = _product_tensor()
MATRIX = _matrix_tensor()
_FORMS, _DIAGONAL = _forms_tensor(), np.eye(4).ravel()
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_RELATIVE = (PRODUCT.reshape(4, 16) * CONJUGATE[:, None]).reshape(16, 4)
_LEVI_CIVITA = np.zeros((3, 3, 3))
_LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
_LEVI_CIVITA[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0
_SKEW = -_LEVI_CIVITA.transpose(2, 0, 1).reshape(3, 9)  # v @ _SKEW = [v]x, row by row


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product `a b` of (..., 4) and (..., 4), broadcast against each other."""
    outer = a[..., :, None] * b[..., None, :]
    return by_row(outer.reshape(*outer.shape[:-2], 16), PRODUCT)


def relative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`conj(a) b` of (..., 4) and (..., 4): the turn from `a` to `b`, in the frame of `a`."""
    outer = a[..., :, None] * b[..., None, :]
    return by_row(outer.reshape(*outer.shape[:-2], 16), _RELATIVE)


def both_sides(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrices (..., 4, 4) with which `by_row(q, matrix)` is `a q b`, for (..., 4) and (..., 4)."""
    left = (a @ PRODUCT.reshape(4, 16)).reshape(*a.shape[:-1], 4, 4)
    return left @ np.einsum("ijk,...j->...ik", PRODUCT.reshape(4, 4, 4), b)


def conjugate(q: np.ndarray) -> np.ndarray:
    """`w -x -y -z`: the inverse rotation of a unit quaternion (..., 4)."""
    return q * CONJUGATE


def normalize(q: np.ndarray) -> np.ndarray:
    """`q / |q|` for (..., 4); a quaternion of zero length becomes the identity."""
    length = np.sqrt((q * q).sum(-1, keepdims=True))
    if length.all():
        return q / length
    return np.where(length > 0.0, q / np.where(length > 0.0, length, 1.0), IDENTITY)


def unit(q: np.ndarray) -> np.ndarray:
    """`normalize(q)` (..., 4) where that is not of unit length, up to `UNIT`; elsewhere the same to the bit."""
    off = np.abs((q * q).sum(-1, keepdims=True) - 1.0) > UNIT
    return np.where(off, normalize(q), q) if off.any() else q


def exp(v: np.ndarray) -> np.ndarray:
    """Rotation vector (..., 3) in radians to unit quaternion (..., 4): `(cos |v|/2, v/|v| sin |v|/2)`.

    (Kenwright's eq. 6 prints the names of exp and log exchanged.) Grassia 1998 uses a series near 0; none is needed
    here, since `sin(x)` and the quotient keep their relative precision down to the smallest numbers.
    """
    angle = np.sqrt(np.maximum((v * v).sum(-1, keepdims=True), LEAST))
    half = 0.5 * angle
    q = np.empty((*v.shape[:-1], 4))
    np.cos(half, out=q[..., :1])
    np.multiply(v, np.sin(half) / angle, out=q[..., 1:])
    return q


def log(q: np.ndarray) -> np.ndarray:
    """Unit quaternion (..., 4) to the rotation vector (..., 3) of length <= pi: the shorter rotation.

    At a half turn (`w = 0`) the vector is `pi` along `x y z`. As in `exp`, `atan2` needs no series near 0.
    """
    w, xyz = q[..., :1], q[..., 1:]
    sine = np.sqrt(np.maximum((xyz * xyz).sum(-1, keepdims=True), LEAST))
    return xyz * np.copysign(2.0 * np.arctan2(sine, np.abs(w)) / sine, w + 0.0)  # -0.0 becomes 0.0


def to_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    outer = q[..., :, None] * q[..., None, :]
    return by_row(outer.reshape(*q.shape[:-1], 16), MATRIX).reshape(*q.shape[:-1], 3, 3)


def from_matrix(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), from the largest of four equivalent forms."""
    m = np.asarray(matrix, dtype=float)
    forms = (by_row(m.reshape(-1, 9), _FORMS) + _DIAGONAL).reshape(-1, 4)  # 4 forms of each, one after the other
    largest = forms.reshape(-1, 16)[:, ::5].argmax(-1)
    return normalize(forms[largest + np.arange(0, len(forms), 4)]).reshape(*m.shape[:-2], 4)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    return (to_matrix(q) @ v[..., None])[..., 0]


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smallest rotation (..., 4) that takes the direction of `a` (..., 3) to that of `b` (..., 3).

    Opposite directions give a half turn about an axis perpendicular to `a`, a zero vector the identity.
    """
    a, b = np.broadcast_arrays(a, b)
    length = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    w = length + (a * b).sum(-1)
    q = np.concatenate([w[..., None], cross(a, b)], -1)
    opposite = (w <= 1e-12 * length) & (length > 0.0)
    if opposite.any():
        least = np.eye(3)[np.argmin(np.abs(a), -1)]
        q = np.where(opposite[..., None], np.concatenate([0.0 * w[..., None], cross(a, least)], -1), q)
    return normalize(q)


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle (...) in radians between two orientations (..., 4), at most pi; exact near 0, unlike `acos`."""
    turn = relative(a, b)
    return 2.0 * np.arctan2(np.sqrt((turn[..., 1:] ** 2).sum(-1)), np.abs(turn[..., 0]))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a x b` of (..., 3) arrays; `numpy.cross` costs ten times as much on small ones."""
    c = np.empty(np.broadcast_shapes(a.shape, b.shape))
    c[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    c[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    c[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return c


def skew(v: np.ndarray) -> np.ndarray:
    """`[v]x` (..., 3, 3) with `[v]x u = v x u`."""
    return (v @ _SKEW).reshape(*v.shape[:-1], 3, 3)


def left_jacobian(v: np.ndarray) -> np.ndarray:
    """`J` (..., 3, 3) with `exp(v + dv) ~ exp(J dv) exp(v)` (Kenwright app. B-B; Sola 2018, eq. 145).

    The right Jacobian, for a turn in the rotated frame, is its transpose. Singular at `|v| = 2 pi`.
    """
    squared = (v * v).sum(-1)[..., None, None]
    angle = np.sqrt(squared)
    near = angle < 1e-3
    safe = np.where(near, 1.0, angle)
    a = np.where(near, 0.5 - squared / 24.0, (1.0 - np.cos(safe)) / safe**2)
    b = np.where(near, 1.0 / 6.0 - squared / 120.0, (safe - np.sin(safe)) / safe**3)
    cross = skew(v)
    return np.eye(3) + a * cross + b * (cross @ cross)


def left_jacobian_inverse(v: np.ndarray) -> np.ndarray:
    """Inverse (..., 3, 3) of `left_jacobian` (Sola 2018, eq. 146). Its transpose is the right one's inverse."""
    squared = (v * v).sum(-1)[..., None, None]
    angle = np.sqrt(squared)
    near = angle < 1e-3
    half = 0.5 * np.where(near, 1.0, angle)
    c = np.where(near, 1.0 / 12.0 + squared / 720.0, (1.0 - half / np.tan(half)) / (4.0 * half * half))
    cross = skew(v)
    return np.eye(3) - 0.5 * cross + c * (cross @ cross)
