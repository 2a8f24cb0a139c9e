# SPDX-License-Identifier: GPL-3.0-or-later
"""Dual quaternions against 4 x 4 matrices and SciPy's matrix exponential."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from skeletons import vectors, wxyz

from solvers.algebra import dual_quaternion, quaternion

HALF = math.sqrt(0.5)
GENERATOR = np.random.default_rng(5)
ROTATIONS = Rotation.random(60, GENERATOR)
MOVES = GENERATOR.normal(size=(60, 3))
TRANSFORMS = dual_quaternion.from_parts(wxyz(ROTATIONS), MOVES)


def matrices(rotations: Rotation, moves: np.ndarray) -> np.ndarray:
    """Homogeneous matrices (N, 4, 4) that rotate, then translate."""
    result = np.tile(np.eye(4), (len(moves), 1, 1))
    result[:, :3, :3], result[:, :3, 3] = rotations.as_matrix(), moves
    return result


def as_matrix(q: np.ndarray) -> np.ndarray:
    """A unit dual quaternion (8,) as a homogeneous matrix, whose columns are the images of the axes and the origin."""
    result = np.eye(4)
    origin = dual_quaternion.transform(q, np.zeros(3))
    result[:3, 3] = origin
    result[:3, :3] = (dual_quaternion.transform(q, np.eye(3)) - origin).T
    return result


def screw_matrix(twist: np.ndarray) -> np.ndarray:
    """The motion of a twist `(w, v)` over unit time, by SciPy's matrix exponential."""
    (a, b, c), v = twist[:3], twist[3:]
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = [[0, -c, b], [c, 0, -a], [-b, a, 0]], v
    return expm(generator)


# -- parts and products -----------------------------------------------------------------------------------------------


def test_from_parts_is_rotate_then_translate_with_half_the_translation() -> None:
    """A quarter turn about Z, then 2 along X: `d = 1/2 t r`, worked by hand."""
    q = dual_quaternion.from_parts(np.array([HALF, 0, 0, HALF]), np.array([2.0, 0, 0]))
    assert_allclose(q, [HALF, 0, 0, HALF, 0, HALF, -HALF, 0], atol=1e-15)
    assert_allclose(dual_quaternion.transform(q, np.array([1.0, 0, 0])), [2, 1, 0], atol=1e-15)


def test_parts_come_back() -> None:
    assert_allclose(dual_quaternion.rotation(TRANSFORMS), wxyz(ROTATIONS), atol=1e-15)
    assert_allclose(dual_quaternion.translation(TRANSFORMS), MOVES, atol=1e-14)
    assert_allclose(dual_quaternion.translation(-TRANSFORMS), MOVES, atol=1e-14)


def test_transform_matches_homogeneous_matrices() -> None:
    points = GENERATOR.normal(size=(60, 3))
    expected = np.einsum("nij,nj->ni", matrices(ROTATIONS, MOVES), np.pad(points, ((0, 0), (0, 1)), constant_values=1))
    assert_allclose(dual_quaternion.transform(TRANSFORMS, points), expected[:, :3], atol=1e-14)


def test_placement_is_rotation_matrix_and_translation() -> None:
    """Of a batch of any shape, and of either sign."""
    for sign in (1.0, -1.0):
        turned, moved = dual_quaternion.placement(sign * TRANSFORMS.reshape(6, 10, 8))
        assert_allclose(turned.reshape(60, 3, 3), ROTATIONS.as_matrix(), atol=1e-14)
        assert_allclose(moved.reshape(60, 3), MOVES, atol=1e-14)


def test_product_applies_the_second_factor_first_as_matrices_do() -> None:
    product = dual_quaternion.product(TRANSFORMS[:30], TRANSFORMS[30:])
    expected = matrices(ROTATIONS[:30], MOVES[:30]) @ matrices(ROTATIONS[30:], MOVES[30:])
    assert_allclose(np.stack([as_matrix(q) for q in product]), expected, atol=1e-14)


def test_conjugate_is_the_inverse_of_a_unit_dual_quaternion() -> None:
    """`Q conj(Q) = 1`, translation included."""
    both = dual_quaternion.product(TRANSFORMS, dual_quaternion.conjugate(TRANSFORMS))
    assert_allclose(both, np.tile(dual_quaternion.IDENTITY, (60, 1)), atol=1e-14)


# -- norm -------------------------------------------------------------------------------------------------------------


def test_norm_of_a_product_is_the_product_of_norms() -> None:
    """As dual numbers: `(a + eps b)(c + eps d) = ac + eps (ad + bc)`."""
    left, right = GENERATOR.normal(size=(2, 20, 8))
    (a, b), (c, d) = dual_quaternion.norm(left).T, dual_quaternion.norm(right).T
    assert_allclose(dual_quaternion.norm(dual_quaternion.product(left, right)), np.stack([a * c, a * d + b * c], -1))


def test_normalize_makes_a_unit_dual_quaternion_and_leaves_one_alone() -> None:
    rough = GENERATOR.normal(size=(20, 8))
    smooth = dual_quaternion.normalize(rough)
    assert_allclose(dual_quaternion.norm(smooth), np.tile([1.0, 0], (20, 1)), atol=1e-14)
    assert_allclose(smooth[:, :4], rough[:, :4] / np.linalg.norm(rough[:, :4], axis=1, keepdims=True))
    assert_allclose(dual_quaternion.normalize(TRANSFORMS), TRANSFORMS, atol=1e-14)


def test_normalize_of_a_zero_real_part_turns_nothing() -> None:
    """A dual quaternion with a real part of 0 gets the identity as rotation, and no NaN."""
    assert_allclose(dual_quaternion.normalize(np.zeros(8)), dual_quaternion.IDENTITY)
    mixed = dual_quaternion.normalize(np.stack([np.zeros(8), 2.0 * TRANSFORMS[0]]))
    assert_allclose(mixed, [dual_quaternion.IDENTITY, TRANSFORMS[0]], atol=1e-14)


# -- exp, log and between ---------------------------------------------------------------------------------------------


@given(vectors, vectors, st.floats(0.01, 3.1))
def test_exp_matches_the_matrix_exponential(axis: tuple, linear: tuple, angle: float) -> None:
    v = np.array(axis)
    twist = np.concatenate([v * angle, np.array(linear)])
    assert_allclose(as_matrix(dual_quaternion.exp(twist)), screw_matrix(twist), atol=1e-12)


@given(vectors, vectors)
def test_log_undoes_exp(axis: tuple, linear: tuple) -> None:
    """The twist is recovered if its angle is below a half turn."""
    twist = np.concatenate([1.8 * np.array(axis), np.array(linear)])
    assert_allclose(dual_quaternion.log(dual_quaternion.exp(twist)), twist, atol=1e-9)


def test_log_of_a_pure_translation_is_that_translation() -> None:
    q = dual_quaternion.from_parts(quaternion.IDENTITY, np.array([1.0, -2.0, 3.0]))
    assert_allclose(dual_quaternion.log(q), [0, 0, 0, 1, -2, 3])
    assert_allclose(dual_quaternion.exp(np.array([0, 0, 0, 1.0, -2, 3])), q)


def test_log_of_a_half_turn() -> None:
    """A half turn about the vertical axis through (1, 0, 0) takes the origin to (2, 0, 0)."""
    q = dual_quaternion.from_parts(np.array([0, 0, 0, 1.0]), np.array([2.0, 0, 0]))
    # a turn of pi about Z at p: linear part p x w = (1, 0, 0) x (0, 0, pi) = (0, -pi, 0)
    assert_allclose(dual_quaternion.log(q), [0, 0, math.pi, 0, -math.pi, 0], atol=1e-12)


def test_log_of_a_double_cover_is_the_same_twist() -> None:
    assert_allclose(dual_quaternion.log(-TRANSFORMS), dual_quaternion.log(TRANSFORMS), atol=1e-12)
