# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone limbs: how they are found, their preferred bend, and the law of cosines that folds them."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from measures import turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import random_pose, scipy_rotation, wxyz

import solvers as ik
from solvers.model.goals import Targets
from solvers.space import limb

BEND = (0.35, 0, 0)


def leg(
    kind: str = "ball", side: float = 1.0, upper: float = 0.5, lower: float = 0.4, **settings: object
) -> ik.Skeleton:
    """Hips, thigh, shin and foot, straight down."""
    return ik.Skeleton([
        ik.Joint("hips", -1, "ball", (0, 1, 0)),
        ik.Joint("thigh", 0, kind, (0.2 * side, 0, 0)),
        ik.Joint("shin", 1, "hinge", (0, -upper, 0), axis=(1, 0, 0), **{"preferred": BEND, **settings}),
        ik.Joint("foot", 2, "ball", (0, -lower, 0)),
    ])  # fmt: skip


def folded(skeleton: ik.Skeleton, goal: ik.Goal, pose: ik.Pose, swivel: float = 0.0) -> ik.World:
    """The leg's positions after its fold."""
    (stage,) = ik.prepare(skeleton, [goal]).stages
    kinematics = stage.tasks.kinematics(stage.space.state(pose), None)
    rotation = (1.0, 0, 0, 0) if goal.rotation is None else goal.rotation
    targets = Targets(np.array([[goal.position]]), np.array([[rotation]], dtype=float), np.zeros((1, 1, 3)))
    rotations = limb.fold(stage.limbs, [goal], pose.rotations[None], kinematics, targets, np.array([swivel]))
    return ik.forward(skeleton, ik.Pose(rotations[0, 0], pose.translations))


def knee(world: ik.World) -> float:
    """The angle between thigh and shin [rad]; pi if straight."""
    thigh, shin = world.positions[1] - world.positions[2], world.positions[3] - world.positions[2]
    return math.acos(np.clip(thigh @ shin / np.linalg.norm(thigh) / np.linalg.norm(shin), -1, 1))


FOOT = ik.Goal(3, position=(0.2, 0.4, 0.3), chain=[1, 2, 3])


@pytest.mark.parametrize(("skeleton", "goal"), [
    (leg(preferred=None), FOOT), (leg(kind="hinge"), FOOT), (leg(stiffness=1.0), FOOT),
    (leg(), ik.Goal(3, position=(0, 0, 0), chain=[2, 3])), (leg(), ik.Goal(1, position=(0, 0, 0))),
], ids=["no bend preferred", "no ball above", "a stiff knee", "chain too short", "goal above the knee"])  # fmt: skip
def test_no_limb_is_without_a_bend_a_ball_and_a_goal_that_reaches_both(skeleton: ik.Skeleton, goal: ik.Goal) -> None:
    assert ik.prepare(skeleton, [goal]).stages[0].limbs == []


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_fixed_joints_inside_a_limb_are_part_of_its_bones(turn: float) -> None:
    """With fixed joints that divide thigh and shin, the foot still meets its target by the law of cosines."""
    about = (math.cos(turn / 2), 0.0, math.sin(turn / 2), 0.0)
    back = (about[0], 0.0, -about[2], 0.0)
    skeleton = ik.Skeleton([
        ik.Joint("hips", -1, "ball", (0, 1, 0)),
        ik.Joint("thigh", 0, "ball", (0.2, 0, 0)),
        ik.Joint("thigh twist", 1, "fixed", (0, -0.2, 0), rest=about),
        ik.Joint("shin", 2, "hinge", (0, -0.3, 0), rest=back, axis=(1, 0, 0), preferred=BEND),
        ik.Joint("shin twist", 3, "fixed", (0, -0.25, 0)),
        ik.Joint("foot", 4, "ball", (0, -0.15, 0)),
    ])  # fmt: skip
    goal = ik.Goal(5, position=(0.2, 0.4, 0.3), chain=[1, 2, 3, 4, 5])
    (found,) = ik.prepare(skeleton, [goal]).stages[0].limbs
    assert (found.upper, found.lower, found.end) == (1, 3, 5)
    assert_allclose(found.upper_axis, [1, 0, 0], atol=1e-12)
    world = folded(skeleton, goal, skeleton.rest_pose())
    assert_allclose(world.positions[5], goal.position, atol=1e-9)


def test_left_and_right_limbs_mirror_each_other() -> None:
    """Two legs of one size swivel in opposite directions, in any order; a third limb of another size does not."""
    left, right, arm = leg(side=1.0).joints, leg(side=-1.0).joints, leg(upper=0.3, lower=0.25).joints
    for first, second in ((left, right), (right, left)):
        joints = list(first)
        for more in (second, arm):
            joints += [replace(j, parent=0 if j.parent == 0 else j.parent + len(joints) - 1) for j in more[1:]]
        feet = [ik.Goal(j, position=(0, 0, 0)) for j in (3, 6, 9)]
        sides = [part.side for stage in ik.prepare(ik.Skeleton(joints), feet).stages for part in stage.limbs]
        assert sorted(sides[:2]) == [-1.0, 1.0]
        assert len(sides) == 3


def bent(skeleton: ik.Skeleton, pose: ik.Pose, target: tuple, goal: ik.Goal = FOOT) -> np.ndarray:
    """The rotations of the base pose of a pose with a target for the foot."""
    (stage,) = ik.prepare(skeleton, [goal]).stages
    kinematics = stage.tasks.kinematics(stage.space.state(pose), None)
    return limb.bend_base(stage.limbs, pose.rotations[None], kinematics, np.array([[target]]), np.ones((1, 1)))[0]


FAR = (0.2, -2, 0)  # out of the leg's reach, straight down


@pytest.mark.parametrize(("already", "after"), [(0.0, 0.35), (0.1, 0.35), (0.35, 0.35), (1.5, 1.5), (-0.2, 0.15)])
def test_bend_base_adds_no_more_than_is_missing(already: float, after: float) -> None:
    """A limb that is bent further does not change; one bent to the other side turns by at most the preferred angle."""
    skeleton = leg()
    pose = skeleton.rest_pose()
    pose.rotations[2] = wxyz(Rotation.from_rotvec([already, 0, 0]))
    assert_allclose(scipy_rotation(bent(skeleton, pose, FAR)[2]).as_rotvec(), [after, 0, 0], atol=1e-12)


@pytest.mark.parametrize("turn", [(0.5, 0.0, 0.0), (1.5, 0.6, -0.4), (0.8, -2.2, 0.3)])
def test_the_sign_of_a_quaternion_makes_no_difference_to_a_limb(turn: tuple) -> None:
    """`q` and `-q` are the same rotation, so the start poses that have them lead to the same answer."""
    skeleton = leg()
    joints = [*skeleton.joints]
    joints[2] = replace(joints[2], kind="ball")
    skeleton, answers = ik.Skeleton(joints), []
    for sign in (1.0, -1.0):
        pose = skeleton.rest_pose()
        pose.rotations[2] = sign * wxyz(Rotation.from_rotvec(turn))
        base = bent(skeleton, pose, FAR)[2]
        assert_allclose(scipy_rotation(base).as_matrix(), scipy_rotation(pose.rotations[2]).as_matrix())
        answers.append(scipy_rotation(ik.solve(skeleton, [FOOT], pose).pose.rotations[1:]).as_matrix())
    assert_allclose(*answers, atol=1e-6)


@pytest.mark.parametrize("swivel", [0.0, 0.8, -0.8])
@pytest.mark.parametrize("seed", range(5))
def test_fold_puts_the_foot_on_its_target_by_the_law_of_cosines(seed: int, swivel: float) -> None:
    """From any pose and at any swivel the target is met with the triangle's angle, the knee on its preferred side."""
    skeleton = leg()
    pose = random_pose(skeleton, np.random.default_rng(seed), size=0.8)
    hip = ik.forward(skeleton, pose).positions[1]
    direction = np.random.default_rng(100 + seed).normal(size=3)
    distance = 0.25 + 0.12 * seed
    target = hip + distance * direction / np.linalg.norm(direction)
    world = folded(skeleton, ik.Goal(3, position=target, chain=[1, 2, 3]), pose, swivel)
    assert_allclose(world.positions[3], target, atol=1e-9)
    cosine = (0.5**2 + 0.4**2 - distance**2) / (2 * 0.5 * 0.4)
    assert knee(world) == pytest.approx(math.acos(cosine), abs=1e-7)
    shin_in_thigh = scipy_rotation(world.rotations[1]).inv() * scipy_rotation(world.rotations[2])
    assert_allclose(shin_in_thigh.as_rotvec(), [math.pi - knee(world), 0, 0], atol=1e-7)


def test_fold_of_an_effector_beyond_the_limbs_end_allows_for_the_rest() -> None:
    """For a toe that should be at the target with the foot rotated, the ankle goes to its place under the
    rotated foot."""
    skeleton = leg()
    turn = wxyz(Rotation.from_rotvec([0.4, 0.2, 0]))
    goal = ik.Goal(3, position=(0.3, 0.4, 0.3), rotation=turn, offset=(0, -0.05, 0.2), chain=[1, 2, 3])
    world = folded(skeleton, goal, skeleton.rest_pose())
    expected = np.array(goal.position) - scipy_rotation(turn).apply(goal.offset)
    assert_allclose(world.positions[3], expected, atol=1e-9)


@pytest.mark.parametrize(("distance", "angle"), [(5.0, math.pi), (0.01, 0.0)], ids=["unreachable", "too near"])
def test_fold_of_an_unreachable_target_stretches_or_folds_as_far_as_bones_can(distance: float, angle: float) -> None:
    """Straight toward a target too far away; fully folded for one too near."""
    skeleton = leg()
    target = np.array([0.2, 1, 0]) + distance * np.array([0.6, -0.8, 0])
    world = folded(skeleton, ik.Goal(3, position=target, chain=[1, 2, 3]), skeleton.rest_pose())
    assert knee(world) == pytest.approx(angle, abs=1e-6)
    way = world.positions[3] - world.positions[1]
    assert_allclose(way / np.linalg.norm(way), [0.6, -0.8, 0], atol=1e-6)


@pytest.mark.parametrize(("begin", "end"), [
    ((0.1, 0.0, 0.2), (0.1, 0.25, 0.2)), ((0.1, 0.05, 0.4), (0.1, 0.25, 0.4)), ((0.1, 0.0, 0.3), (0.1, 0.3, -0.3)),
    ((0.1, 0.05, -0.3), (0.1, 0.05, 0.3)),
], ids=["lift", "kick", "step back", "swing"])  # fmt: skip
@pytest.mark.compiled
def test_a_limited_leg_follows_its_toes_without_a_jump(begin: tuple, end: tuple) -> None:
    """Frames solved afresh: the knee must not stretch against its limit with the foot bent up, and then bend
    suddenly."""
    thigh = ik.TwistSwing(twist=(-0.8, 0.8), swing_x=(-2.1, 0.5), swing_z=(-0.5, 0.8))
    foot = ik.TwistSwing(twist=(-0.2, 0.2), swing_x=(-0.35, 0.87), swing_z=(-0.2, 0.2))
    toes = ik.TwistSwing(twist=(0, 0), swing_x=(-1.2, 0.8), swing_z=(-0.1, 0.1))
    skeleton = ik.Skeleton([
        ik.Joint("hips", -1, "ball", (0, 0.9, 0)),
        ik.Joint("thigh", 0, "ball", (0.1, 0, 0), limits=thigh),
        ik.Joint("shin", 1, "hinge", (0, -0.43, 0), axis=(1, 0, 0), limits=ik.Range(0, 2.35), preferred=BEND),
        ik.Joint("foot", 2, "ball", (0, -0.42, 0), limits=foot),
        ik.Joint("toes", 3, "ball", (0, -0.05, 0.14), limits=toes),
    ])  # fmt: skip
    goal = ik.Goal("toes", position=(0, 0, 0), offset=(0, 0, 0.06), chain=["thigh", "shin", "foot", "toes"])
    places = np.linspace(begin, end, 60)[:, None]
    answers = ik.solve_frames(skeleton, [goal], places, options=ik.Options(warm_start=False))
    assert all(answer.converged for answer in answers)
    steps = [turned_by(one.pose, other.pose).max() for one, other in pairwise(answers)]
    assert max(steps) < math.radians(8.0)  # seen from the hip, targets move by a degree at most


@pytest.mark.parametrize("knee_bend", [0.0, 0.1, -0.1, 1.0])
def test_a_start_that_meets_its_goals_is_the_answer(knee_bend: float) -> None:
    """The preferred bend does not move a leg whose foot is on its target already."""
    skeleton = leg()
    pose = skeleton.rest_pose()
    pose.rotations[2] = wxyz(Rotation.from_rotvec([knee_bend, 0, 0]))
    foot = ik.forward(skeleton, pose).positions[3]
    found = ik.solve(skeleton, [replace(FOOT, position=tuple(foot))], pose=pose)
    assert_allclose(ik.forward(skeleton, found.pose).positions, ik.forward(skeleton, pose).positions, atol=1e-5)


@pytest.mark.parametrize(("raised", "stays"), [(0.0, True), (0.002, True), (0.2, False)])
def test_a_knee_that_is_bent_backward_as_its_target_needs_stays_so(raised: float, stays: bool) -> None:
    """A fold to the other side would turn the thigh far away from an answer."""
    skeleton, pose = leg(), leg().rest_pose()
    pose.rotations[2] = wxyz(Rotation.from_rotvec([-0.5, 0, 0]))
    place = ik.forward(skeleton, pose).positions[3] + np.array([0.0, raised, 0.0])
    world = folded(skeleton, replace(FOOT, position=tuple(place)), pose)
    assert_allclose(world.positions[3], place, atol=1e-9)
    thigh, shin = world.positions[2] - world.positions[1], world.positions[3] - world.positions[2]
    side = scipy_rotation(world.rotations[2]).apply(BEND) @ np.cross(thigh, shin)
    assert (side < 0.0) == stays


def test_the_preferred_bend_fades_in_continuously_as_the_target_leaves() -> None:
    """From a straight leg the knee bends in small steps, and always to the preferred side."""
    skeleton = leg()
    foot = ik.forward(skeleton, skeleton.rest_pose()).positions[3]
    knees = []
    for lift in np.linspace(0.0, 0.1, 101):
        found = ik.solve(skeleton, [replace(FOOT, position=tuple(foot + np.array([0.0, lift, 0.0])))])
        knees.append(float(scipy_rotation(found.pose.rotations[2]).as_rotvec() @ BEND))
    assert (np.diff(knees) > 0.0).all()
