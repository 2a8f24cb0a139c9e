# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration of the Jacobian solvers, over a batch of frames.

    minimise  1/2 |e(q)|^2 + 1/2 pull v^T W v,   v = difference of q from the base pose

A step is accepted only if this cost falls. Solvers with damping adapt it to the gain ratio of actual to predicted
decrease (Levenberg-Marquardt; Kenwright's fixed delta does not come to rest on unreachable targets). Solvers without
damping take a share of their step (backtracking), and steepest descent in its place where limits have cut the step so
that it hardly leads downhill.

The iteration stops by Kenwright's four rules: no iterations left, errors within their tolerances, a step below its
tolerance, or a cost that no longer changes, or creeps (`CREEP_STEPS`): a solver without damping can take thousands of
steps toward a target out of reach, and gain nothing that is seen. With a pull or a pole, which shape the pose beyond
the goals, it stops once the pose has settled rather than at the tolerances.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..model.options import Options
from ..space.joint_space import JointSpace
from ..space.lanes import Lanes
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks
from . import steepest
from .linear_step import Inner, LinearSystem, dot
from .one_sided import step_inside

LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8
DAMPING_SHARE = 0.03  # of the pull: least damping, because the pull's curvature is modelled only in part
GOOD_GAIN, POOR_GAIN = 0.9, 0.25
GROW, SHRINK, REJECT = 3.0, 0.2, 6.0
LEAST_PROGRESS = 1e-8  # relative decrease of the cost; three accepted steps with less end the iteration
LEAST_STEP = 1e-9  # [rad], for slides [skeleton lengths]
ANY = 1e30  # disables the test of the remaining motion; finite, because 0 * inf is NaN
ABANDON_STEPS, ABANDON_SHARE = 4, 0.3  # an attempt fails if its cost falls by a smaller share in so many steps
CREEP_STEPS, CREEP_SHARE = 100, 1e-2  # from twice so many steps on, such a share of the cost must fall in each so many
RESIGN_STEPS, RESIGN_SHARE = 8, 0.01  # accepted steps in a row that lower the cost by a smaller share
LONGEST_STEP = 1.0  # [rad] bound of a step without damping: a Jacobian predicts nothing further away
CUT, LEAST_SHARE = 0.25, 1e-3  # backtracking: factor after a rejected step, and the share that ends the iteration
LEAST_SLOPE = 0.1  # of a step that is shortened once more: the cosine of its angle to steepest descent


class Settings(NamedTuple):
    """Settings of the outer iteration.

    Attributes
    ----------
    tolerance : [length units]. rotation_tolerance : [rad].
    damping : first value and lower bound; None starts at `first_damping` and sets no bound.
    settle, unsettled : [rad], for slides [skeleton lengths]. With a pull or poles, the iteration has converged when the
        longest step of a degree of freedom is below `settle` and the remaining motion, predicted from how fast the
        steps shrink, is below `unsettled`.
    abandons : also stop where the cost falls too slowly (`ABANDON_STEPS`), for attempts that others follow.
    weights : of the pull, the reluctance times the joints' gains; equal within a joint.
    resigns : also stop where the cost falls slowly while goals that lead are missed, because they cannot all be met.
    """

    iterations: int
    tolerance: float
    rotation_tolerance: float
    damping: float | None
    first_damping: float | np.ndarray  # (L,) where lanes differ
    pull: float
    settle: float
    reluctance: np.ndarray  # (n,) D > 0
    weights: np.ndarray  # (n,) W
    options: Options
    unsettled: float = ANY
    abandons: bool = False
    resigns: bool | np.ndarray = False  # (L,) where lanes differ


@dataclass
class Minimum:
    """The end points of F frames, their iterations (F, L) and costs (F, L)."""

    point: Point
    iterations: np.ndarray
    cost: np.ndarray


class Model:
    """The errors' derivatives at the points of an iteration. This base class computes the Jacobian afresh.

    Each descent makes one, so that a solver can carry data from one iteration to the next, frame by frame.
    """

    def __init__(self, tasks: Tasks, space: JointSpace, settings: Settings) -> None:
        self.tasks, self.space, self.settings = tasks, space, settings

    def jacobian(self, point: Point, frames: Request) -> np.ndarray:
        """`J` (F, m, n) of the errors."""
        return self.tasks.jacobian(point.state, point.kinematics, frames.targets)

    def curvature(self, point: Point, frames: Request, system: LinearSystem, v: np.ndarray | None) -> np.ndarray | None:
        """The Hessian (F, n, n) of the cost minus `J^T J + pull D`; None if that part is left out.

        system : the problem without it. v : (F, n) difference of the points from the base pose, None without a pull.
        """
        del point, frames, system, v

    def metric(self, point: Point) -> np.ndarray | None:
        """Positive definite matrices (F, n, n) that damp the step; None to damp it by the reluctance."""
        del point

    def learn(self, d: np.ndarray, change: np.ndarray, better: np.ndarray, poor: np.ndarray) -> np.ndarray | None:
        """Update the model from the steps `d` (F, n); returns (F,) whether the model that made them was exact.

        A step that gains nothing shows that the minimum is reached only if its model was exact. None: it always is.

        change : (F, m) decrease of the error rows. better : (F,) accepted steps. poor : (F,) steps that gained little
        of the predicted decrease, or after which the iteration would stop.
        """
        del d, change, better, poor

    def keep(self, frames: np.ndarray) -> None:
        """Keep the data of some of the frames only."""


Minimise = Callable[[Tasks, JointSpace, Settings, Point, Request], Minimum]
"""A solver's function: lowers the cost of F frames from their start points, within the settings."""


def damped(inner: Inner, model: type[Model] = Model) -> Minimise:
    """The outer iteration of a solver with damping, which is adapted (Levenberg-Marquardt)."""

    def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
        return _minimise(model(tasks, space, settings), start, frames, inner, by_length=False)

    return minimise


def shortened(inner: Inner, model: type[Model] = Model) -> Minimise:
    """The outer iteration of a solver without damping, which takes a share of its step (backtracking)."""

    def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
        return _minimise(model(tasks, space, settings), start, frames, inner, by_length=True)

    return minimise


def _minimise(model: Model, start: Point, frames: Request, inner: Inner, by_length: bool) -> Minimum:
    """Iterate on every frame of a batch until a stopping rule ends it."""
    tasks, space, settings = model.tasks, model.space, model.settings
    lanes, count = tasks.lanes, len(start.error)
    point: Point = start
    index = np.arange(count)
    cost: np.ndarray
    cost, v = _cost(lanes, space, settings, start, frames)
    fixed = settings.damping or 0.0
    first = fixed if by_length else settings.first_damping if settings.damping is None else max(fixed, LEAST_DAMPING)
    damping: np.ndarray = np.full(cost.shape, first)
    share: np.ndarray = np.ones(cost.shape)
    done = Minimum(start, np.zeros(cost.shape, dtype=int), cost)
    settling, resigns = settings.pull > 0.0 or tasks.all > tasks.m, bool(np.any(settings.resigns))
    stalled: np.ndarray = np.zeros(cost.shape, dtype=int)
    slow: np.ndarray = np.zeros(cost.shape, dtype=int)
    previous = np.full(cost.shape, np.inf)
    earlier = np.full((*cost.shape, ABANDON_STEPS), np.inf)  # costs of the last steps, in a ring
    earlier[..., 0] = cost
    mark: np.ndarray = cost
    finished: np.ndarray = np.zeros(cost.shape, dtype=bool) if settling else _within(tasks, settings, start.error)
    if frames.lanes is not None:
        finished |= ~frames.lanes
    for iteration in range(settings.iterations):
        if finished.all():
            break
        ended = np.all(finished, axis=-1)
        if ended.any():
            if len(index) == count:
                done = Minimum(point.copy(), done.iterations, cost.copy())
            left, keep = index[ended], ~ended
            done.point.put(left, point.take(ended))
            done.cost[left] = cost[ended]
            point, frames, index = point.take(keep), frames.take(keep), index[keep]
            cost, damping, share = cost[keep], damping[keep], share[keep]
            stalled, previous, earlier, finished = stalled[keep], previous[keep], earlier[keep], finished[keep]
            slow = slow[keep]
            mark = mark[keep]
            v = None if v is None else v[keep]
            model.keep(keep)
        going = ~finished
        if len(index) == count:
            done.iterations += going
        else:
            done.iterations[index] += going
        strength = damping if lanes.count > 1 else damping[:, 0]
        system = _linearised(model, point, frames, v, strength if by_length else settings.pull + strength)
        d: np.ndarray = step_inside(space, system, inner)
        if by_length:
            d = _steeper(space, system, d, share[:, 0], inner)
            turned = lanes.freedoms.largest(np.abs(d * space.turns))
            d *= lanes.freedoms.spread(np.minimum(share, LONGEST_STEP / np.maximum(turned, 1e-300)))
        if lanes.count > 1 and finished.any():
            d *= lanes.freedoms.spread(going)
        trial = stand(tasks, space.step(point.state, d), frames)
        trial_cost, trial_v = _cost(lanes, space, settings, trial, frames)
        gain = cost - trial_cost
        better = (gain > 0.0) & going
        progress = gain > LEAST_PROGRESS * cost
        poor = ~better
        if by_length:
            share = np.where(better, np.minimum(share / CUT, 1.0), share * CUT)
        else:
            damping, poor = _adapted(lanes, settings, system, d, damping, gain, better)
        change = point.error - trial.error
        if better.all():
            point, cost, v = trial, trial_cost, trial_v
        elif (better | finished).all():  # lanes that have ended took no step
            point = trial
            cost, v = np.where(better, trial_cost, cost), trial_v
        elif better.any():
            point = trial.where(lanes, better, point)
            cost = np.where(better, trial_cost, cost)
            v = None if v is None or trial_v is None else np.where(lanes.freedoms.spread(better), trial_v, v)
        stalled = np.where(progress, 0, stalled + better)
        longest = lanes.freedoms.largest(space.sizes(d))
        arrived: np.ndarray = (stalled >= 3) | (longest < LEAST_STEP) | (share < LEAST_SHARE)
        if settling:
            # if steps go on shrinking by a ratio r, r / (1 - r) of the last one remains
            settled = longest * longest < settings.unsettled * (previous - longest)
            arrived |= better & (longest < settings.settle) & settled
            previous = np.where(better, longest, previous)
        exact = model.learn(d, change, np.any(better, axis=-1), np.any(poor | arrived, axis=-1))
        if exact is not None:
            arrived &= exact[:, None]
        if settings.abandons:
            slot = (iteration + 1) % ABANDON_STEPS
            arrived |= cost > (1.0 - ABANDON_SHARE) * earlier[..., slot]
            earlier[..., slot] = cost
        if (iteration + 1) % CREEP_STEPS == 0:
            if iteration >= CREEP_STEPS:
                arrived |= _creeps(cost, mark)
            mark = cost
        if resigns:
            slow = (slow + better) * ~(gain > RESIGN_SHARE * cost)
            resigning = settings.resigns & (slow >= RESIGN_STEPS)
            if resigning.any():
                arrived |= resigning & ~_within(tasks, settings, point.error, leading=True)
        if not settling:
            arrived |= _within(tasks, settings, point.error)
        finished = finished | arrived
    if len(index) == count:
        return Minimum(point, done.iterations, cost)
    done.point.put(index, point)
    done.cost[index] = cost
    return done


def _steeper(space: JointSpace, system: LinearSystem, d: np.ndarray, share: np.ndarray, inner: Inner) -> np.ndarray:
    """`d` (F, n), or a better direction in frames with a `share` (F,) below 1 whose step hardly leads downhill.

    An undamped step may be many turns long. Cut at the limits of most joints it no longer has its direction, and no
    share of it helps. The step toward a share of the errors is cut less. Where that does not help either, steepest
    descent does.
    """
    for steep in (False, True):
        some = np.flatnonzero(share < 1.0)
        poor = some[~_leads_down(system.take(some), d[some])]
        if not poor.size:
            break
        part = system.take(poor)
        if steep:
            d[poor] = step_inside(space, part, steepest.step)
            break
        parts = share[poor, None]
        gradient = None if part.gradient is None else parts * part.gradient
        d[poor] = step_inside(space, replace(part, error=parts * part.error, gradient=gradient), inner) / parts
    return d


def _leads_down(system: LinearSystem, d: np.ndarray) -> np.ndarray:
    """Whether (F,) steps `d` (F, n) lead downhill at no wide angle, in the metric `D`, to steepest descent."""
    if system.one_sided is not None:
        system = replace(system, error=np.where(system.one_sided, np.maximum(system.error, 0.0), system.error))
    down = system.descent(np.zeros_like(d))
    steepest_slope = dot(down / system.reluctance, down) * dot(system.reluctance * d, d)
    return dot(down, d) >= LEAST_SLOPE * np.sqrt(steepest_slope)


def _linearised(
    model: Model, point: Point, frames: Request, v: np.ndarray | None, damping: np.ndarray
) -> LinearSystem:
    """The problem of one iteration. v : (F, n) difference from the base pose, None without a pull."""
    tasks, space, settings = model.tasks, model.space, model.settings
    error = point.error
    if tasks.one_sided is not None:  # the room of one-sided tasks is below 0
        error = tasks.signed_errors(point.kinematics, frames.targets)
    system = LinearSystem(
        space, point.state.x, model.jacobian(point, frames), error,
        None if v is None else settings.pull * space.pull_gradient(point.state, v, settings.weights),
        damping, settings.reluctance, settings.pull, lanes=tasks.lanes if tasks.lanes.count > 1 else None,
        one_sided=tasks.one_sided,
    )  # fmt: skip
    system.curvature = model.curvature(point, frames, system, v)
    system.metric = model.metric(point)
    return system


def _creeps(cost: np.ndarray, mark: np.ndarray) -> np.ndarray:
    """Where (F, L) the cost has fallen by less than `CREEP_SHARE` from `mark`."""
    return cost > (1.0 - CREEP_SHARE) * mark


def _within(tasks: Tasks, settings: Settings, error: np.ndarray, leading: bool = False) -> np.ndarray:
    return tasks.lanes_within(error, settings.tolerance, settings.rotation_tolerance, leading)


def _adapted(
    lanes: Lanes, settings: Settings, system: LinearSystem, d: np.ndarray, damping: np.ndarray, gain: np.ndarray,
    better: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The next damping (F, L): less after a good gain ratio, more after a poor one; and where the ratio was poor."""
    predicted = system.decrease(d).reshape(damping.shape)
    if settings.pull:
        predicted -= 0.5 * settings.pull * lanes.freedoms.dot(settings.reluctance * d, d)
    poor = gain < POOR_GAIN * predicted
    factor = np.where(gain > GOOD_GAIN * predicted, SHRINK, np.where(poor, GROW, 1.0))
    least = max(LEAST_DAMPING, DAMPING_SHARE * settings.pull, settings.damping or 0.0)
    return np.minimum(np.maximum(damping * np.where(better, factor, REJECT), least), MOST_DAMPING), poor | ~better


def _cost(
    lanes: Lanes, space: JointSpace, settings: Settings, point: Point, frames: Request
) -> tuple[np.ndarray, np.ndarray | None]:
    """The cost (F, L) and, where there is a pull, the difference (F, n) from the base pose."""
    cost = 0.5 * lanes.rows.dot(point.error, point.error)
    if not settings.pull:
        return cost, None
    v = space.difference(point.state, frames.base)
    return cost + 0.5 * settings.pull * lanes.freedoms.dot(settings.weights * v, v), v
