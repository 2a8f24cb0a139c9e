# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts in the compiled kernel: overlaps and answers as NumPy has, for all bodies, joints, limits and couplings."""

import numpy as np
import pytest
from drawn import Problem, bodied
from kernel_and_numpy import asked

import solvers as ik
from solvers.compiled import library as kernel
from solvers.compiled.apart import CompiledApart
from solvers.model.frames import FrameArrays, asking

pytestmark = pytest.mark.skipif(kernel.load() is None, reason=f"no compiled kernel to compare with: {kernel.kernel()}")


def answers(problem: Problem, prepared: ik.Prepared, roundings: int) -> list[FrameArrays]:
    """Frames without contacts, twice, and then with rotations that are as if rounded differently.

    One other rounding is not enough: NumPy itself rounds by where arrays lie in memory, and where one of two answers is
    as good as the other, a third of all roundings finds the second.
    """
    targets, start, links = asked(problem, 3, speed=0.2)
    own = prepared.targets(*targets[:3]).points
    points = None if own is None else np.broadcast_to(own, (3, *own.shape[1:]))
    frames = [asking(targets._replace(points=points), start, links) for _ in range(2 + roundings)]
    (prepared.compiled or prepared.numpy).solve_into(frames[0])
    for other in frames[1:]:
        other.answer(slice(None), frames[0].batch())
    for seed, other in enumerate(frames[2:], 1):
        other.rotations[:] += 1e-13 * np.random.default_rng(seed).normal(size=other.rotations.shape)
    return frames


def alike(one: FrameArrays, other: FrameArrays) -> np.ndarray:
    """Whether (F,) rotations are the same."""
    return np.abs(one.rotations - other.rotations).max((1, 2)) < 1e-6


def same(one: FrameArrays, other: FrameArrays, size: float) -> np.ndarray:
    """Whether (F,) answers are the same in every respect."""
    found = alike(one, other)
    for name, most in (("translations", 1e-6 * size), ("position_errors", 1e-5 * size), ("rotation_errors", 1e-5)):
        apart = np.abs(getattr(one, name) - getattr(other, name))
        found &= apart.reshape(len(found), -1).max(1, initial=0.0) < most
    for name in ("iterations", "converged", "at_limit"):
        found &= (getattr(one, name) == getattr(other, name)).reshape(len(found), -1).all(1)
    return found


@pytest.mark.parametrize(("follows", "roundings", "least"), [(False, 8, 10), (True, 24, 2)], ids=["afresh", "followed"])
def test_a_push_is_numpys(follows: bool, roundings: int, least: int) -> None:
    """Of frames alone, and of a frame from the one before it, unless rounding alone leads elsewhere.

    In problems that have room and in those that have none; a third of them have goals or joints that do not move.
    """
    pushed, undecided = 0, 0
    for seed in range(10):
        problem, contacts = bodied(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options, contacts)
        if not isinstance(prepared.apart, CompiledApart):  # nothing that moves has a body to keep apart from
            continue
        apart, frames = prepared.apart, answers(problem, prepared, roundings)
        before = ik.Pose(frames[1].rotations[:1].copy(), frames[1].translations[:1].copy())
        compiled, plain, *others = [one.part(2, 3) for one in frames] if follows else frames
        deep = apart.numpy.overlaps(plain)
        assert np.abs(apart.overlaps(compiled) - deep).max() < 1e-12 * (1.0 + np.abs(deep).max())
        apart.memory.doubles[:] = np.nan  # nothing of it is read before it is written
        pushed += int((deep > 0.0).sum())

        def push(solve: object, frame: FrameArrays, before: ik.Pose = before) -> None:
            solve.follow_into(frame, before) if follows else solve.solve_into(frame)

        push(apart, compiled)
        push(apart.numpy, plain)
        differs = ~same(compiled, plain, problem.skeleton.length)
        if not differs.any():
            continue
        for number, other in enumerate(others):
            push(apart.numpy if number % 2 else apart, other)
        rounded = np.any([~alike(other, (compiled, plain)[number % 2]) for number, other in enumerate(others)], axis=0)
        assert not (differs & ~rounded).any(), seed
        undecided += int(differs.sum())
    assert pushed > least
    assert undecided <= 2
