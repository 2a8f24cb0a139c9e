# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel's CCD against NumPy's: the same visits, sweeps, loops and stops, digit by digit.

Goals are drawn in numbers without special values, so that no two turns are equally good: where they are, rounding
decides.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from skeletons import LEFT, RIGHT, arm, bent, chain, random_pose, seeds, skeletons, torso
from workloads import body, coordinates, hand, targets

import solvers as ik
from solvers.compiled import library as kernel

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")
EQUAL = 1e-9  # [rad or length units]
ORDERS = st.sampled_from(["TIP_TO_ROOT", "ROOT_TO_TIP"])


def both(skeleton: ik.Skeleton, goals: list[ik.Goal], **options: object) -> tuple[ik.Prepared, ik.Prepared]:
    """CCD prepared for the kernel and for NumPy, in the same stages."""
    compiled, plain = (ik.Prepared(skeleton, goals, "CCD", ik.Options(**options)) for _ in range(2))
    assert compiled.compiled is not None
    plain.compiled = None
    return compiled, plain


def apart(one: ik.Batch, other: ik.Batch) -> float:
    """The largest difference of two answers, in poses and in errors [rad or length units]."""
    sign = np.where((one.rotations * other.rotations).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    return max(
        2.0 * np.abs(one.rotations - sign * other.rotations).max(initial=0.0),
        np.abs(one.translations - other.translations).max(initial=0.0),
        np.abs(one.position_errors - other.position_errors).max(initial=0.0),
        np.abs(one.rotation_errors - other.rotation_errors).max(initial=0.0),
    )


def answers(
    pair: tuple[ik.Prepared, ik.Prepared], places: np.ndarray, turns: np.ndarray, start: ik.Pose | None = None
) -> tuple[ik.Batch, ik.Batch]:
    """Frames solved afresh by both."""
    one, other = (each.solve_batch(each.targets(places, turns), each.start(start)) for each in pair)
    assert_array_equal(one.converged, other.converged)
    return one, other


@st.composite
def asked(draw: st.DrawFn) -> tuple[ik.Skeleton, list[ik.Goal], ik.Pose, np.random.Generator]:
    """Any tree with one to three goals of every kind, poles too, and a start."""
    skeleton, generator = draw(skeletons(most=7)), np.random.default_rng(draw(seeds))
    goals: list[ik.Goal] = []
    for _ in range(draw(st.integers(1, 3))):
        joint, what = int(generator.integers(len(skeleton))), generator.integers(3)
        above = [int(j) for j in np.flatnonzero(skeleton.ancestors[joint]) if generator.integers(4)]
        goals.append(ik.Goal(
            joint, generator.normal(size=3) if what != 1 else None, generator.normal(size=4) if what else None,
            offset=generator.normal(size=3), chain=above if generator.integers(2) else None,
            position_weight=generator.choice([0.5, 2.0]), rotation_weight=generator.choice([0.5, 2.0]),
            priority=int(generator.integers(2)), pole=generator.normal(size=3) if generator.integers(4) == 0 else None,
        ))  # fmt: skip
    start = random_pose(skeleton, generator)
    return skeleton, goals, ik.Pose(start.rotations, np.zeros_like(start.translations)), generator


def drawn_targets(goals: list[ik.Goal], generator: np.random.Generator, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Random positions and rotations of frames."""
    return generator.normal(size=(frames, len(goals), 3)), generator.normal(size=(frames, len(goals), 4))


# -- sweeps -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60, derandomize=True)
@given(asked(), ORDERS)
def test_a_sweep_ends_where_numpy_ends(problem: tuple, order: str) -> None:
    """Balls and hinges with limits, slides, detached joints, several goals with orientations, chains, poles."""
    skeleton, goals, start, generator = problem
    pair = both(skeleton, goals, order=order, iterations=1, pull=0.0)
    one, other = answers(pair, *drawn_targets(goals, generator, 2), start)
    assert apart(one, other) < EQUAL
    assert_array_equal(one.at_limit, other.at_limit)


@settings(max_examples=25, derandomize=True)
@given(asked(), ORDERS, st.sampled_from([None, 1e-5]))
def test_many_sweeps_end_where_numpys_end(problem: tuple, order: str, pull: float | None) -> None:
    """With the rules to stop, and the stage's other parts: folded limbs, polish, and the remaining steps."""
    skeleton, goals, start, generator = problem
    one, other = answers(
        both(skeleton, goals, order=order, iterations=30, pull=pull), *drawn_targets(goals, generator, 2), start
    )
    assert apart(one, other) < 1e-5


@pytest.mark.parametrize("build", [hand, body], ids=["hand", "body"])
def test_large_rigs_end_where_numpys_end_after_as_many_sweeps(build) -> None:
    """22 and 57 hinges and slides; the same number of sweeps, some of which stop by `PATIENCE`."""
    skeleton, goals = build()
    one, other = answers(
        both(skeleton, goals, iterations=40),
        *targets(skeleton, goals, coordinates(skeleton, np.random.default_rng(1), 2, 0.5)),
    )
    assert apart(one, other) < EQUAL
    assert_array_equal(one.iterations, other.iterations)


@pytest.mark.parametrize("options", [{}, {"unit_angle": 0.3}, {"restarts": 2}], ids=["CCD", "MMD", "restarts"])
def test_a_limb_begins_folded_and_ends_the_same(options: dict) -> None:
    """An elbow with a preferred bend, so with a pull, inside and out of reach, and with a pole."""
    skeleton = arm(1.2, 0.7, ik.TwistSwing((-1, 1), (-2, 2), (-1.5, 2)), ik.Range(0, 2.6), preferred=(0.2, 0, 0))
    goals = [ik.Goal(2, (0, 0, 0), offset=(0.1, 0.2, 0), pole=(0.3, 0.5, -3))]
    places = np.random.default_rng(2).normal(size=(8, 1, 3)) * 1.2
    one, other = answers(both(skeleton, goals, iterations=25, **options), places, np.tile([1.0, 0, 0, 0], (8, 1, 1)))
    assert apart(one, other) < 1e-6
    assert one.converged.any() and not one.converged.all()


def test_hands_of_a_torso_follow_their_targets_as_numpys_do() -> None:
    """Frames solved each from the one before."""
    skeleton, generator = torso(), np.random.default_rng(3)
    goals = [ik.Goal(LEFT, (0, 0, 0), (1, 0, 0, 0), (0.1, 0, 0.02)), ik.Goal(RIGHT, (0, 0, 0), offset=(-0.1, 0.03, 0))]
    pair = both(skeleton, goals, iterations=30)
    places = np.array([[0.6, 0.8, 0.3], [-0.5, 0.5, 0.2]]) + generator.normal(0, 0.03, (6, 2, 3)).cumsum(0)
    arrays = [each.arrays(6) for each in pair]
    for each, one in zip(pair, arrays, strict=True):
        one.positions[:] = places
        each.motion().solve_into(one)
    assert apart(*(one.batch() for one in arrays)) < 1e-7
    assert_array_equal(arrays[0].iterations, arrays[1].iterations)


# -- MikuMikuDance ----------------------------------------------------------------------------------------------------


@settings(max_examples=40, derandomize=True)
@given(asked(), st.floats(0.05, 2.5), st.sampled_from([1, 4, 9]))
def test_mmds_loops_turn_as_numpys_turn(problem: tuple, unit: float, loops: int) -> None:
    """First and second half of the loops, mirrored limits, links of several goals, and the number of loops."""
    skeleton, goals, start, generator = problem
    pair = both(skeleton, goals, unit_angle=unit, iterations=loops, pull=0.0)
    one, other = answers(pair, *drawn_targets(goals, generator, 2), start)
    assert apart(one, other) < (EQUAL if loops == 1 else 1e-6)
    assert_array_equal(one.iterations, other.iterations)


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
