# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage that follows its targets with a lag: the errors obey `e' = v - k e`, as under a proportional controller.

That is Amino's "Proportional Position Control" without the velocity `v` of the target, `dq/dt = J^# k e`. In a frame of
length `dt` the target moves at constant velocity, and the law is integrated exactly, so that no gain `k` is too high.
With the errors `e0` at the frame's beginning and `e1 = e0 + v dt` that it would end with if the joints stood still, it
ends with

    e = b e1 + (a - b) e0,      a = exp(-k dt),  b = (1 - a) / (k dt)

A linear step `J d = e1 - e` leaves out terms of second order, and damping shortens it. So the step is solved as a frame
of a motion is, inside the limits, with `e` in place of no error.
"""

from dataclasses import replace

import numpy as np

from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.point import Point, stand
from .stage import Stage
from .starts import begin

FINE = 1e-2  # of the tolerances: what a frame leaves besides adds up over frames


def removed(gain: float, dt: float) -> tuple[float, float]:
    """The shares `1 - a` of an error at a frame's beginning, and `1 - b` of the target's motion, that are removed.

    gain : [1/s]. dt : [s].
    """
    if not gain * dt > 0.0:
        return 0.0, 0.0
    share = float(-np.expm1(-gain * dt))
    return share, 1.0 - share / (gain * dt)


def lag(
    stage: Stage, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None, before: np.ndarray | None,
    alone: Pose, gain: float, dt: float,
) -> tuple[Point, int]:  # fmt: skip
    """The point of a stage one frame after the `previous` pose, and the iterations.

    Joints that the goals leave free move toward the base pose that `start` gives by the same share as an error.

    before : (1, m) error rows at the end of the frame before; None where the targets count as still.
    alone : the previous pose before other stages moved this one in this frame: what they have done is undone at once.
    gain : [1/s]. dt : [s].
    """
    share, lead = removed(gain, dt)
    point, frames = begin(stage, previous, start, targets, links)
    error = point.error if alone is previous else begin(stage, alone, start, targets, links)[0].error
    before = error if before is None else before
    wanted = (1.0 - lead) * error + (lead - share) * before
    behind = replace(frames, targets=frames.targets._replace(wanted=wanted))
    if stage.settings.pull:
        back = stage.space.difference(point.state, frames.base)
        behind = replace(behind, base=stage.space.step(point.state, -share * back))
    iterations, point = 0, stand(stage.tasks, point.state, behind)
    following, polishing = stage.runs["following"][0], stage.runs["polishing"]
    if stage.settings.pull:  # settles as a solve afresh does: where the goals leave joints free, this is their motion
        following = stage.settings._replace(iterations=following.iterations)
    for settings in (following, *polishing):
        settings = settings._replace(
            tolerance=FINE * settings.tolerance, rotation_tolerance=FINE * settings.rotation_tolerance
        )
        minimum = stage.method.minimise(stage.tasks, stage.space, settings, point, behind)
        point, iterations = minimum.point, iterations + int(minimum.iterations[0])
    return stand(stage.tasks, point.state, frames), iterations
