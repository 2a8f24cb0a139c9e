# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves with known answers: two bones, limits, several goals, poles, stiffness."""

import math
from itertools import pairwise

import numpy as np
import pytest
from catalogue import EXACT_STEP, WAYS, Way
from drawn import Problem
from measures import EXACT, UPRIGHT, bend_from_pole, both_solvers, degrees_of, effector, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, arm, arm_bent, bent, chain, pointed, pointer, pointing, random_pose, torso, wxyz

import solvers as ik

# -- by every solver ---------------------------------------------------------------------------------------------------


def reached(way: Way, skeleton: ik.Skeleton, goals: list[ik.Goal], start: ik.Pose) -> ik.Solution:
    """The answer with as many iterations as slow solvers need."""
    options = ik.Options(iterations=2000, tolerance=1e-3, rotation_tolerance=1e-2, **dict(way.options))
    return way.solve(Problem(skeleton, goals, start, way.solver, options))


several = pytest.mark.parametrize(
    "way", [way for way in WAYS if way.solver != "TWO_BONE" and EXACT_STEP not in dict(way.options)], ids=str
)
STRETCHES = ("PGS", "DLS", "CCD", "SQP", "SVD", "EXTENDED", "NEWTON", "FABRIK", "TWO_BONE")  # others tremble there


@several
@pytest.mark.parametrize("count", [3, 6])
def test_a_chain_bends_to_a_place_well_inside_its_reach(count: int, way: Way) -> None:
    """In any direction, from a bent start."""
    for share, direction in zip((0.3, 0.5, 0.8), np.random.default_rng(count).normal(size=(3, 3)), strict=True):
        goal = ik.Goal(count - 1, share * (count - 1) * direction / np.linalg.norm(direction))
        assert reached(way, chain(count), [goal], bent(count)).converged


@several
def test_both_hands_of_a_torso_arrive(way: Way) -> None:
    """Two goals that share a spine, with rotations where the solver takes them."""
    skeleton = torso()
    world = ik.forward(skeleton, random_pose(skeleton, np.random.default_rng(7), 0.4))
    turns = [None, None] if way.solver == "FABRIK" else world.rotations[[LEFT, RIGHT]]
    goals = [ik.Goal(hand, world.positions[hand], turn) for hand, turn in zip((LEFT, RIGHT), turns, strict=True)]
    assert reached(way, skeleton, goals, skeleton.rest_pose()).converged


@pytest.mark.parametrize("way", [way for way in WAYS if way.solver in STRETCHES], ids=str)
def test_an_arm_is_stretched_toward_a_target_out_of_its_reach(way: Way) -> None:
    """Its hand is where the line to the target leaves its reach."""
    target = np.array([3.0, 2.0, 1.0])
    pose = reached(way, arm(), [ik.Goal(2, target)], arm_bent()).pose
    assert_allclose(effector(arm(), pose, 2), 2.0 * target / np.linalg.norm(target), atol=0.05)


# -- two bones, by the law of cosines ----------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize(("upper", "lower"), [(1.0, 1.0), (1.0, 0.7), (0.4, 1.2)])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8, 0.98])
def test_two_bones_have_the_elbow_of_the_law_of_cosines(upper: float, lower: float, share: float, solver: str) -> None:
    """A target anywhere between an arm's least and largest reach is met, with the triangle's angle."""
    distance = abs(upper - lower) + share * (upper + lower - abs(upper - lower))
    target = distance * np.array([2, -1, 2]) / 3
    solution = ik.solve(
        arm(upper, lower), [ik.Goal(2, position=target)], arm_bent(), solver, ik.Options(tolerance=1e-7)
    )
    assert solution.converged
    assert solution.position_errors[0] < 1e-7
    elbow = 2 * math.atan2(solution.pose.rotations[1, 1], solution.pose.rotations[1, 0])
    inner = math.acos((upper**2 + lower**2 - distance**2) / (2 * upper * lower))
    assert abs(math.remainder(elbow, 2 * math.pi)) == pytest.approx(math.pi - inner, abs=1e-5)


@both_solvers
def test_a_knee_that_never_quite_straightens_keeps_its_half_degree(solver: str) -> None:
    """With a range from 0.5 to 180 degrees a target is met inside, or the knee stops at its end to 1e-9."""
    skeleton = arm(elbow=ik.Range(math.radians(0.5), math.pi))
    for distance, met in [(1.5, True), (0.3, True), (1.9999, True), (2.5, False)]:
        goal = ik.Goal(2, position=(0, 0.6 * distance, 0.8 * distance))
        solution = ik.solve(skeleton, [goal], solver=solver, options=ik.Options(iterations=200))
        assert solution.converged == met
        assert outside_limits(skeleton, solution.pose, 1) <= EXACT
        elbow = 2 * math.atan2(solution.pose.rotations[1, 1], solution.pose.rotations[1, 0])
        assert elbow >= math.radians(0.5) - EXACT
        if not met:
            assert elbow == pytest.approx(math.radians(0.5), abs=1e-5)
            assert solution.at_limit[1]


# -- limits ------------------------------------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize("span", [360.0, 400.0])
def test_a_full_turn_range_wraps(span: float, solver: str) -> None:
    """From 170 to 190 degrees by the shorter way, and twice round the circle without a step back."""
    skeleton = pointer(ik.Range(-math.radians(span / 2), math.radians(span / 2)))
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(190), offset=(1, 0, 0))], pointed(170), solver)
    assert solution.converged
    assert not solution.at_limit[0]
    round_it = np.arange(0, 720, 5.0)
    positions = np.array([[pointing(angle)] for angle in round_it])
    goals = [ik.Goal(0, pointing(0), offset=(1, 0, 0))]
    frames = ik.solve_frames(skeleton, goals, positions, np.tile(UPRIGHT, (len(positions), 1, 1)), solver=solver)
    assert all(frame.converged for frame in frames)
    steps = [turned_by(a.pose, b.pose)[0] for a, b in pairwise(frames)]
    assert max(steps) == pytest.approx(math.radians(5), abs=1e-3)


@both_solvers
def test_a_range_just_short_of_a_full_turn_does_not_wrap(solver: str) -> None:
    """With limits of -170 and 170 degrees the pointer stops at 170 on the way from 160 to 190."""
    skeleton = pointer(ik.Range(math.radians(-170), math.radians(170)))
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(190), offset=(1, 0, 0))], pointed(160), solver)
    assert degrees_of(solution.pose) == pytest.approx(170, abs=1e-6)
    assert solution.at_limit[0]
    assert not solution.converged


@both_solvers
def test_a_slide_of_more_than_a_full_turns_number_is_limited_still(solver: str) -> None:
    """Lengths do not wrap: a rail of 10 ends at 10."""
    rail = ik.Skeleton([ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), limits=ik.Range(0, 10))])
    for target, end in [(12.0, 10.0), (-3.0, 0.0), (7.0, 7.0)]:
        solution = ik.solve(rail, [ik.Goal(0, position=(target, 0, 0))], solver=solver)
        assert solution.pose.translations[0, 0] == pytest.approx(end, abs=1e-4)
        assert solution.at_limit[0] == (end != target)


@both_solvers
@pytest.mark.parametrize(("lo", "hi", "start"), [(190, 260, 0), (-260, -190, 0), (100, 200, -90), (30, 60, 180)])
def test_ranges_that_exclude_zero_hold_and_are_entered(lo: float, hi: float, start: float, solver: str) -> None:
    """From a start on either side the middle of the range is reached, and the range is kept."""
    skeleton = pointer(ik.Range(math.radians(lo), math.radians(hi)))
    middle = 0.5 * (lo + hi)
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(middle), offset=(1, 0, 0))], pointed(start), solver)
    assert solution.converged
    beyond = ik.solve(skeleton, [ik.Goal(0, pointing(hi + 20), offset=(1, 0, 0))], solution.pose, solver)
    assert math.remainder(degrees_of(beyond.pose) - hi, 360) == pytest.approx(0, abs=1e-6)


@both_solvers
@pytest.mark.parametrize("axis", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (1, -2, 2)])
def test_swings_and_twists_that_exclude_zero_hold_and_are_entered(axis: tuple, solver: str) -> None:
    """From the rest pose, which the limits exclude, to targets that a pose inside them reaches."""
    limits = ik.TwistSwing(twist=(0.5, 1.0), swing_x=(0.3, 0.9), swing_z=(-1.0, -0.4))
    skeleton = chain(3, axis=axis, limits=limits)
    rest = ik.solve(skeleton, [ik.Goal(2, position=(0, 2, 0))], solver=solver, options=ik.Options(iterations=0)).pose
    assert max(outside_limits(skeleton, rest, joint) for joint in range(3)) <= EXACT
    inside = ik.solve(skeleton, [ik.Goal(2, position=(2, 1, 0), rotation=(0, 1, 0, 0))], solver=solver).pose
    assert max(outside_limits(skeleton, inside, joint) for joint in range(3)) <= EXACT
    target = effector(skeleton, inside, 2)
    solution = ik.solve(skeleton, [ik.Goal(2, position=target)], rest, solver)
    assert solution.converged
    assert max(outside_limits(skeleton, solution.pose, joint) for joint in range(3)) <= EXACT


@both_solvers
def test_at_limit_names_the_joints_on_a_limit_and_no_others(solver: str) -> None:
    """A twist driven past its end is listed; a joint well inside and one without limits are not."""
    skeleton = ik.Skeleton([
        ik.Joint("free", -1, "ball", (0, 0, 0), stiffness=0.99),
        ik.Joint("tight", 0, "ball", (0, 1, 0), limits=ik.TwistSwing((-0.2, 0.2), (-1, 1), (-1, 1))),
    ])  # fmt: skip
    turn = wxyz(Rotation.from_rotvec([0, 1.0, 0]))
    goals = [ik.Goal(1, rotation=turn, chain=[1])]
    assert list(ik.solve(skeleton, goals, solver=solver).at_limit) == [False, True]
    slight = [ik.Goal(1, rotation=wxyz(Rotation.from_rotvec([0.1, 0.1, 0])), chain=[1])]
    assert list(ik.solve(skeleton, slight, solver=solver).at_limit) == [False, False]


# -- several goals -----------------------------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize("first", [True, False])
def test_of_two_goals_at_odds_the_higher_priority_is_served(first: bool, solver: str) -> None:
    """With targets 2 apart for the same effector, the goal of higher priority is met to 5 mm, in any order."""
    high = ik.Goal(3, position=(1, 2, 0), priority=2)
    low = ik.Goal(3, position=(-1, 2, 0), priority=-1)
    goals = [high, low] if first else [low, high]
    solution = ik.solve(chain(4), goals, solver=solver)
    near, far = solution.position_errors if first else solution.position_errors[::-1]
    assert near < 5e-3
    assert far == pytest.approx(2, abs=0.01)


@both_solvers
def test_goals_of_equal_priority_meet_half_way(solver: str) -> None:
    """Equal weights share the distance; with a weight of 2 an error counts like one twice as large."""
    left, right = ik.Goal(3, position=(1, 2, 0)), ik.Goal(3, position=(-1, 2, 0))
    assert_allclose(ik.solve(chain(4), [left, right], bent(4), solver).position_errors, [1, 1], atol=1e-3)
    heavy = ik.Goal(3, position=(1, 2, 0), position_weight=2)
    # 4 x = y and x + y = 2
    assert_allclose(ik.solve(chain(4), [heavy, right], bent(4), solver).position_errors, [0.4, 1.6], atol=1e-2)


@both_solvers
def test_a_goal_below_anothers_chain_follows_and_does_not_pull(solver: str) -> None:
    """A chest's goal alone decides the spine; the hand, whose chain is its arm, starts from that pose."""
    skeleton = torso()
    chest = ik.Goal(1, position=(0.3, 0.5, 0.2), offset=(0, 0.2, 0))
    hand = ik.Goal(LEFT, position=(0.6, 0.6, 0.3), chain=[2, 3, 4])
    alone = ik.solve(skeleton, [chest], solver=solver)
    for goals in ([chest, hand], [hand, chest]):
        solution = ik.solve(skeleton, goals, solver=solver)
        assert solution.converged
        assert_allclose(solution.pose.rotations[:2], alone.pose.rotations[:2], atol=1e-12)


# -- poles -------------------------------------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize("pole", [(0, 1, 5), (5, 1, 0), (0, 1, -5), (-3, 1, -3)])
@pytest.mark.parametrize("preferred", [None, (0.35, 0, 0)], ids=["bent", "straight limb"])
def test_a_pole_decides_which_way_an_arm_bends(preferred: tuple | None, pole: tuple, solver: str) -> None:
    """From a bent start, or a straight one that prefers a bend, the elbow points at the pole and the hand meets its
    target."""
    skeleton = ik.Skeleton([
        ik.Joint("upper", -1, "ball", (0, 0, 0)), ik.Joint("lower", 0, "ball", (0, 1, 0), preferred=preferred),
        ik.Joint("hand", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose() if preferred else bent(3)
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.6, 0), pole=pole)], start, solver)
    assert solution.converged
    assert bend_from_pole(skeleton, solution.pose, (0, 1, 2), pole) < math.radians(2)


@both_solvers
def test_an_arm_that_stays_straight_does_not_roll_to_its_pole(solver: str) -> None:
    """Held, and bent away from its pole by what the tolerance permits, it bends the other way; else it rolls."""
    skeleton, start = chain(3, hold=0.7), chain(3).rest_pose()
    start.rotations[:2] = [wxyz(Rotation.from_euler("X", angle, degrees=True)) for angle in (0.4, -0.8)]
    hand = ik.forward(skeleton, start).positions[2]
    for nearer, rolls in ((0.5e-4, False), (0.3, True)):
        goal = ik.Goal(2, position=hand * (1.0 - 0.5 * nearer), pole=(0.1, 1, -5))
        solution = ik.solve(skeleton, [goal], start, solver)
        assert solution.converged
        assert (turned_by(start, solution.pose)[0] > 0.1) == rolls


@both_solvers
@pytest.mark.parametrize("pole", [(0, 1, 5), (0, 1, -5), (5, 1, 0), (3, 1, -3)])
def test_a_pole_that_limits_forbid_breaks_neither_the_limits_nor_the_goal(pole: tuple, solver: str) -> None:
    """With a small twist range and an elbow that bends to one side the hand meets its target for any pole."""
    limits = ik.TwistSwing(twist=(-0.3, 0.3), swing_x=(-1.5, 1.5), swing_z=(-1.5, 1.5))
    skeleton = arm(shoulder=limits, elbow=ik.Range(0.01, 2.6))
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.5, 0.3), pole=pole)], solver=solver)
    assert max(outside_limits(skeleton, solution.pose, joint) for joint in range(2)) <= EXACT
    assert solution.converged


@both_solvers
@pytest.mark.parametrize("pull", [0.0, 1e-5])
@pytest.mark.parametrize("root", [
    {"kind": "fixed"}, {"kind": "ball", "stiffness": 1.0}, {"kind": "prismatic", "axis": (1, 0, 0)},
], ids=["fixed", "stiff", "slide"])  # fmt: skip
def test_a_pole_turns_no_joint_that_may_not_turn(root: dict, pull: float, solver: str) -> None:
    """A chain whose root is fixed, stiff or a slide is not turned as a whole to its pole."""
    skeleton = ik.Skeleton([
        ik.Joint("root", -1, offset=(0, 0, 0), **root),
        ik.Joint("upper", 0, "ball", (0, 1, 0)), ik.Joint("lower", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose()
    start.rotations[1] = bent(1).rotations[0]
    goal = ik.Goal(2, position=(1, 1.2, 0), offset=(0, 1, 0), pole=(0, 1, 5))
    solution = ik.solve(skeleton, [goal], start, solver, ik.Options(pull=pull))
    assert turned_by(start, solution.pose)[0] == 0
    assert solution.converged


# -- stiffness and preference ------------------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize("stiffness", [0.5, 0.9])
def test_of_two_slides_a_stiff_one_takes_less_of_the_way(stiffness: float, solver: str) -> None:
    """By the square of what its stiffness leaves: the least weighted moves share a way so."""

    def share(stiffness: float) -> float:
        slides = [ik.Joint(f"slide {k}", k - 1, "prismatic", (0, 0, 0), axis=(1, 0, 0), stiffness=own)
                  for k, own in enumerate((stiffness, 0.0))]  # fmt: skip
        pose = ik.solve(ik.Skeleton(slides), [ik.Goal(1, position=(0.5, 0, 0))], solver=solver).pose
        return float(pose.translations[0, 0] / pose.translations[1, 0])

    assert share(stiffness) / share(0.0) == pytest.approx((1.0 - stiffness) ** 2, rel=1e-3)


@both_solvers
def test_the_nearest_answer_keeps_slides_that_have_moved(solver: str) -> None:
    """For a leg on a rail, with its foot on its target, neither the rail nor the leg moves."""
    skeleton = ik.Skeleton([
        ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0)), ik.Joint("thigh", 0, "ball", (0, 0, 0)),
        ik.Joint("shin", 1, "hinge", (0, -1, 0), axis=(1, 0, 0), preferred=(0.35, 0, 0)),
        ik.Joint("foot", 2, "ball", (0, -1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose()
    start.translations[0] = (2, 0, 0)
    start.rotations[2] = wxyz(Rotation.from_rotvec([0.8, 0, 0]))
    goal = ik.Goal(3, position=effector(skeleton, start, 3))
    solution = ik.solve(skeleton, [goal], start, solver)
    assert solution.converged
    assert_allclose(solution.pose.translations, start.translations, atol=1e-3)
    assert turned_by(start, solution.pose).max() < 1e-3
