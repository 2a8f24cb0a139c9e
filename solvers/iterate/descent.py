# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration that the Jacobian solvers share, over frames in one batch.

    minimise  1/2 |e(q)|^2 + 1/2 pull v^T D v,   v = how far q is from the base pose

A step is accepted only if this cost falls. What keeps it short enough for that is either damping, which follows the
gain ratio of actual to predicted decrease (Levenberg-Marquardt; Kenwright's fixed delta does not hold still on
unreachable targets), or, for solvers whose step has no damping to turn, a share of the step (backtracking). It ends
on Kenwright's four rules: out of iterations, errors within their tolerances, a step below its tolerance, or a cost
that no longer changes. Where a pull or a pole asks for more than the goals do, the tolerances alone do not end it: the
pose must have settled as well.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..model.options import Options
from ..space.joint_space import JointSpace
from ..space.lanes import Lanes
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks
from .linear_step import Inner, LinearSystem

LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8
DAMPING_SHARE = 0.03  # of the pull, below which damping does not go: the pull's own curvature is only modelled in part
GOOD_GAIN, POOR_GAIN = 0.9, 0.25
GROW, SHRINK, REJECT = 3.0, 0.2, 6.0
LEAST_PROGRESS = 1e-8  # relative decrease of the cost; three steps with less are the end
LEAST_STEP = 1e-9  # [rad]
ANY = 1e30  # of what may be left to go: a number, so that none of it is none
ABANDON_STEPS, ABANDON_SHARE = 4, 0.3  # an attempt whose cost falls by a smaller share in so many steps has failed
LONGEST_STEP = 1.0  # [rad] of a step whose length is what keeps it in check: further than that no Jacobian sees
CUT, LEAST_SHARE = 0.25, 1e-3


@dataclass
class Settings:
    """What the outer iteration needs to know.

    `tolerance` [length units] and `rotation_tolerance` [rad]; `damping` is what it starts from and the least
    it takes, None for `first_damping` and none.
    `settle`, `unsettled` [rad]: with a pull or poles, the iteration ends with a step in which no joint moves further
    than the first, if the steps shrink so fast that no more than the second is left to go.
    `abandons`: it ends as well where the cost falls too slowly (`ABANDON_STEPS`), for attempts that others follow.
    """

    iterations: int
    tolerance: float
    rotation_tolerance: float
    damping: float | None
    first_damping: float | np.ndarray  # (L,) where lanes differ
    pull: float
    settle: float
    reluctance: np.ndarray  # (n,) D
    options: Options
    unsettled: float = ANY
    abandons: bool = False


@dataclass
class Minimum:
    """Where F frames ended, after how many iterations (F, L), at which cost (F, L)."""

    point: Point
    iterations: np.ndarray
    cost: np.ndarray


class Model:
    """What an iteration knows of the errors near the points where it stands. Here: their Jacobian, computed afresh.

    One is made for each descent, so that a solver may keep things from one iteration to the next, frame by frame.
    """

    def __init__(self, tasks: Tasks, space: JointSpace, settings: Settings) -> None:
        self.tasks, self.space, self.settings = tasks, space, settings

    def jacobian(self, point: Point, frames: Request) -> np.ndarray:
        """`J` (F, m, n) of the errors."""
        return self.tasks.jacobian(point.state, point.kinematics, frames.targets)

    def curvature(self, point: Point, frames: Request, system: LinearSystem, v: np.ndarray | None) -> np.ndarray | None:
        """What the Hessian (F, n, n) of the cost has beyond `J^T J + pull D`; None where that is left out.

        system : the problem without it. v : (F, n) how far the points are from the base pose, None without a pull.
        """
        del point, frames, system, v

    def metric(self, point: Point) -> np.ndarray | None:
        """What damps the step in the reluctance's place: positive definite matrices (F, n, n); None for the latter."""
        del point

    def learn(self, d: np.ndarray, change: np.ndarray, better: np.ndarray, poor: np.ndarray) -> np.ndarray:
        """Take note of what steps `d` (F, n) did; returns (F,) whether the model that they came from was exact.

        Only from an exact model does a step that gains nothing mean that there is nothing more to gain.

        change : (F, m) by how much the error rows fell. better : (F,) steps that were taken. poor : (F,) steps that
        gained little of what the model had promised, or after which the iteration would end.
        """
        del d, change, poor
        return np.ones(len(better), dtype=bool)

    def keep(self, frames: np.ndarray) -> None:
        """Forget all but some of the frames."""


Minimise = Callable[[Tasks, JointSpace, Settings, Point, Request], Minimum]
"""What a solver is to a stage: brings frames from a start nearer to what they ask for, as far as the settings say."""


def damped(inner: Inner, model: type[Model] = Model) -> Minimise:
    """The iteration of a solver whose step is kept in check by its damping (Levenberg-Marquardt)."""

    def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
        return _minimise(model(tasks, space, settings), start, frames, inner, by_length=False)

    return minimise


def shortened(inner: Inner, model: type[Model] = Model) -> Minimise:
    """The iteration of a solver whose step is kept in check by taking a share of it (backtracking)."""

    def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
        return _minimise(model(tasks, space, settings), start, frames, inner, by_length=True)

    return minimise


def _minimise(model: Model, start: Point, frames: Request, inner: Inner, by_length: bool) -> Minimum:
    """Run every frame of a batch until one of the stopping rules ends it."""
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
    settling = settings.pull > 0.0 or tasks.poles is not None
    stalled: np.ndarray = np.zeros(cost.shape, dtype=int)
    previous = np.full(cost.shape, np.inf)
    earlier = np.full((*cost.shape, ABANDON_STEPS), np.inf)  # costs of the last steps, in a ring
    earlier[..., 0] = cost
    finished = np.zeros(cost.shape, dtype=bool) if settling else _within(tasks, settings, start.error)
    if frames.lanes is not None:
        finished |= ~frames.lanes
    for iteration in range(settings.iterations):
        ended = np.all(finished, axis=-1)
        if ended.any():
            if ended.all():
                break
            if len(index) == count:
                done = Minimum(point.copy(), done.iterations, cost.copy())
            left, keep = index[ended], ~ended
            done.point.put(left, point.take(ended))
            done.cost[left] = cost[ended]
            point, frames, index = point.take(keep), frames.take(keep), index[keep]
            cost, damping, share = cost[keep], damping[keep], share[keep]
            stalled, previous, earlier, finished = stalled[keep], previous[keep], earlier[keep], finished[keep]
            v = None if v is None else v[keep]
            model.keep(keep)
        going = ~finished
        done.iterations[index] += going
        strength = damping if lanes.count > 1 else damping[:, 0]
        system = LinearSystem(
            space, point.state.x, model.jacobian(point, frames), point.error,
            None if v is None else settings.pull * space.pull_gradient(point.state, v, settings.reluctance),
            strength if by_length else settings.pull + strength, settings.reluctance, settings.pull,
            lanes=lanes if lanes.count > 1 else None,
        )  # fmt: skip
        system.curvature = model.curvature(point, frames, system, v)
        system.metric = model.metric(point)
        d = inner(system)
        if by_length:
            d *= lanes.freedoms.spread(
                np.minimum(share, LONGEST_STEP / np.maximum(lanes.freedoms.largest(np.abs(d)), 1e-300))
            )
        if lanes.count > 1 and finished.any():
            d *= lanes.freedoms.spread(going)
        tried = stand(tasks, space.step(point.state, d), frames)
        tried_cost, tried_v = _cost(lanes, space, settings, tried, frames)
        gain = cost - tried_cost
        better = (gain > 0.0) & going
        progress = gain > LEAST_PROGRESS * cost
        poor = ~better
        if by_length:
            share = np.where(better, np.minimum(share / CUT, 1.0), share * CUT)
        else:
            damping, poor = _adapted(lanes, settings, system, d, damping, gain, better)
        change = point.error - tried.error
        if better.all():
            point, cost, v = tried, tried_cost, tried_v
        elif (better | finished).all():  # lanes that have ended took no step
            point = tried
            cost, v = np.where(better, tried_cost, cost), tried_v
        elif better.any():
            point = tried.where(lanes, better, point)
            cost = np.where(better, tried_cost, cost)
            v = None if v is None or tried_v is None else np.where(lanes.freedoms.spread(better), tried_v, v)
        stalled = np.where(progress, 0, stalled + better)
        longest = lanes.freedoms.largest(np.abs(d))
        arrived = (stalled >= 3) | (longest < LEAST_STEP) | (share < LEAST_SHARE)
        if settling:
            # steps that shrink by a ratio r have r / (1 - r) of the last one to go
            settled = longest * longest < settings.unsettled * (previous - longest)
            arrived |= better & (longest < settings.settle) & settled
            previous = np.where(better, longest, previous)
        arrived &= model.learn(d, change, np.any(better, axis=-1), np.any(poor | arrived, axis=-1))[:, None]
        if settings.abandons:
            slot = (iteration + 1) % ABANDON_STEPS
            arrived |= cost > (1.0 - ABANDON_SHARE) * earlier[..., slot]
            earlier[..., slot] = cost
        if not settling:
            arrived |= _within(tasks, settings, point.error)
        finished = finished | arrived
    if len(index) == count:
        return Minimum(point, done.iterations, cost)
    done.point.put(index, point)
    done.cost[index] = cost
    return done


def _within(tasks: Tasks, settings: Settings, error: np.ndarray) -> np.ndarray:
    return tasks.lanes_within(error, settings.tolerance, settings.rotation_tolerance)


def _adapted(
    lanes: Lanes, settings: Settings, system: LinearSystem, d: np.ndarray, damping: np.ndarray, gain: np.ndarray,
    better: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The next damping (F, L) from the gain ratio: less where the model was right, more where it was not; and where."""
    modelled = system.decrease(d).reshape(damping.shape)
    if settings.pull:
        modelled -= 0.5 * settings.pull * lanes.freedoms.dot(settings.reluctance * d, d)
    poor = gain < POOR_GAIN * modelled
    factor = np.where(gain > GOOD_GAIN * modelled, SHRINK, np.where(poor, GROW, 1.0))
    least = max(LEAST_DAMPING, DAMPING_SHARE * settings.pull, settings.damping or 0.0)
    return np.minimum(np.maximum(damping * np.where(better, factor, REJECT), least), MOST_DAMPING), poor | ~better


def _cost(
    lanes: Lanes, space: JointSpace, settings: Settings, point: Point, frames: Request
) -> tuple[np.ndarray, np.ndarray | None]:
    """The cost (F, L) and, where there is a pull, the distance (F, n) from the base pose."""
    cost = 0.5 * lanes.rows.dot(point.error, point.error)
    if not settings.pull:
        return cost, None
    v = space.difference(point.state, frames.base)
    return cost + 0.5 * settings.pull * lanes.freedoms.dot(settings.reluctance * v, v), v
