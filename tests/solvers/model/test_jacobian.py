# SPDX-License-Identifier: GPL-3.0-or-later
"""Manipulator Jacobians against differences of SciPy's rotations, hand geometry and each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons, vectors, wxyz

import solvers as ik
from solvers.algebra import dual_quaternion

STEP = 1e-6
ALL = (ik.velocity_jacobian, ik.twist_jacobian, ik.exponential_map_jacobian, ik.dual_quaternion_jacobian,
       ik.finite_difference_jacobian)  # fmt: skip


def moved(skeleton: ik.Skeleton, pose: ik.Pose, column: int, step: float, stored: bool = False) -> ik.Pose:
    """The pose with one degree of freedom moved, by SciPy; `stored`: balls move along their rotation vectors."""
    owners = [j for j, kind in enumerate(skeleton.kinds) for _ in range({"ball": 3, "fixed": 0}.get(kind, 1))]
    joint = owners[column]
    component = column - owners.index(joint)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    own = scipy_rotation(rotations[joint])
    if skeleton.kinds[joint] == "prismatic":
        translations[joint] += step * skeleton.axis[joint]
    elif skeleton.kinds[joint] == "hinge":
        rotations[joint] = wxyz(own * Rotation.from_rotvec(step * skeleton.axis[joint]))
    elif stored:
        rotations[joint] = wxyz(Rotation.from_rotvec(own.as_rotvec() + step * np.eye(3)[component]))
    else:
        rotations[joint] = wxyz(own * Rotation.from_rotvec(step * np.eye(3)[component]))
    return ik.Pose(rotations, translations)


def differences(skeleton: ik.Skeleton, pose: ik.Pose, joint: int, offset: tuple, stored: bool = False) -> np.ndarray:
    """Velocity rows (6, n) by central differences."""
    count = sum({"ball": 3, "fixed": 0}.get(kind, 1) for kind in skeleton.kinds)
    jacobian = np.zeros((6, count))
    for column in range(count):
        ends = []
        for step in (-STEP, STEP):
            world = ik.forward(skeleton, moved(skeleton, pose, column, step, stored))
            turned = scipy_rotation(world.rotations[joint])
            ends.append((turned, world.positions[joint] + turned.apply(offset)))
        (before, start), (after, end) = ends
        jacobian[:3, column] = (after * before.inv()).as_rotvec() / (2 * STEP)
        jacobian[3:, column] = (end - start) / (2 * STEP)
    return jacobian


def drawn(skeleton: ik.Skeleton, seed: int) -> tuple[ik.Pose, int]:
    """A pose within half turns, and a joint."""
    generator = np.random.default_rng(seed)
    return random_pose(skeleton, generator, size=1.7), int(generator.integers(len(skeleton)))


# -- velocity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("function", "near"), [(ik.velocity_jacobian, 1e-7), (ik.finite_difference_jacobian, 1e-4)])
@given(skeletons(), seeds, vectors)
def test_velocity_matches_central_differences(function, near, skeleton: ik.Skeleton, seed: int, offset: tuple) -> None:
    """Trees of any kind: hinges, slides, balls, other axes, several roots, detached joints.

    The forward difference of Kenwright's algorithm 2 does so up to about its step.
    """
    pose, joint = drawn(skeleton, seed)
    found = function(skeleton, pose, joint, offset)
    assert_allclose(found, differences(skeleton, pose, joint, offset), atol=near)


def test_an_effector_without_an_offset_is_its_joint() -> None:
    """The default offset of every function is zero; another offset is another effector."""
    skeleton = chain(3)
    pose = random_pose(skeleton, np.random.default_rng(4))
    for function in {*ALL} - {ik.twist_jacobian}:
        assert_allclose(function(skeleton, pose, 2), function(skeleton, pose, 2, (0, 0, 0)), atol=1e-15)
        assert np.abs(function(skeleton, pose, 2) - function(skeleton, pose, 2, (0.1, 0.1, 0.1))).max() > 0.01


def test_a_skeleton_that_cannot_move_has_no_columns() -> None:
    """Fixed joints only: six or eight rows and no columns."""
    skeleton = chain(2, kind="fixed")
    pose = skeleton.rest_pose()
    assert [function(skeleton, pose, 1).shape for function in ALL] == [(6, 0), (6, 0), (6, 0), (8, 0), (6, 0)]


# -- twist ------------------------------------------------------------------------------------------------------------


@given(skeletons(), seeds)
def test_twist_is_the_logarithm_of_the_motion_in_the_skeletons_frame(skeleton: ik.Skeleton, seed: int) -> None:
    """`Q_after conj(Q_before)` as a twist, by central differences."""
    pose, joint = drawn(skeleton, seed)
    found = ik.twist_jacobian(skeleton, pose, joint)
    for column in range(found.shape[1]):
        ends = []
        for step in (-STEP, STEP):
            world = ik.forward(skeleton, moved(skeleton, pose, column, step))
            ends.append(dual_quaternion.from_parts(world.rotations[joint], world.positions[joint]))
        twist = dual_quaternion.log(dual_quaternion.product(ends[1], dual_quaternion.conjugate(ends[0])))
        assert_allclose(found[:, column], twist / (2 * STEP), atol=1e-7)


# -- exponential map --------------------------------------------------------------------------------------------------


@given(skeletons(), seeds, vectors)
def test_exponential_map_matches_differences_of_the_stored_vectors(skeleton, seed: int, offset: tuple) -> None:
    """Each component of each ball's rotation vector is stepped; hinges and slides as in the velocity Jacobian."""
    pose, joint = drawn(skeleton, seed)
    found = ik.exponential_map_jacobian(skeleton, pose, joint, offset)
    assert_allclose(found, differences(skeleton, pose, joint, offset, stored=True), atol=1e-7)


def test_exponential_map_at_a_half_turn() -> None:
    """Differences of the vectors match near the angle pi too."""
    skeleton = chain(2)
    pose = skeleton.rest_pose()
    pose.rotations[0] = wxyz(Rotation.from_rotvec((math.pi - 1e-4) * np.array([0.6, 0, 0.8])))
    found = ik.exponential_map_jacobian(skeleton, pose, 1)
    assert_allclose(found, differences(skeleton, pose, 1, (0, 0, 0), stored=True), atol=1e-7)


# -- dual quaternion --------------------------------------------------------------------------------------------------


@given(skeletons(), seeds, vectors)
def test_dual_quaternion_matches_differences_of_all_eight_numbers(skeleton, seed: int, offset: tuple) -> None:
    """The effector's frame, with its offset, stepped along every degree of freedom."""
    pose, joint = drawn(skeleton, seed)
    found = ik.dual_quaternion_jacobian(skeleton, pose, joint, offset)
    for column in range(found.shape[1]):
        ends = []
        for step in (-STEP, STEP):
            world = ik.forward(skeleton, moved(skeleton, pose, column, step))
            effector = world.positions[joint] + scipy_rotation(world.rotations[joint]).apply(offset)
            ends.append(dual_quaternion.from_parts(world.rotations[joint], effector))
        # SciPy chooses a sign of its own where a rotation passes a half turn: compare on the one of the pose
        now = ik.forward(skeleton, pose).rotations[joint]
        before, after = (end * np.sign(end[:4] @ now) for end in ends)
        assert_allclose(found[:, column], (after - before) / (2 * STEP), atol=1e-7)


# -- finite differences -----------------------------------------------------------------------------------------------


def test_the_error_of_finite_differences_grows_with_the_step() -> None:
    """A forward difference is off by half the second derivative times the step: 0.5 delta on a unit circle."""
    skeleton = ik.Skeleton([ik.Joint("pin", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))])
    for delta in (1e-2, 1e-3):
        column = ik.finite_difference_jacobian(skeleton, skeleton.rest_pose(), 0, (1, 0, 0), delta)[:, 0]
        assert_allclose(column[:3], [0, 0, 1], atol=1e-12)
        assert_allclose(column[3:], [-0.5 * delta, 1, 0], atol=delta**2)


# -- what they refuse -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [-1, 2, 0.0, "hand", None])
def test_an_effector_on_no_joint_is_refused(joint: object) -> None:
    skeleton, named = chain(2), "no joint is called 'hand'; the joints are 'joint"
    for function in ALL:
        expected = named if joint == "hand" else f"joint = {joint!r}.*0 to 1"
        with pytest.raises(ik.InvalidGoal, match=f"effector: {expected}"):
            function(skeleton, skeleton.rest_pose(), joint)


@pytest.mark.parametrize("offset", [(0, 1), (0, math.nan, 0), "up", 1.0])
def test_an_effector_with_a_bad_offset_is_refused(offset: object) -> None:
    with pytest.raises(ik.InvalidGoal, match=r"'joint 1'.*offset"):
        ik.velocity_jacobian(chain(2), chain(2).rest_pose(), 1, offset)
    with pytest.raises(ik.InvalidGoal, match=r"'joint 1'.*offset"):
        ik.finite_difference_jacobian(chain(2), chain(2).rest_pose(), 1, offset)


@pytest.mark.parametrize("delta", [0.0, -1e-6, math.nan, math.inf])
def test_a_step_of_no_size_is_refused(delta: float) -> None:
    with pytest.raises(ik.InvalidOptions, match=r"delta.*above 0"):
        ik.finite_difference_jacobian(chain(2), chain(2).rest_pose(), 1, delta=delta)


def test_a_bad_pose_is_refused() -> None:
    with pytest.raises(ik.InvalidPose, match=r"rotations"):
        ik.velocity_jacobian(chain(2), chain(3).rest_pose(), 1)
