# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration of solvers that sweep over the joints rather than step along a Jacobian: CCD and its relatives.

A sweep may make things worse before it makes them better, so each frame keeps the best state it has seen. It ends out
of iterations, with the errors within their tolerances, with a sweep that moves no effector, or with several in a row
that bring it no nearer.
"""

from collections.abc import Callable

import numpy as np

from ..space.joint_space import State
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks
from .descent import Minimum, Settings

PATIENCE = 8  # sweeps in a row that do not bring the goals `LEAST_PROGRESS` nearer are the end
LEAST_PROGRESS = 1e-3  # of the error's square
SAME = 1e-9  # of the same: of poses that are as near the first is kept, whatever the rounding
LEAST_MOVE = 1e-10  # of the skeleton's length, or rad: an error that changes by less has not changed

Advance = Callable[[Point, Request, int], State]
"""The state after one sweep over frames that stand at a point; the number counts the sweeps from 0. It is inside the
limits, and a new one: what it was given stays as it is."""


def repeat(tasks: Tasks, settings: Settings, start: Point, frames: Request, advance: Advance) -> Minimum:
    """Sweep until one of the rules above ends it, frame by frame of a batch."""
    count, rows = len(start.error), tasks.m
    best, cost = start.copy(), _cost(start, rows)
    iterations, waited = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    finished = tasks.within(start.error, settings.tolerance, settings.rotation_tolerance)
    index, point = np.flatnonzero(~finished), start.take(~finished)
    for sweep in range(settings.iterations):
        if not index.size:
            break
        request = frames.take(index)
        after = stand(tasks, advance(point, request, sweep), request)
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
    return Minimum(best, iterations[:, None], cost[:, None])


def _cost(point: Point, rows: int) -> np.ndarray:
    error = point.error[:, :rows]
    return 0.5 * (error * error).sum(-1)
