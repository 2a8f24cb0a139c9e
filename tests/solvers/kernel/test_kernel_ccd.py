# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel's CCD against NumPy's: the same visits, sweeps, loops and stops, digit by digit.

Goals and joints are drawn in numbers without special values, so that no two turns are equally good: where they are,
rounding decides.
"""

from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem, drawn
from kernel_and_numpy import EQUAL, apart, asked, both, is_same, solved
from numpy.testing import assert_allclose, assert_array_equal
from skeletons import LEFT, RIGHT, arm, bent, chain, torso
from workloads import body, coordinates, hand, targets

import solvers as ik
from solvers.compiled import library as kernel

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")


def ccd(count: int, **options: object) -> list[Problem]:
    """Problems for CCD: balls and hinges with limits, slides, detached joints, several goals, chains and poles."""
    problems = [drawn(seed, most=7) for seed in range(count)]
    return [replace(problem, solver="CCD", options=ik.Options(**options)) for problem in problems]


def pair(skeleton: ik.Skeleton, goals: list[ik.Goal], **options: object) -> tuple[ik.Prepared, ik.Prepared]:
    """CCD for a problem built by hand, prepared for the kernel and for NumPy."""
    return both(Problem(skeleton, goals, skeleton.rest_pose(), "CCD", ik.Options(**options)))


def answers(
    prepared: tuple[ik.Prepared, ik.Prepared], places: np.ndarray, turns: np.ndarray
) -> tuple[ik.Batch, ik.Batch]:
    """Frames solved afresh by both."""
    one, other = (each.solve_batch(each.targets(places, turns), each.start(None)) for each in prepared)
    assert_array_equal(one.converged, other.converged)
    return one, other


# -- sweeps -----------------------------------------------------------------------------------------------------------


ORDERS = pytest.mark.parametrize("order", ["TIP_TO_ROOT", "ROOT_TO_TIP"])


@ORDERS
def test_a_sweep_ends_where_numpy_ends(order: str) -> None:
    """From the same start, in every problem."""
    for problem in ccd(40, order=order, iterations=1, pull=0.0):
        assert is_same(problem, asked(problem, 2), solved)


@ORDERS
@pytest.mark.parametrize("pull", [None, 1e-5])
def test_many_sweeps_end_where_numpys_end(pull: float | None, order: str) -> None:
    """With the rules to stop, folded limbs, polish, and the remaining steps.

    Where goals yield in rounds, rounding may decide after how many steps these end: then the answers may differ.
    """
    others = 0
    for problem in ccd(10, order=order, iterations=30, pull=pull):
        one, other = (solved(prepared, asked(problem, 2)) for prepared in both(problem))
        far = apart(one, other) >= 1e-5
        assert not (far and np.array_equal(one[0].iterations, other[0].iterations))
        others += far
    assert others <= 1


@pytest.mark.parametrize("build", [hand, body], ids=["hand", "body"])
def test_large_rigs_end_where_numpys_end_after_as_many_sweeps(build) -> None:
    """22 and 57 hinges and slides; the same number of sweeps, some of which stop by `PATIENCE`."""
    skeleton, goals = build()
    one, other = answers(
        pair(skeleton, goals, iterations=40),
        *targets(skeleton, goals, coordinates(skeleton, np.random.default_rng(1), 2, 0.5)),
    )
    assert apart([one], [other]) < EQUAL
    assert_array_equal(one.iterations, other.iterations)


@pytest.mark.parametrize("options", [{}, {"unit_angle": 0.3}, {"restarts": 2}], ids=["CCD", "MMD", "restarts"])
def test_a_limb_begins_folded_and_ends_the_same(options: dict) -> None:
    """An elbow with a preferred bend, so with a pull, inside and out of reach, and with a pole."""
    skeleton = arm(1.2, 0.7, ik.TwistSwing((-1, 1), (-2, 2), (-1.5, 2)), ik.Range(0, 2.6), preferred=(0.2, 0, 0))
    goals = [ik.Goal(2, (0, 0, 0), offset=(0.1, 0.2, 0), pole=(0.3, 0.5, -3))]
    places = np.random.default_rng(2).normal(size=(8, 1, 3)) * 1.2
    one, other = answers(pair(skeleton, goals, iterations=25, **options), places, np.tile([1.0, 0, 0, 0], (8, 1, 1)))
    assert apart([one], [other]) < 1e-6
    assert one.converged.any() and not one.converged.all()


def test_hands_of_a_torso_follow_their_targets_as_numpys_do() -> None:
    """Frames solved each from the one before."""
    skeleton, generator = torso(), np.random.default_rng(3)
    goals = [ik.Goal(LEFT, (0, 0, 0), (1, 0, 0, 0), (0.1, 0, 0.02)), ik.Goal(RIGHT, (0, 0, 0), offset=(-0.1, 0.03, 0))]
    prepared = pair(skeleton, goals, iterations=30)
    places = np.array([[0.6, 0.8, 0.3], [-0.5, 0.5, 0.2]]) + generator.normal(0, 0.03, (6, 2, 3)).cumsum(0)
    arrays = [each.arrays(6) for each in prepared]
    for each, one in zip(prepared, arrays, strict=True):
        one.positions[:] = places
        each.motion().solve_into(one)
    assert apart(*([one.batch()] for one in arrays)) < 1e-7
    assert_array_equal(arrays[0].iterations, arrays[1].iterations)


# -- MikuMikuDance ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loops", [1, 4, 9])
def test_mmds_loops_turn_as_numpys_turn(loops: int) -> None:
    """First and second half of the loops, mirrored limits, links of several goals, and the number of loops."""
    units = np.random.default_rng(loops).uniform(0.05, 2.5, 40)
    problems = ccd(40, iterations=loops, pull=0.0)
    problems = [
        replace(problem, options=replace(problem.options, unit_angle=float(unit)))
        for problem, unit in zip(problems, units, strict=True)
    ]
    assert all(is_same(problem, asked(problem, 2), solved) for problem in problems)


# -- the same again ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit_angle", [None, 0.2], ids=["CCD", "MMD"])
def test_equal_questions_are_answered_equally_to_the_bit(unit_angle: float | None) -> None:
    """Among others, alone, and again after another problem; with enough frames for several threads."""
    generator = np.random.default_rng(5)
    limits = ik.TwistSwing((-0.5, 0.5), (-1, 1), (-1, 0.7))
    skeleton = chain(5, limits=limits)
    goals = [ik.Goal(4, (0, 0, 0), (1, 0, 0, 0), (0.1, 0.3, 0.2)), ik.Goal(2, (0, 0, 0), offset=(0.2, 0, 0.1))]
    prepared = ik.Prepared(skeleton, goals, "CCD", ik.Options(iterations=10, unit_angle=unit_angle))
    asks = prepared.targets(generator.normal(size=(40, 2, 3)), generator.normal(size=(40, 2, 4)))
    start = prepared.start(bent(5))
    together = prepared.solve_batch(asks, start)
    for frame in (31, 0, 31):
        alone = prepared.solve_batch(asks.take(slice(frame, frame + 1)), start)
        assert_array_equal(alone.rotations[0], together.rotations[frame])
        assert_allclose(alone.position_errors[0], together.position_errors[frame], rtol=0, atol=0)
