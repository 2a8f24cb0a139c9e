# SPDX-License-Identifier: GPL-3.0-or-later
"""Guarantees of every solve, on skeletons, goals, limits and starts drawn by hypothesis."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from drawn import Problem
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import EXACT, UPRIGHT, both_solvers, chain_of, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, random_pose, skeletons, torso, wxyz

import solvers as ik


@st.composite
def problems(draw: st.DrawFn, most_goals: int = 3) -> Problem:
    """Any skeleton with goals within reach and out of it, consistent and contradicting, from any start."""
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
    return Problem(skeleton, goals, start, draw(st.sampled_from(["PGS", "DLS"])), options)


def movable(problem: Problem) -> np.ndarray:
    """(J,) bool: the joints of chains that are not stiff."""
    chains = np.any([chain_of(problem.skeleton, goal) for goal in problem.goals], axis=0)
    return chains & (problem.skeleton.stiffness < 1.0)


@settings(max_examples=30)
@given(problems())
def test_no_joint_ends_outside_its_limits_and_nothing_is_nan(problem: Problem) -> None:
    """Every joint, whether a goal moves it or not, is inside its limits to 1e-9, with motions of its kind only; every
    number is finite."""
    solution = problem.solve()
    for array in (*solution.pose, solution.position_errors, solution.rotation_errors):
        assert np.isfinite(array).all()
    assert_allclose(np.linalg.norm(solution.pose.rotations, axis=1), 1, atol=1e-12)
    for joint in range(len(problem.skeleton)):
        assert outside_limits(problem.skeleton, solution.pose, joint) <= EXACT


@settings(max_examples=30)
@given(problems())
def test_joints_outside_every_chain_stay_exactly_where_they_are(problem: Problem) -> None:
    """Joints outside all chains, and joints of stiffness 1, do not move if they are inside their limits."""
    solution = problem.solve()
    inside = [outside_limits(problem.skeleton, problem.start, j) < EXACT for j in range(len(problem.skeleton))]
    held = ~movable(problem) & inside
    assert turned_by(problem.start, solution.pose)[held].max(initial=0.0) < 1e-7
    assert_allclose(solution.pose.translations[held], problem.start.translations[held], atol=1e-12)


@settings(max_examples=30)
@given(problems())
def test_the_errors_reported_are_those_of_the_pose_returned(problem: Problem) -> None:
    """Distances and angles equal SciPy's; `converged` says whether all are within the tolerances."""
    solution = problem.solve()
    measured = [goal_errors(problem.skeleton, solution.pose, goal) for goal in problem.goals]
    assert_allclose(solution.position_errors, [distance for distance, _ in measured], atol=1e-9)
    assert_allclose(solution.rotation_errors, [angle for _, angle in measured], atol=1e-7)
    met = all(d <= problem.options.tolerance and a <= problem.options.rotation_tolerance for d, a in measured)
    assert solution.converged == met


@settings(max_examples=30)
@given(problems(most_goals=1), st.integers(0, 2**32 - 1))
def test_a_solve_is_never_worse_than_its_start(problem: Problem, seed: int) -> None:
    """From a start inside the limits a single goal's weighted errors do not grow, unless both end within tolerance."""
    inside = Problem(problem.skeleton, problem.goals, random_pose(problem.skeleton, np.random.default_rng(seed), 2.5),
                     problem.solver, ik.Options(iterations=0, pull=0.0)).solve().pose  # fmt: skip
    goal, length = problem.goals[0], problem.skeleton.length

    def cost(pose: ik.Pose) -> float:
        distance, angle = goal_errors(problem.skeleton, pose, goal)
        return (goal.position_weight * distance / length) ** 2 + (goal.rotation_weight * angle * 0.25) ** 2

    solution = problem.solve(inside)
    assert solution.converged or cost(solution.pose) <= cost(inside) * (1 + 1e-9) + 1e-14


@settings(max_examples=30)
@given(problems())
def test_a_solve_never_makes_all_goals_worse(problem: Problem) -> None:
    """From a start inside the limits, at least one goal gains if another loses."""
    inside = (
        Problem(problem.skeleton, problem.goals, problem.start, problem.solver, ik.Options(iterations=0)).solve().pose
    )
    before = np.array([goal_errors(problem.skeleton, inside, goal) for goal in problem.goals]).ravel()
    after = np.array(
        [goal_errors(problem.skeleton, problem.solve(inside).pose, goal) for goal in problem.goals]
    ).ravel()
    slack = np.tile([problem.options.tolerance, problem.options.rotation_tolerance], len(problem.goals))
    worse = (after > before + 1e-7) & (after > slack)
    assert not worse.any() or (after < before).any()


@settings(max_examples=20)
@given(problems())
def test_a_solve_does_not_write_to_what_it_is_given(problem: Problem) -> None:
    """Start, goals and skeleton do not change, and the answer shares no memory with the start."""
    rotations, translations = (part.copy() for part in problem.start)
    solution = problem.solve()
    solution.pose.rotations[:], solution.pose.translations[:] = 7, 7
    assert_allclose(problem.start.rotations, rotations)
    assert_allclose(problem.start.translations, translations)


@settings(max_examples=20)
@given(problems())
def test_a_solve_gives_the_same_answer_twice(problem: Problem) -> None:
    """The same problem, including restarts, has the same answer to the last bit."""
    first, second = problem.solve(), problem.solve()
    assert (first.pose.rotations == second.pose.rotations).all()
    assert (first.pose.translations == second.pose.translations).all()


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

    def railed(self) -> list[ik.Joint]:
        """The same torso on a rail."""
        limits = ik.Range(-0.2 * self.scale, 0.3 * self.scale)
        rail = ik.Joint("rail", -1, "prismatic", self.place((0, 0, 0)), self.orientation(), (1, 0, 0), limits)
        joints = [replace(joint, parent=joint.parent + 1) for joint in self.torso()]
        return [rail, replace(joints[0], offset=(0, 0, 0), rest=UPRIGHT), *joints[1:]]

    def goals(self, target: tuple, shift: int = 0) -> list[ik.Goal]:
        """A hand with a position, a rotation and a pole, and another hand; `shift` joints are added before the
        torso's."""
        turn, pole = self.orientation((0.3, 0.2, 0.1)), self.place((0.4, -2, -1))
        left = ik.Goal(LEFT + shift, self.place(target), turn, pole=pole)
        return [left, ik.Goal(RIGHT + shift, self.place((-0.6, 0.6, 0.2)))]


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


@both_solvers
@retold
def test_a_slide_goes_the_same_share_of_a_rig_of_any_size(told: Told, solver: str) -> None:
    """A torso on a rail, at any scale, bends and slides alike, to a twentieth of a degree and per cent."""
    target = (0.9, 0.6, 0.2)
    expected = ik.solve(ik.Skeleton(Told().railed()), Told().goals(target, 1), solver=solver).pose
    options = ik.Options(tolerance=1e-4 * told.scale)
    found = ik.solve(ik.Skeleton(told.railed()), told.goals(target, 1), solver=solver, options=options).pose
    assert turned_by(expected, found).max() < 1e-3
    assert_allclose(found.translations / told.scale, expected.translations, atol=5e-4)


GENERAL = [name for name in ik.SOLVERS if name not in ("TWO_BONE", "FABRIK")]


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**14], ids=["small", "large"])
@pytest.mark.parametrize("solver", GENERAL)
def test_arms_that_slide_and_turn_are_solved_alike_at_any_scale(solver: str, scale: float) -> None:
    """With a power of two as scale nothing is rounded differently: every solver takes the same steps."""

    def solved(unit: float) -> list[ik.Solution]:
        lift = ik.Joint("lift", 1, "prismatic", (0.8 * unit, 0, 0), axis=(0, 0, 1), limits=ik.Range(-0.5 * unit, 0))
        turns = [
            ik.Joint(name, parent, "hinge", (offset * unit, 0, 0), axis=(0, 0, 1), limits=ik.Range(-2.6, 2.6))
            for name, parent, offset in [("shoulder", -1, 0), ("elbow", 0, 1), ("wrist", 2, 0)]
        ]
        skeleton = ik.Skeleton([*turns[:2], lift, turns[2]])
        options = ik.Options(tolerance=1e-5 * unit, iterations=100)
        random, middle, half = np.random.default_rng(9), [0, 0, -0.25 * unit, 0], [2.4, 2.4, 0.24 * unit, 2.4]
        answers: list[ik.Solution] = []
        for _ in range(6):
            start, end = (
                ik.pose_from_angles(skeleton, middle + share * random.uniform(-1, 1, 4) * half) for share in (0.5, 1)
            )
            world = ik.forward(skeleton, end)
            goal = ik.Goal("wrist", world.positions[3], world.rotations[3])
            answers.append(ik.solve(skeleton, [goal], start, solver, options))
        return answers

    for expected, found in zip(solved(1.0), solved(scale), strict=True):
        assert turned_by(expected.pose, found.pose).max() < 1e-3
        assert_allclose(found.pose.translations / scale, expected.pose.translations, atol=1e-3)


@both_solvers
def test_a_solve_does_not_depend_on_the_order_of_joints_and_goals(solver: str) -> None:
    """With children before parents, and left after right, each joint ends in the same pose, to a twentieth of a
    degree."""
    joints, goals = Told().torso(), Told().goals((0.5, 0.8, 0.4))
    expected = ik.solve(ik.Skeleton(joints), goals, solver=solver).pose
    order = (3, 1, 0, 7, 2, 5, 4, 6)
    shuffled = ik.Skeleton([replace(joints[i], parent=order.index(joints[i].parent) if i else -1) for i in order])
    asked = [replace(goal, joint=order.index(goal.joint)) for goal in goals]
    for same in (asked, asked[::-1]):
        found = ik.solve(shuffled, same, solver=solver).pose.rotations[[order.index(i) for i in range(8)]]
        assert turned_by(expected, ik.Pose(found, expected.translations)).max() < 1e-3
