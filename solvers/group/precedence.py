# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves goals that cannot all be met in their order: the first ones are met, the others come as near as possible.

Higher weights alone would have to be so large that the descent is slow. Here goals that come later get smaller shares,
and in each round the targets of goals that come first are shifted by the errors that these still have (the method of
multipliers: Hestenes 1969, Powell 1969). So moderate weights suffice.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from ..space.point import Request, stand
from ..space.yielding import LEAST_ROUNDS, MOST_ROUNDS, ROUND_SHARE, blame
from .stage import Stage


def serve_in_order(stage: Stage, minimum: Minimum, frames: Request, start: Pose, home: np.ndarray) -> Targets:
    """Solve frames that miss goals again, in the order of the goals; returns the targets with the shares used.

    The errors in `minimum` are those without shares and shifts. home : (F or 1, J, 4) as `FrameArrays.home_rotations`.
    """
    targets = frames.targets
    if stage.runs.yielding is None:
        return targets
    lanes = stage.missed(minimum.point, frames) & [part.ordered for part in stage.parts]
    missed = np.flatnonzero(lanes.any(-1))
    if not missed.size:
        return targets
    some, point = replace(frames.take(missed), lanes=lanes[missed]), minimum.point.take(missed)
    at_home = stage.space.state(_home(stage, start, home), len(targets.positions))
    blamed = _blamed(stage, some, at_home.take(missed))
    full = np.ones((len(missed), len(stage.goals))) if some.targets.shares is None else some.targets.shares
    going, wanted, served, shares = lanes[missed], some.targets, some.targets, full
    before, yielded = np.full(full.shape, np.inf), np.ones(full.shape)
    took, tolerance = minimum.iterations[missed], stage.options.tolerance / stage.skeleton.length
    for number in range(MOST_ROUNDS):
        misses = stage.tasks.misses(point.kinematics, wanted)
        yielded = np.minimum(yielded, stage.precedence.own(misses, blamed, full))
        shifts = stage.precedence.shifts(misses, yielded)
        if number >= LEAST_ROUNDS:  # until the goals that come first are met, or nothing changes any more
            going = going & stage.lanes.per_goal.any(misses * shifts > tolerance)
            going &= stage.lanes.per_goal.any(np.abs(misses - before) > ROUND_SHARE * tolerance)
            if not going.any():
                break
        before = misses
        own = going[:, stage.lanes.goals]
        shares = np.where(own, stage.precedence.shares(yielded), shares)
        served = stage.tasks.shifted(served, point.kinematics, wanted, shifts * own)._replace(shares=shares)
        request = replace(some, targets=served, lanes=going)
        again = stage.minimise(stage.runs.yielding, stand(stage.tasks, point.state, request), request)
        point, took = again.point, took + again.iterations
    if stage.runs.polishing is not None:
        request = replace(some, targets=served)
        again = stage.minimise(stage.runs.polishing, stand(stage.tasks, point.state, request), request)
        point, took = again.point, took + again.iterations
    minimum.iterations[missed] = took
    minimum.point = minimum.point.copy()
    minimum.point.error = minimum.point.error[:, : stage.tasks.m]
    minimum.point.put(missed, stand(stage.hard_tasks, point.state, some))
    every = np.ones((len(targets.positions), len(stage.goals))) if targets.shares is None else targets.shares.copy()
    every[missed] = shares
    return targets._replace(shares=every)


def _home(stage: Stage, start: Pose, home: np.ndarray) -> Pose:
    """The pose that the targets were moved from: the start pose, with the joints of the stage as they are in `home`."""
    joints, has_home = np.unique(stage.space.joint), home.any((-1, -2), keepdims=True)
    if not has_home.any():
        return start
    rotations = np.repeat(start.rotations, len(home), 0) if len(start.rotations) == 1 else start.rotations.copy()
    rotations[:, joints] = np.where(has_home, home[:, joints], rotations[:, joints])
    return Pose(rotations, start.translations)


def _blamed(stage: Stage, frames: Request, home: State) -> np.ndarray:
    """The blame (F, G) of each goal if goals of its priority are missed; 0 for goals that do not yield."""
    effectors = stage.tasks.kinematics(home, frames.links).effectors
    blamed = np.zeros(effectors.shape[:2])
    lane = stage.lanes.goals[stage.tasks.placed]
    for number in np.unique(lane):
        own = stage.tasks.placed[lane == number]
        blamed[:, own] = blame(frames.targets.positions[:, own], effectors[:, own]) * stage.yields[own]
    return blamed
