# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration of the Jacobian solvers.

Its arrays have a leading axis of F independent frames: several starts of one frame, or the frames of a clip.

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
from functools import partial
from typing import NamedTuple

import numpy as np

from ..model.options import Options
from ..space.joint_space import JointSpace
from ..space.point import Point, Request, stand
from ..space.tasks import Tasks
from . import steepest
from .linear_step import Inner, LinearSystem, dot
from .one_sided import is_plain, step_inside

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
    first_damping: float
    pull: float
    settle: float
    reluctance: np.ndarray  # (n,) D > 0
    weights: np.ndarray  # (n,) W
    options: Options
    unsettled: float = ANY
    abandons: bool = False
    resigns: bool = False


@dataclass
class Minimum:
    """The end points of F frames, their iterations (F,) and costs (F,)."""

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
    return partial(_minimise, inner=inner, model=model, by_length=False)


def shortened(inner: Inner, model: type[Model] = Model) -> Minimise:
    """The outer iteration of a solver without damping, which takes a share of its step (backtracking)."""
    return partial(_minimise, inner=inner, model=model, by_length=True)


def _minimise(
    tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request, inner: Inner,
    model: type[Model], by_length: bool,
) -> Minimum:  # fmt: skip
    """Iterate on every frame until a stopping rule ends it; frames that have ended take no further part."""
    run, index = _Run(model(tasks, space, settings), start, frames, inner, by_length), np.arange(len(start.error))
    done, plain = Minimum(start, np.zeros(len(index), dtype=int), run.cost), is_plain(space, tasks)
    for iteration in range(settings.iterations):
        if run.finished.all():
            break
        if run.finished.any():
            if len(index) == len(done.cost):
                done = Minimum(run.point.copy(), done.iterations, run.cost.copy())
            _keep(done, index, run)
            index = index[~run.finished]
            run.keep(~run.finished)
        done.iterations[index] += 1
        system = run.linearised()
        run.advance(system, inner(system) if plain else step_inside(space, system, inner), iteration)
    if len(index) == len(done.cost):
        return Minimum(run.point, done.iterations, run.cost)
    _keep(done, index, run)
    return done


def _keep(done: Minimum, index: np.ndarray, run: "_Run") -> None:
    """Copy the points of a run, whose numbers are `index`, to the answer."""
    done.point.put(index, run.point)
    done.cost[index] = run.cost


class _Run:
    """The iteration's data of those frames that go on: where they are, and how their cost has fallen.

    Attributes
    ----------
    cost : (F,). v : (F, n) difference from the base pose; None without a pull. finished : (F,) bool.
    damping, share : (F,) of the next step; the share is of its length.
    stalled, slow : (F,) accepted steps without progress, and in a row with little of it. longest : (F,) of the last
    accepted step. earlier : (F, K) costs of the last steps, in a ring. mark : (F,) cost some hundred steps ago.
    """

    def __init__(self, model: Model, start: Point, frames: Request, inner: Inner, by_length: bool) -> None:
        settings, count = model.settings, len(start.error)
        self.model, self.inner, self.by_length = model, inner, by_length
        self.point, self.frames = start, frames
        self.cost, self.v = _cost(model, start, frames)
        first = settings.damping or 0.0
        if not by_length:
            first = settings.first_damping if settings.damping is None else max(first, LEAST_DAMPING)
        self.damping, self.share = np.full(count, first), np.ones(count)
        self.settling = settings.pull > 0.0 or model.tasks.all > model.tasks.m
        self.finished = np.zeros(count, dtype=bool) if self.settling else _within(model, start.error)
        self.stalled, self.slow = np.zeros((2, count), dtype=int)
        self.longest, self.mark = np.full(count, np.inf), self.cost
        self.earlier = np.full((count, ABANDON_STEPS), np.inf)
        self.earlier[:, 0] = self.cost

    def keep(self, some: np.ndarray) -> None:
        """Keep some of the frames only."""
        self.point, self.frames = self.point.take(some), self.frames.take(some)
        self.v = None if self.v is None else self.v[some]
        for name in ("cost", "damping", "share", "stalled", "slow", "longest", "earlier", "mark", "finished"):
            setattr(self, name, getattr(self, name)[some])
        self.model.keep(some)

    def linearised(self) -> LinearSystem:
        """The problem of one iteration."""
        model, tasks, space, settings = self.model, self.model.tasks, self.model.space, self.model.settings
        point, frames, v, error = self.point, self.frames, self.v, self.point.error
        if tasks.one_sided is not None:  # the room of one-sided tasks is below 0
            error = tasks.signed_errors(point.kinematics, frames.targets)
        system = LinearSystem(
            space, point.state.x, model.jacobian(point, frames), error,
            None if v is None else settings.pull * space.pull_gradient(point.state, v, settings.weights),
            self.damping if self.by_length else settings.pull + self.damping, settings.reluctance, settings.pull,
            one_sided=tasks.one_sided,
        )  # fmt: skip
        system.curvature = model.curvature(point, frames, system, v)
        system.metric = model.metric(point)
        return system

    def advance(self, system: LinearSystem, d: np.ndarray, iteration: int) -> None:
        """Take a step `d` (F, n), if it lowers the cost, and apply the stopping rules."""
        model, settings, space = self.model, self.model.settings, self.model.space
        if self.by_length:
            d = _steeper(space, system, d, self.share, self.inner)
            turned = np.abs(d * space.turns).max(-1, initial=0.0)
            d *= np.minimum(self.share, LONGEST_STEP / np.maximum(turned, 1e-300))[:, None]
        trial = stand(model.tasks, space.step(self.point.state, d), self.frames)
        trial_cost, trial_v = _cost(model, trial, self.frames)
        gain = self.cost - trial_cost
        better = gain > 0.0
        poor = ~better
        self.stalled = np.where(gain > LEAST_PROGRESS * self.cost, 0, self.stalled + better)
        if self.by_length:
            self.share = np.where(better, np.minimum(self.share / CUT, 1.0), self.share * CUT)
        else:
            self.damping, poor = _adapted(settings, system, d, self.damping, gain, better)
        change = self.point.error - trial.error
        self._accept(better, trial, trial_cost, trial_v)
        arrived = self._at_rest(d, better)
        exact = model.learn(d, change, better, poor | arrived)
        if exact is not None:
            arrived &= exact
        self.finished = arrived | self._gives_up(iteration, better, gain)
        if not self.settling:
            self.finished |= _within(model, self.point.error)

    def _accept(self, better: np.ndarray, trial: Point, cost: np.ndarray, v: np.ndarray | None) -> None:
        """Go on from the trial point in frames where it is better."""
        if better.all():
            self.point, self.cost, self.v = trial, cost, v
        elif better.any():
            self.point = self.point.copy()
            self.point.put(better, trial.take(better))
            self.cost = np.where(better, cost, self.cost)
            self.v = None if v is None or self.v is None else np.where(better[:, None], v, self.v)

    def _at_rest(self, d: np.ndarray, better: np.ndarray) -> np.ndarray:
        """Frames (F,) whose cost no longer changes, or whose pose has settled."""
        settings, longest = self.model.settings, self.model.space.sizes(d).max(-1, initial=0.0)
        arrived: np.ndarray = (self.stalled >= 3) | (longest < LEAST_STEP) | (self.share < LEAST_SHARE)
        if self.settling:
            # if steps go on shrinking by a ratio r, r / (1 - r) of the last one remains
            settled = longest * longest < settings.unsettled * (self.longest - longest)
            arrived |= better & (longest < settings.settle) & settled
            self.longest = np.where(better, longest, self.longest)
        return arrived

    def _gives_up(self, iteration: int, better: np.ndarray, gain: np.ndarray) -> np.ndarray:
        """Frames (F,) whose cost falls too slowly. gain : (F,) of the last step."""
        settings = self.model.settings
        slowly = np.zeros(len(self.cost), dtype=bool)
        if settings.abandons:
            slot = (iteration + 1) % ABANDON_STEPS
            slowly |= self.cost > (1.0 - ABANDON_SHARE) * self.earlier[:, slot]
            self.earlier[:, slot] = self.cost
        if (iteration + 1) % CREEP_STEPS == 0:
            if iteration >= CREEP_STEPS:
                slowly |= self.cost > (1.0 - CREEP_SHARE) * self.mark
            self.mark = self.cost
        if settings.resigns:
            self.slow = (self.slow + better) * ~(gain > RESIGN_SHARE * self.cost)
            resigning = self.slow >= RESIGN_STEPS
            if resigning.any():
                slowly |= resigning & ~_within(self.model, self.point.error, leading=True)
        return slowly


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


def _within(model: Model, error: np.ndarray, leading: bool = False) -> np.ndarray:
    return model.tasks.within(error, model.settings.tolerance, model.settings.rotation_tolerance, leading)


def _adapted(
    settings: Settings, system: LinearSystem, d: np.ndarray, damping: np.ndarray, gain: np.ndarray, better: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The next damping (F,): less after a good gain ratio, more after a poor one; and where the ratio was poor."""
    predicted = system.decrease(d)
    if settings.pull:
        predicted -= 0.5 * settings.pull * dot(settings.reluctance * d, d)
    poor = gain < POOR_GAIN * predicted
    factor = np.where(gain > GOOD_GAIN * predicted, SHRINK, np.where(poor, GROW, 1.0))
    least = max(LEAST_DAMPING, DAMPING_SHARE * settings.pull, settings.damping or 0.0)
    return np.minimum(np.maximum(damping * np.where(better, factor, REJECT), least), MOST_DAMPING), poor | ~better


def _cost(model: Model, point: Point, frames: Request) -> tuple[np.ndarray, np.ndarray | None]:
    """The cost (F,) and, where there is a pull, the difference (F, n) from the base pose."""
    settings, cost = model.settings, 0.5 * dot(point.error, point.error)
    if not settings.pull:
        return cost, None
    v = model.space.difference(point.state, frames.base)
    return cost + 0.5 * settings.pull * dot(settings.weights * v, v), v
