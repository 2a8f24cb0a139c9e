# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel against NumPy: the same answers to all problems, and to the bit however it is asked.

Problems are drawn in numbers without special values, so that no two choices are equally good: where they are,
rounding decides, and both answers are right. The other tests cover special values, and pass with either.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from drawn import Problem, carried, coupled, drawn, pulled, with_kinds
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_and_numpy import EQUAL, FIELDS, apart, asked, both, filled, followed, is_same, solved
from measures import both_solvers
from numpy.testing import assert_allclose, assert_array_equal
from skeletons import arm, bent, chain, seeds
from test_couplings import finger
from test_goal_kinds import two_arms
from workloads import body, coordinates, hand, targets

import solvers as ik
from solvers.compiled import library as kernel
from solvers.compiled.needs import SUPPORTED
from solvers.model.solution import Batch

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")


# -- the same answers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Drawn problems with a feature. steps, ends, motions : how many are solved in each way."""

    name: str
    draw: Callable[[int], Problem | None]
    steps: int = 8
    ends: int = 4
    motions: int = 2

    def __str__(self) -> str:
        """As tests are named."""
        return self.name

    def problems(self, count: int, **options: object) -> list[Problem]:
        """Those of the first seeds that are possible, with some options."""
        found = [problem for seed in range(count) if (problem := self.draw(seed)) is not None]
        return [replace(problem, options=replace(problem.options, **options)) for problem in found]


def swept(seed: int) -> Problem:
    """A problem for CCD, from the tip or from the root."""
    problem, generator = drawn(seed, most=7), np.random.default_rng(seed)
    order, pull = (str(generator.choice(["TIP_TO_ROOT", "ROOT_TO_TIP"])), [None, 0.0, 1e-5][generator.integers(3)])
    return replace(problem, solver="CCD", options=ik.Options(30, order=order, pull=pull))


FAMILIES = (
    Family("places and rotations", drawn, steps=24, ends=8, motions=3),
    Family("holds", lambda seed: pulled(seed, hold=[0.0, 0.3, 1.0]),),
    Family("gains", lambda seed: pulled(seed, gain=[0.0, 0.3, 1.0, 20.0])),
    Family("other kinds", with_kinds),
    Family("carried targets", carried),
    Family("couplings", coupled),
    Family("soft couplings", lambda seed: coupled(seed, soft=True)),
    Family("CCD", swept, steps=12, ends=8),
)  # fmt: skip
each_family = pytest.mark.parametrize("family", FAMILIES, ids=str)


@each_family
@pytest.mark.parametrize("iterations", [0, 1])
def test_a_step_leads_to_the_same_pose(family: Family, iterations: int) -> None:
    """Projection onto limits, limbs folded and turned to their poles, and a step, from the same point to the same."""
    for problem in family.problems(family.steps):
        assert is_same(problem, asked(problem, 2), solved, iterations=iterations)


# The end of a long way may be another one where a decision on the way is left to rounding: that must stay rare.


@each_family
def test_solved_to_the_end_poses_errors_flags_and_iterations_are_the_same(family: Family) -> None:
    """Every joint's motion, not only the errors, is the same."""
    same = [is_same(problem, asked(problem, 2), solved) for problem in family.problems(family.ends)]
    assert same.count(False) <= 1


def test_restarts_draw_the_same_numbers() -> None:
    same = [is_same(problem, asked(problem, 2), solved) for problem in FAMILIES[0].problems(5, restarts=3)]
    assert same.count(False) <= 1


@each_family
@pytest.mark.parametrize("speed", [0.003, 0.3])
def test_a_motion_is_followed_the_same_way(family: Family, speed: float) -> None:
    """Frames that drift, and frames that jump further than can be followed."""
    problems = family.problems(family.motions)
    same = [is_same(problem, asked(problem, 4, seed, speed), followed) for seed, problem in enumerate(problems)]
    assert same.count(False) <= 1


def test_mostly_the_answers_agree_to_many_digits() -> None:
    """Rounding rarely decides: nine in ten first steps agree to 1e-9."""
    near = []
    for problem in FAMILIES[0].problems(40, iterations=1, pull=0.0):
        compiled, plain = both(problem)
        near.append(apart(solved(compiled, asked(problem, 1)), solved(plain, asked(problem, 1))) <= EQUAL)
    assert np.mean(near) >= 0.9


@both_solvers
@pytest.mark.parametrize("pull", [None, 1e-5])
def test_a_body_with_carried_targets_is_solved_and_followed_the_same_way(solver: str, pull: float | None) -> None:
    """One hand is led; the other keeps its distance from it, and the chest looks at it."""
    skeleton = two_arms()
    goals = [
        ik.Goal("left hand", position=(0.3, 0.9, 0.5)),
        ik.Goal("right hand", kind="DISTANCE", position=(0.05, 0.0, 0.0), target_joint="left hand", distance=0.3),
        ik.Goal("chest", kind="LOOK_AT", position=(0, 0, 0), target_joint="left hand", axis=(0, 0, 1)),
    ]
    problem = Problem(skeleton, goals, skeleton.rest_pose(), solver, ik.Options(pull=pull, tolerance=1e-6))
    for answer in (solved, followed):
        question = asked(problem, 5, speed=0.01)
        assert apart(*(answer(prepared, question) for prepared in both(problem))) < EQUAL


@both_solvers
def test_every_way_to_ask_gives_the_same_answer_as_numpy(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`solve`, `prepare` and `solve_frames`, cold and warm, against NumPy's own preparation."""
    skeleton = arm(shoulder=ik.TwistSwing((-1, 1), (-1.2, 1), (-1.5, 1.5)), preferred=(0.3, 0, 0))
    goal = ik.Goal(2, (0.4, 1.3, 0.8))
    places = np.array(goal.position) + 0.05 * np.arange(12)[:, None, None] * np.array([0.3, -0.2, 0.5])

    def poses() -> list[ik.Pose]:
        found = [ik.solve(skeleton, [goal], solver=solver), ik.prepare(skeleton, [goal], solver)(places[3])]
        for warm in (True, False):
            found += ik.solve_frames(skeleton, [goal], places, solver=solver, options=ik.Options(warm_start=warm))
        return [solution.pose for solution in found]

    compiled = poses()
    monkeypatch.setattr(importlib.import_module("solvers.api"), "load", lambda: None)
    assert ik.prepare(skeleton, [goal], solver).compiled is None
    for one, other in zip(compiled, poses(), strict=True):
        assert_allclose(one.rotations, other.rotations, atol=EQUAL)
        assert_allclose(one.translations, other.translations, atol=EQUAL)


# -- CCD, joint by joint ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loops", [1, 4, 9])
def test_mmds_loops_turn_as_numpys_turn(loops: int) -> None:
    """First and second half of the loops, mirrored limits, links of several goals, and the number of loops."""
    for seed, unit in enumerate(np.random.default_rng(loops).uniform(0.05, 2.5, 12)):
        problem = replace(swept(seed), options=ik.Options(loops, pull=0.0, unit_angle=float(unit)))
        assert is_same(problem, asked(problem, 2), solved)


@pytest.mark.parametrize("build", [hand, body], ids=["hand", "body"])
def test_ccd_of_large_rigs_ends_where_numpys_ends_after_as_many_sweeps(build) -> None:
    """22 and 57 hinges and slides; the same number of sweeps, some of which stop by `PATIENCE`."""
    skeleton, goals = build()
    problem = Problem(skeleton, goals, skeleton.rest_pose(), "CCD", ik.Options(iterations=40))
    places, turns = targets(skeleton, goals, coordinates(skeleton, np.random.default_rng(1), 2, 0.5))
    one, other = (each.solve_batch(each.targets(places, turns), each.start(None)) for each in both(problem))
    assert apart([one], [other]) < EQUAL
    assert_array_equal(one.iterations, other.iterations)


@pytest.mark.parametrize("options", [{}, {"unit_angle": 0.3}, {"restarts": 2}], ids=["CCD", "MMD", "restarts"])
def test_a_limb_of_ccd_begins_folded_and_ends_the_same(options: dict) -> None:
    """An elbow with a preferred bend, so with a pull, inside and out of reach, and with a pole."""
    skeleton = arm(1.2, 0.7, ik.TwistSwing((-1, 1), (-2, 2), (-1.5, 2)), ik.Range(0, 2.6), preferred=(0.2, 0, 0))
    goals = [ik.Goal(2, (0, 0, 0), offset=(0.1, 0.2, 0), pole=(0.3, 0.5, -3))]
    places = np.random.default_rng(2).normal(size=(8, 1, 3)) * 1.2
    problem = Problem(skeleton, goals, skeleton.rest_pose(), "CCD", ik.Options(iterations=25, **options))
    one, other = (each.solve_batch(each.targets(places), each.start(None)) for each in both(problem))
    assert apart([one], [other]) < 1e-6
    assert_array_equal(one.converged, other.converged)
    assert one.converged.any() and not one.converged.all()


# -- to the bit -------------------------------------------------------------------------------------------------------


def assert_identical(one: Batch, other: Batch) -> None:
    """Two answers, to the bit."""
    for name in FIELDS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def frame_of(batch: Batch, frame: int) -> Batch:
    """One frame of a batch."""
    return Batch(*(getattr(batch, name)[frame : frame + 1] for name in FIELDS))


def chained(seed: int) -> Problem:
    """CCD, or MikuMikuDance's rule, on a chain of limited balls that two goals lead."""
    generator, limits = np.random.default_rng(seed), ik.TwistSwing((-0.5, 0.5), (-1, 1), (-1, 0.7))
    goals = [ik.Goal(4, generator.normal(size=3), generator.normal(size=4), (0.1, 0.3, 0.2)),
             ik.Goal(2, generator.normal(size=3), offset=(0.2, 0, 0.1))]  # fmt: skip
    options = ik.Options(iterations=10, unit_angle=0.2 if seed % 2 else None)
    return Problem(chain(5, limits=limits), goals, bent(5), "CCD", options)


@pytest.mark.parametrize("draw", [drawn, chained])
def test_an_answer_is_the_same_to_the_bit_twice_alone_and_in_a_batch(draw: Callable[[int], Problem]) -> None:
    """For any content of the working memory, and whichever thread solves a frame of a large batch."""

    @settings(max_examples=12, derandomize=True)
    @given(seeds)
    def check(seed: int) -> None:
        problem = draw(seed)
        question = asked_for, start, links = asked(problem, 24)
        compiled, _ = both(problem, restarts=2)
        together = compiled.solve_batch(*question)
        memory = compiled.compiled.memory.doubles
        memory[:] = np.random.default_rng(seed).choice([np.nan, 1e300, -1.0, 0.0], memory.size)
        assert_identical(compiled.solve_batch(*question), together)
        for frame in (0, 7, 23):
            one = asked_for.take(slice(frame, frame + 1)), start, links[frame : frame + 1]
            assert_identical(compiled.solve_batch(*one), frame_of(together, frame))

    check()


@settings(max_examples=12, derandomize=True)
@given(seeds, st.integers(1, 6))
def test_a_motion_is_the_same_to_the_bit_in_pieces_of_any_size(seed: int, chunk: int) -> None:
    """Frame by frame from Python, in pieces, and at once; including a target that stands still for some frames.

    Only the pose and the residual carry over from the frame before, whatever the working memory holds.
    """
    problem = drawn(seed)
    asked_for, start, links = asked(problem, 12, seed, 0.02 if seed % 2 else 0.1)
    still = np.minimum(np.arange(12), 5)
    question = asked_for.take(still), start, links[still]
    compiled, other = both(problem)[0], both(problem)[0]
    other.compiled.memory.doubles[:] = np.nan
    alone = followed(other, question)
    for size in (chunk, 12):
        arrays, motion = filled(question), compiled.motion()
        for begin in range(0, 12, size):
            motion.solve_into(arrays.part(begin, min(begin + size, 12)))
        for frame in range(12):
            assert_identical(frame_of(arrays.batch(), frame), alone[frame])


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


def test_a_skeleton_whose_couplings_are_all_soft_is_not_reduced() -> None:
    """Nothing but the soft rows is added: no unknowns are packed."""
    soft = ik.Skeleton(finger().joints, couplings=[replace(finger().couplings[0], stiffness=0.5)])
    for one, reduced in ((finger(), True), (soft, False)):
        prepared = ik.prepare(one, GOALS)
        assert prepared.compiled is not None
        assert (prepared.stages[0].space.unknowns is not None) is reduced
