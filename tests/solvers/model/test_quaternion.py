# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions against SciPy's rotations, power series and hand geometry."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation, vectors, wxyz

from solvers.algebra import by_row, dual_quaternion, quaternion

HALF = math.sqrt(0.5)
QUARTER_TURN_Z = np.array([HALF, 0, 0, HALF])
RANDOM = Rotation.random(200, np.random.default_rng(1))
HALF_TURNS = np.array([(0, 3, 0, 0), (0, 0, 3, 0), (0, 0, 0, 3), (0, 1.8, 2.4, 0), (0, 2, -2, 1)]) / 3
SMALL_ANGLES = [0.0, 1e-300, 1e-12, 0.5e-4, 0.999999e-4, 1e-4, 1.000001e-4, 2e-4, 1.0, 3.0]
directions = vectors.map(np.array).filter(lambda v: np.linalg.norm(v) > 1e-3).map(lambda v: v / np.linalg.norm(v))


def same_rotation(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-12) -> None:
    """Assert that two arrays of unit quaternions are the same rotations; `q` and `-q` are."""
    a, b = np.broadcast_arrays(a, b)
    sign = np.sign((a * b).sum(-1, keepdims=True))
    assert_allclose(a * sign, b, atol=tolerance)


# -- products ---------------------------------------------------------------------------------------------------------


def test_product_of_the_units_follows_hamiltons_table() -> None:
    """Products of units: i j = k, j k = i, k i = j, and each unit's square is -1."""
    one, i, j, k = np.eye(4)
    for left, right, expected in [(i, j, k), (j, k, i), (k, i, j), (j, i, -k), (k, j, -i), (i, k, -j)]:
        assert_allclose(quaternion.product(left, right), expected)
    for unit in (i, j, k):
        assert_allclose(quaternion.product(unit, unit), -one)
        assert_allclose(quaternion.product(one, unit), unit)


def test_product_composes_as_scipy_does() -> None:
    a, b = RANDOM[:100], RANDOM[100:]
    same_rotation(quaternion.product(wxyz(a), wxyz(b)), wxyz(a * b))


def test_a_product_from_both_sides_is_one_matrix() -> None:
    a, b, q = RANDOM[:50], RANDOM[50:100], RANDOM[100:150]
    matrices = quaternion.both_sides(wxyz(a), wxyz(b))
    same_rotation(by_row(wxyz(q), matrices), wxyz(a * q * b))
    several = by_row(np.stack([wxyz(q), wxyz(b)]), matrices)
    same_rotation(several, np.stack([wxyz(a * q * b), wxyz(a * b * b)]))


@pytest.mark.parametrize("count", range(1, 20))
def test_equal_rows_have_equal_products(count: int) -> None:
    """To the last bit, wherever a row stands: a product of all rows at once rounds them unlike on some processors."""
    a, b = (np.tile(wxyz(rotation), (count, 1)) for rotation in (RANDOM[7], RANDOM[8]))
    moves, numbers = dual_quaternion.from_parts(a, b[:, 1:]), np.tile(np.sin(np.arange(12.0)), (count, 1))
    matrix = np.cos(np.arange(84.0)).reshape(12, 7)
    for rows in (
        quaternion.product(a, b), quaternion.relative(a, b), quaternion.to_matrix(a),
        dual_quaternion.product(moves, moves), *dual_quaternion.placement(moves), by_row(numbers, matrix),
    ):  # fmt: skip
        assert (rows == rows[0]).all()


def test_relative_is_the_way_from_the_first_to_the_second() -> None:
    """`a relative(a, b) = b`, including the sign, also broadcast."""
    a, b = wxyz(RANDOM[:100]), wxyz(RANDOM[100:])
    assert_allclose(quaternion.product(a, quaternion.relative(a, b)), b, atol=1e-15)
    same_rotation(quaternion.relative(a[0], b), wxyz(RANDOM[0].inv() * RANDOM[100:]))


def test_normalize_scales_to_length_one() -> None:
    """The 3-4-5 and 5-12-13 quaternions; the sign is kept."""
    assert_allclose(quaternion.normalize(np.array([3.0, 0, 0, 4.0])), [0.6, 0, 0, 0.8])
    assert_allclose(quaternion.normalize(np.array([-5.0, 0, 12.0, 0])), [-5 / 13, 0, 12 / 13, 0])


def test_normalize_of_zero_length_is_the_identity() -> None:
    """A zero quaternion among others becomes the identity, and the others are right."""
    mixed = np.array([[0.0, 0, 0, 0], [0, 3.0, 4.0, 0]])
    assert_allclose(quaternion.normalize(mixed), [[1, 0, 0, 0], [0, 0.6, 0.8, 0]])
    assert_allclose(quaternion.normalize(np.zeros(4)), [1, 0, 0, 0])


# -- rotation vectors -------------------------------------------------------------------------------------------------


def test_exp_matches_scipy() -> None:
    v = np.random.default_rng(2).uniform(-10, 10, (300, 3))
    same_rotation(quaternion.exp(v), wxyz(Rotation.from_rotvec(v)))


@pytest.mark.parametrize("angle", [*SMALL_ANGLES, math.pi, 6.0])
def test_exp_is_right_on_both_sides_of_its_small_angle(angle: float) -> None:
    """`(cos a/2, n sin a/2)` to the last digits, also around a series' threshold."""
    n = np.array([2, -1, 2]) / 3
    expected = [math.cos(0.5 * angle), *(n * math.sin(0.5 * angle))]
    assert_allclose(quaternion.exp(angle * n), expected, rtol=1e-15, atol=1e-15 if angle >= 1 else 0)


def test_log_matches_scipy() -> None:
    q = wxyz(RANDOM) * np.where(np.arange(200) % 2, 1, -1)[:, None]
    assert_allclose(quaternion.log(q), RANDOM.as_rotvec(), atol=1e-13)


@pytest.mark.parametrize("angle", [*SMALL_ANGLES, math.pi - 1e-9])
def test_log_undoes_exp_on_both_sides_of_its_small_angle(angle: float) -> None:
    """The rotation vector is recovered to a relative 1e-13, however small it is."""
    v = angle * np.array([2, -1, 2]) / 3
    assert_allclose(quaternion.log(quaternion.exp(v)), v, rtol=1e-13)


@pytest.mark.parametrize("q", HALF_TURNS)
def test_log_of_a_half_turn_is_pi_along_its_axis(q: np.ndarray) -> None:
    """At `w = 0` the axis is that of `x y z`, for either sign of the quaternion."""
    assert_allclose(quaternion.log(q), math.pi * q[1:])
    assert_allclose(quaternion.log(-q), -math.pi * q[1:])


# -- matrices and vectors ---------------------------------------------------------------------------------------------


def test_to_matrix_matches_scipy() -> None:
    matrices = quaternion.to_matrix(wxyz(RANDOM).reshape(20, 10, 4))
    assert_allclose(matrices.reshape(200, 3, 3), RANDOM.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("q", [*HALF_TURNS, (1, 0, 0, 0), (1e-9, 1, 0, 0), (1, 1, 1, 1), (1, -1, 1, -1)])
def test_from_matrix_of_a_half_turn_and_of_equal_parts(q: tuple) -> None:
    """Matrices with a trace of -1, or with four equally good forms, lose no digits."""
    found = quaternion.from_matrix(scipy_rotation(np.array(q)).as_matrix())
    same_rotation(found, np.array(q) / np.linalg.norm(q), 1e-15)


def test_from_matrix_of_a_rounded_matrix_is_a_unit_quaternion() -> None:
    """A matrix in single precision gives a quaternion of length one."""
    rounded = RANDOM.as_matrix().astype(np.float32)
    q = quaternion.from_matrix(rounded)
    assert_allclose(np.linalg.norm(q, axis=-1), 1, atol=1e-15)
    same_rotation(q, wxyz(RANDOM), 1e-6)


def test_rotate_matches_scipy_and_broadcasts() -> None:
    v = np.random.default_rng(3).normal(size=(200, 3))
    assert_allclose(quaternion.rotate(wxyz(RANDOM), v), RANDOM.apply(v), atol=1e-14)
    assert_allclose(quaternion.rotate(wxyz(RANDOM[0]), v), RANDOM[0].apply(v), atol=1e-14)


def test_skew_is_the_cross_product() -> None:
    """`[v]x u = v x u`."""
    v, u = np.random.default_rng(4).normal(size=(2, 50, 3))
    assert_allclose((quaternion.skew(v) @ u[..., None])[..., 0], np.cross(v, u), atol=1e-15)


# -- between and angle ------------------------------------------------------------------------------------------------


@given(directions, directions, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_between_takes_one_direction_to_the_other_by_the_smallest_rotation(a, b, long, short) -> None:
    """The turned direction is the target, and the rotation is no larger than the angle between the two."""
    between = 2 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    tolerance = 1e-9 if between < math.pi - 1e-3 else 3e-6  # within 1.5e-6 of opposite counts as opposite
    q = quaternion.between(long * a, short * b)
    assert_allclose(scipy_rotation(q).apply(a), b, atol=tolerance)
    assert scipy_rotation(q).magnitude() == pytest.approx(between, abs=tolerance)


@pytest.mark.parametrize("tilt", [1e-3, 1e-5, 2e-6, 1e-6, 1e-8, 1e-14])
def test_between_of_nearly_opposite_vectors_is_nearly_a_half_turn(tilt: float) -> None:
    """On both sides of the threshold the turned direction is right to 2e-6."""
    a, b = np.array([1.0, 0, 0]), np.array([-math.cos(tilt), math.sin(tilt), 0])
    turned = scipy_rotation(quaternion.between(a, b))
    assert_allclose(turned.apply(a), b, atol=2e-6)
    assert turned.magnitude() == pytest.approx(math.pi - tilt, abs=2e-6)


@pytest.mark.parametrize("a", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-0.2, 0.5, 0), (3, -4, 12)])
def test_between_of_opposite_vectors_is_a_half_turn_square_to_them(a: tuple) -> None:
    """For opposite directions the axis is perpendicular to them."""
    a = np.array(a, dtype=float)
    q = quaternion.between(a, -2.0 * a)
    assert q[0] == pytest.approx(0, abs=1e-15)
    assert q[1:] @ a == pytest.approx(0, abs=1e-14)
    assert_allclose(scipy_rotation(q).apply(a), -a, atol=1e-14)


def test_between_with_a_vector_of_zero_length_is_the_identity() -> None:
    """Also among vectors of other lengths."""
    a = np.array([[0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]])
    b = np.array([[0, 1.0, 0], [0, 0, 0], [0, 1.0, 0]])
    assert_allclose(quaternion.between(a, b), [[1, 0, 0, 0], [1, 0, 0, 0], QUARTER_TURN_Z], atol=1e-15)


def test_angle_matches_scipy() -> None:
    """The angle between orientations, for either sign of each."""
    a, b = RANDOM[:100], RANDOM[100:]
    expected = (a.inv() * b).magnitude()
    assert_allclose(quaternion.angle(wxyz(a), wxyz(b)), expected, atol=1e-13)
    assert_allclose(quaternion.angle(wxyz(a), -wxyz(b)), expected, atol=1e-13)


@pytest.mark.parametrize("small", [1e-12, 1e-9, 1e-6])
def test_angle_is_exact_near_zero(small: float) -> None:
    """The angle keeps four digits below 1e-8, where the `acos` of a dot product is 0."""
    a = wxyz(RANDOM[0])
    b = wxyz(RANDOM[0] * Rotation.from_rotvec([0, small, 0]))
    assert quaternion.angle(a, b) == pytest.approx(small, rel=1e-3)


# -- the derivative of exp --------------------------------------------------------------------------------------------


def series(v: np.ndarray) -> np.ndarray:
    """The left Jacobian by its definition: the sum of `[v]x^k / (k + 1)!`."""
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    total, power = np.zeros((3, 3)), np.eye(3)
    for k in range(60):
        total += power / math.gamma(k + 2)
        power = power @ cross
    return total


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5e-3, 0.999999e-3, 1e-3, 1.000001e-3, 2e-3, 0.5, math.pi, 5.0])
def test_left_jacobian_is_its_series_on_both_sides_of_its_small_angle(angle: float) -> None:
    """The closed form and the power series agree, also around the threshold."""
    v = angle * np.array([1, 2, -2]) / 3
    assert_allclose(quaternion.left_jacobian(v), series(v), atol=1e-12)


@given(vectors, vectors)
def test_left_jacobian_is_the_derivative_of_exp(v: tuple, direction: tuple) -> None:
    """`exp(v + d) ~ exp(J d) exp(v)`: by central differences of SciPy's rotations."""
    v, d = 2.0 * np.array(v), np.array(direction)
    step = 1e-6
    turned = Rotation.from_rotvec(v + step * d) * Rotation.from_rotvec(v - step * d).inv()
    assert_allclose(quaternion.left_jacobian(v) @ d, turned.as_rotvec() / (2 * step), atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5e-3, 0.999999e-3, 1e-3, 1.000001e-3, 2e-3, 0.5, math.pi, 5.0])
def test_left_jacobian_inverse_is_the_inverse_on_both_sides_of_its_small_angle(angle: float) -> None:
    """Its product with the power series is the identity, also in a batch."""
    v = angle * np.array([[1, 2, -2], [2, -2, 1]]) / 3
    for inverse, row in zip(quaternion.left_jacobian_inverse(v), v, strict=True):
        assert_allclose(inverse @ series(row), np.eye(3), atol=1e-12)
