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
from ..space.point import Point, Request, evaluate
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
SERVED_SHARE = 0.5  # a goal that keeps more than this share is one that others yield to
UNSERVED_STEPS = 16  # further slow steps after which it is asked whether such goals still come nearer:
UNSERVED_SHARE = 0.98  # they do not if they keep this share of their squared errors
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
    serves : also stop where the cost falls slowly once the goals that others yield to are met, or come no nearer: then
        they cannot be met, and the pose would drift along a flat valley (`UNSERVED_STEPS`).
    slow_steps, slow_share : it falls slowly where so many accepted steps in a row lower it by a smaller share.
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
    serves: bool = False
    slow_steps: int = 8
    slow_share: float = 0.01


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
    every, ended, plain = run.progress, None, is_plain(space, tasks)
    for iteration in range(settings.iterations):
        left = [number for number, frame in enumerate(run.progress) if not frame.finished]
        if not left:
            break
        if len(left) < len(run.progress):
            ended = _with(ended, index, run.point)
            index = index[left]
            run.keep(left)
        system = run.linearised()
        run.advance(system, inner(system) if plain else step_inside(space, system, inner), iteration)
    point = run.point if ended is None else _with(ended, index, run.point)
    return Minimum(point, *(np.array([getattr(frame, name) for frame in every]) for name in ("iterations", "cost")))


def _with(ended: Point | None, index: np.ndarray, point: Point) -> Point:
    """The points of all frames, with those of a run, whose numbers are `index`."""
    if ended is None:
        return point.copy()
    ended.put(index, point)
    return ended


class _Progress:
    """How the cost of one frame has fallen, and what its next step may be.

    Attributes
    ----------
    iterations : so far. damping, share : of the next step; the share is of its length.
    settling : whether the pose must come to rest.
    better : whether the last step lowered the cost. poor : whether it gained little of the predicted decrease.
    arrived : whether the cost no longer changes, or the pose has settled. finished : whether no step follows.
    stalled, slow : accepted steps without progress, and in a row with little of it. longest : of the last accepted
    step. earlier : costs of the last steps, in a ring. mark : cost some hundred steps ago. unserved : squared errors of
    the goals that others yield to, some slow steps ago.
    """

    def __init__(self, cost: float, damping: float, settling: bool) -> None:
        self.cost, self.damping, self.settling, self.share = cost, damping, settling, 1.0
        self.better = self.poor = self.arrived = self.finished = False
        self.iterations = self.stalled = self.slow = 0
        self.longest, self.mark, self.earlier = np.inf, cost, [cost, *[np.inf] * (ABANDON_STEPS - 1)]
        self.unserved = np.inf

    def step(self, settings: Settings, cost: float, longest: float, predicted: float | None) -> None:
        """Judge a step, of this `longest` component, to a point with this `cost`.

        predicted : decrease; None for solvers without damping.
        """
        gain, self.iterations = self.cost - cost, self.iterations + 1
        self.better = better = gain > 0.0
        self.stalled = 0 if gain > LEAST_PROGRESS * self.cost else self.stalled + better
        self.poor = not better
        if predicted is None:
            self.share = min(self.share / CUT, 1.0) if better else self.share * CUT
        else:
            self.poor |= gain < POOR_GAIN * predicted
            grown = SHRINK if gain > GOOD_GAIN * predicted else GROW if self.poor else 1.0
            least = max(LEAST_DAMPING, DAMPING_SHARE * settings.pull, settings.damping or 0.0)
            self.damping = min(max(self.damping * (grown if better else REJECT), least), MOST_DAMPING)
        self.arrived = self.stalled >= 3 or longest < LEAST_STEP or self.share < LEAST_SHARE
        if not better:
            return
        self.cost = cost
        if self.settling:
            # if steps go on shrinking by a ratio r, r / (1 - r) of the last one remains
            remains = longest * longest < settings.unsettled * (self.longest - longest)
            self.arrived |= longest < settings.settle and remains
            self.longest = longest
        self.slow = 0 if gain > settings.slow_share * cost else self.slow + 1

    def comes_nearer(self, settings: Settings, missed: float) -> bool:
        """Whether goals that others yield to, missed by a sum of squared errors, still come nearer in slow steps."""
        further = self.slow - settings.slow_steps
        if further % UNSERVED_STEPS:
            return True
        nearer = further == 0 or missed < UNSERVED_SHARE * self.unserved
        self.unserved = missed
        return nearer

    def creeps(self, settings: Settings, iteration: int) -> bool:
        """Whether the cost falls too slowly."""
        slowly = False
        if settings.abandons:
            slot = (iteration + 1) % ABANDON_STEPS
            slowly = self.cost > (1.0 - ABANDON_SHARE) * self.earlier[slot]
            self.earlier[slot] = self.cost
        if (iteration + 1) % CREEP_STEPS == 0:
            slowly |= iteration >= CREEP_STEPS and self.cost > (1.0 - CREEP_SHARE) * self.mark
            self.mark = self.cost
        return slowly


class _Run:
    """The iteration's data of those F frames that go on: where they are, and their progress.

    Attributes
    ----------
    v : (F, n) difference from the base pose; None without a pull.
    """

    def __init__(self, model: Model, start: Point, frames: Request, inner: Inner, by_length: bool) -> None:
        settings = model.settings
        self.model, self.inner, self.by_length = model, inner, by_length
        self.point, self.frames = start, frames
        cost, self.v = _cost(model, start, frames)
        first = settings.damping or 0.0
        if not by_length:
            first = settings.first_damping if settings.damping is None else max(first, LEAST_DAMPING)
        self.settling = settings.pull > 0.0 or model.tasks.all > model.tasks.m
        self.progress: list[_Progress] = [_Progress(float(own), first, self.settling) for own in cost]
        self._finish_met()

    def keep(self, numbers: list[int]) -> None:
        """Keep some of the frames only."""
        some = np.array(numbers)
        self.point, self.frames = self.point.take(some), self.frames.take(some)
        self.v = None if self.v is None else self.v[some]
        self.progress = [self.progress[number] for number in numbers]
        self.model.keep(some)

    def linearised(self) -> LinearSystem:
        """The problem of one iteration."""
        model, tasks, space, settings = self.model, self.model.tasks, self.model.space, self.model.settings
        point, frames, v, error = self.point, self.frames, self.v, self.point.error
        if tasks.one_sided is not None:  # the room of one-sided tasks is below 0
            error = tasks.signed_errors(point.kinematics, frames.targets)
        damping = np.array([frame.damping for frame in self.progress])
        system = LinearSystem(
            space, point.state.x, model.jacobian(point, frames), error,
            None if v is None else settings.pull * space.pull_gradient(point.state, v, settings.weights),
            damping if self.by_length else settings.pull + damping, settings.reluctance, settings.pull,
            one_sided=tasks.one_sided,
        )  # fmt: skip
        system.curvature = model.curvature(point, frames, system, v)
        system.metric = model.metric(point)
        return system

    def advance(self, system: LinearSystem, d: np.ndarray, iteration: int) -> None:
        """Take a step `d` (F, n), if it lowers the cost, and apply the stopping rules."""
        model, settings, space, progress = self.model, self.model.settings, self.model.space, self.progress
        predicted: list[float | None] = [None] * len(d)
        if self.by_length:
            share = np.array([frame.share for frame in progress])
            d = _steeper(space, system, d, share, self.inner)
            turned = np.abs(d * space.turns).max(-1, initial=0.0)
            d *= np.minimum(share, LONGEST_STEP / np.maximum(turned, 1e-300))[:, None]
        else:
            predicted = _predicted(settings, system, d).tolist()
        trial = evaluate(model.tasks, space.step(self.point.state, d), self.frames)
        cost, v = _cost(model, trial, self.frames)
        sizes = space.sizes(d).max(-1, initial=0.0)
        for frame, own, longest, gain in zip(progress, cost.tolist(), sizes.tolist(), predicted, strict=True):
            frame.step(settings, own, longest, gain)
        change, better = self.point.error - trial.error, np.array([frame.better for frame in progress])
        self._accept(better, trial, v)
        poor = np.array([frame.poor or frame.arrived for frame in progress])
        exact = model.learn(d, change, better, poor)
        for number, frame in enumerate(progress):
            arrived = frame.arrived and (exact is None or bool(exact[number]))
            frame.finished = frame.creeps(settings, iteration) or arrived
        slowly = [frame.slow >= settings.slow_steps for frame in progress]
        if settings.serves and any(slowly):
            for frame, slow, met, missed in zip(progress, slowly, *self._served(), strict=True):
                if slow and frame.better:
                    frame.finished |= bool(met) or not frame.comes_nearer(settings, float(missed))
        if settings.resigns and any(slowly):
            for frame, slow, met in zip(progress, slowly, self._led(), strict=True):
                frame.finished |= slow and not met
        self._finish_met()

    def _served(self) -> tuple[np.ndarray, np.ndarray]:
        """Frames (F,) in which the goals that others yield to are met, and the sums of these goals' squared errors."""
        shares = self.frames.targets.shares
        served = None if shares is None else shares > SERVED_SHARE
        return _within(self.model, self.point.error, served), self.model.tasks.square(self.point.error, served)

    def _led(self) -> np.ndarray:
        """Frames (F,) in which the goals that lead are met."""
        return _within(self.model, self.point.error, self.model.tasks.leads)

    def _accept(self, better: np.ndarray, trial: Point, v: np.ndarray | None) -> None:
        """Go on from the trial point in frames where it is better."""
        if better.all():
            self.point, self.v = trial, v
        elif better.any():
            self.point = self.point.copy()
            self.point.put(better, trial.take(better))
            self.v = None if v is None or self.v is None else np.where(better[:, None], v, self.v)

    def _finish_met(self) -> None:
        """Finish frames that meet their goals, unless the pose beyond them counts."""
        if not self.settling:
            for frame, met in zip(self.progress, _within(self.model, self.point.error), strict=True):
                frame.finished |= bool(met)


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


def _within(model: Model, error: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
    return model.tasks.within(error, model.settings.tolerance, model.settings.rotation_tolerance, counted)


def _predicted(settings: Settings, system: LinearSystem, d: np.ndarray) -> np.ndarray:
    """The decrease (F,) of the cost that the model of a damped step predicts."""
    predicted = system.decrease(d)
    return predicted - 0.5 * settings.pull * dot(settings.reluctance * d, d) if settings.pull else predicted


def _cost(model: Model, point: Point, frames: Request) -> tuple[np.ndarray, np.ndarray | None]:
    """The cost (F,) and, where there is a pull, the difference (F, n) from the base pose."""
    settings, cost = model.settings, 0.5 * dot(point.error, point.error)
    if not settings.pull:
        return cost, None
    v = model.space.difference(point.state, frames.base)
    return cost + 0.5 * settings.pull * dot(settings.weights * v, v), v
