# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves frames that miss goals by much again, in stages: targets come from where effectors are in the base pose.

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


def solve_in_stages(stage: Stage, minimum: Minimum, frames: Request) -> None:
    """Solve lanes that miss goals by much, but not by their reach, in stages; `minimum` keeps the better answers."""
    lanes = far_off(stage, minimum, frames)
    index = np.flatnonzero(lanes.any(-1))
    if not index.size:
        return
    some = replace(frames.take(index), lanes=lanes[index])
    base = stand(stage.tasks, some.base, some)
    point, iterations = base, np.zeros(lanes[index].shape, dtype=int)
    for number, settings in enumerate(stage.runs.staging, 1):
        left = np.full((len(index), len(stage.goals)), number / len(stage.runs.staging) - 1.0)
        way = replace(some, targets=stage.tasks.shifted(some.targets, base.kinematics, some.targets, left))
        reached = stage.minimise(settings, stand(stage.tasks, point.state, way), way)
        point, iterations = reached.point, iterations + reached.iterations
    again = polish(stage, Minimum(point, iterations, minimum.cost[index]), some)
    keep_better(stage, minimum, again, index, lanes, STAGED_SHARE)


def far_off(stage: Stage, minimum: Minimum, frames: Request) -> np.ndarray:
    """The lanes (F, L) with limits and a pull that miss goals by much, but not by their reach."""
    lanes = stage.missed(minimum.point, frames)
    if not stage.runs.staging or not lanes.any():
        return np.zeros_like(lanes)
    away = stage.lanes.rows.largest(np.abs(minimum.point.error[:, : stage.tasks.m]))
    miss = [STAGED_MISS_KNOWN if part.recovers else STAGED_MISS for part in stage.parts]
    lanes &= (away > miss) & [part.space.limited for part in stage.parts]
    if lanes.any():
        links = stage.skeleton.links if frames.links is None else frames.links
        lanes &= ~stage.yielding.beyond(minimum.point.kinematics.positions, links, frames.targets)
    return lanes


def keep_better(
    stage: Stage, minimum: Minimum, again: Minimum, index: np.ndarray, lanes: np.ndarray, share: float
) -> None:
    """Put the answers of frames `index`, solved `again`, into `minimum`, where they lower the errors' squares enough.

    lanes : (F, L) bool of all frames, those that were solved again. share : of the sum of squares before.
    """
    before = minimum.point.take(index)
    minimum.iterations[index] += again.iterations
    better = lanes[index] & (stage.squares(again.point.error) < share * stage.squares(before.error))
    minimum.point = minimum.point.copy()
    minimum.point.put(index, again.point.where(stage.lanes, better, before))
