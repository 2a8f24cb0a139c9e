# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds: held joints stay at their start if the goals allow it; goals that can be met are met with any holds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from drawn import bodied
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_and_numpy import EQUAL, apart, asked, filled
from measures import both_solvers, goal_errors, turned_by
from numpy.testing import assert_array_equal
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, chain, random_pose, seeds, torso, wxyz
from test_precedence import pulled_figure
from test_yielding import HEIGHT

import solvers as ik

CHEST = 1
PULL = ik.Options(pull=1e-5)
levels = st.lists(st.sampled_from([0.0, 0.0, 0.3, 0.5, 1.0]), min_size=8, max_size=8)


def held(skeleton: ik.Skeleton, holds: dict[int, float]) -> ik.Skeleton:
    """A skeleton with holds of some joints."""
    joints = [replace(joint, hold=holds.get(index, 0.0)) for index, joint in enumerate(skeleton.joints)]
    return ik.Skeleton(joints)


def goals_at(skeleton: ik.Skeleton, pose: ik.Pose) -> list[ik.Goal]:
    """Goals for both hands at their positions in a pose."""
    world = ik.forward(skeleton, pose)
    return [ik.Goal(hand, world.positions[hand], world.rotations[hand]) for hand in (LEFT, RIGHT)]


def posed_chest() -> tuple[ik.Pose, list[ik.Goal]]:
    """A torso with bent arms whose chest was turned after its hands had reached their targets, and its goals."""
    skeleton, generator = torso(), np.random.default_rng(1)
    pose = random_pose(skeleton, generator, 0.3)
    for hand, side in ((LEFT, 1), (RIGHT, -1)):
        pose.rotations[hand - 1] = wxyz(Rotation.from_rotvec([0, 0, 1.2 * side]))
    goals = goals_at(skeleton, pose)
    pose.rotations[CHEST] = wxyz(Rotation.from_quat(pose.rotations[CHEST], scalar_first=True)
                                 * Rotation.from_rotvec([0.1, 0.5, 0.2]))  # fmt: skip
    return pose, goals


@pytest.mark.parametrize("solver", ["PGS", "DLS", "SQP", "NEWTON"])
def test_a_held_joint_stays_where_it_is_while_the_goals_are_met(solver: str) -> None:
    """To a tenth of a degree; without the hold it moves more than ten times as much."""
    pose, goals = posed_chest()
    moved = []
    for hold in (0.0, 1.0):
        found = ik.solve(held(torso(), {CHEST: hold}), goals, pose, solver, PULL)
        assert found.converged
        moved.append(turned_by(pose, found.pose)[CHEST])
    assert moved[1] < math.radians(0.1) < 0.1 * moved[0]


@both_solvers
@pytest.mark.parametrize("warm", [True, False])
def test_a_held_joint_stays_in_a_motion(solver: str, warm: bool) -> None:
    """In frames solved from the one before, and in frames solved afresh."""
    pose, goals = posed_chest()
    skeleton = held(torso(), {CHEST: 1.0})
    ways = 0.08 * np.sin(np.linspace(0.0, 3.0, 20))[:, None, None] * np.array([[0.3, 0.5, 0.2], [-0.4, 0.3, 0.1]])
    places = np.array([goal.position for goal in goals]) + ways
    turns = np.tile([goal.rotation for goal in goals], (20, 1, 1))
    options = replace(PULL, warm_start=warm)
    for found in ik.solve_frames(skeleton, goals, places, turns, pose, solver, options):
        assert found.converged
        assert turned_by(pose, found.pose)[CHEST] < math.radians(0.5)


@both_solvers
def test_a_held_slide_stays(solver: str) -> None:
    """A root that may slide, with an arm that reaches its goal from the held place."""
    arm = chain(3)
    joints = [ik.Joint("slide", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), hold=1.0)]
    joints += [replace(joint, parent=joint.parent + 1) for joint in arm.joints]
    skeleton = ik.Skeleton(joints)
    start = random_pose(skeleton, np.random.default_rng(2), 0.4)
    goal = ik.Goal(3, ik.forward(skeleton, start).positions[3] + [0.3, -0.3, 0.1])
    found = ik.solve(skeleton, [goal], start, solver, PULL)
    assert found.converged
    assert abs(found.pose.translations[0] - start.translations[0]).max() < 1e-3


@both_solvers
def test_joints_held_alike_are_not_held_before_each_other(solver: str) -> None:
    """With equal holds the answer is that without holds, to the bit."""
    pose, goals = posed_chest()
    plain = ik.solve(torso(), goals, pose, solver, PULL)
    alike = ik.solve(held(torso(), dict.fromkeys(range(len(torso())), 0.7)), goals, pose, solver, PULL)
    assert_array_equal(plain.pose.rotations, alike.pose.rotations)


@both_solvers
@settings(max_examples=30, derandomize=True)
@given(seeds, levels)
def test_goals_that_can_be_met_are_met_with_any_holds(solver: str, seed: int, holds: list[float]) -> None:
    """Both hands meet positions and rotations from another pose, however far the held joints have to move."""
    skeleton, generator = torso(), np.random.default_rng(seed)
    goals = goals_at(skeleton, random_pose(skeleton, generator, 0.7))
    start = random_pose(skeleton, generator, 0.5)
    found = ik.solve(held(skeleton, dict(enumerate(holds))), goals, start, solver, PULL)
    assert found.converged
    for goal in goals:
        distance, angle = goal_errors(skeleton, found.pose, goal)
        assert distance <= 1e-4
        assert angle <= 1e-3


@both_solvers
@pytest.mark.parametrize("hold", [0.5, 1.0])
@pytest.mark.parametrize("distance", [0.3, 1.2, 1.9])
def test_a_held_straight_arm_folds_if_its_goal_needs_it(solver: str, hold: float, distance: float) -> None:
    """A target on the line of a straight arm is singular, and is met although the arm is held."""
    joints = [replace(joint, hold=hold) for joint in chain(3).joints]
    skeleton = ik.Skeleton([*joints[:1], replace(joints[1], preferred=(0.3, 0, 0)), joints[2]])
    assert ik.solve(skeleton, [ik.Goal(2, (0, distance, 0))], None, solver, PULL).converged


@both_solvers
def test_a_hand_led_out_of_reach_does_not_go_back_to_a_keyed_trunk(solver: str) -> None:
    """A hold of a half is that of keys: what is missed is the same as without; a trunk posed by hand is kept more."""
    pose, (left, right) = posed_chest()
    far = right.position + np.array([-0.4, 0.1, 0.2])
    goals = [replace(left, rotation=None), replace(right, position=far, rotation=None)]
    free, keyed, posed = (ik.solve(held(torso(), dict.fromkeys((0, CHEST), hold)), goals, pose, solver, PULL)
                          for hold in (0.0, 0.5, 1.0))  # fmt: skip
    assert free.position_errors[1] > 0.02
    assert keyed.position_errors[1] == pytest.approx(free.position_errors[1], rel=0.02)
    assert turned_by(pose, posed.pose)[CHEST] < 0.5 * turned_by(pose, keyed.pose)[CHEST]


@both_solvers
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_hips_that_come_last_sink_although_a_leg_is_held(solver: str, seed: int) -> None:
    """By 5 % of the height between hands and feet that stay: at least half the way, and all of it without the hold."""
    skeleton, goals, pose = pulled_figure(seed)
    places, lower = ik.forward(skeleton, pose).positions, 0.05 * HEIGHT
    hips = skeleton.names.index("hips")
    goals = [replace(g, position=places[g.joint] - [0.0, 0.0, lower * (g.joint == hips)]) for g in goals]
    for hold, share in ((0.0, 1e-3), (1.0, 0.5)):
        leg = {skeleton.names.index(name): hold for name in ("thigh 1", "shin 1")}
        found = ik.solve(held(skeleton, leg), goals, pose, solver, ik.Options(tolerance=1e-4 * HEIGHT))
        *others, last = found.position_errors
        assert max(others) <= 1e-4 * HEIGHT
        assert last < share * lower


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(12))
def test_other_holds_and_gains_need_no_new_preparation(seed: int) -> None:
    """A prepared solve with other holds answers as one prepared with these, contacts too: compiled to the bit."""
    problem, contacts = bodied(seed)
    problem = replace(problem, options=replace(problem.options, iterations=8))
    contacts = contacts if seed % 3 == 0 else None
    generator, count = np.random.default_rng(seed), len(problem.skeleton)
    hold, gain = generator.choice([0.0, 0.0, 0.5, 1.0], count), generator.choice([1.0, 1.0, 0.0, 3.0], count)
    before = generator.choice([0.0, 0.3, 1.0], count), np.ones(count)
    asked_of = problem.goals, problem.solver, problem.options, contacts
    own = ik.prepare(problem.skeleton.with_holds(hold, gain), *asked_of)
    other = ik.prepare(problem.skeleton, *asked_of).with_holds(*before).with_holds(hold, gain)
    assert [joint.hold for joint in other.skeleton.joints] == hold.tolist()
    targets, start, links = asked(problem, 2, seed, 0.2)
    targets = targets._replace(points=None if not len(own._points) else np.tile(own._points, (2, 1, 1)))
    for is_compiled in {own.compiled is not None, False}:
        found = [filled((targets, start, links)) for _ in range(2)]
        for prepared, arrays in zip((own, other), found, strict=True):
            (prepared if is_compiled else prepared.numpy).solve_into(arrays)
        near = 0.0 if is_compiled and problem.options.pull is not None else EQUAL  # NumPy rounds by places in memory
        assert apart(*([arrays.batch()] for arrays in found)) <= near


def test_holds_that_no_joint_can_have() -> None:
    skeleton = chain(2)
    for hold, gain in (([0.0, 2.0], [1.0, 1.0]), ([0.0, math.nan], [1.0, 1.0]), ([0.0, 0.0], [1.0, -1.0])):
        with pytest.raises(ik.InvalidSkeleton, match=skeleton.names[1]):
            skeleton.with_holds(np.array(hold), np.array(gain))
