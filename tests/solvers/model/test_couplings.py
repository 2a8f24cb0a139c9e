# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupled joints: exact in every linear solver, inside all limits, smaller problems, and what is refused."""

import numpy as np
import pytest
from drawn import coupled_skeleton
from hypothesis import given, settings
from measures import EXACT, outside_limits
from numpy.testing import assert_allclose
from skeletons import chain, random_pose, scipy_rotation, seeds

import solvers as ik
from solvers.space.joint_space import JointSpace

LINEAR = [
    "PGS", "DLS", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "NEWTON", "BROYDEN", "SQP",
    "GAUSS_SEIDEL",
]  # fmt: skip


def swing_twist(q: np.ndarray) -> np.ndarray:
    """Twist about Y, then swing X and Z, of a motion, by SciPy: the swing's rotation vector has no Y."""
    rotation = scipy_rotation(q)
    x, y, z, w = rotation.as_quat()
    del x, z
    twist = scipy_rotation(np.array([w, 0.0, y, 0.0]) / np.hypot(w, y))
    swing = (rotation * twist.inv()).as_rotvec()
    return np.array([2.0 * np.arctan(y / w) if w else np.pi, swing[0], swing[2]])  # the same for q and -q


def coordinates(skeleton: ik.Skeleton, pose: ik.Pose, joint: int, axis: str) -> float:
    """A coordinate of a joint, measured here."""
    if skeleton.kinds[joint] == "prismatic":
        return float(pose.translations[joint] @ skeleton.axis[joint])
    if skeleton.kinds[joint] == "hinge":
        return float(scipy_rotation(pose.rotations[joint]).as_rotvec() @ skeleton.axis[joint])
    return float(swing_twist(pose.rotations[joint])[{"Y": 0, "X": 1, "Z": 2}[axis]])


def off(skeleton: ik.Skeleton, pose: ik.Pose) -> float:
    """How far the pose is off its exact couplings, up to full turns."""
    worst = 0.0
    for one in skeleton.couplings:
        own = coordinates(skeleton, pose, one.joint, one.axis)
        wanted = one.factor * coordinates(skeleton, pose, one.leader, one.leader_axis) + one.offset
        away = own - wanted
        if one.stiffness == 1.0:
            worst = max(worst, min(abs(away), abs(abs(away) - 2 * np.pi)))
    return worst


def finger() -> ik.Skeleton:
    """A knuckle with two hinges, the second of which follows the first."""
    joints = [
        ik.Joint("knuckle", -1, "ball", (0, 0, 0), limits=ik.TwistSwing((-0.1, 0.1), (-0.4, 1.6), (-0.3, 0.3))),
        ik.Joint("middle", 0, "hinge", (0, 0.045, 0), axis=(1, 0, 0), limits=ik.Range(-0.1, 1.9)),
        ik.Joint("tip", 1, "hinge", (0, 0.027, 0), axis=(1, 0, 0), limits=ik.Range(-0.05, 1.2)),
    ]
    return ik.Skeleton(joints, couplings=[ik.Coupling("tip", "X", "middle", "X", 0.67, 0.02)])


@pytest.mark.parametrize("solver", LINEAR)
def test_couplings_hold_and_limits_too_in_every_linear_solver(solver: str) -> None:
    """Drawn skeletons and targets, met or not, from a start that obeys nothing."""

    @settings(max_examples=12)
    @given(seeds)
    def check(seed: int) -> None:
        generator = np.random.default_rng(seed)
        try:
            skeleton = coupled_skeleton(generator, bool(seed % 2))
            last = len(skeleton) - 1
            goals = [ik.Goal(last, position=generator.normal(size=3), offset=(0, 0.3, 0)),
                     ik.Goal(int(generator.integers(last)), position=generator.normal(size=3))]  # fmt: skip
            start = random_pose(skeleton, generator)
            pose = ik.solve(skeleton, goals, start, solver, ik.Options(iterations=15)).pose
        except ik.InvalidSkeleton as error:
            assert "leave no room" in str(error)
            return
        moved = np.zeros(len(skeleton), dtype=bool)
        for stage in ik.prepare(skeleton, goals, solver).stages:
            moved[stage.space.moved] = True
        own = [one for one in skeleton.couplings if moved[one.joint]]
        assert off(ik.Skeleton(skeleton.joints, couplings=own), pose) < EXACT
        assert max(outside_limits(skeleton, pose, joint) for joint in np.flatnonzero(moved)) < EXACT

    check()


def test_a_coupled_step_is_the_uncoupled_one_of_a_skeleton_without_the_follower() -> None:
    """Two hinges of which the second turns twice as far: the planar solution with x2 = 2 x1, by bisection."""
    places = ((0, 0, 0), (1, 0, 0))
    joints = [ik.Joint("ab"[k], k - 1, "hinge", place, axis=(0, 0, 1)) for k, place in enumerate(places)]
    skeleton = ik.Skeleton(joints, couplings=[ik.Coupling("b", "X", "a", "X", 2.0)])
    assert JointSpace(skeleton, np.ones(2, dtype=bool)).unknowns.n == 1
    turn = 0.4
    place = [np.cos(turn) + np.cos(3 * turn), np.sin(turn) + np.sin(3 * turn), 0.0]
    solution = ik.solve(skeleton, [ik.Goal("b", position=place, offset=(1, 0, 0))])
    assert solution.converged
    assert_allclose(ik.angles_from_pose(skeleton, solution.pose), [turn, 2 * turn], atol=1e-4)


@pytest.mark.parametrize("solver", ["PGS", "DLS", "PINV", "SQP"])
def test_a_finger_reaches_as_well_with_its_tip_coupled(solver: str) -> None:
    """Places that a curled finger has: the miss is no larger than without the coupling, and fewer unknowns move."""
    skeleton = finger()
    free = ik.Skeleton(skeleton.joints)
    for curl in np.linspace(0.1, 1.0, 6):
        pose = ik.pose_from_angles(skeleton, [curl, 0.0, 0.0, 1.5 * curl, 0.67 * 1.5 * curl + 0.02])
        world = ik.forward(skeleton, pose)
        place = world.positions[2] + scipy_rotation(world.rotations[2]).apply((0, 0.02, 0))
        goals = [ik.Goal("tip", position=place, offset=(0, 0.02, 0))]
        options = ik.Options(tolerance=1e-6, iterations=100)
        coupled, alone = (ik.solve(one, goals, None, solver, options) for one in (skeleton, free))
        assert coupled.position_errors[0] < max(1.01 * alone.position_errors[0], 1e-6)
        assert off(skeleton, coupled.pose) < EXACT


def test_neighbours_follow_though_no_goal_names_them() -> None:
    """Fingers beside the one with the goal: coupled to it, without goals of their own."""
    joints = [ik.Joint("palm", -1, "fixed", (0, 0, 0))]
    for k in range(3):
        joints.append(ik.Joint(f"finger {k}", 0, "hinge", (0.02 * k, 0.09, 0), axis=(1, 0, 0), limits=ik.Range(0, 1.6)))
        joints.append(ik.Joint(f"end {k}", len(joints) - 1, "fixed", (0, 0.05, 0)))
    couplings = [ik.Coupling("finger 1", "X", "finger 0", "X", 0.6), ik.Coupling("finger 2", "X", "finger 1", "X", 0.5)]
    skeleton = ik.Skeleton(joints, couplings=couplings)
    place = (0.0, 0.09 + 0.05 * np.cos(1.0), 0.05 * np.sin(1.0))
    pose = ik.solve(skeleton, [ik.Goal("end 0", position=place)]).pose
    turns = [coordinates(skeleton, pose, skeleton.index(f"finger {k}"), "X") for k in range(3)]
    assert_allclose(turns, [1.0, 0.6, 0.3], atol=1e-3)
    pose = ik.solve(skeleton, [ik.Goal("end 2", position=(0.04, *place[1:]))]).pose  # now a follower leads the way
    turns = [coordinates(skeleton, pose, skeleton.index(f"finger {k}"), "X") for k in range(3)]
    assert_allclose(turns, np.array([1.0, 0.6, 0.3]) * turns[0], atol=1e-9)


def test_a_spine_shares_its_swing_inside_both_ellipses() -> None:
    """All axes follow the chest, which may bend further than the bone below it: the smaller ellipse holds for both."""
    wide, narrow = ((-1.0, 1.0), (-0.9, 0.7)), ((-0.3, 0.4), (-0.2, 0.5))
    joints = [ik.Joint("low", -1, "ball", (0, 0, 0), limits=ik.TwistSwing((-0.5, 0.5), *narrow)),
              ik.Joint("high", 0, "ball", (0, 0.3, 0), limits=ik.TwistSwing((-0.5, 0.5), *wide))]  # fmt: skip
    couplings = [ik.Coupling("low", axis, "high", axis, 0.8) for axis in "XYZ"]
    skeleton = ik.Skeleton(joints, couplings=couplings)
    for place in ((1, 0.1, 1), (-1, 0, 0.3), (0.2, 0.5, -1)):
        pose = ik.solve(skeleton, [ik.Goal("high", position=place, offset=(0, 0.4, 0))]).pose
        assert off(skeleton, pose) < EXACT
        assert max(outside_limits(skeleton, pose, joint) for joint in (0, 1)) < EXACT
    x, z = swing_twist(pose.rotations[0])[1:]
    assert np.hypot(x, z) > 0.15  # it bent as far as it may


def test_a_soft_coupling_holds_where_goals_leave_it_open_and_gives_way() -> None:
    """A redundant chain keeps the relation; a goal that needs another pose is met, the nearer the softer."""
    def solved(stiffness: float, place: tuple) -> tuple[float, float]:
        couplings = [ik.Coupling(2, "X", 1, "X", 1.0, stiffness=stiffness)]
        skeleton = ik.Skeleton(chain(4, limits=ik.TwistSwing((-1, 1), (-2, 2), (-2, 2))).joints, couplings=couplings)
        solution = ik.solve(skeleton, [ik.Goal(3, position=place)], options=ik.Options(pull=1e-5, iterations=200))
        away = coordinates(skeleton, solution.pose, 2, "X") - coordinates(skeleton, solution.pose, 1, "X")
        return abs(away), float(solution.position_errors[0])

    for stiffness in (0.3, 0.9):
        away, miss = solved(stiffness, (0.2, 2.0, 1.0))
        assert away < 0.02
        assert miss < 1e-3
    loose, tight = (ik.Skeleton(chain(2, "hinge", axis=(1, 0, 0)).joints, couplings=[
        ik.Coupling(1, "X", 0, "X", 1.0, stiffness=k)]) for k in (0.01, 0.99))  # fmt: skip
    target = [ik.Goal(1, position=(0, 0.0, 1.0), offset=(0, 0, 0)), ik.Goal(1, rotation=(1, 0, 0, 0))]
    turned = [ik.angles_from_pose(one, ik.solve(one, target).pose) for one in (loose, tight)]
    assert_allclose(turned[0], [np.pi / 2, -np.pi / 2], atol=0.02)  # met: soft couplings yield to goals


def test_a_mimic_joint_of_a_robot_is_coupled() -> None:
    robot = ik.skeleton_from_urdf("""
    <robot name="gripper"><link name="base"/><link name="left"/><link name="right"/>
      <joint name="one" type="prismatic"><parent link="base"/><child link="left"/><axis xyz="1 0 0"/>
        <limit lower="0" upper="0.04"/></joint>
      <joint name="two" type="prismatic"><parent link="base"/><child link="right"/><axis xyz="1 0 0"/>
        <limit lower="-0.05" upper="0.01"/><mimic joint="one" multiplier="-1" offset="0.005"/></joint>
    </robot>""")
    pose = ik.solve(robot, [ik.Goal("one", position=(0.03, 0, 0))]).pose
    assert_allclose(pose.translations[:, 0], [0.03, -0.025], atol=1e-4)
    assert pose.translations[:, 0].sum() == pytest.approx(0.005, abs=EXACT)
    pose = ik.solve(robot, [ik.Goal("one", position=(0.3, 0, 0))]).pose
    assert_allclose(pose.translations[:, 0], [0.04, -0.035], atol=1e-6)


@pytest.mark.parametrize(("couplings", "message"), [
    ([("nobody", "X", 0)], "coupling 0 joint: no joint is called 'nobody'"),
    ([(1, "W", 0)], "axis = 'W'; expected X, Y or Z"),
    ([(1, "X", 1)], "joint 'joint 1' cannot follow itself"),
    ([(1, "X", 0), (0, "X", 1)], "its couplings run in a circle"),
    ([(1, "X", 0), (1, "X", 2)], "two couplings of its axis X"),
    ([(1, "X", 0, "X", float("nan"))], "factor = nan; expected a finite number"),
    ([(1, "X", 0, "X", 1.0, 0.0, 1.5)], "stiffness = 1.5; expected 0 to 1"),
    ("tip", "couplings: expected a list of Coupling"),
    ([None], "coupling 0: expected a Coupling, got None"),
])  # fmt: skip
def test_what_a_coupling_cannot_be_is_said(couplings: object, message: str) -> None:
    if isinstance(couplings, list):
        couplings = [ik.Coupling(*one) if isinstance(one, tuple) else one for one in couplings]
    with pytest.raises(ik.InvalidSkeleton, match=message):
        ik.Skeleton(chain(3).joints, couplings=couplings)


def test_joints_that_do_not_move_are_not_coupled_and_limits_without_room_are_named() -> None:
    with pytest.raises(ik.InvalidSkeleton, match="joint 'joint 1' does not move"):
        ik.Skeleton(chain(2, "fixed").joints, couplings=[ik.Coupling(1, "X", 0)])
    joints = [ik.Joint("a", -1, "hinge", (0, 0, 0), limits=ik.Range(0, 0.1)),
              ik.Joint("b", 0, "hinge", (0, 1, 0), limits=ik.Range(0.5, 1))]  # fmt: skip
    skeleton = ik.Skeleton(joints, couplings=[ik.Coupling("b", "X", "a")])
    with pytest.raises(ik.InvalidSkeleton, match="joint 'a': its limits and those of the joints coupled"):
        ik.solve(skeleton, [ik.Goal("b", position=(0, 1, 1))])
