# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a frame that misses goals by much again, in stages: targets come from where effectors are in the base pose.

A descent from the base pose to targets far away may end in a local minimum inside the limits: hands that reach for the
floor bend a standing figure's spine as far as it goes, while its knees are straight. On the way there the hips sink in
time. The stages depend on base pose and targets alone, so the answer stays a function of the frame.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..space.point import Request, stand
from .polish import polish
from .stage import Stage

STAGED_MISS = 5e-3  # [skeleton lengths] a frame that misses by less ends at a limit, not in a local minimum far away
STAGED_MISS_KNOWN = 1e-3  # the same where no joint slides, so that targets out of reach are known
STAGED_SHARE = 0.25  # of the sum of squared errors: the stages' answer counts if it is below this


def solve_in_stages(stage: Stage, minimum: Minimum, frame: Request) -> Minimum:
    """The better of a minimum and the answer in stages."""
    base = stand(stage.tasks, frame.base, frame)
    point, iterations = base, np.zeros(1, dtype=int)
    for number, settings in enumerate(stage.runs.staging, 1):
        left = np.full((1, len(stage.goals)), number / len(stage.runs.staging) - 1.0)
        way = replace(frame, targets=stage.tasks.shifted(frame.targets, base.kinematics, frame.targets, left))
        reached = stage.minimise(settings, stand(stage.tasks, point.state, way), way)
        point, iterations = reached.point, iterations + reached.iterations
    return better(stage, minimum, polish(stage, Minimum(point, iterations, minimum.cost), frame), STAGED_SHARE)


def far_off(stage: Stage, minimum: Minimum, frame: Request) -> bool:
    """Whether a stage with limits and a pull misses goals by much, but not by their reach."""
    point = minimum.point
    if not stage.runs.staging or not stage.space.limited or stage.met(point):
        return False
    miss = STAGED_MISS_KNOWN if stage.recovers else STAGED_MISS
    return stage.largest_error(point) > miss and not stage.beyond_reach(point, frame)


def better(stage: Stage, minimum: Minimum, again: Minimum, share: float) -> Minimum:
    """`again` if it lowers the errors' squares of `minimum` to less than a share, with the iterations of both."""
    lower = stage.square(again.point) < share * stage.square(minimum.point)
    chosen = again if lower else minimum
    return Minimum(chosen.point, minimum.iterations + again.iterations, chosen.cost)
