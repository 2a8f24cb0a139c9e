# SPDX-License-Identifier: GPL-3.0-or-later
"""Straight chains: targets that sweep across their line, and targets on it."""

import numpy as np
import pytest
from measures import turned_by

import solvers as ik

LENGTH = 1.5
LINE = np.array([0.0, 1.0, 0.0])
TOLERANCE = 1e-4 * LENGTH
STEP = np.radians(4.0)
ITERATIVE = [name for name in ik.SOLVERS if name != "TWO_BONE"]


def straight(count: int, kind: str = "ball", limits: ik.Range | None = None) -> tuple[ik.Skeleton, ik.Goal]:
    """A straight chain along Y, with limits for all joints but its root, and a goal for its tip."""
    axis = (1, 0, 0) if kind == "hinge" else None
    bone = LENGTH / count
    joints = [
        ik.Joint(f"joint {i}", i - 1, kind, bone * LINE * (i > 0), axis=axis, limits=limits if i else None)
        for i in range(count)
    ]  # fmt: skip
    return ik.Skeleton(joints), ik.Goal(count - 1, (0, 0, 0), offset=bone * LINE)


@pytest.mark.compiled
@pytest.mark.parametrize("afresh", [True, False])
@pytest.mark.parametrize("count", [2, 3, 6, 20])
def test_a_target_that_sweeps_across_the_line_moves_the_chain_smoothly(count: int, afresh: bool) -> None:
    """Steps of 1 cm at 50 to 95 % of the reach, in three directions: all targets are met, no joint step is over 4
    degrees."""
    skeleton, goal = straight(count)
    options = ik.Options(pull=1e-5, warm_start=not afresh, tolerance=TOLERANCE)
    for share in (0.5, 0.8, 0.95):
        for across in ([1, 0, 0], [0, 0, 1], [0.6, 0, 0.8]):
            ways = np.arange(-0.3, 0.3, 0.01)[:, None]
            places = share * LENGTH * LINE + ways * across
            places = places[np.linalg.norm(places, axis=-1) < 0.99 * LENGTH]
            solved = ik.solve_frames(skeleton, [goal], places[:, None], options=options)
            assert all(solution.converged for solution in solved)
            assert max(turned_by(a.pose, b.pose).max() for a, b in zip(solved, solved[1:], strict=False)) < STEP


@pytest.mark.parametrize("solver", ITERATIVE)
def test_a_target_on_the_line_is_met(solver: str) -> None:
    """The chain bends although every derivative is zero there."""
    for count in (2, 5, 20):
        skeleton, goal = straight(count)
        options = ik.Options(iterations=400, tolerance=1e-3)
        solution = ik.solve(
            skeleton, [ik.Goal(goal.joint, 0.7 * LENGTH * LINE, offset=goal.offset)], None, solver, options
        )
        tip = ik.forward(skeleton, solution.pose)
        assert solution.converged, (solver, count, tip.positions[-1])


def test_a_chain_of_hinges_bends_the_way_that_its_limits_leave() -> None:
    """It bends to the side with more room, whichever that is."""
    for limits in (ik.Range(-0.01, 2.0), ik.Range(-2.0, 0.01)):
        skeleton, goal = straight(6, "hinge", limits)
        goal = ik.Goal(goal.joint, 0.8 * LENGTH * LINE, offset=goal.offset)
        for pull in (0.0, 1e-5):
            assert ik.solve(skeleton, [goal], options=ik.Options(pull=pull, tolerance=TOLERANCE)).converged


def test_a_chain_that_is_bent_or_prefers_a_bend_keeps_its_base() -> None:
    """A bent chain whose target is at its tip does not move."""
    skeleton, goal = straight(6)
    start = ik.Pose(np.tile([np.cos(0.1), np.sin(0.1), 0, 0], (6, 1)), np.zeros((6, 3)))
    world = ik.forward(skeleton, start)
    x, y = 2 * 0.1 * 6, LENGTH / 6
    tip = world.positions[-1] + [0, y * np.cos(x), y * np.sin(x)]
    solution = ik.solve(skeleton, [ik.Goal(5, tip, offset=goal.offset)], start, options=ik.Options(pull=1e-5))
    assert solution.converged
    assert turned_by(start, solution.pose).max() < 1e-6
