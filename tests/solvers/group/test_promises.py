# SPDX-License-Identifier: GPL-3.0-or-later
"""What every way to solve promises, on skeletons, goals, limits and starts drawn by hypothesis and from seeds."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from catalogue import EXACT_STEP, WAYS, Way, each_way, problems, targets_of
from drawn import Problem, drawn, moving
from hypothesis import assume, given, settings
from measures import EXACT, UPRIGHT, both_solvers, chain_of, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, torso, wxyz

import solvers as ik

pytestmark = pytest.mark.compiled  # each with the kernel and without
EXAMPLES = settings(max_examples=8)
FEW = 2  # problems drawn from seeds


def movable(problem: Problem) -> np.ndarray:
    """(J,) bool: the joints of chains that are not stiff."""
    chains = np.any([chain_of(problem.skeleton, goal) for goal in problem.goals], axis=0)
    return chains & (problem.skeleton.stiffness < 1.0)


def assert_allowed(problem: Problem, pose: ik.Pose) -> None:
    """Every joint is inside its limits, and moves as its kind allows only."""
    assert_allclose(np.linalg.norm(pose.rotations, axis=1), 1, atol=1e-12)
    for joint in range(len(problem.skeleton)):
        assert outside_limits(problem.skeleton, pose, joint) <= EXACT
        if problem.skeleton.kinds[joint] == "prismatic":
            assert_allclose(np.abs(pose.rotations[joint]), UPRIGHT, atol=1e-12)
        else:
            assert_allclose(pose.translations[joint], 0.0, atol=1e-12)


def assert_truthful(problem: Problem, solution: ik.Solution) -> None:
    """Errors are those of the pose, by SciPy, and `converged` says whether all that count are within tolerance."""
    measured = np.array([goal_errors(problem.skeleton, solution.pose, goal) for goal in problem.goals])
    size = 1.0 + np.abs([goal.position for goal in problem.goals if goal.position is not None]).max(initial=0.0)
    size += problem.skeleton.length
    assert_allclose(solution.position_errors, measured[:, 0], rtol=1e-9, atol=1e-9 * size)
    # SciPy and the solvers measure angles near 0 and pi with half the digits
    assert_allclose(solution.rotation_errors, measured[:, 1], rtol=1e-9, atol=1e-7)
    weights = np.array([(goal.position_weight, goal.rotation_weight) for goal in problem.goals])
    tolerances = np.array([problem.options.tolerance, problem.options.rotation_tolerance])
    slack = np.array([1e-9 * size, 1e-7])
    assert solution.converged <= ((measured <= tolerances + slack) | (weights <= 0.0)).all()
    assert solution.converged >= ((measured <= tolerances - slack) | (weights <= 0.0)).all()


# -- of any problem ----------------------------------------------------------------------------------------------------


@each_way
def test_joints_end_inside_their_limits_and_those_outside_every_chain_stay(way: Way) -> None:
    """Whether a goal moves them or not; joints of stiffness 1 stay too. Every number is finite, the errors are true."""

    @EXAMPLES
    @given(problems(way))
    def check(problem: Problem) -> None:
        solution = way.solve(problem)
        for array in (*solution.pose, solution.position_errors, solution.rotation_errors):
            assert np.isfinite(array).all()
        assert_allowed(problem, solution.pose)
        assert_truthful(problem, solution)
        inside = [outside_limits(problem.skeleton, problem.start, j) < EXACT for j in range(len(problem.skeleton))]
        held = ~movable(problem) & inside
        assert turned_by(problem.start, solution.pose)[held].max(initial=0.0) < 1e-7
        assert_allclose(solution.pose.translations[held], problem.start.translations[held], atol=1e-12)

    check()


@each_way
def test_an_answer_is_the_same_twice_alone_and_among_others(way: Way) -> None:
    """To the last bit, restarts included; among others with NumPy up to rounding, which a few steps do not blow up.

    Nothing that is given is written to, and no memory is shared with it.
    """

    @EXAMPLES
    @given(problems(way))
    def check(problem: Problem) -> None:
        if not way.kernel:
            few = min(problem.options.iterations, 5)
            problem = replace(problem, options=replace(problem.options, iterations=few, restarts=0))
        given_parts = [part.copy() for part in problem.start]
        first, prepared = way.solve(problem), way.prepare(problem)
        places, turns = targets_of(problem.goals)
        others = places + np.array([0.3, 0.0, -0.7])[:, None, None]
        batch = prepared.solve_batch(prepared.targets(others, np.stack([turns] * 3)), prepared.start(problem.start))
        near, expected = 0.0 if way.kernel else 1e-6, first.pose.rotations.copy()
        assert_allclose(batch.rotations[1], expected, rtol=0.0, atol=near)
        assert_allclose(batch.translations[1], first.pose.translations, rtol=0.0, atol=near)
        first.pose.rotations[:], first.pose.translations[:] = 7, 7
        assert_array_equal(prepared(places, turns, problem.start).pose.rotations, expected)
        for part, unwritten in zip(problem.start, given_parts, strict=True):
            assert_array_equal(part, unwritten)

    check()


@pytest.mark.parametrize("way", [way for way in WAYS if EXACT_STEP not in dict(way.options)], ids=str)
def test_a_solve_is_never_worse_than_its_start(way: Way) -> None:
    """From a start inside the limits a single goal's error does not grow, unless it ends within tolerance.

    A goal with a place and a rotation is weighed by its squares with PGS and DLS; the others may weigh otherwise.
    """

    @EXAMPLES
    @given(problems(way, most_goals=1))
    def check(problem: Problem) -> None:
        goal, length = problem.goals[0], problem.skeleton.length
        assume(way.solver in ("PGS", "DLS") or goal.position is None or goal.rotation is None)
        still = replace(problem, options=replace(problem.options, iterations=0, restarts=0, pull=0.0))

        def cost(pose: ik.Pose) -> float:
            distance, angle = goal_errors(problem.skeleton, pose, goal)
            return (goal.position_weight * distance / length) ** 2 + (goal.rotation_weight * angle * 0.25) ** 2

        inside = way.solve(still).pose
        solution = way.solve(problem, inside)
        assert solution.converged or cost(solution.pose) <= cost(inside) * (1 + 1e-9) + 1e-14

    check()


@both_solvers
def test_a_solve_never_makes_all_goals_worse(solver: str) -> None:
    """From a start inside the limits, at least one goal gains if another loses."""
    way = Way(solver)

    @settings(max_examples=30)
    @given(problems(way))
    def check(problem: Problem) -> None:
        inside = way.solve(replace(problem, options=ik.Options(iterations=0))).pose
        ends = inside, way.solve(problem, inside).pose
        before, after = (
            np.array([goal_errors(problem.skeleton, pose, goal) for goal in problem.goals]).ravel() for pose in ends
        )
        slack = np.tile([problem.options.tolerance, problem.options.rotation_tolerance], len(problem.goals))
        worse = (after > before + 1e-7) & (after > slack)
        assert not worse.any() or (after < before).any()

    check()


# -- of motions, from any pose -----------------------------------------------------------------------------------------


def any_pose(skeleton: ik.Skeleton, generator: np.random.Generator) -> ik.Pose:
    """A pose in which every joint turns and moves, whatever its kind."""
    count = len(skeleton)
    turns = 1.5 * generator.normal(size=(count, 3)) * generator.integers(0, 2, size=(count, 1))
    return ik.Pose(wxyz(Rotation.from_rotvec(turns)), 0.5 * generator.normal(size=(count, 3)))


def gapped(seed: int, way: Way) -> Problem:
    """A drawn skeleton, goals whose chains leave joints out as far as the solver can solve them, and any pose."""
    for attempt in range(200):
        generator = np.random.default_rng((seed, attempt))
        told = drawn(int(generator.integers(2**31)), most=6)
        goals: list[ik.Goal] = []
        for _ in range(int(generator.integers(2, 5))):
            joint, what = int(generator.integers(len(told.skeleton))), generator.integers(3)
            above = np.flatnonzero(told.skeleton.ancestors[joint])
            turns, places = what != 0 and way.solver != "FABRIK", what != 1 or way.solver in ("FABRIK", "TWO_BONE")
            goals.append(ik.Goal(
                joint, generator.normal(size=3) if places else None, generator.normal(size=4) if turns else None,
                offset=generator.normal(size=3) * generator.integers(2), priority=int(generator.integers(2)),
                chain=[int(j) for j in above if generator.integers(2)],
                pole=generator.normal(size=3) if generator.integers(4) == 0 else None,
            ))  # fmt: skip
        options = replace(told.options, iterations=int(generator.choice([0, 3, 30])), **dict(way.options))
        for some in (goals, goals[:1]):
            problem = Problem(told.skeleton, some, any_pose(told.skeleton, generator), way.solver, options)
            try:
                way.prepare(problem)
            except ik.InvalidGoal:
                continue
            return problem
    raise AssertionError("no problem that the solver accepts")


def assert_moved_allowed(problem: Problem, pose: ik.Pose) -> None:
    """Joints that may move are inside their limits; others keep what their kind allows of their pose."""
    moving_joints = {joint for goal in problem.goals for joint in goal.chain}
    for joint, one in enumerate(problem.skeleton.joints):
        turn, move, axis = pose.rotations[joint], pose.translations[joint], problem.skeleton.axis[joint]
        if one.kind in ("fixed", "prismatic"):
            assert_allclose(np.abs(turn), UPRIGHT, atol=1e-12)
        if one.kind == "hinge":
            assert_allclose(np.cross(turn[1:], axis), 0, atol=1e-12)
        assert_allclose(move, axis * (move @ axis) * (one.kind == "prismatic"), atol=1e-12)
        if joint in moving_joints and (problem.skeleton.stiffness[joint] < 1.0 or one.limits is not None):
            assert outside_limits(problem.skeleton, pose, joint) < EXACT


@each_way
def test_every_frame_of_a_motion_reports_the_errors_of_its_pose(way: Way) -> None:
    """Of any start, chains with gaps: afresh, then from frame to frame, also from a pose given as the last answer."""
    for seed in range(FEW):
        problem, generator = gapped(seed + 1000, way), np.random.default_rng(seed)
        solve, (places, turns) = way.prepare(problem), targets_of(problem.goals)
        alone = solve(places, turns, problem.start)
        assert_truthful(problem, alone)
        assert_moved_allowed(problem, alone.pose)
        motion, arrays = solve.motion(), solve.arrays()
        if seed % 2:
            motion.begin(any_pose(problem.skeleton, generator))
        for _ in range(4):
            places = places + 0.05 * generator.normal(size=places.shape)
            arrays.ask(solve.targets_of_frame(places, turns), solve.start(problem.start))
            motion.solve_into(arrays)
            moved = [
                goal if goal.position is None else replace(goal, position=place)
                for goal, place in zip(problem.goals, places, strict=True)
            ]
            assert_truthful(replace(problem, goals=moved), arrays.solution(0, 0.0))
            assert_moved_allowed(problem, arrays.solution(0, 0.0).pose)


@pytest.mark.parametrize("solver", ["DLS", "PGS", "PINV", "SVD", "TSVD", "SDLS"])
def test_tracking_reports_the_errors_of_its_poses(solver: str) -> None:
    for seed in range(2 * FEW):
        problem = gapped(seed + 2000, Way(solver))
        tracker = ik.Tracker(problem.skeleton, problem.goals, solver, problem.start, problem.options)
        for dt in (0.0, 0.04, 0.04):
            solution = tracker.step(*targets_of(problem.goals), dt)
            assert_truthful(problem, solution)
            assert_moved_allowed(problem, solution.pose)


@pytest.mark.parametrize("way", [Way(name, (), kernel) for name in ("PGS", "DLS", "SVD") for kernel in (True, False)],
                         ids=str)  # fmt: skip
def test_a_goal_is_met_although_another_turns_a_joint_in_the_gap_of_its_chain(way: Way) -> None:
    """Both are met in the pose that is returned, which one goal after the other cannot do."""
    joints = [ik.Joint("a", -1, "ball", (0, 0, 0)), ik.Joint("b", 0, "ball", (0, 1, 0)),
              ik.Joint("c", 1, "ball", (0, 1, 0)), ik.Joint("hand", 2, "fixed", (0, 1, 0))]  # fmt: skip
    skeleton = ik.Skeleton(joints)
    for seed in range(3):
        angles = 0.5 * np.random.default_rng(seed).normal(size=9) * [1, 1, 1, 1, 1, 1, 0, 0, 0]
        reached = ik.forward(skeleton, ik.pose_from_angles(skeleton, angles))
        goals = [ik.Goal(3, reached.positions[3], chain=[0]), ik.Goal(1, rotation=reached.rotations[1], chain=[1])]
        problem = Problem(skeleton, goals, skeleton.rest_pose(), way.solver, ik.Options(iterations=200))
        solution = way.solve(problem)
        assert_truthful(problem, solution)
        assert solution.converged


# -- the same problem, said otherwise ----------------------------------------------------------------------------------

TIGHT = ik.TwistSwing((-0.8, 0.8), (-1, 1.2), (-1.2, 1))
LIMITS, BENDS = dict.fromkeys((1, 2, 5), TIGHT), {3: (0, 0.3, 0), 6: (0, -0.3, 0)}


@dataclass
class Told:
    """A description of the same problem: its unit of length, and the rig's position and rotation."""

    scale: float = 1.0
    where: tuple = (0, 0, 0)
    turn: tuple = (0, 0, 0)

    def place(self, point: tuple) -> tuple:
        """A point in the rig's own frame."""
        return tuple(Rotation.from_rotvec(self.turn).apply(np.array(point) * self.scale) + self.where)

    def orientation(self, vector: tuple = (0, 0, 0)) -> np.ndarray:
        """An orientation in the rig's own frame."""
        return wxyz(Rotation.from_rotvec(self.turn) * Rotation.from_rotvec(vector))

    def torso(self) -> list[ik.Joint]:
        """The joints of a limited torso whose elbows prefer a bend."""
        joints = [
            replace(joint, offset=np.array(joint.offset) * self.scale, limits=LIMITS.get(i), preferred=BENDS.get(i))
            for i, joint in enumerate(torso().joints)
        ]
        joints[0] = replace(joints[0], offset=self.place((0, 0, 0)), rest=self.orientation())
        return joints

    def goals(self, target: tuple) -> list[ik.Goal]:
        """A hand with a position, a rotation and a pole, and another hand."""
        turn, pole = self.orientation((0.3, 0.2, 0.1)), self.place((0.4, -2, -1))
        left = ik.Goal(LEFT, self.place(target), turn, pole=pole)
        return [left, ik.Goal(RIGHT, self.place((-0.6, 0.6, 0.2)))]


retold = pytest.mark.parametrize(
    "told", [Told(scale=1e-3), Told(scale=1e3), Told(where=(10, -20, 30)), Told(turn=(0.4, -1.2, 2.0))],
    ids=["small", "large", "moved", "turned"],
)  # fmt: skip


@both_solvers
@retold
@pytest.mark.parametrize("target", [(0.5, 0.8, 0.4), (3, 3, 3)], ids=["within reach", "out of reach"])
def test_a_solve_does_not_depend_on_where_how_turned_or_how_large_a_rig_is(target, told: Told, solver: str) -> None:
    """The same joints turn by the same angles, to a twentieth of a degree."""
    expected = ik.solve(ik.Skeleton(Told().torso()), Told().goals(target), solver=solver)
    options = ik.Options(tolerance=1e-4 * told.scale)
    found = ik.solve(ik.Skeleton(told.torso()), told.goals(target), solver=solver, options=options)
    assert turned_by(expected.pose, found.pose).max() < 1e-3


@each_way
def test_arms_are_solved_alike_at_any_scale_wherever_they_stand(way: Way) -> None:
    """With a power of two as scale nothing is rounded differently: the same steps, for arms that slide and turn too."""
    slides = way.solver not in ("TWO_BONE", "FABRIK")

    def solved(unit: float) -> list[ik.Solution]:
        limits = ik.Range(-2.6, 2.6)
        joints = [ik.Joint("shoulder", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=limits),
                  ik.Joint("elbow", 0, "hinge", (unit, 0, 0), axis=(0, 0, 1), limits=limits)]  # fmt: skip
        if slides:
            rail = ik.Range(-0.5 * unit, 0)
            joints.append(ik.Joint("lift", 1, "prismatic", (0.8 * unit, 0, 0), axis=(0, 0, 1), limits=rail))
        wrist = ik.Joint("wrist", len(joints) - 1, "hinge", (0.8 * unit * (not slides), 0, 0), axis=(0, 0, 1))
        joints.append(replace(wrist, limits=limits) if slides else replace(wrist, kind="fixed"))
        skeleton = ik.Skeleton(joints)
        options = ik.Options(tolerance=1e-5 * unit, iterations=100, **dict(way.options))
        middle, half = ([0, 0, -0.25 * unit, 0], [2.4, 2.4, 0.24 * unit, 2.4]) if slides else ([0, 0], [2.4, 2.4])
        random, answers = np.random.default_rng(9), list[ik.Solution]()
        for _ in range(6):
            start, end = (
                ik.pose_from_angles(skeleton, middle + share * random.uniform(-1, 1, len(half)) * half)
                for share in (0.5, 1)
            )
            world = ik.forward(skeleton, end)
            goal = ik.Goal("wrist", world.positions[-1], world.rotations[-1] if slides else None)
            answers.append(way.solve(Problem(skeleton, [goal], start, way.solver, options)))
        return answers

    own = solved(1.0)
    for scale in (2.0**-10, 2.0**14):
        for expected, found in zip(own, solved(scale), strict=True):
            assert turned_by(expected.pose, found.pose).max() < 1e-3
            assert_allclose(found.pose.translations / scale, expected.pose.translations, atol=1e-3)


@both_solvers
def test_a_solve_does_not_depend_on_the_order_of_joints_and_goals(solver: str) -> None:
    """With children before parents, and left after right, to a twentieth of a degree."""
    joints, goals = Told().torso(), Told().goals((0.5, 0.8, 0.4))
    expected = ik.solve(ik.Skeleton(joints), goals, solver=solver).pose
    order = (3, 1, 0, 7, 2, 5, 4, 6)
    shuffled = ik.Skeleton([replace(joints[i], parent=order.index(joints[i].parent) if i else -1) for i in order])
    asked = [replace(goal, joint=order.index(goal.joint)) for goal in goals]
    for same in (asked, asked[::-1]):
        found = ik.solve(shuffled, same, solver=solver).pose.rotations[[order.index(i) for i in range(8)]]
        assert turned_by(expected, ik.Pose(found, expected.translations)).max() < 1e-3


# -- goals that share no joint -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [True, False], ids=["compiled", "numpy"])
@pytest.mark.parametrize(("options", "follows", "solver"), [
    ({}, False, "PGS"), ({"pull": 0.0}, True, "DLS"), ({"pull": 1e-3, "bias": "MIDDLE"}, True, "PGS"),
    ({"restarts": 2}, False, "DLS"),
], ids=str)  # fmt: skip
def test_goals_that_share_no_joint_are_answered_as_if_alone(options, follows, solver: str, kernel: bool) -> None:
    """Drawn problems side by side on one skeleton, under a root that none of them moves; rounding may decide one."""
    same = []
    for seed in range(2):
        joints, goals, groups = [ik.Joint("root", -1, "fixed", (0, 0, 0))], list[ik.Goal](), []
        rotations = [np.array([UPRIGHT])]
        for part in range(3):
            own, first = drawn(3 * seed + part, most=5), len(joints)
            joints += [replace(one, name=f"{part} {one.name}", parent=0 if one.parent < 0 else one.parent + first)
                       for one in own.skeleton.joints]  # fmt: skip
            groups.append((range(len(goals), len(goals) + len(own.goals)), range(first, len(joints))))
            goals += [replace(goal, joint=goal.joint + first,
                              chain=(np.flatnonzero(chain_of(own.skeleton, goal)) + first).tolist())
                      for goal in own.goals]  # fmt: skip
            rotations.append(own.start.rotations)
        skeleton = ik.Skeleton(joints)
        start = ik.Pose(np.concatenate(rotations), np.zeros((len(joints), 3)))
        way, wanted = Way(solver, kernel=kernel), ik.Options(iterations=12, **options)
        together = Problem(skeleton, goals, start, solver, wanted)
        targets, _ = moving(together, 3, seed)

        def answered(problem: Problem, some: slice | np.ndarray, way: Way = way, asked=targets) -> ik.Batch:
            prepared = way.prepare(problem)
            arrays = prepared.arrays(3)
            arrays.ask(asked.of_goals(some), prepared.start(problem.start))
            (prepared.motion() if follows else prepared).solve_into(arrays)
            return arrays.batch()

        whole = answered(together, np.arange(len(goals)))
        for some, own_joints in groups:
            alone = answered(replace(together, goals=[goals[g] for g in some]), np.array(some))
            apart = np.minimum(*(np.abs(whole.rotations + sign * alone.rotations)[:, own_joints] for sign in (1, -1)))
            same.append(max(apart.max(), np.abs(whole.translations - alone.translations)[:, own_joints].max()) < 1e-6)
    assert same.count(False) <= 1


@both_solvers
def test_a_batch_of_numpy_is_its_frames_alone_to_the_bit(solver: str) -> None:
    for seed in range(4):
        problem = replace(drawn(seed, most=5), solver=solver, options=ik.Options(iterations=12))
        prepared, (targets, _) = Way(solver, kernel=False).prepare(problem), moving(problem, 5, seed)
        batch = prepared.arrays(5)
        batch.ask(targets, prepared.start(problem.start))
        prepared.solve_into(batch)
        for frame, together in enumerate(batch.answers()):
            alone = prepared.arrays()
            alone.ask(targets.take(slice(frame, frame + 1)), prepared.start(problem.start))
            prepared.solve_into(alone)
            assert alone.answers() == [together]


# -- what is no question -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.array(1.0), np.array(3), np.array("a"), np.array(None), np.array(True)])
def test_arrays_without_an_axis_are_refused_like_any_other_value(value: np.ndarray) -> None:
    """Everywhere a list may stand, DQIK's own error says what is wrong."""
    skeleton, goals = torso(), [ik.Goal(LEFT, (0, 1, 1))]
    for call in (
        lambda: ik.Skeleton(value), lambda: ik.solve(skeleton, value), lambda: ik.solve(skeleton, goals, value),
        lambda: ik.solve(skeleton, [ik.Goal(LEFT, position=(0, 1, 1), chain=value)]),
        lambda: ik.solve_frames(skeleton, goals, value), lambda: ik.prepare(skeleton, goals)(value),
        lambda: ik.velocity_jacobian(value, skeleton.rest_pose(), LEFT), lambda: ik.pose_from_angles(skeleton, value),
    ):  # fmt: skip
        with pytest.raises(ik.DqikError):
            call()
