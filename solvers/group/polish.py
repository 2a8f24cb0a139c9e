# SPDX-License-Identifier: GPL-3.0-or-later
"""The last steps of a stage: without the pull, then without poles and holds if these keep goals from being met.

Sweeps know no pull: where they have met the goals, damped steps lead along the goals' null space toward the base pose.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum, Settings, damped
from ..iterate.linear_step import dot
from ..methods import dls
from ..space.point import Point, Request, stand
from .stage import Stage

RETURN_NEARER = 0.99  # of the pull's objective: a pose that is hardly nearer to the base pose is not worth a step
_damped_steps = damped(dls.step)


def polish(stage: Stage, minimum: Minimum, frames: Request) -> Minimum:
    """A few steps without the pull, so that it costs no accuracy.

    Then more steps, without poles and holds, in frames where these keep goals from being met.
    """
    if stage.runs.polishing is None:
        return Minimum(minimum.point.copy(), minimum.iterations, minimum.cost)
    polished = stage.minimise(stage.runs.polishing, minimum.point, frames)
    point, iterations = polished.point, minimum.iterations + polished.iterations
    if stage.runs.insisting is not None:
        missed = stage.missed(point, frames)
        some = np.any(missed, axis=-1)
        errors = stage.hard_tasks.errors(point.kinematics, frames.targets)
        point = Point(point.state, point.kinematics, errors).copy()
        if some.any():
            request = replace(frames.take(some), lanes=missed[some])
            insisted = stage.minimise(stage.runs.insisting, point.take(some), request, poles=False)
            point.put(some, insisted.point)
            iterations[some] += insisted.iterations
    minimum = Minimum(point, iterations, minimum.cost)
    if stage.runs.spend:
        minimum = _spend_the_rest(stage, stage.runs.polishing, minimum, frames)
    return _returned(stage, minimum, frames) if stage.runs.returning else minimum


def _spend_the_rest(stage: Stage, settings: Settings, minimum: Minimum, frames: Request) -> Minimum:
    """Use up the remaining steps, without the pull, on frames that miss their goals.

    Solvers that take many small steps may settle before they meet them.
    """
    point, iterations = minimum.point.copy(), minimum.iterations
    left = np.where(stage.met(point.error), 0, stage.runs.spend - iterations)[:, 0]
    for count in map(int, np.unique(left[left > 0])):
        some = left == count
        last = stage.minimise(settings._replace(iterations=count), point.take(some), frames.take(some), poles=False)
        point.put(some, last.point)
        iterations[some] += last.iterations
    return Minimum(point, iterations, minimum.cost)


def _returned(stage: Stage, minimum: Minimum, frames: Request) -> Minimum:
    """Damped steps toward the base pose, and back to the goals, in frames that meet them.

    They count where the goals stay met and the pose is nearer. They are taken of the iterations that are left.
    """
    point, iterations = minimum.point, minimum.iterations
    going = stage.met(point.error) if frames.lanes is None else stage.met(point.error) & frames.lanes
    pulled, arriving = stage.runs.returning
    left = np.where(going, stage.runs.spend - arriving.iterations - iterations, 0)[:, 0]
    counts = np.clip(left, 0, pulled.iterations)
    for count in map(int, np.unique(counts[counts > 0])):
        some = np.flatnonzero(counts == count)
        request, before = frames.take(some), point.take(some)
        first = stand(stage.tasks, before.state, request)
        led = _damped_steps(stage.tasks, stage.space, pulled._replace(iterations=count), first, request)
        begin = stand(stage.hard_tasks, led.point.state, request)
        after = _damped_steps(stage.hard_tasks, stage.space, arriving, begin, request)
        iterations[some] += led.iterations + after.iterations
        nearer = _away(stage, after.point, request) < RETURN_NEARER * _away(stage, before, request)
        better = nearer & stage.met(after.point.error)[:, 0]
        point.put(some[better], after.point.take(better))
    return Minimum(point, iterations, minimum.cost)


def _away(stage: Stage, point: Point, frames: Request) -> np.ndarray:
    """`v^T W v` (F,), `v` the difference from the base pose."""
    v = stage.space.difference(point.state, frames.base)
    return dot(stage.settings.weights * v, v)
