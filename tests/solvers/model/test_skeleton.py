# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons: what they refuse, their tree, and forward kinematics against a walk along 4 x 4 matrices."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import chain, random_pose, scipy_rotation, seeds, skeletons, vectors, wxyz

import solvers as ik
from solvers.algebra import dual_quaternion

HALF = math.sqrt(0.5)
QUARTER_TURN_Z = (HALF, 0, 0, HALF)


def ball(name: str = "a", parent: int = -1, **settings: object) -> ik.Joint:
    """A ball joint 1 above its parent."""
    return ik.Joint(name, parent, **{"kind": "ball", "offset": (0, 1, 0), **settings})


def walked(skeleton: ik.Skeleton, pose: ik.Pose) -> tuple[np.ndarray, np.ndarray]:
    """Positions (J, 3) and rotation matrices (J, 3, 3), joint by joint from its parent."""
    positions: dict[int, np.ndarray] = {}
    turned: dict[int, np.ndarray] = {}

    def place(index: int) -> None:
        joint = skeleton.joints[index]
        if joint.parent >= 0 and joint.parent not in turned:
            place(joint.parent)
        above = turned[joint.parent] if joint.parent >= 0 else np.eye(3)
        origin = positions[joint.parent] if joint.parent >= 0 else np.zeros(3)
        frame = (above if joint.inherit_rotation else np.eye(3)) @ scipy_rotation(np.array(joint.rest)).as_matrix()
        turned[index] = frame @ scipy_rotation(pose.rotations[index]).as_matrix()
        positions[index] = origin + above @ np.array(joint.offset) + turned[index] @ pose.translations[index]

    for index in range(len(skeleton)):
        if index not in turned:
            place(index)
    count = range(len(skeleton))
    return np.array([positions[i] for i in count]), np.array([turned[i] for i in count])


# -- what a skeleton refuses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joints", "message"), [
    ([], r"at least one joint"),
    ([ball(), "elbow"], r"Joint objects.*'elbow'.*index 1"),
    ([ball("knee", parent=3)], r"'knee'.*parent = 3.*-1 or an index below 1"),
    ([ball("self", parent=0)], r"'self'.*circle"),
    ([ball(), ball("b", parent=2), ball("c", parent=1)], r"'b'.*circle"),
    ([ik.Joint("knee", -1, "saddle", (0, 0, 0))], r"'knee'.*'saddle'.*ball, hinge, prismatic, fixed"),
    ([ball("knee", offset=(0, 1))], r"'knee' offset.*3 numbers.*\(2,\)"),
    ([ball("knee", offset=(0, math.nan, 0))], r"'knee' offset.*finite.*nan"),
    ([ball("knee", offset="up")], r"'knee' offset.*3 numbers.*'up'"),
    ([ball("knee", rest=(1, 0, 0))], r"'knee' rest.*4 numbers.*\(3,\)"),
    ([ball("knee", rest=(0, 0, 0, 0))], r"'knee' rest.*quaternion"),
    ([ball("knee", axis=(0, 0, 0))], r"'knee' axis.*zero vector"),
    ([ball("knee", stiffness=1.5)], r"'knee' stiffness.*0\.\.1.*1\.5"),
    ([ball("knee", stiffness=True)], r"'knee' stiffness.*0\.\.1.*True"),
    ([ball("knee", hold="0.5")], r"'knee' hold.*0\.\.1.*'0\.5'"),
    *(([ball("knee", gain=gain)], r"'knee' gain: expected 0\.\.10000, got")
      for gain in (-1.0, math.nan, math.inf, 1e5, "firm", True, None)),
    ([ball(), ball("rail", 0, kind="prismatic", inherit_rotation=False)], r"'rail'.*prismatic.*joint below"),
    ([ball("knee", offset=("0", "1", "0"))], r"'knee' offset: expected 3 numbers, got \('0', '1', '0'\)"),
    ([ball("knee", inherit_rotation="no")], r"'knee': inherit_rotation = 'no'; expected True or False"),
    ([ball("hip"), ball(None, parent=0)], r"joint 1: name = None; expected a string"),
    ([ik.Joint("knee", -1, ["ball"], (0, 0, 0))], r"'knee': kind = \['ball'\]; expected one of ball, hinge"),
    (None, r"expected a list of Joint, got None"),
    (ball(), r"expected a list of Joint, got Joint"),
    ([ball("knee", preferred=(1, 2))], r"'knee' preferred.*3 numbers"),
])  # fmt: skip
def test_bad_joints_are_refused_by_name(joints: list, message: str) -> None:
    with pytest.raises(ik.InvalidSkeleton, match=message):
        ik.Skeleton(joints)


@pytest.mark.parametrize("length", [0, -1.0, math.nan, math.inf, "1", True, [1.0], 10**400])
def test_a_length_that_is_no_length_is_refused(length: object) -> None:
    with pytest.raises(ik.InvalidSkeleton, match=r"length = .*; expected a number above 0"):
        ik.Skeleton([ball()], length=length)


@pytest.mark.parametrize("other", [None, 3, "arm", [ball()]])
def test_what_is_no_skeleton_is_refused(other: object) -> None:
    for call in (
        lambda: ik.solve(other, [ik.Goal(0, (0, 1, 0))]), lambda: ik.forward(other, chain(1).rest_pose()),
        lambda: ik.pose_from_angles(other, [0, 0, 0]), lambda: ik.angles_from_pose(other, chain(1).rest_pose()),
        lambda: ik.toward_posture(other, chain(1).rest_pose()),
    ):  # fmt: skip
        with pytest.raises(ik.InvalidSkeleton, match="skeleton: expected a Skeleton, got"):
            call()


@pytest.mark.parametrize(("kind", "limits", "wanted"), [
    ("ball", ik.Range(0, 1), "TwistSwing"), ("hinge", ik.TwistSwing(), "Range"), ("prismatic", (0, 1), "Range"),
])  # fmt: skip
def test_limits_of_the_wrong_kind_are_refused(kind: str, limits: object, wanted: str) -> None:
    with pytest.raises(ik.InvalidLimits, match=rf"'knee'.*{kind}.*{wanted}"):
        ik.Skeleton([ik.Joint("knee", -1, kind, (0, 0, 0), limits=limits)])


def test_errors_are_value_errors_of_one_family() -> None:
    for name in ("InvalidSkeleton", "InvalidLimits", "InvalidGoal", "InvalidPose", "InvalidOptions", "UnknownSolver"):
        assert issubclass(getattr(ik, name), ik.DqikError)
    assert issubclass(ik.DqikError, ValueError)


# -- poses ------------------------------------------------------------------------------------------------------------


def test_a_pose_is_normalized_and_not_written_to() -> None:
    """Quaternions may have any length; one of length 0 means no motion; the caller's arrays do not change."""
    given_rotations = np.array([[3.0, 0, 0, 4.0], [0, 0, 0, 0]])
    pose = ik.Pose(given_rotations, np.zeros((2, 3)))
    checked = chain(2).check_pose(pose)
    assert_allclose(checked.rotations, [[0.6, 0, 0, 0.8], [1, 0, 0, 0]])
    assert_allclose(given_rotations, [[3.0, 0, 0, 4.0], [0, 0, 0, 0]])


# -- forward kinematics -----------------------------------------------------------------------------------------------


@given(skeletons(most=8), seeds)
def test_forward_matches_a_walk_along_matrices(skeleton: ik.Skeleton, seed: int) -> None:
    """Trees of any shape and order, with any motions, detached joints and slides among them."""
    pose = random_pose(skeleton, np.random.default_rng(seed), size=2.5)
    world = ik.forward(skeleton, pose)
    positions, turned = walked(skeleton, pose)
    assert_allclose(world.positions, positions, atol=1e-12)
    assert_allclose(scipy_rotation(world.rotations).as_matrix(), turned, atol=1e-12)


@given(skeletons(most=5), seeds, vectors)
def test_transforms_of_many_frames_with_their_own_links(skeleton: ik.Skeleton, seed: int, shift: tuple) -> None:
    """Each frame has the transforms of its own pose; links replace the skeleton's own, one for all frames or one per
    frame."""
    generator = np.random.default_rng(seed)
    poses = [random_pose(skeleton, generator) for _ in range(3)]
    rotations, slides = np.stack([p.rotations for p in poses]), np.stack([p.translations for p in poses])
    stretched = ik.Skeleton([replace(joint, offset=np.array(joint.offset) + shift) for joint in skeleton.joints])
    each = np.stack([skeleton.links, stretched.links, skeleton.links])
    for links, meant in [(None, [skeleton] * 3), (stretched.links[None], [stretched] * 3),
                         (each, [skeleton, stretched, skeleton])]:  # fmt: skip
        world = skeleton.transforms(rotations, slides, links)
        for frame in range(3):
            positions, turned = walked(meant[frame], poses[frame])
            assert_allclose(dual_quaternion.translation(world[frame]), positions, atol=1e-12)
            assert_allclose(scipy_rotation(world[frame, :, :4]).as_matrix(), turned, atol=1e-12)


def test_a_long_chain_is_as_exact_as_a_short_one() -> None:
    """300 joints of 1/300 turn each close a regular polygon."""
    count = 300
    turn = wxyz(Rotation.from_rotvec([0, 0, 2 * math.pi / count]))
    skeleton = chain(count + 1)
    pose = ik.Pose(np.tile(turn, (count + 1, 1)), np.zeros((count + 1, 3)))
    world = ik.forward(skeleton, pose)
    assert_allclose(world.positions[-1], world.positions[0], atol=1e-10)
    assert_allclose(np.linalg.norm(np.diff(world.positions, axis=0), axis=1), 1, atol=1e-12)


# -- the tree ---------------------------------------------------------------------------------------------------------


def forked() -> ik.Skeleton:
    """Two roots, with children before parents: 2 -> 0 -> 3 and 2 -> 1, and 4 alone."""
    return ik.Skeleton([
        ball("0", 2, offset=(3, 4, 0)), ball("1", 2, offset=(0, 0, 2)), ball("2", -1, offset=(100, 0, 0)),
        ball("3", 0, offset=(0, 5, 12)), ball("4", -1, offset=(0, 7, 0)),
    ])  # fmt: skip


def test_ancestors_are_the_joint_itself_and_all_above_it() -> None:
    expected = [{0, 2}, {1, 2}, {2}, {3, 0, 2}, {4}]
    assert [set(np.flatnonzero(row)) for row in forked().ancestors] == expected


def test_order_has_parents_before_children() -> None:
    skeleton = forked()
    assert sorted(skeleton.order) == list(range(5))
    place = {joint: step for step, joint in enumerate(skeleton.order)}
    assert all(place[joint.parent] < place[i] for i, joint in enumerate(skeleton.joints) if joint.parent >= 0)


def test_length_is_the_longest_way_down_from_a_root() -> None:
    """5 + 13 along 2 -> 0 -> 3; the roots' distances from the origin do not count."""
    assert forked().length == pytest.approx(18)


def test_length_of_a_skeleton_all_in_one_place_is_one() -> None:
    """A length of 1 avoids division by 0."""
    assert chain(1).length == 1
    assert chain(3, length=0.0).length == 1


def test_axis_is_a_unit_vector_and_plus_y_by_default() -> None:
    """Hinges turn about it, slides move along it, a ball twists about it."""
    skeleton = ik.Skeleton([ball(), ball("b", 0, axis=(0, 3, -4))])
    assert_allclose(skeleton.axis, [[0, 1, 0], [0, 0.6, -0.8]])


def test_rest_pose_is_no_motion_and_a_new_one_each_time() -> None:
    skeleton = chain(2)
    skeleton.rest_pose().rotations[0] = 7
    assert_allclose(skeleton.rest_pose().rotations, [[1, 0, 0, 0]] * 2)
    assert_allclose(skeleton.rest_pose().translations, np.zeros((2, 3)))


def test_rest_orientations_of_any_length_are_taken_as_directions() -> None:
    skeleton = ik.Skeleton([ball(offset=(0, 0, 0), rest=(2, 0, 0, 2)), ball("b", 0)])
    world = ik.forward(skeleton, skeleton.rest_pose())
    assert_allclose(world.positions[1], [-1, 0, 0], atol=1e-15)
    assert_allclose(world.rotations[1], QUARTER_TURN_Z, atol=1e-15)
