# SPDX-License-Identifier: GPL-3.0-or-later
"""The last steps of a stage: without the pull, then without poles and holds if these keep goals from being met."""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum, Settings
from ..space.point import Point, Request
from .stage import Stage


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
    return _spend_the_rest(stage, stage.runs.polishing, minimum, frames) if stage.runs.spend else minimum


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
