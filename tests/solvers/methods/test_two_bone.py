# SPDX-License-Identifier: GPL-3.0-or-later
"""TWO_BONE against trigonometry and SciPy's optimisers; and the other solvers against TWO_BONE."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import EXACT, bend_from_pole, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, arm, arm_bent, chain, random_pose, seeds, torso, wxyz

import solvers as ik

pytestmark = pytest.mark.compiled
PI = math.pi
LIMB = [2, 3]


def limb(
    upper: tuple = (0, 1, 0), lower: tuple = (0, 0.8, 0), elbow: str = "ball", root: tuple = (0.1, 0.2, 0.3),
    rest: tuple = (0, 0, 0), **settings: object,
) -> ik.Skeleton:  # fmt: skip
    """A shoulder on a base that does not move, an elbow, and a hand that the goal may turn."""
    return ik.Skeleton([
        ik.Joint("base", -1, "fixed", root, rest=wxyz(Rotation.from_rotvec(rest))),
        ik.Joint("shoulder", 0, "ball", (0, 0, 0)),
        ik.Joint("elbow", 1, elbow, upper, **settings),
        ik.Joint("hand", 2, "ball", lower),
    ])  # fmt: skip


def solve(skeleton: ik.Skeleton, goal: ik.Goal, pose: ik.Pose | None = None, **options: object) -> ik.Solution:
    """Solve by TWO_BONE."""
    return ik.solve(skeleton, [goal], pose, "TWO_BONE", ik.Options(**options))


def places(skeleton: ik.Skeleton, pose: ik.Pose) -> np.ndarray:
    """Positions of shoulder, elbow and hand."""
    return ik.forward(skeleton, pose).positions[-3:]


def reaching(target: tuple | np.ndarray, **settings: object) -> ik.Goal:
    """The hand's goal with a chain of two."""
    return ik.Goal(3, position=target, **{"chain": [1, 2], **settings})


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """The angle between two directions."""
    return math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)


# -- the triangle ------------------------------------------------------------------------------------------------------


@given(st.floats(0.3, 2), st.floats(0.3, 2), st.floats(0.02, 0.98), seeds)
def test_the_triangle_is_the_one_that_the_law_of_cosines_gives(a: float, b: float, share: float, seed: int) -> None:
    """For any two lengths, reachable target and start the target is met in one step, at the angle of the formula."""
    skeleton, generator = limb((0, a, 0), (0, b, 0)), np.random.default_rng(seed)
    direction = generator.normal(size=3)
    distance = abs(a - b) + share * (a + b - abs(a - b))
    target = np.array([0.1, 0.2, 0.3]) + distance * direction / np.linalg.norm(direction)
    solution = solve(skeleton, reaching(target), random_pose(skeleton, generator))
    shoulder, elbow, hand = places(skeleton, solution.pose)
    assert_allclose(hand, target, atol=1e-9)
    assert np.linalg.norm(elbow - shoulder) == pytest.approx(a)
    assert np.linalg.norm(hand - elbow) == pytest.approx(b)
    cosine = (a * a + b * b - distance * distance) / (2 * a * b)
    assert angle(shoulder - elbow, hand - elbow) == pytest.approx(math.acos(cosine), abs=1e-6)
    assert solution.iterations <= 1


@pytest.mark.parametrize(("distance", "bend"), [(9.0, 0.0), (1.9, 0.0), (0.1, PI), (0.19, PI)])
def test_a_target_out_of_reach_is_pointed_at(distance: float, bend: float) -> None:
    """The limb is straight toward a target too far and folded for one too near; the hand is as near as possible."""
    skeleton, direction = limb(), np.array([0.6, 0.0, -0.8])
    target = np.array([0.1, 0.2, 0.3]) + distance * direction
    shoulder, elbow, hand = places(skeleton, solve(skeleton, reaching(target)).pose)
    assert angle(elbow - shoulder, hand - elbow) == pytest.approx(bend, abs=2e-4)
    assert angle(hand - shoulder, direction) < 1e-4
    nearest = distance - 1.8 if bend == 0 else 0.2 - distance
    assert np.linalg.norm(hand - target) == pytest.approx(nearest, abs=1e-8)


@settings(max_examples=12)
@given(seeds, st.floats(0.1, 2.5))
def test_a_hinge_that_is_not_square_to_its_bones_bends_as_scipy_finds_it_should(seed: int, distance: float) -> None:
    """For any axis and bones no angle of the elbow and no turn of the shoulder brings the hand nearer."""
    generator = np.random.default_rng(seed)
    upper, lower, axis = generator.normal(size=(3, 3))
    skeleton = limb(tuple(upper), tuple(lower), "hinge", (0, 0, 0), axis=tuple(axis))
    direction = generator.normal(size=3)
    target = distance * direction / np.linalg.norm(direction)
    found = solve(skeleton, reaching(target), random_pose(skeleton, generator)).position_errors[0]
    axis /= np.linalg.norm(axis)

    def off(angle: np.ndarray) -> float:
        return np.linalg.norm(upper + Rotation.from_rotvec(angle[0] * axis).apply(lower)) - distance

    best = min(abs(least_squares(off, [start], xtol=1e-15, ftol=1e-15, gtol=1e-15).fun[0]) for start in range(-3, 4))
    assert found == pytest.approx(best, abs=1e-6)


def test_two_parallel_hinges_move_in_their_plane() -> None:
    """The error is the target's height over the plane; a target in the plane is met."""
    skeleton = ik.Skeleton([
        ik.Joint("shoulder", -1, "hinge", (0, 0, 0), axis=(0, 0, 1)),
        ik.Joint("elbow", 0, "hinge", (0, 1, 0.2), axis=(0, 0, -1)),
        ik.Joint("hand", 1, "fixed", (0, 0.7, 0.1)),
    ])  # fmt: skip
    solution = solve(skeleton, ik.Goal(2, position=(0.9, 0.5, 0.7)))
    assert_allclose(ik.forward(skeleton, solution.pose).positions[2], [0.9, 0.5, 0.3], atol=1e-9)


@pytest.mark.parametrize(("upper", "lower"), [(0.0, 0.8), (1.0, 0.0), (0.0, 0.0)])
def test_bones_of_no_length_are_pointed_as_far_as_there_are_any(upper: float, lower: float) -> None:
    """Bones with a length point at the target, and nothing is NaN."""
    skeleton = limb((0, upper, 0), (0, lower, 0), root=(0, 0, 0))
    solution = solve(skeleton, reaching((0, 0, 2)))
    assert np.isfinite(solution.pose.rotations).all()
    assert solution.position_errors[0] == pytest.approx(2 - upper - lower, abs=1e-8)


# -- which way it bends ------------------------------------------------------------------------------------------------


@given(seeds, st.sampled_from(["ball", "hinge"]), st.floats(-3, 3))
def test_the_middle_points_at_the_pole(seed: int, elbow: str, turned: float) -> None:
    """From any start, one that meets its goal included, for hinges and balls, at the pole angle from it."""
    generator = np.random.default_rng(seed)
    skeleton = limb(elbow=elbow, axis=(1, 0, 0) if elbow == "hinge" else None)
    target, pole = (0.7, 0.9, 0.8), tuple(3 * generator.normal(size=3))
    goal, start = reaching(target, pole=pole, pole_angle=turned), random_pose(skeleton, generator, 2)
    for own in (start, solve(skeleton, reaching(target), start).pose):
        solution = solve(skeleton, goal, own)
        root, _, end = places(skeleton, solution.pose)
        assert_allclose(end, target, atol=1e-9)
        line = (end - root) / np.linalg.norm(end - root)
        beside = root + Rotation.from_rotvec(turned * line).apply(np.array(pole) - root)
        assert bend_from_pole(skeleton, solution.pose, (1, 2, 3), tuple(beside)) == pytest.approx(0.0, abs=1e-6)


def test_a_stretched_limb_follows_its_pole() -> None:
    """Straight toward a target out of reach, frame after frame, the remaining bend turns with the pole."""
    skeleton = limb()
    prepared = ik.prepare(skeleton, [reaching((4, 4, 4), pole=(3, 0, 0))], "TWO_BONE")
    arrays, motion = prepared.arrays(), prepared.motion()
    arrays.positions[:] = (4, 4, 4)
    for pole in [(3, 0, 0), (3, 0, 0), (0, 0, 5), (-2, 3, 0)]:
        arrays.poles[:] = pole
        motion.solve_into(arrays)
        assert bend_from_pole(skeleton, arrays.solution(0, 0.0).pose, (1, 2, 3), pole) < 1e-3


@given(seeds)
def test_without_a_pole_a_bent_limb_stays_in_its_plane(seed: int) -> None:
    """For a target in the plane of shoulder, elbow and hand all three stay in it, bent to the same side."""
    skeleton, generator = limb(root=(0, 0, 0)), np.random.default_rng(seed)
    start = random_pose(skeleton, generator)
    _, elbow, hand = places(skeleton, start)
    normal = np.cross(elbow, hand - elbow) / np.linalg.norm(np.cross(elbow, hand - elbow))
    turn = Rotation.from_rotvec(generator.uniform(-1.5, 1.5) * normal)
    target = turn.apply(hand) * generator.uniform(0.5, 1.7) / np.linalg.norm(hand)
    _, elbow, hand = places(skeleton, solve(skeleton, reaching(target), start).pose)
    assert abs(elbow @ normal) < 1e-7
    assert np.cross(elbow, hand - elbow) @ normal > 0


@pytest.mark.parametrize(("bones", "preferred", "toward"), [
    ((0, 1, 0), None, (0, 0, -1)), ((0, 1, 0), (0, 0, 0.3), (1, 0, 0)), ((1, 0, 0), None, (0, -1, 0)),
], ids=["about X", "as it prefers", "about Z, where the bone is X"])  # fmt: skip
def test_straight_balls_bend_as_preferred_or_by_an_axis(bones: tuple, preferred: tuple | None, toward: tuple) -> None:
    """Its elbow leaves the line to the side that the axis defines."""
    skeleton = limb(bones, bones, root=(0, 0, 0), preferred=preferred)
    line = np.array(bones)
    _, elbow, hand = places(skeleton, solve(skeleton, reaching(1.5 * line), pull=0.0).pose)
    assert_allclose(hand, 1.5 * line, atol=1e-9)
    assert angle(elbow - line * (elbow @ line), np.array(toward)) < 1e-6


def test_a_stretched_limb_remembers_its_plane() -> None:
    """When a hand is led out of reach and back, its elbow returns to its place, and nothing jumps."""
    skeleton = limb(root=(0, 0, 0))
    start = random_pose(skeleton, np.random.default_rng(3))
    hand = places(skeleton, start)[2]
    shares = np.concatenate([np.linspace(1, 2.5, 40), np.linspace(2.5, 1, 40)])
    asked = (shares[:, None] * hand)[:, None]
    found = ik.solve_frames(skeleton, [reaching(hand)], asked, None, start, "TWO_BONE")
    assert_allclose(places(skeleton, found[-1].pose), places(skeleton, start), atol=1e-5)
    elbows = np.array([places(skeleton, solution.pose)[1] for solution in found])
    assert np.linalg.norm(np.diff(elbows, axis=0), axis=-1).max() < 0.35


# -- what is at its end ------------------------------------------------------------------------------------------------


@given(seeds)
def test_a_third_joint_turns_the_end_and_the_limb_allows_for_it(seed: int) -> None:
    """A finger's position and a hand's rotation are both met exactly."""
    skeleton, generator = limb(), np.random.default_rng(seed)
    turn, offset = generator.normal(size=4), 0.1 * generator.normal(size=3)
    hand = np.array([0.5, 0.7, 1.1]) + 0.3 * generator.uniform(-1, 1, 3)
    carried = Rotation.from_quat(turn, scalar_first=True).apply(offset)
    goal = reaching(hand + carried, rotation=turn, offset=offset, chain=None)
    solution = solve(skeleton, goal, random_pose(skeleton, generator))
    assert max(goal_errors(skeleton, solution.pose, goal)) < 1e-7
    assert_allclose(places(skeleton, solution.pose)[2], hand, atol=1e-8)


def test_a_limited_hand_is_allowed_for() -> None:
    """A hand whose limits exclude its rotation misses its position by far less than if the limb assumed the
    rotation."""
    stiff = ik.TwistSwing((-0.1, 0.1), (-0.1, 0.1), (-0.1, 0.1))
    joints = [*limb().joints[:3], ik.Joint("hand", 2, "ball", (0, 0.8, 0), limits=stiff)]
    goal = reaching((0.5, 0.7, 1.0), rotation=(0, 1, 0, 0), offset=(0, 0.2, 0.1), chain=None)
    trusting, solution = (solve(ik.Skeleton(joints), goal, iterations=count) for count in (1, 50))
    assert solution.position_errors[0] < 0.1 * trusting.position_errors[0]
    assert solution.rotation_errors[0] <= trusting.rotation_errors[0]
    assert outside_limits(ik.Skeleton(joints), solution.pose, 3) <= EXACT


def test_an_end_that_does_not_inherit_rotation_keeps_its_own() -> None:
    """Its finger moves with it and does not turn."""
    joints = [*limb().joints[:3], ik.Joint("hand", 2, "fixed", (0, 0.8, 0), inherit_rotation=False)]
    with pytest.raises(ik.InvalidGoal, match="'hand' in its limb, which does not inherit rotation"):
        solve(ik.Skeleton(joints), reaching((0.5, 0.7, 1.0)))
    joints[3] = ik.Joint("hand", 2, "ball", (0, 0.8, 0), inherit_rotation=False)
    goal = reaching((0.5, 0.7, 1.0), rotation=(1, 1, 0, 0), offset=(0, 0.2, 0.1), chain=None)
    assert max(goal_errors(ik.Skeleton(joints), solve(ik.Skeleton(joints), goal).pose, goal)) < 1e-7


def test_a_knee_bends_as_it_prefers_whatever_its_start() -> None:
    """With default options a leg bent to the wrong side, its foot on the target, gets its knee in front."""
    skeleton = ik.Skeleton([
        ik.Joint("thigh", -1, "ball", (0, 1, 0)),
        ik.Joint("shin", 0, "hinge", (0, -0.5, 0), axis=(1, 0, 0), preferred=(0.35, 0, 0)),
        ik.Joint("foot", 1, "ball", (0, -0.5, 0)),
    ])  # fmt: skip
    start = ik.Pose(wxyz(Rotation.from_rotvec([(0, 0, 0), (-0.3, 0, 0), (0, 0, 0)])), np.zeros((3, 3)))
    goal = ik.Goal(2, position=(0, 0.3, 0.1), rotation=(1, 0, 0, 0), offset=(0, -0.1, 0))
    pose = solve(skeleton, goal, start).pose
    assert max(goal_errors(skeleton, pose, goal)) < 1e-9
    assert Rotation.from_quat(pose.rotations[1], scalar_first=True).as_rotvec()[0] > 0.5


def test_several_limbs_are_placed_in_one_call() -> None:
    """Both hands of a torso have chains of their own; a fixed joint between two bones is part of the first."""
    skeleton = torso()
    goals = [
        ik.Goal(LEFT, position=(0.5, 0.9, 0.2), chain=LIMB),
        ik.Goal(RIGHT, position=(-0.4, 0.3, 0.2), chain=[5, 6]),
    ]
    solution = ik.solve(skeleton, goals, solver="TWO_BONE")
    assert solution.position_errors.max() < 1e-9
    assert turned_by(skeleton.rest_pose(), solution.pose)[[0, 1, 4, 7]].max() < 1e-9
    jointed = ik.Skeleton([
        ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
        ik.Joint("collar", 0, "fixed", (0, 0.5, 0.1), rest=wxyz(Rotation.from_rotvec([0.3, 0, 0.2]))),
        ik.Joint("elbow", 1, "hinge", (0, 0.5, 0), axis=(1, 0, 0)),
        ik.Joint("hand", 2, "fixed", (0, 0.6, 0)),
    ])  # fmt: skip
    assert solve(jointed, ik.Goal(3, position=(0.5, 0.3, 0.9))).position_errors[0] < 1e-9


# -- limits, batches, and the same problem told otherwise --------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_a_limb_bends_to_the_side_that_its_limits_leave_open(kind: str, sign: int) -> None:
    """From straight, with either side closed, the target is met."""
    one_way = (0.0, 2.5) if sign > 0 else (-2.5, 0.0)
    limits = ik.Range(*one_way) if kind == "hinge" else ik.TwistSwing((0, 0), (0, 0), one_way)
    skeleton = limb(elbow=kind, limits=limits, axis=(1, 0, 0) if kind == "hinge" else None)
    assert solve(skeleton, reaching((0.7, 0.9, 0.8))).position_errors[0] < 1e-8


def test_where_limits_bind_the_answer_is_the_analytic_one_moved_inside_them() -> None:
    """An elbow with a limit of 40 degrees is at 40 degrees, and the hand still points at its target."""
    skeleton = limb(elbow="hinge", axis=(1, 0, 0), limits=ik.Range(0.0, math.radians(40)))
    target = np.array([0.6, 0.7, 0.8])
    shoulder, elbow, hand = places(skeleton, solve(skeleton, reaching(target)).pose)
    assert angle(elbow - shoulder, hand - elbow) == pytest.approx(math.radians(40), abs=1e-6)
    assert angle(hand - shoulder, target - shoulder) < 1e-6


# -- what it cannot do -------------------------------------------------------------------------------------------------

SLIDING = ik.Skeleton([
    ik.Joint("rail", -1, "prismatic", (0, 0, 0)), ik.Joint("arm", 0, "ball", (0, 0, 0)),
    ik.Joint("hand", 1, "fixed", (0, 1, 0)),
])  # fmt: skip
CROSSED = ik.Skeleton([
    ik.Joint("pan", -1, "hinge", (0, 0, 0), axis=(0, 1, 0)), ik.Joint("tilt", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ik.Joint("hand", 1, "fixed", (0, 1, 0)),
])  # fmt: skip


@pytest.mark.parametrize(("skeleton", "goals", "message"), [
    (chain(5), [ik.Goal(4, (1, 1, 1))], r"goal 0 \(joint 'joint 4'\) has 5 to move .* set its chain length to 2"),
    (chain(5), [ik.Goal(4, (1, 1, 1), chain=[4])], "has 1 to move"),
    (chain(3), [ik.Goal(2, (1, 1, 1), (1, 0, 0, 0), chain=[0, 1])], "asks for a rotation, .* chain length to 3"),
    (chain(3), [ik.Goal(2, rotation=(1, 0, 0, 0))], "has no position"),
    (chain(3), [ik.Goal(2, (1, 1, 1)), ik.Goal(1, (0, 1, 0))], "goal 1 .*shares 'joint 0' with goal 0"),
    (SLIDING, [ik.Goal(2, (1, 1, 1))], "no slides; goal 0 .* has 'rail'"),
    (CROSSED, [ik.Goal(2, (1, 1, 1))], "the hinge 'pan' at the root"),
])  # fmt: skip
def test_what_it_cannot_do_it_says(skeleton: ik.Skeleton, goals: list[ik.Goal], message: str) -> None:
    with pytest.raises(ik.InvalidGoal, match=message) as caught:
        ik.solve(skeleton, goals, solver="TWO_BONE")
    assert "take PGS" in str(caught.value)


# -- the oracle of the others ------------------------------------------------------------------------------------------

ITERATIONS = {"TRANSPOSE": 4000, "BROYDEN": 400, "FABRIK": 400, "CCD": 1000}  # the others: 200
every_other = pytest.mark.parametrize("solver", [name for name in ik.SOLVERS if name != "TWO_BONE"])


def options_of(solver: str) -> ik.Options:
    """As many iterations as each solver needs for six digits."""
    return ik.Options(iterations=ITERATIONS.get(solver, 200), tolerance=1e-6)


@every_other
@pytest.mark.parametrize("seed", range(3))
def test_every_solver_finds_the_elbow_of_a_limb_with_a_pole(solver: str, seed: int) -> None:
    """A ball and a hinge: elbow and hand are where the law of cosines and the pole put them."""
    skeleton, generator = arm(1.0, 0.8), np.random.default_rng(seed)
    direction = generator.normal(size=3)
    target = direction / np.linalg.norm(direction) * generator.uniform(0.9, 1.5)
    goals = [ik.Goal(2, position=target, pole=2 * generator.normal(size=3))]
    expected = ik.solve(skeleton, goals, arm_bent(), "TWO_BONE").pose
    found = ik.solve(skeleton, goals, arm_bent(), solver, options_of(solver))
    assert found.position_errors[0] < 1e-5
    assert_allclose(places(skeleton, found.pose), places(skeleton, expected), atol=2e-3)
