# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole clips with the compiled kernel against NumPy: drawn skeletons, goals and limits."""

import numpy as np
import pytest
from drawn import drawn
from kernel_and_numpy import asked, filled
from numpy.testing import assert_allclose

import solvers as ik
from solvers.clip import solve_into
from solvers.clip.bounds import Bounds
from solvers.clip.problem import Clip, Problem
from solvers.clip.smoothness import Smoothness
from solvers.compiled import clip as compiled
from solvers.model.frames import FrameArrays

pytestmark = pytest.mark.skipif(compiled.load() is None, reason="no compiled kernel to compare with")
SEEDS, FRAMES = 30, 20
KERNEL = compiled.load


def use(monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    """Let the kernel do its part of whole clips, or NumPy."""
    monkeypatch.setattr(compiled, "load", KERNEL if kernel else lambda: None)


def test_a_step_of_all_frames_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same motion outside of some limits, of each stage: costs, the step, and where it leads."""
    for seed in range(SEEDS):
        problem = drawn(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options)
        targets, _, links = asked(problem, FRAMES, seed)
        for number, stage in enumerate(prepared.stages):
            space, generator = stage.space, np.random.default_rng(seed)
            if not space.n:
                continue
            free = np.zeros(space.n, dtype=bool)  # balls whose coordinates mean nothing
            for block in filter(space.is_free, space.blocks):
                free[block] = True
            corrects, start = bool(seed % 2), space.state(problem.start, FRAMES)
            state, base = (
                space.step(start, 0.1 * generator.normal(size=(FRAMES, space.n)) * space.units) for _ in range(2)
            )  # fmt: skip
            damping, found = generator.uniform(0.1, 10.0, FRAMES), list[np.ndarray]()
            for kernel in (True, False):
                use(monkeypatch, kernel)
                own = compiled.compiled_stage(prepared, number)
                assert kernel or own is None
                smoothness = Smoothness(space, 1e-4, 1e-5 * np.ones(space.n), corrects, base, own)
                goals = targets.of_goals(stage.indices)
                whole = Problem(Clip(stage.tasks, space, smoothness, Bounds(space), goals, links, own))
                system = whole.system(state)
                step = system.step(damping, np.zeros((FRAMES, 1)))
                after = whole.moved(state, system, step)
                found.append([*whole.costs(state), step, after.rotations, after.x[:, ~free]])
            for one, other in zip(*found, strict=True):
                assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=f"seed {seed}")


def test_terms_of_smoothness_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs, gradients and Hessians, added to what is there: one frame, two, and so many that threads share them."""
    monkeypatch.setattr(compiled, "JOINTS_A_THREAD", 90)
    for seed in range(SEEDS):
        problem, generator = drawn(seed), np.random.default_rng(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options)
        for number, stage in enumerate(prepared.stages):
            space, frames = stage.space, (1, 2, 3, 20, 90)[seed % 5]
            if not space.n:
                continue
            start = space.state(problem.start, frames)
            state, base = (
                space.step(start, 0.3 * generator.normal(size=(frames, space.n)) * space.units) for _ in range(2)
            )  # fmt: skip
            near, found = np.zeros(space.n), list[list[np.ndarray]]()
            for block in space.blocks:
                near[block] = generator.uniform()
            for own in (compiled.compiled_stage(prepared, number), None):
                smoothness = Smoothness(space, 0.7, near, bool(seed % 2), base, own)
                to = [np.ones((frames, space.n)), *(np.ones((max(frames - k, 0), space.n, space.n)) for k in range(3))]
                smoothness.add(state, to[0], to[1:])
                found.append([np.array(smoothness.cost(state)), *to])
            for one, other in zip(*found, strict=True):
                assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}")


def test_whole_clips_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same answers frame by frame to the end."""
    for seed in range(6):
        problem, found = drawn(seed), list[FrameArrays]()
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options)
        for kernel in (True, False):
            use(monkeypatch, kernel)
            found.append(filled(asked(problem, 12)))
            solve_into(prepared, prepared, found[-1])
        for name in ("rotations", "translations", "position_errors", "rotation_errors"):
            assert_allclose(*(getattr(one, name) for one in found), atol=1e-6, err_msg=f"seed {seed}: {name}")
