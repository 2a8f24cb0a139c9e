# SPDX-License-Identifier: GPL-3.0-or-later
"""Twist and swing of rotations that SciPy composes from a twist and a swing."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import wxyz

from solvers.algebra import quaternion, twist_swing

AXES = [0, 1, 2]
RANDOM = Rotation.random(300, np.random.default_rng(6))
angles = st.floats(-3.1, 3.1)


def composed(x: np.ndarray, axis: int) -> Rotation:
    """The rotation of coordinates (..., 3): first the twist, then the swing, by SciPy."""
    twist, swing = np.zeros_like(x), np.zeros_like(x)
    twist[..., axis] = x[..., 0]
    swing[..., [a for a in AXES if a != axis]] = x[..., 1:]
    return Rotation.from_rotvec(swing) * Rotation.from_rotvec(twist)


@pytest.mark.parametrize("axis", AXES)
def test_decompose_gives_factors_of_the_right_kind(axis: int) -> None:
    """`q = swing * twist`, both of length one, the twist about the axis only, the swing without a part about it."""
    q = wxyz(RANDOM)
    swing, twist = twist_swing.decompose(q, axis)
    assert_allclose(quaternion.product(swing, twist), q, atol=1e-15)
    assert_allclose(swing[:, 1 + axis], 0, atol=1e-15)
    assert_allclose(np.delete(twist, [0, 1 + axis], axis=1), 0)
    assert_allclose(np.linalg.norm(swing, axis=1), 1, atol=1e-14)
    assert_allclose(np.linalg.norm(twist, axis=1), 1, atol=1e-14)


@pytest.mark.parametrize("axis", AXES)
@given(twist=angles, bend=st.floats(0, 3.1), towards=angles)
def test_coordinates_of_a_known_twist_and_swing(axis: int, twist: float, bend: float, towards: float) -> None:
    """The values that SciPy composed are recovered: the twist first, then the swing's two components in the axes'
    order."""
    x = np.array([twist, bend * math.cos(towards), bend * math.sin(towards)])
    assert_allclose(twist_swing.coordinates(wxyz(composed(x, axis)), axis), x, atol=1e-9)


@pytest.mark.parametrize("axis", AXES)
def test_compose_matches_scipy(axis: int) -> None:
    x = np.random.default_rng(7).uniform(-4, 4, (100, 3))
    ours = quaternion.to_matrix(twist_swing.compose(x, axis))
    assert_allclose(ours, composed(x, axis).as_matrix(), atol=1e-13)


@pytest.mark.parametrize("axis", AXES)
def test_coordinates_of_the_double_cover_are_the_same(axis: int) -> None:
    q = wxyz(RANDOM)
    assert_allclose(twist_swing.coordinates(-q, axis), twist_swing.coordinates(q, axis), atol=1e-13)


@pytest.mark.parametrize("axis", AXES)
def test_a_half_turn_swing_has_no_twist(axis: int) -> None:
    """At `w = a = 0` the twist is undetermined and set to 0, and the swing is the whole half turn."""
    first, second = twist_swing.SWING_AXES[axis]
    q = np.zeros(4)
    q[1 + first], q[1 + second] = 0.6, -0.8
    assert_allclose(twist_swing.coordinates(q, axis), [0, 0.6 * math.pi, -0.8 * math.pi], atol=1e-15)
    swing, twist = twist_swing.decompose(q, axis)
    assert_allclose(swing, q)
    assert_allclose(twist, quaternion.IDENTITY)


@pytest.mark.parametrize("axis", AXES)
def test_a_half_turn_twist_is_plus_pi(axis: int) -> None:
    """The twist lies in (-pi, pi]: for both signs of the quaternion, and of its zero, it is +pi or the angle next to
    -pi."""
    for w, a in [(0.0, 1.0), (0.0, -1.0), (-0.0, 1.0), (-0.0, -1.0)]:
        q = np.zeros(4)
        q[0], q[1 + axis] = w, a
        assert_allclose(twist_swing.coordinates(q, axis), [math.pi, 0, 0], atol=1e-15)


@pytest.mark.parametrize("small", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("axis", AXES)
def test_near_a_half_turn_swing_the_rotation_survives(axis: int, small: float) -> None:
    """Although the twist is nearly undetermined, swing times twist is the rotation."""
    x = np.array([0.7, 0.6 * (math.pi - small), 0.8 * (math.pi - small)])
    q = wxyz(composed(x, axis))
    back = twist_swing.compose(twist_swing.coordinates(q, axis), axis)
    assert abs(back @ q) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("axis", AXES)
@given(twist=angles, bend=st.floats(0, 3.0), towards=angles, rates=st.tuples(angles, angles, angles))
def test_body_jacobian_is_the_turn_that_the_rates_make(axis: int, twist, bend, towards, rates) -> None:
    """Central differences of SciPy's rotations, in the joint's own turned frame."""
    assume(bend == 0 or bend > 1e-6)
    x = np.array([twist, bend * math.cos(towards), bend * math.sin(towards)])
    step = 1e-6 * np.array(rates)
    turned = composed(x - step, axis).inv() * composed(x + step, axis)
    found = twist_swing.body_jacobian(x, axis) @ np.array(rates)
    assert_allclose(found, turned.as_rotvec() / 2e-6, atol=2e-8)


@pytest.mark.parametrize("axis", AXES)
def test_coordinates_are_the_same_wherever_the_rotations_lie_in_memory(axis: int) -> None:
    """Of many or few, with blocks of other sizes beside them: NumPy 1.26 rounds by what lies behind on AVX-512."""
    rotations, random = wxyz(RANDOM), np.random.default_rng(1)
    expected = twist_swing.coordinates(rotations, axis)
    kept = []
    for _ in range(2000):
        count = int(random.integers(1, 300))
        kept.append(bytearray(int(random.integers(16, 32 * count))))
        if len(kept) > 100:
            del kept[int(random.integers(100))]
        assert np.array_equal(twist_swing.coordinates(rotations[:count], axis), expected[:count])
