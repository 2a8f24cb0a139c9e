# SPDX-License-Identifier: GPL-3.0-or-later
"""SQP: a sequence of quadratic programs, each minimised inside the limits.

    minimise  g . d + 1/2 d^T (B + s D) d      with x + d inside the limits,      then step by a share of d

(Amino, whose solver is SLSQP; Nocedal & Wright 2006, ch. 18.) `g` is the analytic gradient of either of his objectives
(`objectives.py`), `B` a Hessian learnt from the changes of the gradient (BFGS, kept positive definite by Powell's
damping). It begins as Gauss and Newton's, and is that again after every step that brought the objective down steeply
(Fletcher & Xu 1987): targets in reach are met in few steps, and where something must remain, the curvature that Gauss
and Newton leave out is learnt. With a pull toward the base pose what remains is the pull's own, and they do not err.
The limits are convex, so any share of `d` stays inside them, and Armijo's rule picks one that lowers the objective
enough; where that is not the whole step, the next is damped more.

For hard targets near the limits, with restarts; and the one that can minimise the dual quaternion's logarithm.
"""

import numpy as np

from ..iterate.descent import GOOD_GAIN, LEAST_PROGRESS, LEAST_STEP, LONGEST_STEP, MOST_DAMPING, Minimum, Settings
from ..iterate.linear_step import dot
from ..iterate.objectives import Objective
from ..iterate.quadratic_program import QuadraticProgram, square, step, times
from ..space.joint_space import JointSpace
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks

STEEP = 0.2  # of the objective, lost in one step: Gauss and Newton's Hessian is the better one (Fletcher & Xu's choice)
POWELL = 0.2  # of the curvature that the Hessian has along a step, which the learnt one does not fall below
LEAST_DAMPING = 1e-8
SETTLED_DAMPING = 1e-6  # without a pull: more than that may be what keeps a step short
GROW, SHRINK = 10.0, 0.1

ARMIJO = 1e-4  # of the decrease that the slope promises
CUTS, LEAST_CUT, MOST_CUT = 10, 0.1, 0.5


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Run every frame of a batch until one of the stopping rules ends it; they are those of `descent.py`."""
    objective = Objective(tasks, space, settings)
    settling = settings.pull > 0.0 or tasks.poles is not None
    done = Minimum(start.copy(), np.zeros((len(start.error), 1), dtype=int), objective.cost(start, frames)[:, None])
    met = np.zeros(len(start.error), dtype=bool) if settling else _within(tasks, settings, start)
    index = np.flatnonzero(~met)
    if not index.size:
        return done
    point, request = start.take(index), frames.take(index)
    value = objective.value(point, request)
    gradient, jacobian = objective.derivatives(point, request)
    hessian, learnt = gauss_newton(settings, jacobian), np.zeros(len(index), dtype=bool)
    first = settings.first_damping if settings.damping is None else settings.damping
    damping, stalled = np.full(len(index), max(first, LEAST_DAMPING)), np.zeros(len(index), dtype=int)
    for _ in range(settings.iterations):
        if not index.size:
            break
        done.iterations[index] += 1
        damped = hessian + damping[:, None, None] * np.diag(settings.reluctance)
        program = QuadraticProgram(space, point.state.x, gradient, damped, settings.reluctance)
        d = step(program)
        longest = _longest(tasks, space, d)
        most = np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        share, tried, reached = _search(objective, point, request, value, gradient, d, most)
        gain = value - reached
        better = gain > 0.0
        finished = (longest < LEAST_STEP) | ~(better | learnt)
        if settling:
            # a step that damping has made short says nothing
            finished |= better & (longest < settings.settle) & (damping <= max(settings.pull, SETTLED_DAMPING))
        damping = _adapted(settings, damping, share / most, gain > GOOD_GAIN * -program.value(d))
        d *= (share * better)[:, None]
        stalled = np.where(gain > LEAST_PROGRESS * value, 0, stalled + better)
        steep = gain > STEEP * value
        point, value = _either(better, tried, point), np.where(better, reached, value)
        before = gradient
        gradient, jacobian = objective.derivatives(point, request)
        # what was learnt elsewhere may lead nowhere here
        afresh = steep | ~better | (settings.pull > 0.0)
        hessian = np.where(afresh[:, None, None], gauss_newton(settings, jacobian), bfgs(hessian, d, gradient - before))
        learnt = ~afresh
        finished |= stalled >= 3
        if not settling:
            finished |= _within(tasks, settings, point)
        if finished.any():
            done.point.put(index[finished], point.take(finished))
            left = ~finished
            index, point, request = index[left], point.take(left), request.take(left)
            value, gradient, hessian = value[left], gradient[left], hessian[left]
            learnt, damping, stalled = learnt[left], damping[left], stalled[left]
    done.point.put(index, point)
    done.cost = objective.cost(done.point, frames)[:, None]
    return done


# -- the Hessian ------------------------------------------------------------------------------------------------------


def gauss_newton(settings: Settings, jacobian: np.ndarray) -> np.ndarray:
    """`J^T J + pull D` (F, n, n), and a trace of damping."""
    return np.swapaxes(jacobian, -1, -2) @ jacobian + (settings.pull + LEAST_DAMPING) * np.diag(settings.reluctance)


def bfgs(hessian: np.ndarray, d: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The Hessian (F, n, n) that has seen steps `d` (F, n) change the gradient by `y`.

    Of `y` as much is replaced by what the Hessian expected as keeps it positive definite (Powell 1978; Nocedal &
    Wright, procedure 18.2). A step of no length teaches nothing.
    """
    expected = times(hessian, d)
    curvature, seen = dot(d, expected), dot(d, y)
    moved = curvature > np.finfo(float).tiny
    curvature = np.where(moved, curvature, 1.0)
    low = seen < POWELL * curvature
    share = np.where(low, (1.0 - POWELL) * curvature / np.where(low, curvature - seen, 1.0), 1.0)[:, None]
    y = share * y + (1.0 - share) * expected
    gained = square(y) / np.where(moved, dot(d, y), 1.0)[:, None, None]
    lost = square(expected) / curvature[:, None, None]
    return np.where(moved[:, None, None], hessian + gained - lost, hessian)


# -- the step ---------------------------------------------------------------------------------------------------------


def _search(
    objective: Objective, point: Point, frames: Request, value: np.ndarray, gradient: np.ndarray, d: np.ndarray,
    most: np.ndarray,
) -> tuple[np.ndarray, Point, np.ndarray]:  # fmt: skip
    """A share (F,) of `d` (F, n), up to `most`, by Armijo's rule; where it leads, and the objective there."""
    slope, share = dot(gradient, d), most.copy()
    tried = stand(objective.tasks, objective.space.step(point.state, share[:, None] * d), frames).copy()
    reached = objective.value(tried, frames)
    todo = np.flatnonzero(reached > value + ARMIJO * share * slope)
    for _ in range(CUTS):
        if not todo.size:
            break
        part, down = frames.take(todo), share[todo] * slope[todo]
        # the least of the parabola through the value and the slope here and the value there
        above = np.maximum(reached[todo] - value[todo] - down, 1e-300)
        share[todo] *= np.clip(-0.5 * down / above, LEAST_CUT, MOST_CUT)
        state = objective.space.step(point.state.take(todo), share[todo, None] * d[todo])
        again = stand(objective.tasks, state, part)
        tried.put(todo, again)
        reached[todo] = objective.value(again, part)
        todo = todo[reached[todo] > value[todo] + ARMIJO * share[todo] * slope[todo]]
    return share, tried, reached


def _adapted(settings: Settings, damping: np.ndarray, share: np.ndarray, good: np.ndarray) -> np.ndarray:
    """The next damping (F,): more where only a share (F,) of the step could be taken, less after a good whole one."""
    least = max(LEAST_DAMPING, settings.damping or 0.0)
    factor = np.where(share < 1.0, np.minimum(1.0 / share, GROW), np.where(good, SHRINK, 1.0))
    return np.clip(damping * factor, least, MOST_DAMPING)


def _longest(tasks: Tasks, space: JointSpace, d: np.ndarray) -> np.ndarray:
    """How far (F,) the joint that a step moves most is moved: [rad], or [skeleton lengths] if it slides."""
    return np.abs(d * np.where(space.turns, 1.0, 1.0 / tasks.length)).max(-1, initial=0.0)


def _either(first: np.ndarray, one: Point, other: Point) -> Point:
    """Of two points one or the other, by frames (F,)."""
    if first.all():
        return one
    point = other.copy()
    point.put(first, one.take(first))
    return point


def _within(tasks: Tasks, settings: Settings, point: Point) -> np.ndarray:
    return tasks.within(point.error, settings.tolerance, settings.rotation_tolerance)
