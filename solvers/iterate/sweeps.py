# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration of solvers that sweep over the joints rather than step along a Jacobian: CCD and its relatives.

A sweep may raise the errors before it lowers them, so each frame keeps its best state. It stops when no iterations are
left, when the errors are within their tolerances, when a sweep moves no effector, or when several sweeps in a row bring
the goals no nearer.
"""

from collections.abc import Callable

import numpy as np

from ..space.joint_space import State
from ..space.point import Point, Request, evaluate
from ..space.tasks import Tasks
from .descent import Minimum, Settings

PATIENCE = 8  # so many sweeps in a row with less than `LEAST_PROGRESS` end the iteration
LEAST_PROGRESS = 1e-3  # of the error's square
SAME = 1e-9  # of the error's square: of poses that differ by less the first is kept, so that rounding decides nothing
LEAST_MOVE = 1e-10  # [skeleton lengths or rad] a smaller change of an error counts as none

Advance = Callable[[Point, Request, int], State]
"""One sweep over frames at a point, given the sweep's number from 0. Returns a new state inside the limits."""


def repeat(tasks: Tasks, settings: Settings, start: Point, frames: Request, advance: Advance) -> Minimum:
    """Sweep each frame of a batch until one of the rules above ends it."""
    count, rows = len(start.error), tasks.m
    best, cost = start.copy(), _cost(start, rows)
    iterations, waited = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    finished = tasks.within(start.error, settings.tolerance, settings.rotation_tolerance)
    index, point = np.flatnonzero(~finished), start.take(~finished)
    for sweep in range(settings.iterations):
        if not index.size:
            break
        request = frames.take(index)
        after = evaluate(tasks, advance(point, request, sweep), request)
        iterations[index] += 1
        reached, before = _cost(after, rows), cost[index]
        better = reached < (1.0 - SAME) * before
        waited[index] = np.where(reached < (1.0 - LEAST_PROGRESS) * before, 0, waited[index] + 1)
        best.put(index[better], after.take(better))
        cost[index[better]] = reached[better]
        still = np.abs(after.error - point.error).max(-1, initial=0.0) < LEAST_MOVE
        met = tasks.within(after.error, settings.tolerance, settings.rotation_tolerance)
        left = ~(met | still | (waited[index] >= PATIENCE))
        index, point = index[left], after.take(left)
    return Minimum(best, iterations, cost)


def _cost(point: Point, rows: int) -> np.ndarray:
    error = point.error[:, :rows]
    return 0.5 * (error * error).sum(-1)
