# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand and a body: steps per frame, and the share of solves that meet their goals."""

from functools import cache

import numpy as np
import pytest
from workloads import body, coordinates, hand, motion, posed, targets

import solvers as ik

SOLVERS = ["PGS", "DLS"]
FRAMES = 30  # from one pose to the next


@cache
def moving(which: str, seed: int) -> tuple:
    """A skeleton, its goals, options, and a motion over 70 % of the limits with its targets."""
    make, tolerance = {"hand": (hand, 2e-4), "body": (body, 1e-3)}[which]
    skeleton, goals = make()
    x = motion(coordinates(skeleton, np.random.default_rng(seed), 4, share=0.7), FRAMES)
    options = ik.Options(tolerance=tolerance, rotation_tolerance=1e-2)
    return skeleton, goals, options, x, *targets(skeleton, goals, x)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("which", ["hand", "body"])
def test_coherent_motion_takes_three_steps_a_frame_or_fewer(which: str, seed: int, solver: str) -> None:
    """Every frame of a smooth motion inside the limits is met, warm-started, with a median of at most 3 steps."""
    skeleton, goals, options, x, positions, rotations = moving(which, seed)
    solutions = ik.solve_frames(skeleton, goals, positions, rotations, posed(skeleton, x[0]), solver, options)
    assert all(solution.converged for solution in solutions)
    assert np.median([solution.iterations for solution in solutions]) <= 3


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("which", ["hand", "body"])
def test_a_figure_at_rest_takes_two_steps_a_frame_or_fewer(which: str, solver: str) -> None:
    """Targets that tremble as if every joint moved by a degree are met in few steps."""
    skeleton, goals, options, x, *_ = moving(which, 0)
    trembling = x[:1] + np.radians(1.0) * np.random.default_rng(0).uniform(-1, 1, (20, len(skeleton)))
    positions, rotations = targets(skeleton, goals, trembling)
    solutions = ik.solve_frames(skeleton, goals, positions, rotations, posed(skeleton, x[0]), solver, options)
    assert all(solution.converged for solution in solutions)
    assert np.median([solution.iterations for solution in solutions]) <= 2


@pytest.mark.parametrize("solver", SOLVERS)
def test_cold_hands_arrive_with_restarts(solver: str) -> None:
    """From the middle of the limits at least 95 of 100 random poses inside them are met."""
    skeleton, goals = hand()
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    positions, rotations = targets(skeleton, goals, coordinates(skeleton, np.random.default_rng(1), 100))
    options = ik.Options(tolerance=2e-4, rotation_tolerance=1e-2, restarts=20, warm_start=False)
    start = posed(skeleton, 0.5 * (lo + hi))
    solutions = ik.solve_frames(skeleton, goals, positions, rotations, start, solver, options)
    assert np.mean([solution.converged for solution in solutions]) >= 0.95
