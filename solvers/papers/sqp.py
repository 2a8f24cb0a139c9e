# SPDX-License-Identifier: GPL-3.0-or-later
"""SQP: a sequence of quadratic programs, each minimised inside the limits.

    minimise  g . d + 1/2 d^T (B + s D) d      with x + d inside the limits,      then step by a share of d

(Amino, whose solver is SLSQP; Nocedal & Wright 2006, ch. 18.) `g` is the analytic gradient of either of his objectives
(`objectives.py`), `B` a Hessian updated from the changes of the gradient (BFGS, kept positive definite by Powell's
damping). `B` begins as the Gauss-Newton Hessian, and is reset to it after every step that lowered the objective steeply
(Fletcher & Xu 1987): so targets in reach are met in few steps, and where an error must remain BFGS learns the curvature
that Gauss-Newton leaves out. With a pull toward the base pose the remaining error is the pull's, for which Gauss-Newton
is right, and BFGS is not used. The limits are convex, so any share of `d` stays inside them, and Armijo's rule picks
one that lowers the objective enough; if that is not the whole step, the next step is damped more.

The solver is for hard targets near the limits, with restarts, and the only one that can minimise the dual quaternion's
logarithm.
"""

import numpy as np

from ..algebra import by_row
from ..iterate.descent import (
    CREEP_SHARE,
    CREEP_STEPS,
    GOOD_GAIN,
    LEAST_PROGRESS,
    LEAST_STEP,
    LONGEST_STEP,
    MOST_DAMPING,
    Minimum,
    Settings,
)
from ..iterate.linear_step import dot
from ..methods.table import Method
from ..space.joint_space import JointSpace
from ..space.point import Point, Request, evaluate
from ..space.tasks import Tasks
from .objectives import Objective
from .quadratic_program import QuadraticProgram, square, step, times

STEEP = 0.2  # of the objective: after a step that lowers it by more, reset to Gauss-Newton (Fletcher & Xu's choice)
POWELL = 0.2  # of the Hessian's curvature along a step: lower bound of the curvature that the update sees
LEAST_DAMPING = 1e-8
SETTLED_DAMPING = 1e-6  # without a pull: with more damping a short step does not mean that the pose has settled
GROW, SHRINK = 10.0, 0.1

ARMIJO = 1e-4  # of the decrease that the slope predicts
CUTS, LEAST_CUT, MOST_CUT = 10, 0.1, 0.5


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Iterate on every frame of a batch until a stopping rule of `descent.py` ends it."""
    objective = Objective(tasks, space, settings)
    settling = settings.pull > 0.0 or tasks.all > tasks.m
    done = Minimum(start.copy(), np.zeros(len(start.error), dtype=int), objective.cost(start, frames))
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
    mark = value
    for iteration in range(settings.iterations):
        if not index.size:
            break
        done.iterations[index] += 1
        damped_hessian = hessian + damping[:, None, None] * np.diag(settings.reluctance)
        program, d = _stepped(space, point.state.x, gradient, damped_hessian, settings.reluctance)
        longest = space.sizes(d).max(-1, initial=0.0)
        most = np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        share, trial, trial_value = _search(objective, point, request, value, gradient, d, most)
        gain = value - trial_value
        better = gain > 0.0
        finished = (longest < LEAST_STEP) | ~(better | learnt)
        if settling:
            # a step that is short because of damping does not show that the pose has settled
            finished |= better & (longest < settings.settle) & (damping <= max(settings.pull, SETTLED_DAMPING))
        damping = _adapted(settings, damping, share / most, gain > GOOD_GAIN * -program.value(d))
        d *= (share * better)[:, None]
        stalled = np.where(gain > LEAST_PROGRESS * value, 0, stalled + better)
        steep = gain > STEEP * value
        point, value = _either(better, trial, point), np.where(better, trial_value, value)
        before = gradient
        gradient, jacobian = objective.derivatives(point, request)
        # an update from elsewhere may be wrong here
        afresh = steep | ~better | (settings.pull > 0.0)
        hessian = np.where(afresh[:, None, None], gauss_newton(settings, jacobian), bfgs(hessian, d, gradient - before))
        learnt = ~afresh
        finished |= stalled >= 3
        if (iteration + 1) % CREEP_STEPS == 0:
            if iteration >= CREEP_STEPS:
                finished |= value > (1.0 - CREEP_SHARE) * mark
            mark = value
        if not settling:
            finished |= _within(tasks, settings, point)
        if finished.any():
            done.point.put(index[finished], point.take(finished))
            left = ~finished
            index, point, request = index[left], point.take(left), request.take(left)
            value, mark, gradient, hessian = value[left], mark[left], gradient[left], hessian[left]
            learnt, damping, stalled = learnt[left], damping[left], stalled[left]
    done.point.put(index, point)
    done.cost = objective.cost(done.point, frames)
    return done


def _stepped(
    space: JointSpace, x: np.ndarray, gradient: np.ndarray, hessian: np.ndarray, reluctance: np.ndarray
) -> tuple[QuadraticProgram, np.ndarray]:
    """The problem of one iteration, and the step (F, n) that solves it, over the unknowns where joints are coupled."""
    program, unknowns = QuadraticProgram(space, x, gradient, hessian, reluctance), space.unknowns
    if unknowns is None:
        return program, step(program)
    s = unknowns.matrix
    reduced = QuadraticProgram(
        unknowns, x[:, unknowns.keep], by_row(gradient, s), s.T @ hessian @ s, unknowns.reluctance(reluctance)
    )
    return program, unknowns.expand(step(reduced))


# -- the Hessian ------------------------------------------------------------------------------------------------------


def gauss_newton(settings: Settings, jacobian: np.ndarray) -> np.ndarray:
    """`J^T J + pull D` (F, n, n), plus a damping of `LEAST_DAMPING`."""
    return np.swapaxes(jacobian, -1, -2) @ jacobian + (settings.pull + LEAST_DAMPING) * np.diag(settings.reluctance)


def bfgs(hessian: np.ndarray, d: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The Hessian (F, n, n) updated by steps `d` (F, n) that changed the gradient by `y` (F, n).

    `y` is mixed with the change that the Hessian predicts, just enough to keep it positive definite (Powell 1978;
    Nocedal & Wright, procedure 18.2). A step of length 0 changes nothing.
    """
    expected = times(hessian, d)
    curvature, observed = dot(d, expected), dot(d, y)
    moved = curvature > np.finfo(float).tiny
    curvature = np.where(moved, curvature, 1.0)
    low = observed < POWELL * curvature
    share = np.where(low, (1.0 - POWELL) * curvature / np.where(low, curvature - observed, 1.0), 1.0)[:, None]
    y = share * y + (1.0 - share) * expected
    gained = square(y) / np.where(moved, dot(d, y), 1.0)[:, None, None]
    lost = square(expected) / curvature[:, None, None]
    return np.where(moved[:, None, None], hessian + gained - lost, hessian)


# -- the step ---------------------------------------------------------------------------------------------------------


def _search(
    objective: Objective, point: Point, frames: Request, value: np.ndarray, gradient: np.ndarray, d: np.ndarray,
    most: np.ndarray,
) -> tuple[np.ndarray, Point, np.ndarray]:  # fmt: skip
    """A share (F,) of `d` (F, n), up to `most`, by Armijo's rule, its point, and the objective there."""
    slope, share = dot(gradient, d), most.copy()
    trial = evaluate(objective.tasks, objective.space.step(point.state, share[:, None] * d), frames).copy()
    trial_value = objective.value(trial, frames)
    rejected = np.flatnonzero(trial_value > value + ARMIJO * share * slope)
    for _ in range(CUTS):
        if not rejected.size:
            break
        part, down = frames.take(rejected), share[rejected] * slope[rejected]
        # the minimum of the parabola through the value and slope at 0 and the value at this share
        above = np.maximum(trial_value[rejected] - value[rejected] - down, 1e-300)
        share[rejected] *= np.clip(-0.5 * down / above, LEAST_CUT, MOST_CUT)
        state = objective.space.step(point.state.take(rejected), share[rejected, None] * d[rejected])
        again = evaluate(objective.tasks, state, part)
        trial.put(rejected, again)
        trial_value[rejected] = objective.value(again, part)
        rejected = rejected[trial_value[rejected] > value[rejected] + ARMIJO * share[rejected] * slope[rejected]]
    return share, trial, trial_value


def _adapted(settings: Settings, damping: np.ndarray, share: np.ndarray, good: np.ndarray) -> np.ndarray:
    """The next damping (F,): more after a shortened step (`share` (F,) below 1), less after a good whole step."""
    least = max(LEAST_DAMPING, settings.damping or 0.0)
    factor = np.where(share < 1.0, np.minimum(1.0 / share, GROW), np.where(good, SHRINK, 1.0))
    return np.clip(damping * factor, least, MOST_DAMPING)


def _either(first: np.ndarray, one: Point, other: Point) -> Point:
    """Point `one` in frames where `first` (F,) is true, `other` elsewhere."""
    if first.all():
        return one
    point = other.copy()
    point.put(first, one.take(first))
    return point


def _within(tasks: Tasks, settings: Settings, point: Point) -> np.ndarray:
    return tasks.within(point.error, settings.tolerance, settings.rotation_tolerance)


METHOD = Method(minimise, continues=True)
