# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solve promises, whatever it is given: against geometry, the laws of limits, and other ways to the same."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import arm, chain, outside_limits, random_pose, scipy_rotation, skeletons, wxyz

import solvers as ik

SOLVERS = ["PGS", "DLS"]
both_solvers = pytest.mark.parametrize("solver", SOLVERS)
EXACT = 1e-9  # what "inside the limits" means
UPRIGHT = (1.0, 0, 0, 0)
NARROW = ik.TwistSwing(twist=(-0.5, 0.5), swing_x=(-1, 1), swing_z=(-1, 1))


def chain_of(skeleton: ik.Skeleton, goal: ik.Goal) -> np.ndarray:
    """(J,) bool: the joints that a goal may move."""
    if goal.chain is None:
        return skeleton.ancestors[goal.joint]
    return np.isin(np.arange(len(skeleton)), goal.chain)


def errors(skeleton: ik.Skeleton, pose: ik.Pose, goal: ik.Goal) -> tuple[float, float]:
    """A goal's distance and angle in a pose, by SciPy."""
    world = ik.forward(skeleton, pose)
    turned = scipy_rotation(world.rotations[goal.joint])
    away = 0.0 if goal.position is None else world.positions[goal.joint] + turned.apply(goal.offset) - goal.position
    turn = 0.0 if goal.rotation is None else (turned.inv() * scipy_rotation(np.array(goal.rotation))).magnitude()
    return float(np.linalg.norm(away)), float(turn)


def turned_by(before: ik.Pose, after: ik.Pose) -> np.ndarray:
    """By how much (J,) each joint has turned between two poses [rad]."""
    return (scipy_rotation(before.rotations).inv() * scipy_rotation(after.rotations)).magnitude()


def effector(skeleton: ik.Skeleton, pose: ik.Pose, joint: int, offset: tuple = (0, 0, 0)) -> np.ndarray:
    """World position (3,) of an effector, by SciPy."""
    world = ik.forward(skeleton, pose)
    return world.positions[joint] + scipy_rotation(world.rotations[joint]).apply(offset)


# -- the contract, on whatever hypothesis makes up -----------------------------------------------------------------------


@dataclass
class Problem:
    """Something to solve."""

    skeleton: ik.Skeleton
    goals: list[ik.Goal]
    start: ik.Pose
    solver: str
    options: ik.Options

    def solve(self, start: ik.Pose | None = None) -> ik.Solution:
        """The answer from a start of its own or another."""
        return ik.solve(self.skeleton, self.goals, start or self.start, self.solver, self.options)


@st.composite
def problems(draw: st.DrawFn, most_goals: int = 3) -> Problem:
    """Any skeleton with goals within reach and out of it, easy and contrary, from any start."""
    skeleton = draw(skeletons())
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    goals = []
    for _ in range(draw(st.integers(1, most_goals))):
        joint = int(generator.integers(len(skeleton)))
        above = np.flatnonzero(skeleton.ancestors[joint])
        what = generator.integers(3)
        goals.append(ik.Goal(
            joint, position=generator.normal(size=3) if what != 1 else None,
            rotation=generator.normal(size=4) if what != 0 else None,
            offset=generator.normal(size=3) * generator.integers(2), priority=int(generator.integers(3)),
            position_weight=generator.choice([0.5, 1.0, 2.0]), rotation_weight=generator.choice([0.5, 1.0, 2.0]),
            chain=None if generator.integers(3) else [int(j) for j in above if generator.integers(3)],
            pole=None if generator.integers(3) else generator.normal(size=3),
        ))  # fmt: skip
    options = ik.Options(
        iterations=draw(st.sampled_from([0, 1, 5, 50])), restarts=draw(st.sampled_from([0, 0, 3])),
        pull=draw(st.sampled_from([None, 0.0, 1e-5])),
    )  # fmt: skip
    start = random_pose(skeleton, generator, size=draw(st.sampled_from([0.0, 0.5, 2.5])))
    return Problem(skeleton, goals, start, draw(st.sampled_from(SOLVERS)), options)


def movable(problem: Problem) -> np.ndarray:
    """(J,) bool: the joints that any goal may move."""
    chains = np.any([chain_of(problem.skeleton, goal) for goal in problem.goals], axis=0)
    return chains & (problem.skeleton.stiffness < 1.0)


@settings(max_examples=100)
@given(problems())
def test_no_joint_that_moves_ends_outside_its_limits_and_nothing_is_nan(problem: Problem) -> None:
    """Every joint of every chain is inside its limits to 1e-9, turned only as its kind can; every number is finite."""
    solution = problem.solve()
    for array in (*solution.pose, solution.position_errors, solution.rotation_errors):
        assert np.isfinite(array).all()
    assert_allclose(np.linalg.norm(solution.pose.rotations, axis=1), 1, atol=1e-12)
    for joint in np.flatnonzero(movable(problem)):
        assert outside_limits(problem.skeleton, solution.pose, joint) <= EXACT


@settings(max_examples=100)
@given(problems())
def test_joints_outside_every_chain_stay_exactly_where_they_are(problem: Problem) -> None:
    """A chain restricts what moves; stiffness 1 holds a joint within it too."""
    solution = problem.solve()
    held = ~movable(problem)
    assert turned_by(problem.start, solution.pose)[held].max(initial=0.0) < 1e-7
    assert_allclose(solution.pose.translations[held], problem.start.translations[held], atol=1e-12)


@settings(max_examples=100)
@given(problems())
def test_the_errors_reported_are_those_of_the_pose_returned(problem: Problem) -> None:
    """Distances and angles measured again by SciPy; `converged` says whether all are within the tolerances."""
    solution = problem.solve()
    measured = [errors(problem.skeleton, solution.pose, goal) for goal in problem.goals]
    assert_allclose(solution.position_errors, [distance for distance, _ in measured], atol=1e-9)
    assert_allclose(solution.rotation_errors, [angle for _, angle in measured], atol=1e-7)
    met = all(d <= problem.options.tolerance and a <= problem.options.rotation_tolerance for d, a in measured)
    assert solution.converged == met


@settings(max_examples=100)
@given(problems(most_goals=1), st.integers(0, 2**32 - 1))
def test_a_solve_is_never_worse_than_its_start(problem: Problem, seed: int) -> None:
    """From a start inside the limits one goal's weighted errors do not grow, unless both end within tolerance."""
    inside = Problem(problem.skeleton, problem.goals, random_pose(problem.skeleton, np.random.default_rng(seed), 2.5),
                     problem.solver, ik.Options(iterations=0, pull=0.0)).solve().pose  # fmt: skip
    goal, length = problem.goals[0], problem.skeleton.length

    def cost(pose: ik.Pose) -> float:
        distance, angle = errors(problem.skeleton, pose, goal)
        return (goal.position_weight * distance / length) ** 2 + (goal.rotation_weight * angle * 0.25) ** 2

    solution = problem.solve(inside)
    assert solution.converged or cost(solution.pose) <= cost(inside) * (1 + 1e-9) + 1e-14


@settings(max_examples=100)
@given(problems())
def test_a_solve_never_makes_all_goals_worse(problem: Problem) -> None:
    """From a start inside the limits, what one goal loses another gains."""
    inside = Problem(problem.skeleton, problem.goals, problem.start, problem.solver, ik.Options(iterations=0)).solve().pose
    before = np.array([errors(problem.skeleton, inside, goal) for goal in problem.goals]).ravel()
    after = np.array([errors(problem.skeleton, problem.solve(inside).pose, goal) for goal in problem.goals]).ravel()
    slack = np.tile([problem.options.tolerance, problem.options.rotation_tolerance], len(problem.goals))
    worse = (after > before + 1e-7) & (after > slack)
    assert not worse.any() or (after < before).any()


@settings(max_examples=100)
@given(problems())
def test_a_solve_does_not_write_to_what_it_is_given(problem: Problem) -> None:
    """Start, goals and skeleton are as before, and the answer shares no memory with the start."""
    rotations, translations = (part.copy() for part in problem.start)
    solution = problem.solve()
    solution.pose.rotations[:], solution.pose.translations[:] = 7, 7
    assert_allclose(problem.start.rotations, rotations)
    assert_allclose(problem.start.translations, translations)


@settings(max_examples=100)
@given(problems())
def test_a_solve_gives_the_same_answer_twice(problem: Problem) -> None:
    """The same problem, restarts and all, has the same answer to the last bit."""
    first, second = problem.solve(), problem.solve()
    assert (first.pose.rotations == second.pose.rotations).all()
    assert (first.pose.translations == second.pose.translations).all()


# -- two bones, by the law of cosines ---------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize(("upper", "lower"), [(1.0, 1.0), (1.0, 0.7), (0.4, 1.2)])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8, 0.98])
def test_two_bones_have_the_elbow_of_the_law_of_cosines(upper: float, lower: float, share: float, solver: str) -> None:
    """A target anywhere between the nearest and the furthest that an arm reaches: met, with the triangle's angle."""
    distance = abs(upper - lower) + share * (upper + lower - abs(upper - lower))
    target = distance * np.array([2, -1, 2]) / 3
    solution = ik.solve(arm(upper, lower), [ik.Goal(2, position=target)], arm_bent(), solver, ik.Options(tolerance=1e-7))
    assert solution.converged
    assert solution.position_errors[0] < 1e-7
    elbow = 2 * math.atan2(solution.pose.rotations[1, 1], solution.pose.rotations[1, 0])
    inner = math.acos((upper**2 + lower**2 - distance**2) / (2 * upper * lower))
    assert abs(math.remainder(elbow, 2 * math.pi)) == pytest.approx(math.pi - inner, abs=1e-5)


def arm_bent(angle: float = 0.6) -> ik.Pose:
    """An arm's start with its elbow bent."""
    pose = arm().rest_pose()
    pose.rotations[1] = wxyz(Rotation.from_rotvec([angle, 0, 0]))
    return pose


@both_solvers
@pytest.mark.parametrize("seed", range(5))
def test_an_unreachable_target_stretches_the_arm_towards_it(seed: int, solver: str) -> None:
    """Twice as far as the arm is long: straight at it, and as near as can be."""
    direction = np.random.default_rng(seed).normal(size=3)
    target = 4.0 * direction / np.linalg.norm(direction)
    solution = ik.solve(arm(), [ik.Goal(2, position=target)], arm_bent(), solver, ik.Options(iterations=200))
    assert not solution.converged
    assert solution.position_errors[0] == pytest.approx(2.0, abs=1e-4)
    assert_allclose(effector(arm(), solution.pose, 2), target / 2, atol=0.02)


@both_solvers
def test_a_knee_that_never_quite_straightens_keeps_its_half_degree(solver: str) -> None:
    """A range from 0.5 to 180 degrees: met inside, and at its end where the target lies beyond, to 1e-9."""
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


# -- limits -----------------------------------------------------------------------------------------------------------


def pointer(limits: ik.Range | None) -> ik.Skeleton:
    """A hinge about Z."""
    return ik.Skeleton([ik.Joint("pin", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=limits)])


def pointing(degrees: float) -> tuple:
    """A place on the unit circle."""
    return math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0


def pointed(degrees: float) -> ik.Pose:
    """The pointer's pose."""
    return ik.Pose(wxyz(Rotation.from_rotvec([[0, 0, math.radians(degrees)]])), np.zeros((1, 3)))


def degrees_of(pose: ik.Pose, joint: int = 0) -> float:
    """A hinge's angle in (-180, 180]."""
    return math.degrees(2 * math.atan2(pose.rotations[joint, 3], pose.rotations[joint, 0]))


@both_solvers
@pytest.mark.parametrize("span", [360.0, 400.0])
def test_a_full_turn_range_wraps(span: float, solver: str) -> None:
    """From 170 to 190 degrees the short way, and on round the circle twice without a step back."""
    skeleton = pointer(ik.Range(-math.radians(span / 2), math.radians(span / 2)))
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(190), offset=(1, 0, 0))], pointed(170), solver)
    assert solution.converged
    assert not solution.at_limit[0]
    round_it = np.arange(0, 720, 5.0)
    positions = np.array([[pointing(angle)] for angle in round_it])
    goals = [ik.Goal(0, pointing(0), offset=(1, 0, 0))]
    frames = ik.solve_frames(skeleton, goals, positions, np.tile(UPRIGHT, (len(positions), 1, 1)), solver=solver)
    assert all(frame.converged for frame in frames)
    steps = [turned_by(a.pose, b.pose)[0] for a, b in zip(frames[:-1], frames[1:], strict=True)]
    assert max(steps) == pytest.approx(math.radians(5), abs=1e-3)


@both_solvers
def test_a_range_just_short_of_a_full_turn_does_not_wrap(solver: str) -> None:
    """Between -170 and 170 degrees the way from 160 to 190 is blocked, and the pointer waits at 170."""
    skeleton = pointer(ik.Range(math.radians(-170), math.radians(170)))
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(190), offset=(1, 0, 0))], pointed(160), solver)
    assert degrees_of(solution.pose) == pytest.approx(170, abs=1e-6)
    assert solution.at_limit[0]
    assert not solution.converged


@both_solvers
@pytest.mark.parametrize(("lo", "hi", "start"), [(190, 260, 0), (-260, -190, 0), (100, 200, -90), (30, 60, 180)])
def test_ranges_that_exclude_zero_hold_and_are_entered(lo: float, hi: float, start: float, solver: str) -> None:
    """Whichever way round the start lies, the middle of the range is found, and the range is kept."""
    skeleton = pointer(ik.Range(math.radians(lo), math.radians(hi)))
    middle = 0.5 * (lo + hi)
    solution = ik.solve(skeleton, [ik.Goal(0, pointing(middle), offset=(1, 0, 0))], pointed(start), solver)
    assert solution.converged
    beyond = ik.solve(skeleton, [ik.Goal(0, pointing(hi + 20), offset=(1, 0, 0))], solution.pose, solver)
    assert math.remainder(degrees_of(beyond.pose) - hi, 360) == pytest.approx(0, abs=1e-6)


@both_solvers
@pytest.mark.parametrize("axis", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (1, -2, 2)])
def test_swings_and_twists_that_exclude_zero_hold_and_are_entered(axis: tuple, solver: str) -> None:
    """From rest, which they forbid, to targets that a pose inside them reaches."""
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
@pytest.mark.parametrize("kind", ["hinge", "prismatic"])
def test_limits_of_a_single_value_hold_a_joint_there(kind: str, solver: str) -> None:
    """A joint that may stand in one place only stands there; the others do the work."""
    skeleton = ik.Skeleton([
        ik.Joint("root", -1, "ball", (0, 0, 0)),
        ik.Joint("held", 0, kind, (0, 1, 0), axis=(0, 0, 1), limits=ik.Range(0.4, 0.4)),
        ik.Joint("free", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    solution = ik.solve(skeleton, [ik.Goal(2, position=(1, 1, 1), offset=(0, 1, 0))], solver=solver)
    assert solution.converged
    assert outside_limits(skeleton, solution.pose, 1) <= EXACT


@both_solvers
def test_at_limit_names_the_joints_on_a_limit_and_no_others(solver: str) -> None:
    """A twist driven past its end is on it; a joint well inside, and one without limits, are not."""
    skeleton = ik.Skeleton([
        ik.Joint("free", -1, "ball", (0, 0, 0), stiffness=0.99),
        ik.Joint("tight", 0, "ball", (0, 1, 0), limits=ik.TwistSwing(twist=(-0.2, 0.2), swing_x=(-1, 1), swing_z=(-1, 1))),
    ])  # fmt: skip
    turn = wxyz(Rotation.from_rotvec([0, 1.0, 0]))
    goals = [ik.Goal(1, rotation=turn, chain=[1])]
    assert list(ik.solve(skeleton, goals, solver=solver).at_limit) == [False, True]
    slight = [ik.Goal(1, rotation=wxyz(Rotation.from_rotvec([0.1, 0.1, 0])), chain=[1])]
    assert list(ik.solve(skeleton, slight, solver=solver).at_limit) == [False, False]


# -- several goals ----------------------------------------------------------------------------------------------------


@both_solvers
@pytest.mark.parametrize("first", [True, False])
def test_of_two_goals_at_odds_the_higher_priority_is_served(first: bool, solver: str) -> None:
    """The same effector wanted in two places 2 apart: the higher one has it to within 5 mm in any order."""
    high = ik.Goal(3, position=(1, 2, 0), priority=2)
    low = ik.Goal(3, position=(-1, 2, 0), priority=-1)
    goals = [high, low] if first else [low, high]
    solution = ik.solve(chain(4), goals, solver=solver)
    near, far = solution.position_errors if first else solution.position_errors[::-1]
    assert near < 5e-3
    assert far == pytest.approx(2, abs=0.01)


@both_solvers
def test_goals_of_equal_priority_meet_half_way(solver: str) -> None:
    """Equal weights share the distance; a weight of 2 counts an error like one twice as large."""
    left, right = ik.Goal(3, position=(1, 2, 0)), ik.Goal(3, position=(-1, 2, 0))
    assert_allclose(ik.solve(chain(4), [left, right], bent(4), solver).position_errors, [1, 1], atol=1e-3)
    heavy = ik.Goal(3, position=(1, 2, 0), position_weight=2)
    # 4 x = y and x + y = 2
    assert_allclose(ik.solve(chain(4), [heavy, right], bent(4), solver).position_errors, [0.4, 1.6], atol=1e-2)


def torso() -> ik.Skeleton:
    """A pelvis and a chest that bend, and two arms of two bones with hands."""
    joints = [ik.Joint("pelvis", -1, "ball", (0, 0, 0)), ik.Joint("chest", 0, "ball", (0, 0.5, 0))]
    for name, side in [("left", 1), ("right", -1)]:
        first = len(joints)
        joints += [
            ik.Joint(f"{name} upper arm", 1, "ball", (0.2 * side, 0.1, 0)),
            ik.Joint(f"{name} forearm", first, "ball", (0.3 * side, 0, 0)),
            ik.Joint(f"{name} hand", first + 1, "ball", (0.3 * side, 0, 0)),
        ]
    return ik.Skeleton(joints)


LEFT, RIGHT = 4, 7


@both_solvers
@pytest.mark.parametrize("rotations", [False, True], ids=["positions", "poses"])
@pytest.mark.parametrize("beyond", [0.5, 1.0, 3.0, 10.0, 100.0])
def test_an_unreachable_goal_leaves_the_reachable_one_within_a_millimetre(beyond: float, rotations: bool, solver: str) -> None:
    """However far away the left hand's target is, the right hand is on its own."""
    skeleton = torso()
    turn = wxyz(Rotation.from_rotvec([0.3, 0.2, 0.1])) if rotations else None
    far = ik.Goal(LEFT, position=(0.8 + beyond, 0.6, 0), rotation=turn)
    near = ik.Goal(RIGHT, position=(-0.5, 0.9, 0.2), rotation=turn)
    solution = ik.solve(skeleton, [far, near], solver=solver, options=ik.Options(iterations=100))
    assert solution.position_errors[1] < 1e-3
    assert solution.rotation_errors[1] < 1e-2
    assert solution.position_errors[0] > 0.8 * (beyond - 0.3)


@both_solvers
def test_a_chain_restricts_what_a_goal_moves(solver: str) -> None:
    """The forearm alone, then the whole arm, then everything: what is not in the chain stays to the last bit."""
    skeleton = torso()
    for allowed in ([3, 4], [2, 3, 4], None):
        goal = ik.Goal(LEFT, position=(0.6, 0.8, 0.2), offset=(0.1, 0, 0), chain=allowed)
        solution = ik.solve(skeleton, [goal], solver=solver)
        moved = turned_by(skeleton.rest_pose(), solution.pose) > 1e-6
        assert moved.any()
        assert set(np.flatnonzero(moved)) <= set([0, 1, 2, 3, 4] if allowed is None else allowed)


@both_solvers
def test_a_goal_below_anothers_chain_follows_and_does_not_pull(solver: str) -> None:
    """A chest's goal alone decides the spine; the hand, whose chain is its arm, starts from where that puts it."""
    skeleton = torso()
    chest = ik.Goal(1, position=(0.3, 0.5, 0.2), offset=(0, 0.2, 0))
    hand = ik.Goal(LEFT, position=(0.6, 0.6, 0.3), chain=[2, 3, 4])
    alone = ik.solve(skeleton, [chest], solver=solver)
    for goals in ([chest, hand], [hand, chest]):
        solution = ik.solve(skeleton, goals, solver=solver)
        assert solution.converged
        assert_allclose(solution.pose.rotations[:2], alone.pose.rotations[:2], atol=1e-12)


@both_solvers
def test_goals_that_share_joints_share_the_work(solver: str) -> None:
    """Both hands reach forward past their arms' length: the spine they share leans."""
    skeleton = torso()
    goals = [ik.Goal(LEFT, position=(0.3, 0.5, 0.8)), ik.Goal(RIGHT, position=(-0.3, 0.5, 0.8))]
    solution = ik.solve(skeleton, goals, solver=solver)
    assert solution.converged
    assert turned_by(skeleton.rest_pose(), solution.pose)[:2].max() > 0.1


# -- poles ------------------------------------------------------------------------------------------------------------


def bend_from_pole(skeleton: ik.Skeleton, pose: ik.Pose, joints: tuple[int, int, int], pole: tuple) -> float:
    """The angle about the line from root to end between the middle joint and the pole [rad]."""
    root, middle, end = ik.forward(skeleton, pose).positions[list(joints)]
    line = (end - root) / np.linalg.norm(end - root)
    flat = [point - root - line * ((point - root) @ line) for point in (middle, np.array(pole))]
    cosine = flat[0] @ flat[1] / np.linalg.norm(flat[0]) / np.linalg.norm(flat[1])
    return math.acos(np.clip(cosine, -1, 1))


@both_solvers
@pytest.mark.parametrize("pole", [(0, 1, 5), (5, 1, 0), (0, 1, -5), (-3, 1, -3)])
@pytest.mark.parametrize("preferred", [None, (0.35, 0, 0)], ids=["bent", "straight limb"])
def test_a_pole_decides_which_way_an_arm_bends(preferred: tuple | None, pole: tuple, solver: str) -> None:
    """The elbow points at the pole, from a bent start or a straight one that prefers a bend, and the hand arrives."""
    skeleton = ik.Skeleton([
        ik.Joint("upper", -1, "ball", (0, 0, 0)), ik.Joint("lower", 0, "ball", (0, 1, 0), preferred=preferred),
        ik.Joint("hand", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose() if preferred else bent(3)
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.6, 0), pole=pole)], start, solver)
    assert solution.converged
    assert bend_from_pole(skeleton, solution.pose, (0, 1, 2), pole) < math.radians(2)


@both_solvers
def test_two_goals_keep_a_pole_each(solver: str) -> None:
    """Elbows down on one side, back on the other, both hands on their targets."""
    skeleton = torso()
    poles = [(0.5, -3, 0), (-0.5, 0.5, -3)]
    goals = [
        ik.Goal(LEFT, position=(0.6, 0.7, 0.2), pole=poles[0], chain=[2, 3, 4]),
        ik.Goal(RIGHT, position=(-0.6, 0.7, 0.2), pole=poles[1], chain=[5, 6, 7]),
    ]
    solution = ik.solve(skeleton, goals, solver=solver)
    assert solution.converged
    assert bend_from_pole(skeleton, solution.pose, (2, 3, 4), poles[0]) < math.radians(2)
    assert bend_from_pole(skeleton, solution.pose, (5, 6, 7), poles[1]) < math.radians(2)


@both_solvers
@pytest.mark.parametrize("pole", [(0, 1, 5), (0, 1, -5), (5, 1, 0), (3, 1, -3)])
def test_a_pole_that_limits_forbid_breaks_neither_the_limits_nor_the_goal(pole: tuple, solver: str) -> None:
    """A shoulder that may not twist far and an elbow that bends one way: the hand arrives wherever the pole is."""
    limits = ik.TwistSwing(twist=(-0.3, 0.3), swing_x=(-1.5, 1.5), swing_z=(-1.5, 1.5))
    skeleton = arm(shoulder=limits, elbow=ik.Range(0.01, 2.6))
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.5, 0.3), pole=pole)], solver=solver)
    assert max(outside_limits(skeleton, solution.pose, joint) for joint in range(2)) <= EXACT
    assert solution.converged


@both_solvers
@pytest.mark.parametrize("pull", [0.0, 1e-5])
@pytest.mark.parametrize(
    "root", [{"kind": "fixed"}, {"kind": "ball", "stiffness": 1.0}, {"kind": "prismatic", "axis": (1, 0, 0)}],
    ids=["fixed", "stiff", "slide"],
)  # fmt: skip
def test_a_pole_turns_no_joint_that_may_not_turn(root: dict, pull: float, solver: str) -> None:
    """A chain whose root is fixed, stiff or a slide is not swung round bodily to its pole."""
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


# -- stiffness and preference -----------------------------------------------------------------------------------------


@both_solvers
def test_a_stiff_joint_moves_less_and_one_of_stiffness_one_not_at_all(solver: str) -> None:
    """The same target with the root at 0, 0.8 and 1."""
    moved = []
    for stiffness in (0.0, 0.8, 1.0):
        skeleton = ik.Skeleton([
            ik.Joint(f"joint {i}", i - 1, "ball", (0, float(i > 0), 0), stiffness=stiffness if i == 0 else 0.0)
            for i in range(4)
        ])  # fmt: skip
        solution = ik.solve(skeleton, [ik.Goal(3, position=(1.2, 2.2, 0))], solver=solver)
        assert solution.converged
        moved.append(turned_by(skeleton.rest_pose(), solution.pose)[0])
    assert moved[0] > 1.5 * moved[1] > 0
    assert moved[2] == 0


@both_solvers
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_straight_limb_bends_the_way_it_prefers(sign: float, solver: str) -> None:
    """A straight arm whose hand comes straight in: the elbow goes to the side of its preferred bend."""
    skeleton = arm(preferred=(0.35 * sign, 0, 0))
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.5, 0))], solver=solver)
    assert solution.converged
    assert sign * solution.pose.rotations[1, 1] > 0.1


@both_solvers
def test_a_limb_with_a_stiff_elbow_keeps_it(solver: str) -> None:
    """What a joint prefers does not move it where it may not move."""
    skeleton = arm(preferred=(0.35, 0, 0), stiffness=1.0)
    solution = ik.solve(skeleton, [ik.Goal(2, position=(0, 1.2, 1.6))], solver=solver)
    assert solution.converged
    assert turned_by(skeleton.rest_pose(), solution.pose)[1] == 0


@both_solvers
def test_of_many_answers_the_nearest_to_the_start_is_taken(solver: str) -> None:
    """With a pull, a solve whose target is met already leaves a redundant arm as it is."""
    skeleton = chain(5)
    start = random_pose(skeleton, np.random.default_rng(4), 0.6)
    goal = ik.Goal(4, position=effector(skeleton, start, 4))
    solution = ik.solve(skeleton, [goal], start, solver, ik.Options(pull=1e-5))
    assert turned_by(start, solution.pose).max() < 1e-3


# -- prepare and solve_frames -----------------------------------------------------------------------------------------


def walk(frames: int = 12) -> tuple[ik.Skeleton, list[ik.Goal], np.ndarray, np.ndarray]:
    """A limited torso whose hands move: skeleton, goals, positions (F, 2, 3), rotations (F, 2, 4)."""
    skeleton = torso()
    goals = [ik.Goal(LEFT, (0, 0, 0), UPRIGHT), ik.Goal(RIGHT, (0, 0, 0))]
    t = np.linspace(0, 1, frames)
    positions = np.stack([
        np.stack([0.6 - 0.2 * t, 0.7 + 0.1 * t, 0.2 + 0.2 * t], -1),
        np.stack([-0.6 + 0.0 * t, 0.7 - 0.3 * t, 0.1 + 0.3 * t], -1),
    ], 1)  # fmt: skip
    rotations = np.tile(UPRIGHT, (frames, 2, 1))
    rotations[:, 0] = wxyz(Rotation.from_rotvec(np.stack([0 * t, 0.4 * t, 0.2 * t], -1)))
    return skeleton, goals, positions, rotations


def at(goals: list[ik.Goal], positions: np.ndarray, rotations: np.ndarray) -> list[ik.Goal]:
    """The goals with one frame's targets."""
    return [ik.Goal(goal.joint, position, goal.rotation and tuple(rotation))
            for goal, position, rotation in zip(goals, positions, rotations, strict=True)]  # fmt: skip


@both_solvers
def test_prepare_gives_what_solve_gives(solver: str) -> None:
    """Called frame after frame, in any order and again, a prepared solve has no memory."""
    skeleton, goals, positions, rotations = walk()
    prepared = ik.prepare(skeleton, goals, solver, ik.Options())
    start = random_pose(skeleton, np.random.default_rng(0), 0.2)
    for frame in (0, 7, 3, 7, 0):
        expected = ik.solve(skeleton, at(goals, positions[frame], rotations[frame]), start, solver)
        found = prepared(positions[frame], rotations[frame], start)
        assert (found.pose.rotations == expected.pose.rotations).all()
        assert (found.position_errors == expected.position_errors).all()
        assert found.iterations == expected.iterations


@both_solvers
def test_prepare_starts_at_rest_unless_told_otherwise(solver: str) -> None:
    """Also after a call with another start."""
    skeleton, goals, positions, rotations = walk()
    prepared = ik.prepare(skeleton, goals, solver, ik.Options())
    prepared(positions[0], rotations[0], random_pose(skeleton, np.random.default_rng(0)))
    found = prepared(positions[0], rotations[0])
    expected = ik.solve(skeleton, at(goals, positions[0], rotations[0]), skeleton.rest_pose(), solver)
    assert (found.pose.rotations == expected.pose.rotations).all()


@both_solvers
@pytest.mark.parametrize("preferred", [None, (0, 0.3, 0)], ids=["no pull", "pull"])
def test_frames_without_a_warm_start_are_solved_each_for_itself(preferred: tuple | None, solver: str) -> None:
    """All at once, backwards or one by one: a frame's answer depends on that frame alone."""
    skeleton, goals, positions, rotations = walk()
    joints = list(skeleton.joints)
    for forearm in (3, 6):
        joints[forearm] = ik.Joint(joints[forearm].name, forearm - 1, "ball", joints[forearm].offset, preferred=preferred)
    skeleton = ik.Skeleton(joints)
    options = ik.Options(warm_start=False)
    together = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver, options=options)
    backwards = ik.solve_frames(skeleton, goals, positions[::-1], rotations[::-1], solver=solver, options=options)
    for frame, (one, other) in enumerate(zip(together, backwards[::-1], strict=True)):
        alone = ik.solve(skeleton, at(goals, positions[frame], rotations[frame]), solver=solver)
        assert turned_by(one.pose, other.pose).max() < 1e-5
        assert turned_by(one.pose, alone.pose).max() < 1e-5
        assert one.converged


@both_solvers
def test_frames_with_a_warm_start_follow_on_from_each_other(solver: str) -> None:
    """The first is a solve of its own, the rest take fewer steps than it, and all arrive."""
    skeleton, goals, positions, rotations = walk(30)
    warm = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)
    first = ik.solve(skeleton, at(goals, positions[0], rotations[0]), solver=solver)
    assert (warm[0].pose.rotations == first.pose.rotations).all()
    assert all(frame.converged for frame in warm)
    cold = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver, options=ik.Options(warm_start=False))
    assert sum(f.iterations for f in warm[1:]) < sum(f.iterations for f in cold[1:])
    steps = [turned_by(a.pose, b.pose).max() for a, b in zip(warm[:-1], warm[1:], strict=True)]
    assert max(steps) < 0.15


@both_solvers
@pytest.mark.parametrize("warm_start", [True, False])
def test_no_frames_have_no_answers(warm_start: bool, solver: str) -> None:
    """An empty motion is no error."""
    skeleton, goals, positions, rotations = walk()
    assert ik.solve_frames(skeleton, goals, positions[:0], rotations[:0], solver=solver,
                           options=ik.Options(warm_start=warm_start)) == []  # fmt: skip


@both_solvers
def test_a_jump_of_the_targets_is_followed(solver: str) -> None:
    """A cut in a motion: the frame after it is met like any other."""
    skeleton, goals, positions, rotations = walk(8)
    positions[4:, :, 2] *= -1.0
    frames = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)
    assert all(frame.converged for frame in frames)


STILL = {
    "arm": (arm(), [ik.Goal(2, position=(1, 2.5, 1))]),
    "long chain": (chain(8), [ik.Goal(7, position=(3, -9, 2), rotation=(0.8, 0.6, 0, 0))]),
    "limited chain": (chain(4, limits=NARROW), [ik.Goal(3, position=(3, -4, 2), rotation=(0.6, 0.8, 0, 0))]),
    "two goals at odds": (chain(4, limits=NARROW), [ik.Goal(3, position=(3, -2, 2)), ik.Goal(2, position=(-3, 1, 0))]),
    "pole": (chain(3), [ik.Goal(2, position=(1, -9, 2), pole=(0, 0, 3))]),
    "knee": (
        arm(shoulder=NARROW, elbow=ik.Range(0.01, 2.6), preferred=(0.35, 0, 0)),
        [ik.Goal(2, position=(1, -3, 1))],
    ),
}


@both_solvers
@pytest.mark.parametrize("which", STILL)
def test_an_unreachable_target_held_still_holds_the_pose_still(which: str, solver: str) -> None:
    """200 frames of the same target: after the third no joint turns by 1e-3 rad a frame."""
    skeleton, goals = STILL[which]
    positions = np.tile([goal.position for goal in goals], (200, 1, 1))
    rotations = np.tile([goal.rotation or UPRIGHT for goal in goals], (200, 1, 1))
    frames = ik.solve_frames(skeleton, goals, positions, rotations, solver=solver)
    assert not any(frame.converged for frame in frames)
    steps = [turned_by(a.pose, b.pose).max() for a, b in zip(frames[2:-1], frames[3:], strict=True)]
    assert max(steps) < 1e-3


# -- options ----------------------------------------------------------------------------------------------------------


@both_solvers
def test_restarts_find_what_one_descent_does_not(solver: str) -> None:
    """A pointer against its stop, its target just beyond: the way round leads through the middle of its limits."""
    skeleton = pointer(ik.Range(math.radians(-170), math.radians(170)))
    goals = [ik.Goal(0, pointing(165), offset=(1, 0, 0))]
    assert not ik.solve(skeleton, goals, pointed(-160), solver).converged
    solution = ik.solve(skeleton, goals, pointed(-160), solver, ik.Options(restarts=1))
    assert solution.converged
    assert degrees_of(solution.pose) == pytest.approx(165, abs=0.01)


@both_solvers
def test_random_restarts_depend_on_their_seed_alone(solver: str) -> None:
    """The same seed, the same answer; and a target met at once needs none."""
    skeleton = chain(4, limits=NARROW)
    goals = [ik.Goal(3, position=(1.0, -1.0, 0.5))]
    one, same, other = (
        ik.solve(skeleton, goals, solver=solver, options=ik.Options(restarts=4, seed=seed)) for seed in (1, 1, 2)
    )
    assert (one.pose.rotations == same.pose.rotations).all()
    assert other.position_errors[0] == pytest.approx(one.position_errors[0], abs=0.05)
    easy = [ik.Goal(3, position=(0.5, 2.5, 0.5))]
    without, with_restarts = (ik.solve(skeleton, easy, solver=solver, options=ik.Options(restarts=n)) for n in (0, 20))
    assert with_restarts.iterations == without.iterations


@both_solvers
def test_restarts_leave_joints_outside_the_chain_where_they_are(solver: str) -> None:
    """A restart begins its own joints afresh, and nobody else's."""
    skeleton = chain(4)
    start = random_pose(skeleton, np.random.default_rng(5))
    goal = ik.Goal(3, position=(9, 9, 9), chain=[2, 3], offset=(0, 1, 0))
    solution = ik.solve(skeleton, [goal], start, solver, ik.Options(restarts=3))
    assert turned_by(start, solution.pose)[:2].max() < 1e-7


@both_solvers
def test_no_iterations_bring_the_start_inside_its_limits_and_no_further(solver: str) -> None:
    """A start inside its limits stays as it is; one outside comes to the nearest edge."""
    skeleton = pointer(ik.Range(-1.0, 1.0))
    goal = ik.Goal(0, pointing(0), offset=(1, 0, 0))
    for start, end in [(0.5, 0.5), (1.5, 1.0), (-3.0, -1.0)]:
        solution = ik.solve(skeleton, [goal], pointed(math.degrees(start)), solver, ik.Options(iterations=0))
        assert math.radians(degrees_of(solution.pose)) == pytest.approx(end, abs=1e-9)
        assert solution.iterations == 0


@both_solvers
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8])
def test_a_tolerance_is_met_and_is_in_units_of_length(tolerance: float, solver: str) -> None:
    """In metres and in centimetres, from loose to tight."""
    for unit in (1.0, 100.0):
        goal = ik.Goal(4, position=(1.2 * unit, 2.0 * unit, 0.7 * unit))
        options = ik.Options(tolerance=tolerance * unit)
        solution = ik.solve(chain(5, length=unit), [goal], solver=solver, options=options)
        assert solution.converged
        assert solution.position_errors[0] <= tolerance * unit


@both_solvers
def test_a_loose_tolerance_takes_no_more_steps_than_a_tight_one(solver: str) -> None:
    """A target met loosely at once needs no step at all."""
    goal = ik.Goal(4, position=(0.001, 4.0, 0))
    counts = [ik.solve(chain(5), [goal], solver=solver, options=ik.Options(tolerance=t)).iterations for t in (1e-2, 1e-7)]
    assert counts[0] == 0
    assert counts[1] > 0


@both_solvers
@pytest.mark.parametrize("damping", [1e-4, 1e-3, 1e-2])
def test_a_damping_that_is_held_arrives_all_the_same(damping: float, solver: str) -> None:
    """A fixed damping of usual size solves an easy reach from a bent start."""
    options = ik.Options(damping=damping, iterations=100)
    solution = ik.solve(chain(4), [ik.Goal(3, position=(1.2, 1.5, 0.6))], bent(4), solver, options)
    assert solution.position_errors[0] < 1e-3


@both_solvers
@pytest.mark.parametrize("damping", [0.0, 1e-4, 1e-2])
def test_a_damping_that_is_held_copes_with_a_straight_limb(damping: float, solver: str) -> None:
    """At a singular pose a fixed damping, zero included, neither fails nor does nothing."""
    options = ik.Options(damping=damping, iterations=100)
    solution = ik.solve(chain(4), [ik.Goal(3, position=(0, 1, 0.2))], solver=solver, options=options)
    assert np.isfinite(solution.pose.rotations).all()
    assert solution.position_errors[0] < 0.5


def bent(count: int) -> ik.Pose:
    """A chain's start, bent a little at every joint."""
    return ik.Pose(np.tile(wxyz(Rotation.from_rotvec([0.2, 0.1, 0.3])), (count, 1)), np.zeros((count, 3)))


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"iterations": -1}, r"iterations = -1.*0 or more"),
        ({"iterations": 2.5}, r"iterations = 2\.5.*whole number"),
        ({"iterations": True}, r"iterations = True"),
        ({"iterations": None}, r"iterations = None"),
        ({"restarts": -3}, r"restarts = -3"),
        ({"seed": "today"}, r"seed = 'today'"),
        ({"tolerance": -1e-3}, r"tolerance = -0\.001"),
        ({"tolerance": math.nan}, r"tolerance = nan"),
        ({"tolerance": "tight"}, r"tolerance = 'tight'"),
        ({"rotation_tolerance": math.inf}, r"rotation_tolerance = inf"),
        ({"rotation_tolerance": None}, r"rotation_tolerance = None"),
        ({"damping": -1.0}, r"damping = -1\.0"),
        ({"damping": math.nan}, r"damping = nan"),
        ({"pull": "strong"}, r"pull = 'strong'"),
        ({"pull": -1e-5}, r"pull = -1e-05"),
    ],
)
def test_bad_options_are_refused_by_name(settings_: dict, message: str) -> None:
    """The error names the option, the value that came and what was expected."""
    with pytest.raises(ik.InvalidOptions, match=message):
        ik.Options(**settings_)


@pytest.mark.parametrize("value", [np.int64(5), np.float32(1e-3), np.float64(1e-3)])
def test_options_take_numpys_numbers(value: np.number) -> None:
    """Values read from arrays are numbers too."""
    options = ik.Options(iterations=5, tolerance=value, rotation_tolerance=value, damping=value)
    assert ik.solve(chain(2), [ik.Goal(1, position=(0, 1, 0))], options=options).converged
    ik.Options(iterations=np.int64(5), restarts=np.int32(1), seed=np.uint8(3))


# -- what a solve refuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pgs", "FAST", "", None, 3])
def test_an_unknown_solver_is_answered_with_the_known_ones(name: object) -> None:
    """The error lists every name there is."""
    for call in (lambda: ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))], solver=name), lambda: ik.prepare(chain(2), [], name)):
        with pytest.raises(ik.UnknownSolver, match="solver") as caught:
            call()
        assert repr(name) in str(caught.value)
        assert all(known in str(caught.value) for known in ik.SOLVERS)


def test_every_solver_has_a_line_about_it() -> None:
    """PGS and DLS at least, each with one line."""
    assert {"PGS", "DLS"} <= set(ik.SOLVERS)
    assert all(line and "\n" not in line for line in ik.SOLVERS.values())


@pytest.mark.parametrize(
    ("positions", "rotations", "message"),
    [
        (np.zeros((2, 3)), np.tile(UPRIGHT, (1, 1)), r"positions.*1, 3.*2, 3"),
        (np.zeros((1, 2)), np.tile(UPRIGHT, (1, 1)), r"positions.*1, 3.*1, 2"),
        (np.zeros(3), np.tile(UPRIGHT, (1, 1)), r"positions"),
        (np.zeros((1, 3)), np.zeros((1, 3)), r"rotations.*1, 4.*1, 3"),
        (np.array([[0, math.nan, 0]]), np.tile(UPRIGHT, (1, 1)), r"positions of goal 0.*nan"),
        (np.zeros((1, 3)), np.array([[1, 0, math.inf, 0]]), r"rotations of goal 0.*inf"),
    ],
)
def test_bad_targets_of_a_prepared_solve_are_refused(positions: np.ndarray, rotations: np.ndarray, message: str) -> None:
    """The error names positions or rotations, the goal, and the shapes."""
    prepared = ik.prepare(chain(2), [ik.Goal(1, (0, 1, 0))], "PGS", ik.Options())
    with pytest.raises(ik.InvalidGoal, match=message):
        prepared(positions, rotations, None)


@pytest.mark.parametrize(
    ("positions", "rotations", "message"),
    [
        (np.zeros((5, 3)), np.zeros((5, 4)), r"positions.*frames, 1, 3.*5, 3"),
        (np.zeros((5, 2, 3)), np.tile(UPRIGHT, (5, 1, 1)), r"positions.*5, 2, 3"),
        (np.zeros((5, 1, 3)), np.tile(UPRIGHT, (4, 1, 1)), r"5 frames.*4"),
    ],
)
def test_bad_targets_of_a_motion_are_refused(positions: np.ndarray, rotations: np.ndarray, message: str) -> None:
    """The error gives the shapes, or the numbers of frames."""
    with pytest.raises(ik.InvalidGoal, match=message):
        ik.solve_frames(chain(2), [ik.Goal(1, (0, 1, 0))], positions, rotations)


def test_a_target_that_is_not_a_number_in_one_frame_is_named_with_its_frame() -> None:
    """Frame 3, goal 1."""
    positions = np.zeros((5, 2, 3))
    positions[3, 1, 2] = math.nan
    with pytest.raises(ik.InvalidGoal, match=r"positions of goal 1, frame 3"):
        ik.solve_frames(chain(2), [ik.Goal(1, (0, 1, 0))] * 2, positions, np.tile(UPRIGHT, (5, 2, 1)))


@pytest.mark.parametrize("pose", [chain(3).rest_pose(), "rest", np.zeros((2, 4))])
def test_a_start_of_the_wrong_shape_is_refused(pose: object) -> None:
    """Each way in checks its start."""
    with pytest.raises(ik.InvalidPose, match="expected"):
        ik.solve(chain(2), [ik.Goal(1, (0, 1, 0))], pose)
    with pytest.raises(ik.InvalidPose, match="expected"):
        ik.solve_frames(chain(2), [ik.Goal(1, (0, 1, 0))], np.zeros((1, 1, 3)), np.tile(UPRIGHT, (1, 1, 1)), pose)


# -- degenerate cases -------------------------------------------------------------------------------------------------


@both_solvers
def test_no_goals_leave_the_pose_as_it_is(solver: str) -> None:
    """Nothing asked for is met at once."""
    skeleton = chain(3)
    start = random_pose(skeleton, np.random.default_rng(0))
    solution = ik.solve(skeleton, [], start, solver)
    assert solution.converged
    assert turned_by(start, solution.pose).max() < 1e-7
    assert solution.position_errors.shape == (0,)


@both_solvers
@pytest.mark.parametrize("target", [{"position": (1, 0, 0)}, {"rotation": (0, 1, 0, 0)}], ids=["position", "rotation"])
@pytest.mark.parametrize("case", ["empty chain", "fixed joints", "stiff joints", "closed limits"])
def test_a_goal_that_can_move_nothing_reports_its_error(case: str, target: dict, solver: str) -> None:
    """An empty chain, fixed joints or stiff ones: the pose stays, the error is told."""
    skeleton = {
        "empty chain": chain(2), "fixed joints": chain(2, kind="fixed"), "stiff joints": chain(2, stiffness=1.0),
        "closed limits": chain(2, kind="hinge", limits=ik.Range(0, 0)),
    }[case]  # fmt: skip
    goal = ik.Goal(1, chain=[] if case == "empty chain" else None, **target)
    for restarts in (0, 2):
        solution = ik.solve(skeleton, [goal], solver=solver, options=ik.Options(restarts=restarts))
        assert not solution.converged
        assert turned_by(skeleton.rest_pose(), solution.pose).max() < 1e-12
        expected = errors(skeleton, skeleton.rest_pose(), goal)
        assert_allclose([solution.position_errors[0], solution.rotation_errors[0]], expected, atol=1e-12)


@both_solvers
def test_a_goal_with_an_empty_chain_does_not_disturb_another(solver: str) -> None:
    """The one that can move arrives."""
    goals = [ik.Goal(2, position=(0, 1, 0), chain=[]), ik.Goal(2, position=(0.5, 1.5, 0.5))]
    solution = ik.solve(chain(3), goals, solver=solver)
    assert solution.position_errors[1] < 1e-4


@both_solvers
@pytest.mark.parametrize("rotation", [None, (0.8, 0, 0, 0.6)])
def test_a_single_joint_looks_at_its_target(rotation: tuple | None, solver: str) -> None:
    """A skeleton of no length of its own: one ball turned until its effector points there, or turned as asked."""
    goal = ik.Goal(0, position=(3, 0, 0), rotation=rotation, offset=(0, 1, 0), position_weight=0.0 if rotation else 1.0)
    solution = ik.solve(chain(1), [goal], solver=solver, options=ik.Options(iterations=200))
    if rotation:
        assert solution.rotation_errors[0] < 1e-3
    else:
        assert_allclose(effector(chain(1), solution.pose, 0, (0, 1, 0)), [1, 0, 0], atol=1e-3)


@both_solvers
def test_a_zero_length_bone_in_a_chain_is_solved_over(solver: str) -> None:
    """Two joints in one place, and a skeleton all in one place."""
    skeleton = ik.Skeleton([
        ik.Joint("a", -1, "ball", (0, 0, 0)), ik.Joint("b", 0, "ball", (0, 1, 0)),
        ik.Joint("c", 1, "ball", (0, 0, 0)), ik.Joint("d", 2, "ball", (0, 1, 0)),
    ])  # fmt: skip
    assert ik.solve(skeleton, [ik.Goal(3, position=(1, 0.5, 0))], solver=solver).converged
    point = chain(3, length=0.0)
    turn = ik.Goal(2, rotation=(0.8, 0, 0, 0.6))
    assert ik.solve(point, [turn], solver=solver).converged
    assert not ik.solve(point, [ik.Goal(2, position=(1, 0, 0))], solver=solver).converged


@both_solvers
@pytest.mark.parametrize("sideways", [1e-1, 1e-3])
def test_a_straight_limb_folds_for_a_target_next_to_its_own_line(sideways: float, solver: str) -> None:
    """A straight chain is singular along itself; a target a hair off its line is reached."""
    goal = ik.Goal(3, position=(sideways, 1.5, 0))
    assert ik.solve(chain(4), [goal], solver=solver, options=ik.Options(iterations=200)).converged


@both_solvers
def test_a_straight_limb_folds_for_a_target_on_its_own_line_with_a_restart(solver: str) -> None:
    """Exactly on the line no joint's turn brings the end nearer at first; another start does."""
    goal = ik.Goal(3, position=(0, 1.5, 0))
    options = ik.Options(restarts=5)
    assert ik.solve(chain(4), [goal], solver=solver, options=options).converged


@both_solvers
@pytest.mark.parametrize("target", [(0, 0, 0, 1), (0, 1, 0, 0), (0, 0.6, 0, 0.8), (0, 0, -1, 0)])
def test_a_half_turn_is_made(target: tuple, solver: str) -> None:
    """A rotation exactly opposite, where the short way is either way."""
    for count in (1, 3):
        solution = ik.solve(chain(count), [ik.Goal(count - 1, rotation=target)], solver=solver)
        assert solution.converged
        assert solution.rotation_errors[0] < 1e-3


@both_solvers
def test_the_double_cover_of_a_target_is_the_same_target(solver: str) -> None:
    """`q` and `-q`, a start of either sign, and a quaternion of any length: one answer."""
    skeleton = chain(3)
    q = wxyz(Rotation.from_rotvec([0.4, -0.9, 1.3]))
    start = random_pose(skeleton, np.random.default_rng(6))
    expected = ik.solve(skeleton, [ik.Goal(2, (1, 1, 0.5), q)], start, solver)
    negative = ik.Pose(-start.rotations, start.translations)
    for rotation, given_start in [(-q, start), (3.0 * q, start), (q, negative)]:
        found = ik.solve(skeleton, [ik.Goal(2, (1, 1, 0.5), rotation)], given_start, solver)
        assert turned_by(expected.pose, found.pose).max() < 1e-5


@both_solvers
def test_a_target_at_the_root_is_as_near_as_bones_allow(solver: str) -> None:
    """Equal bones fold flat onto their root; unequal ones come as near as their difference."""
    options = ik.Options(iterations=300, tolerance=1e-3)
    assert ik.solve(arm(), [ik.Goal(2, position=(0, 0, 0))], arm_bent(), solver, options).position_errors[0] < 2e-2
    unequal = ik.solve(arm(1.0, 0.4), [ik.Goal(2, position=(0, 0, 0))], arm_bent(), solver, options)
    assert unequal.position_errors[0] == pytest.approx(0.6, abs=1e-2)


@both_solvers
def test_slides_of_joints_outside_the_chain_count(solver: str) -> None:
    """A rail that has moved 2 carries the arm on it, whose goal may not move the rail."""
    skeleton = ik.Skeleton([
        ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0)),
        ik.Joint("upper", 0, "ball", (0, 0, 0)), ik.Joint("lower", 1, "ball", (0, 1, 0)),
    ])  # fmt: skip
    start = skeleton.rest_pose()
    start.translations[0] = (2, 0, 0)
    goal = ik.Goal(2, position=(3, 1.2, 0), offset=(0, 1, 0), chain=[1, 2])
    solution = ik.solve(skeleton, [goal], start, solver)
    assert_allclose(solution.pose.translations[0], [2, 0, 0])
    assert_allclose(effector(skeleton, solution.pose, 2, (0, 1, 0)), [3, 1.2, 0], atol=1e-4)


@both_solvers
@pytest.mark.parametrize("weight", [1e-3, 1e3])
def test_the_weight_of_a_lone_goal_does_not_matter(weight: float, solver: str) -> None:
    """One goal is met whatever it weighs; with weight 0 it asks for nothing."""
    goal = ik.Goal(3, position=(1, 2, 0.3), position_weight=weight)
    assert ik.solve(chain(4), [goal], bent(4), solver).converged
    nothing = ik.Goal(3, position=(1, 2, 0.3), position_weight=0.0)
    solution = ik.solve(chain(4), [nothing], bent(4), solver)
    assert solution.converged
    assert turned_by(bent(4), solution.pose).max() < 1e-6
