# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a stage for one frame from the frame before it, and compares answers with their start."""

from dataclasses import replace

import numpy as np

from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.point import Point
from .plan import FOLLOW_JUMP, FOLLOW_LOST, Plan, Work, run
from .stage import Stage


def afresh(
    stage: Stage, plan: Plan, start: Pose, targets: Targets, links: np.ndarray | None, home: np.ndarray
) -> tuple[Point, int]:
    """Solve a frame from the pose `start`; the point, and the iterations. home : (1, J, 4) as in `Work`."""
    work = Work(stage, start, start, targets, links, home)
    run(work, [*plan.afresh, *plan.in_order])
    return no_worse(work), work.iterations


def follow(
    stage: Stage, plan: Plan, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None,
    home: np.ndarray, residual: np.ndarray | None,
) -> tuple[Point, int]:  # fmt: skip
    """Solve a frame from the frame before it; afresh if the targets jumped or the error is too large.

    residual : (1, m) the last error rows of the frame before; None if unknown.
    """
    work, m = Work(stage, previous, start, targets, links, home, residual, follows=True), stage.tasks.m
    before = np.zeros((1, m)) if residual is None else residual[:, :m]
    if np.abs(work.first.error[:, :m] - before).max(initial=0.0) > FOLLOW_JUMP:
        return afresh(stage, plan, start, targets, links, home)
    run(work, plan.following)
    if stage.settings.pull and stage.largest_error(work.best) > max(FOLLOW_LOST, 1.1 * np.abs(before).max(initial=0.0)):
        other = Work(stage, start, start, targets, links, home)
        other.missed_before = work.missed_before
        run(other, plan.afresh)
        work.iterations += other.iterations
        if stage.square(other.best) < stage.square(work.best):
            work.best = other.best
    run(work, [*plan.retries, *plan.in_order_on])
    return work.best, work.iterations


def no_worse(work: Work) -> Point:
    """The best point, or the first if that is nearer and the best misses the tolerances.

    Goals that are met do not count, and errors are compared by the shares with which goals have yielded.
    """
    worse = work.misses() and _square_missed(work, work.best) > _square_missed(work, work.first)
    return work.first if worse else work.best


def _square_missed(work: Work, point: Point) -> float:
    """The sum of squares of the error rows of goals that are missed."""
    stage, targets = work.stage, work.targets
    distances, angles = stage.hard_tasks.report(point.kinematics, targets)
    missed = (distances > stage.options.tolerance) | (angles > stage.options.rotation_tolerance)
    shares = missed if targets.shares is None else missed * targets.shares
    errors = stage.hard_tasks.errors(point.kinematics, targets._replace(shares=shares))
    return stage.square(replace(point, error=errors))
