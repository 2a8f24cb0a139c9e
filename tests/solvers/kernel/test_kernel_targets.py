# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that joints carry, in the compiled kernel: answers as NumPy has them, over both chains."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem, drawn
from kernel_and_numpy import EQUAL, apart, asked, both, followed, solved
from measures import both_solvers
from test_goal_kinds import some_kind, two_arms

import solvers as ik
from solvers.compiled import library as kernel
from solvers.model.goals import Targets

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")

KINDS = [kind for kind, own in ik.GOAL_KINDS.items() if "target_joint" in own.takes]


def carried(seed: int, solver: str, **options: object) -> Problem | None:
    """A drawn problem with one or two goals whose targets joints carry; None for a skeleton of one joint."""
    problem, generator = drawn(seed, most=6), np.random.default_rng(seed + 11)
    goals, count = problem.goals[: int(generator.integers(3))], len(problem.skeleton)
    if count < 2:
        return None
    for kind in generator.choice(KINDS, size=int(generator.integers(1, 3))):
        goal = some_kind(problem.skeleton, generator, str(kind), chains=bool(generator.integers(2)))
        other = int(generator.choice([joint for joint in range(count) if joint != goal.joint]))
        goals = [*goals, replace(goal, target_joint=other, position=0.5 * generator.normal(size=3))]
    return replace(problem, goals=goals, solver=solver, options=replace(problem.options, **options))


def question_of(prepared: ik.Prepared, problem: Problem, seed: int | None = None) -> tuple[Targets, ik.Pose]:
    """One frame's targets and start; with a seed, changed in the digits before their last."""
    generator = np.random.default_rng(seed)
    places = [(0.0, 0.0, 0.0) if goal.position is None else goal.position for goal in prepared.goals]
    turns = [(1.0, 0.0, 0.0, 0.0) if goal.rotation is None else goal.rotation for goal in prepared.goals]
    numbers = [np.array(part) for part in (places, turns, *problem.start)]
    if seed is not None:
        numbers = [part * (1.0 + 1e-13 * generator.normal(size=part.shape)) for part in numbers]
    targets = prepared.targets([numbers[0]], [numbers[1]])
    assert isinstance(targets, Targets)
    return targets, prepared.start(ik.Pose(*numbers[2:]))


def difference(problem: Problem) -> float:
    """Between kernel and NumPy, of one frame."""
    compiled, plain = both(problem)
    question = question_of(plain, problem)
    return apart([compiled.solve_batch(*question)], [plain.solve_batch(*question)])


def roundness(problem: Problem) -> float:
    """How far NumPy's answer moves if its input hardly does."""
    _, plain = both(problem)
    answers = [[plain.solve_batch(*question_of(plain, problem, seed))] for seed in (None, 1, 2, 3)]
    return max(apart(answer, answers[0]) for answer in answers[1:])


@both_solvers
@pytest.mark.parametrize("iterations", [0, 1])
def test_a_step_leads_to_numpys_pose(solver: str, iterations: int) -> None:
    """Any joints, chains, detached segments, targets above, below and beside the goal's joint."""
    problems = [one for seed in range(40) if (one := carried(seed, solver, iterations=iterations, restarts=0))]
    far = [(difference(one), one) for one in problems]
    assert np.median([size for size, _ in far]) < 1e-3 * EQUAL
    for size, one in far:  # some steps are nearly singular
        assert size < EQUAL + (1000.0 * roundness(one) if size > EQUAL else 0.0)


@both_solvers
def test_solved_to_the_end_the_answers_are_the_same(solver: str) -> None:
    """Of 24 problems all but two to 1e-6: a way in many steps may leave a choice to rounding."""
    problems = [one for seed in range(24) if (one := carried(seed, solver))]
    far = [difference(one) for one in problems]
    assert sum(one > 1e-6 for one in far) <= 2, sorted(far)[-5:]


@both_solvers
@pytest.mark.parametrize("pull", [None, 1e-5])
def test_a_body_is_solved_and_followed_the_same_way(solver: str, pull: float | None) -> None:
    """One hand is led; the other keeps its distance from it, and the chest looks at it."""
    skeleton = two_arms()
    goals = [
        ik.Goal("left hand", position=(0.3, 0.9, 0.5)),
        ik.Goal("right hand", kind="DISTANCE", position=(0.05, 0.0, 0.0), target_joint="left hand", distance=0.3),
        ik.Goal("chest", kind="LOOK_AT", position=(0, 0, 0), target_joint="left hand", axis=(0, 0, 1)),
    ]
    options = ik.Options(pull=pull, tolerance=1e-6)
    start = ik.Pose(np.tile([1.0, 0, 0, 0], (len(skeleton), 1)), np.zeros((len(skeleton), 3)))
    problem = Problem(skeleton, goals, start, solver, options)
    for answer in (solved, followed):
        compiled, plain = both(problem)
        question = asked(problem, 5, speed=0.01)
        assert apart(answer(compiled, question), answer(plain, question)) < EQUAL
