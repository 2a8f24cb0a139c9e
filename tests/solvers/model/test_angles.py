# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversions between flat joint values and poses, joints by name, and transforms between joints."""

import math

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import arm, chain, random_pose, scipy_rotation, seeds, skeletons, wxyz

import solvers as ik


def mixed() -> ik.Skeleton:
    """A joint of each kind, in an order that is not that of the tree."""
    return ik.Skeleton([
        ik.Joint("elbow", 2, "hinge", (0, 1, 0), axis=(2, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0)),
        ik.Joint("shoulder", -1, "ball", (0, 0, 0)), ik.Joint("tool", 1, "prismatic", (0, 0, 0), axis=(0, 0, 3)),
    ])  # fmt: skip


def test_values_are_in_the_skeletons_order() -> None:
    """One value for the elbow, none for the hand, three for the shoulder, one for the tool; axes have any length."""
    pose = ik.pose_from_angles(mixed(), [0.3, 0.1, -0.2, 0.4, 0.7])
    assert_allclose(pose.rotations[0], wxyz(Rotation.from_rotvec([0.3, 0, 0])))
    assert_allclose(pose.rotations[2], wxyz(Rotation.from_rotvec([0.1, -0.2, 0.4])))
    assert_allclose(pose.rotations[[1, 3]], [(1, 0, 0, 0)] * 2)
    assert_allclose(pose.translations, [(0, 0, 0)] * 3 + [(0, 0, 0.7)])
    assert ik.column_joints(mixed()).tolist() == [0, 2, 2, 2, 3]


@given(skeletons(), seeds)
def test_values_of_a_pose_give_that_pose_again(skeleton: ik.Skeleton, seed: int) -> None:
    """Holds for any skeleton and turns below pi, up to the sign of quaternions."""
    pose = random_pose(skeleton, np.random.default_rng(seed), size=1.8)
    again = ik.pose_from_angles(skeleton, ik.angles_from_pose(skeleton, pose))
    assert_allclose(np.abs((again.rotations * pose.rotations).sum(-1)), 1.0, atol=1e-12)
    assert_allclose(again.translations, pose.translations, atol=1e-12)


@given(skeletons(limited=False), seeds)
def test_a_pose_of_values_gives_those_values_again(skeleton: ik.Skeleton, seed: int) -> None:
    """Holds for one frame and a batch, for hinges within half a turn and rotation vectors of balls."""
    generator = np.random.default_rng(seed)
    q = generator.uniform(-1.8, 1.8, (3, len(ik.column_joints(skeleton))))
    poses = ik.pose_from_angles(skeleton, q)
    assert poses.rotations.shape == (3, len(skeleton), 4)
    assert_allclose(ik.angles_from_pose(skeleton, poses), q, atol=1e-9)
    one = ik.pose_from_angles(skeleton, q[1])
    assert_allclose(one.rotations, poses.rotations[1])
    assert_allclose(ik.angles_from_pose(skeleton, one), q[1], atol=1e-9)


@pytest.mark.parametrize(("limits", "angle"), [
    (None, 2.5), (None, -2.5), (ik.Range(0.5, 4.0), 3.9), (ik.Range(-6.0, -1.0), -5.5), (ik.Range(5, 7), 6.2),
])  # fmt: skip
def test_a_hinges_angle_is_the_one_inside_its_limits(limits: ik.Range | None, angle: float) -> None:
    """Also beyond half a turn, if the limits reach that far."""
    door = chain(1, kind="hinge", axis=(0, 0, 1), limits=limits)
    assert_allclose(ik.angles_from_pose(door, ik.pose_from_angles(door, [angle])), [angle])


def test_what_a_joint_cannot_do_is_left_out_of_its_values() -> None:
    """A hinge's turn about another axis and a ball's translation give no values."""
    pose = mixed().rest_pose()
    pose.rotations[0] = wxyz(Rotation.from_rotvec([0, 0.5, 0]))
    pose.translations[2] = (1, 1, 1)
    assert_allclose(ik.angles_from_pose(mixed(), pose), np.zeros(5))


@pytest.mark.parametrize(("q", "message"), [
    (np.zeros(4), r"q: expected shape \(5,\) or \(frames, 5\), got \(4,\)"),
    (np.zeros((2, 4)), r"got \(2, 4\)"),
    (np.zeros((1, 1, 5)), r"got \(1, 1, 5\)"),
    (0.5, r"got \(\)"),
    ("straight", r"expected numbers of shape \(5,\), got 'straight'"),
    ([0, 0, math.nan, 0, 0], r"q\[2\], of joint 'shoulder': got nan"),
    ([[0, 0, 0, 0, math.inf]], r"q\[4\], of joint 'tool': got inf"),
])  # fmt: skip
def test_bad_values_are_refused(q: object, message: str) -> None:
    with pytest.raises(ik.InvalidPose, match=message):
        ik.pose_from_angles(mixed(), q)


@pytest.mark.parametrize(("pose", "message"), [
    ((np.zeros((3, 4)), np.zeros((4, 3))), r"rotations: expected shape \(4, 4\) or \(frames, 4, 4\), got \(3, 4\)"),
    ((np.ones((2, 4, 4)), np.zeros((4, 3))), r"rotations \(2, 4, 4\) but translations \(4, 3\)"),
    ((np.full((2, 4, 4), math.nan), np.zeros((2, 4, 3))), r"rotations of joint 'elbow': got \[nan"),
    ((np.ones((4, 4)), np.zeros((4, 4))), r"translations.*\(4, 3\).*\(4, 4\)"),
    ((np.ones((4, 4)), np.full((4, 3), math.inf)), r"translations of joint 'elbow'.*inf"),
    (("none", "none"), "Pose"),
    (np.ones((4, 4)), "expected"),
    (5, r"expected Pose\(rotations, translations\)"),
])  # fmt: skip
def test_bad_poses_are_refused(pose: object, message: str) -> None:
    """Poses are checked as in forward kinematics, which also takes batches; a solve's start is a single pose."""
    for function in (ik.angles_from_pose, ik.forward):
        with pytest.raises(ik.InvalidPose, match=message):
            function(mixed(), pose)
    with pytest.raises(ik.InvalidPose, match=r"rotations: expected shape \(4, 4\), got \(2, 4, 4\)"):
        ik.solve(mixed(), [], ik.Pose(np.ones((2, 4, 4)), np.zeros((2, 4, 3))))


# -- names ------------------------------------------------------------------------------------------------------------


def test_joints_may_be_named_where_they_may_be_numbered() -> None:
    """A goal with names gives the same answer as with indices, to the last digit, and is not changed."""
    named = ik.Goal("hand", (0.4, 1.1, 0.6), chain=["shoulder", "elbow"])
    numbered = ik.Goal(2, (0.4, 1.1, 0.6), chain=[0, 1])
    found, expected = (ik.solve(arm(), [goal]) for goal in (named, numbered))
    assert (found.pose.rotations == expected.pose.rotations).all()
    assert (named.joint, named.chain) == ("hand", ["shoulder", "elbow"])
    prepared = ik.prepare(arm(), [named])
    assert (prepared.goals[0].joint, prepared.goals[0].chain) == (2, [0, 1])
    rest = arm().rest_pose()
    for jacobian in (ik.velocity_jacobian, ik.twist_jacobian, ik.exponential_map_jacobian, ik.dual_quaternion_jacobian,
                     ik.finite_difference_jacobian):  # fmt: skip
        assert (jacobian(arm(), rest, "hand") == jacobian(arm(), rest, 2)).all()


def test_index_looks_names_up_and_lets_indices_pass() -> None:
    """NumPy integers are indices too."""
    assert [arm().index(joint) for joint in ("shoulder", "hand", 1, np.int64(2))] == [0, 2, 1, 2]


@pytest.mark.parametrize(("joint", "message"), [
    ("Elbo", "no joint is called 'Elbo'; the joints are 'elbow', "),
    ("hadn", "no joint is called 'hadn'; the joints are 'hand', "),
    ("", "no joint is called ''"),
    (3, "joint = 3; expected a name or an index from 0 to 2"),
    (-1, "joint = -1; expected"),
    (1.0, r"joint = 1\.0; expected"),
    (True, "joint = True; expected"),
    (None, "joint = None; expected"),
])  # fmt: skip
def test_an_unknown_joint_is_answered_with_the_right_ones(joint: object, message: str) -> None:
    with pytest.raises(ik.UnknownJoint, match=message):
        arm().index(joint)


def test_of_many_joints_the_twenty_most_alike_are_told() -> None:
    with pytest.raises(ik.UnknownJoint, match="the joints are 'joint 77', .* and 80 more"):
        chain(100).index("jiont 77")


def test_a_name_that_two_joints_have_is_wrong_only_where_it_is_looked_up() -> None:
    """A skeleton with equal names can be solved by indices."""
    twins = ik.Skeleton([ik.Joint("bone", -1, "ball", (0, 0, 0)), ik.Joint("bone", 0, "ball", (0, 1, 0))])
    assert ik.solve(twins, [ik.Goal(1, (0.6, 0.8, 0))]).converged
    with pytest.raises(ik.UnknownJoint, match=r"2 joints are called 'bone'; use an index, one of \[0, 1\]"):
        twins.index("bone")
    with pytest.raises(ik.InvalidGoal, match="goal 0: 2 joints are called 'bone'"):
        ik.solve(twins, [ik.Goal("bone", (0.6, 0.8, 0))])


@pytest.mark.parametrize("goals", [ik.Goal(2, (0, 1, 0)), "hand", 5, None])
def test_goals_that_are_no_list_are_refused(goals: object) -> None:
    """A single goal instead of a list is a common mistake."""
    with pytest.raises(ik.InvalidGoal, match="goals: expected a list of Goal, got"):
        ik.solve(arm(), goals)


# -- relative transforms ----------------------------------------------------------------------------------------------


@given(skeletons(), seeds)
def test_a_joint_in_another_joints_frame(skeleton: ik.Skeleton, seed: int) -> None:
    """By SciPy: the inverse of the first joint's transform times the second's; also for a batch."""
    generator = np.random.default_rng(seed)
    a, b = map(int, generator.integers(len(skeleton), size=2))
    q = generator.uniform(-1, 1, (2, len(ik.column_joints(skeleton))))
    world = ik.forward(skeleton, ik.pose_from_angles(skeleton, q))
    found = world.relative(a, b)
    for frame in range(2):
        first, second = (scipy_rotation(world.rotations[frame, joint]) for joint in (a, b))
        offset = first.inv().apply(world.positions[frame, b] - world.positions[frame, a])
        assert_allclose(found.positions[frame], offset, atol=1e-12)
        assert ((first.inv() * second).inv() * scipy_rotation(found.rotations[frame])).magnitude() < 1e-7
