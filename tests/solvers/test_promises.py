# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solve promises, on whatever skeletons, goals, limits and starts hypothesis makes up."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import EXACT, both_solvers, chain_of, goal_errors, outside_limits, turned_by
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from skeletons import LEFT, RIGHT, random_pose, skeletons, torso, wxyz

import solvers as ik


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
    return Problem(skeleton, goals, start, draw(st.sampled_from(["PGS", "DLS"])), options)


def movable(problem: Problem) -> np.ndarray:
    """(J,) bool: the joints that any goal may move."""
    chains = np.any([chain_of(problem.skeleton, goal) for goal in problem.goals], axis=0)
    return chains & (problem.skeleton.stiffness < 1.0)


@settings(max_examples=60)
@given(problems())
def test_no_joint_that_moves_ends_outside_its_limits_and_nothing_is_nan(problem: Problem) -> None:
    """Every joint of every chain is inside its limits to 1e-9, turned only as its kind can; every number is finite."""
    solution = problem.solve()
    for array in (*solution.pose, solution.position_errors, solution.rotation_errors):
        assert np.isfinite(array).all()
    assert_allclose(np.linalg.norm(solution.pose.rotations, axis=1), 1, atol=1e-12)
    for joint in np.flatnonzero(movable(problem)):
        assert outside_limits(problem.skeleton, solution.pose, joint) <= EXACT


@settings(max_examples=60)
@given(problems())
def test_joints_outside_every_chain_stay_exactly_where_they_are(problem: Problem) -> None:
    """A chain restricts what moves; stiffness 1 holds a joint within it too."""
    solution = problem.solve()
    held = ~movable(problem)
    assert turned_by(problem.start, solution.pose)[held].max(initial=0.0) < 1e-7
    assert_allclose(solution.pose.translations[held], problem.start.translations[held], atol=1e-12)


@settings(max_examples=60)
@given(problems())
def test_the_errors_reported_are_those_of_the_pose_returned(problem: Problem) -> None:
    """Distances and angles measured again by SciPy; `converged` says whether all are within the tolerances."""
    solution = problem.solve()
    measured = [goal_errors(problem.skeleton, solution.pose, goal) for goal in problem.goals]
    assert_allclose(solution.position_errors, [distance for distance, _ in measured], atol=1e-9)
    assert_allclose(solution.rotation_errors, [angle for _, angle in measured], atol=1e-7)
    met = all(d <= problem.options.tolerance and a <= problem.options.rotation_tolerance for d, a in measured)
    assert solution.converged == met


@settings(max_examples=60)
@given(problems(most_goals=1), st.integers(0, 2**32 - 1))
def test_a_solve_is_never_worse_than_its_start(problem: Problem, seed: int) -> None:
    """From a start inside the limits one goal's weighted errors do not grow, unless both end within tolerance."""
    inside = Problem(problem.skeleton, problem.goals, random_pose(problem.skeleton, np.random.default_rng(seed), 2.5),
                     problem.solver, ik.Options(iterations=0, pull=0.0)).solve().pose  # fmt: skip
    goal, length = problem.goals[0], problem.skeleton.length

    def cost(pose: ik.Pose) -> float:
        distance, angle = goal_errors(problem.skeleton, pose, goal)
        return (goal.position_weight * distance / length) ** 2 + (goal.rotation_weight * angle * 0.25) ** 2

    solution = problem.solve(inside)
    assert solution.converged or cost(solution.pose) <= cost(inside) * (1 + 1e-9) + 1e-14


@settings(max_examples=60)
@given(problems())
def test_a_solve_never_makes_all_goals_worse(problem: Problem) -> None:
    """From a start inside the limits, what one goal loses another gains."""
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


@settings(max_examples=40)
@given(problems())
def test_a_solve_does_not_write_to_what_it_is_given(problem: Problem) -> None:
    """Start, goals and skeleton are as before, and the answer shares no memory with the start."""
    rotations, translations = (part.copy() for part in problem.start)
    solution = problem.solve()
    solution.pose.rotations[:], solution.pose.translations[:] = 7, 7
    assert_allclose(problem.start.rotations, rotations)
    assert_allclose(problem.start.translations, translations)


@settings(max_examples=40)
@given(problems())
def test_a_solve_gives_the_same_answer_twice(problem: Problem) -> None:
    """The same problem, restarts and all, has the same answer to the last bit."""
    first, second = problem.solve(), problem.solve()
    assert (first.pose.rotations == second.pose.rotations).all()
    assert (first.pose.translations == second.pose.translations).all()


# -- the same problem, said otherwise ----------------------------------------------------------------------------------

TIGHT = ik.TwistSwing((-0.8, 0.8), (-1, 1.2), (-1.2, 1))


def retold(
    scale: float = 1.0,
    where: tuple = (0, 0, 0),
    turn: tuple = (0, 0, 0),
    order: tuple = tuple(range(8)),
    far: bool = False,
) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """A limited torso that reaches with a hand, a pole and another hand: scaled, moved, turned, its joints shuffled."""
    turned = Rotation.from_rotvec(turn)

    def place(point: tuple) -> tuple:
        return tuple(turned.apply(np.array(point) * scale) + where)

    limits, preferred = dict.fromkeys((1, 2, 5), TIGHT), {3: (0, 0.3, 0), 6: (0, -0.3, 0)}
    joints = [
        replace(joint, offset=np.array(joint.offset) * scale, limits=limits.get(i), preferred=preferred.get(i))
        for i, joint in enumerate(torso().joints)
    ]
    joints[0] = replace(joints[0], offset=place((0, 0, 0)), rest=wxyz(turned))
    shuffled = [replace(joints[i], parent=order.index(joints[i].parent) if i else -1) for i in order]
    goals = [
        ik.Goal(
            order.index(LEFT), place((3, 3, 3) if far else (0.5, 0.8, 0.4)),
            wxyz(turned * Rotation.from_rotvec([0.3, 0.2, 0.1])), pole=place((0.4, -2, -1)),
        ),
        ik.Goal(order.index(RIGHT), place((-0.6, 0.6, 0.2))),
    ]  # fmt: skip
    return ik.Skeleton(shuffled), goals


@both_solvers
@pytest.mark.parametrize("far", [False, True], ids=["within reach", "out of reach"])
@pytest.mark.parametrize(
    "change", [{"scale": 1e-3}, {"scale": 1e3}, {"where": (10, -20, 30)}, {"turn": (0.4, -1.2, 2.0)}],
    ids=["small", "large", "moved", "turned"],
)  # fmt: skip
def test_a_solve_does_not_depend_on_where_a_rig_is_how_it_is_turned_or_how_large(
    change, far: bool, solver: str
) -> None:
    """The same joints turn by the same angles, to a twentieth of a degree."""
    skeleton, goals = retold(far=far)
    expected = ik.solve(skeleton, goals, solver=solver)
    skeleton, goals = retold(far=far, **change)
    options = ik.Options(tolerance=1e-4 * change.get("scale", 1.0))
    assert turned_by(expected.pose, ik.solve(skeleton, goals, solver=solver, options=options).pose).max() < 1e-3


@both_solvers
def test_a_solve_does_not_depend_on_the_order_of_joints_and_goals(solver: str) -> None:
    """Children before parents, left after right: each joint ends where it did, to a twentieth of a degree."""
    skeleton, goals = retold()
    expected = ik.solve(skeleton, goals, solver=solver)
    order = (3, 1, 0, 7, 2, 5, 4, 6)
    shuffled, same_goals = retold(order=order)
    for asked in (same_goals, same_goals[::-1]):
        found = ik.solve(shuffled, asked, solver=solver).pose.rotations[[order.index(i) for i in range(8)]]
        assert turned_by(expected.pose, ik.Pose(found, expected.pose.translations)).max() < 1e-3
