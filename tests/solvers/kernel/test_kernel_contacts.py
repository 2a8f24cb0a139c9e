# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts in the compiled kernel: overlaps and answers as NumPy has, for all bodies, joints, limits and couplings."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import Problem, drawn
from kernel_and_numpy import asked
from test_convex import WEDGE, WEDGE_FACES
from test_couplings import drawn as coupled
from test_goal_kinds import some_kind

import solvers as ik
from solvers.algebra import quaternion
from solvers.compiled import library as kernel
from solvers.compiled.apart import CompiledApart
from solvers.model.frames import FrameArrays, asking

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")

KINDS = ["LOOK_AT", "DISTANCE", "PLANE"]


def bodied(seed: int) -> tuple[Problem, ik.Contacts]:
    """A drawn problem, some with couplings or goals of other kinds, and bodies on its joints and about it."""
    generator = np.random.default_rng([seed, 7])
    problem = drawn(seed)
    if seed % 4 == 1:
        skeleton = coupled(generator, bool(generator.integers(2)))
        last = len(skeleton) - 1
        reach = ik.Goal(last, position=generator.normal(size=3), offset=(0, 0.3, 0))
        problem = Problem(skeleton, [reach], skeleton.rest_pose(), "PGS", ik.Options())
    elif seed % 4 == 3:
        other = some_kind(problem.skeleton, generator, str(generator.choice(KINDS)))
        problem = replace(problem, goals=[*problem.goals, other])
    skeleton = problem.skeleton
    size = max(skeleton.length, 0.1)
    last = len(skeleton) - 1
    capsules = [
        ik.Capsule(joint, 0.1 * size * generator.normal(size=3), 0.3 * size * generator.normal(size=3),
                   size * generator.uniform(0.02, 0.15))
        for joint in range(last + 1) if generator.integers(3) or joint == last
    ]  # fmt: skip
    at = size * generator.normal(size=(3, 3)) * 0.6
    turn = quaternion.exp(generator.normal(size=3))
    obstacles = [
        ik.Plane(at[0], generator.normal(size=3)),
        ik.Box(at[1], size * generator.uniform(0.1, 0.6, 3), turn),
        ik.Convex(at[2] + size * WEDGE, WEDGE_FACES),
    ]
    some = [one for one in obstacles if generator.integers(2)]
    return problem, ik.Contacts(capsules, some or obstacles, margin=size * float(generator.choice([0.0, 0.02])))


def answers(problem: Problem, prepared: ik.Prepared, roundings: int = 3) -> list[FrameArrays]:
    """Frames without contacts, twice, and then with rotations that are as if rounded differently.

    One other rounding is not enough: NumPy itself rounds by where arrays lie in memory, and where one of two answers is
    as good as the other, a third of all roundings finds the second.
    """
    targets, start, links = asked(problem, 3, speed=0.2)
    own = prepared.targets(*targets[:3]).points
    points = None if own is None else np.broadcast_to(own, (3, *own.shape[1:]))
    frames = [asking(targets._replace(points=points), start, links) for _ in range(2 + roundings)]
    prepared.numpy.solve_into(frames[0])
    for other in frames[1:]:
        other.answer(slice(None), frames[0].batch())
    for seed, other in enumerate(frames[2:], 1):
        other.rotations[:] += 1e-13 * np.random.default_rng(seed).normal(size=other.rotations.shape)
    return frames


def alike(one: FrameArrays, other: FrameArrays) -> np.ndarray:
    """Whether (F,) rotations are the same; of NumPy's answers, if more than rounding decides where a push goes."""
    return np.abs(one.rotations - other.rotations).max((1, 2)) < 1e-6


def test_a_push_is_numpys() -> None:
    """In problems that have room and in those that have none; a third of them have goals or joints that do not move."""
    pushed, undecided = 0, 0
    for seed in range(24):
        problem, contacts = bodied(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options, contacts)
        if not isinstance(prepared.apart, CompiledApart):  # nothing that moves has a body to keep apart from
            continue
        apart, (compiled, plain, *rounded) = prepared.apart, answers(problem, prepared, roundings=8)
        deep = apart.numpy.overlaps(plain)
        assert np.abs(apart.overlaps(compiled) - deep).max() < 1e-12 * (1.0 + np.abs(deep).max())
        apart.memory.doubles[:] = np.nan  # nothing of it is read before it is written
        for solve, frames in ((apart, compiled), *((apart.numpy, frames) for frames in (plain, *rounded))):
            solve.solve_into(frames)
        size, decided = problem.skeleton.length, np.all([alike(frames, plain) for frames in rounded], axis=0)
        undecided += int((~decided).sum())
        pushed += int((deep > 0.0).sum())
        assert alike(compiled, plain)[decided].all(), seed
        for name, most in (("translations", 1e-6 * size), ("position_errors", 1e-5 * size), ("rotation_errors", 1e-5)):
            apart_by = np.abs(getattr(compiled, name) - getattr(plain, name))[decided]
            assert apart_by.max(initial=0.0) < most, (seed, name)
        for name in ("iterations", "converged", "at_limit"):
            assert np.array_equal(getattr(compiled, name)[decided], getattr(plain, name)[decided]), seed
    assert pushed > 20
    assert undecided <= 2


def test_a_push_from_the_frame_before_is_numpys() -> None:
    pushed, undecided = 0, 0
    for seed in range(20):
        problem, contacts = bodied(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options, contacts)
        if not isinstance(prepared.apart, CompiledApart):
            continue
        apart, (compiled, plain, *rounded) = prepared.apart, answers(problem, prepared, roundings=24)
        before = ik.Pose(plain.rotations[:1].copy(), plain.translations[:1].copy())
        one, other, *others = (frames.part(2, 3) for frames in (compiled, plain, *rounded))
        pushed += int(apart.numpy.overlaps(other)[0] > 0.0)
        for number, frame in enumerate((one, other, *others)):
            (apart.numpy if number % 2 else apart).follow_into(frame, before)
        if not all(alike(one if number % 2 == 0 else other, frame)[0] for number, frame in enumerate(others)):
            undecided += 1
            continue
        assert alike(one, other)[0], seed
        assert np.abs(one.translations - other.translations).max() < 1e-6 * problem.skeleton.length, seed
    assert pushed > 3
    assert undecided <= 2
