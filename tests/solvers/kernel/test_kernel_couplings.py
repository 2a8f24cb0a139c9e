# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupled joints in the compiled kernel: answers as NumPy has, exact couplings inside limits, soft ones that yield."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem
from hypothesis import given, settings
from kernel_and_numpy import apart, asked, both, followed, is_same, solved
from measures import both_solvers
from skeletons import random_pose, seeds
from test_couplings import EXACT, INSIDE, drawn, finger, off, outside

import solvers as ik
from solvers.compiled import library as kernel
from solvers.compiled.needs import SUPPORTED

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")


def coupled(seed: int, solver: str, limited: bool = True, soft: bool = False, **options: object) -> Problem | None:
    """A drawn skeleton with couplings, and two or three goals; None if its limits leave no room."""
    generator = np.random.default_rng(seed)
    skeleton = drawn(generator, limited)
    if soft:
        stiff = generator.choice([0.2, 0.9, 1.0], len(skeleton.couplings)).tolist()
        couplings = [replace(one, stiffness=value) for one, value in zip(skeleton.couplings, stiff, strict=True)]
        skeleton = ik.Skeleton(skeleton.joints, couplings=couplings)
    last = len(skeleton) - 1
    goals = [ik.Goal(last, position=generator.normal(size=3), offset=(0, 0.3, 0)),
             ik.Goal(int(generator.integers(last)), position=generator.normal(size=3))]  # fmt: skip
    if generator.integers(3) == 0:
        goals.append(ik.Goal(last, kind="PLANE", position=generator.normal(size=3) * 0.2,
                             rotation=(1, 0.1, 0.2, 0.3), side="ABOVE"))  # fmt: skip
    problem = Problem(skeleton, goals, random_pose(skeleton, generator), solver, ik.Options(**options))
    try:
        ik.Prepared(skeleton, goals, solver, problem.options)
    except ik.InvalidSkeleton:
        return None
    return problem


def moved_couplings(problem: Problem) -> tuple[ik.Skeleton, ik.Skeleton]:
    """The skeleton with only the couplings, and one with only the limits, of joints that the goals move."""
    skeleton, moved = problem.skeleton, np.zeros(len(problem.skeleton), dtype=bool)
    for stage in ik.Prepared(skeleton, problem.goals, problem.solver, problem.options).stages:
        moved[stage.space.moved] = True
    joints = [one if moved[j] else replace(one, limits=None) for j, one in enumerate(skeleton.joints)]
    couplings = [one for one in skeleton.couplings if moved[one.joint]]
    return ik.Skeleton(skeleton.joints, couplings=couplings), ik.Skeleton(joints)


@both_solvers
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("iterations", [0, 1])
def test_a_step_of_a_coupled_skeleton_leads_to_numpys_pose(solver: str, soft: bool, iterations: int) -> None:
    """From the same start to the same point, over any axes, factors, offsets and limits, with one-sided goals too."""

    @settings(max_examples=15)
    @given(seeds)
    def check(seed: int) -> None:
        problem = coupled(seed, solver, bool(seed % 2), soft, iterations=iterations)
        assert problem is None or is_same(problem, asked(problem, 2), solved)

    check()


@both_solvers
@pytest.mark.parametrize("soft", [False, True])
def test_solved_to_the_end_the_answers_are_the_same(solver: str, soft: bool) -> None:
    """Of 24 problems, met or not, all but two: a way in many steps may leave a choice to rounding."""
    problems = [one for seed in range(24) if (one := coupled(seed, solver, bool(seed % 2), soft)) is not None]
    far = [apart(*(solved(prepared, asked(problem, 1)) for prepared in both(problem))) for problem in problems]
    assert sum(one > 1e-6 for one in far) <= 2


@both_solvers
@pytest.mark.parametrize("restarts", [0, 2])
def test_couplings_and_limits_hold_in_solves_and_motions_of_the_kernel(solver: str, restarts: int) -> None:
    """Measured by SciPy on every frame."""

    @settings(max_examples=15)
    @given(seeds)
    def check(seed: int) -> None:
        problem = coupled(seed, solver, restarts=restarts)
        if problem is None:
            return
        links, limits = moved_couplings(problem)
        prepared, _ = both(problem)
        question = asked(problem, 3, seed, 0.05)
        for answer in (*solved(prepared, question), *followed(prepared, question)):
            for rotations, translations in zip(answer.rotations, answer.translations, strict=True):
                pose = ik.Pose(rotations, translations)
                assert off(links, pose) < EXACT
                assert outside(limits, pose) < INSIDE

    check()


@both_solvers
def test_a_motion_of_a_coupled_skeleton_is_followed_the_same_way(solver: str) -> None:
    problems = [one for seed in range(6) if (one := coupled(seed, solver, True, bool(seed % 3 == 0))) is not None]
    same = [is_same(problem, asked(problem, 4, seed, 0.01), followed) for seed, problem in enumerate(problems)]
    assert same.count(False) <= 1


def test_a_skeleton_whose_couplings_are_all_soft_or_out_of_reach_is_not_reduced() -> None:
    """Nothing but the soft rows is added: no unknowns are packed."""
    skeleton = finger()
    soft = ik.Skeleton(skeleton.joints, couplings=[replace(skeleton.couplings[0], stiffness=0.5)])
    for one, reduced in ((skeleton, True), (soft, False)):
        prepared = ik.prepare(one, [ik.Goal("tip", position=(0, 0.08, 0.02), offset=(0, 0.02, 0))])
        assert prepared.compiled is not None
        assert (prepared.stages[0].space.unknowns is not None) is reduced


# -- what the kernel does not support ---------------------------------------------------------------------------------


GOALS = [ik.Goal("tip", position=(0, 0.08, 0.02), offset=(0, 0.02, 0))]


@pytest.mark.parametrize("need", ["solver PGS", "joint hinge", "joint ball", "task position", "reduction coupling"])
def test_numpy_solves_what_the_contract_does_not_declare(need: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of joint, task, reduction or solver that is missing from the table is never packed."""
    expected = ik.solve(finger(), GOALS).pose
    assert need in SUPPORTED
    monkeypatch.setattr("solvers.api.SUPPORTED", SUPPORTED - {need})
    prepared = ik.prepare(finger(), GOALS)
    assert prepared.compiled is None
    assert np.abs(prepared([goal.position for goal in GOALS]).pose.rotations - expected.rotations).max() < 1e-6


def test_a_restart_by_the_clock_is_solved_with_numpy() -> None:
    """The kernel keeps no time."""
    for seconds, compiled in ((None, True), (1.0, False)):
        prepared = ik.prepare(finger(), GOALS, options=ik.Options(restarts=2, restart_seconds=seconds))
        assert (prepared.compiled is not None) is compiled
