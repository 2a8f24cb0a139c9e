# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves goals that cannot all be met in their order: the first ones are met, the others come as near as possible.

Goals that come later get smaller shares, and the descent goes on: first those of a lower priority, and where none of
these is missed, those to blame. They still pull the first goals a little off their targets. So the targets of those
that yield are then moved to about where these goals are, with still smaller shares, and a last descent meets the first
ones.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from ..space.point import Request, stand
from ..space.yielding import YIELD_ALIKE, blame
from .stage import Stage


def serve_in_order(stage: Stage, minimum: Minimum, frames: Request, start: Pose, home: np.ndarray) -> Targets:
    """Solve frames that miss goals again, in the order of the goals; returns the targets with the shares used.

    The errors in `minimum` are those without shares and shifts. home : (F or 1, J, 4) as `FrameArrays.home_rotations`.
    """
    targets = frames.targets
    if not stage.runs.yielding:
        return targets
    lanes = stage.missed(minimum.point, frames) & [part.ordered for part in stage.parts]
    missed = np.flatnonzero(lanes.any(-1))
    if not missed.size:
        return targets
    at_home = stage.space.state(_home(stage, start, home), len(targets.positions)).take(missed)
    every = np.ones((len(lanes), len(stage.goals))) if targets.shares is None else targets.shares
    blamed = _blamed(stage, frames.take(missed), at_home)
    misses = stage.tasks.misses(minimum.point.kinematics, targets)[missed]
    shares = stage.precedence.shares(misses, blamed, every[missed])
    lanes[missed] &= stage.lanes.per_goal.any(shares > (1.0 + YIELD_ALIKE) * stage.precedence.least(shares))
    going = np.flatnonzero(lanes.any(-1))
    if not going.size:
        return targets
    some, point = replace(frames.take(going), lanes=lanes[going]), minimum.point.take(going)
    still = lanes[missed].any(-1)
    wanted, full, blamed, misses = some.targets, every[going], blamed[still], misses[still]
    for number, settings in enumerate(stage.runs.yielding):
        if number:
            misses = stage.tasks.misses(point.kinematics, wanted)
            shares = stage.precedence.shares(misses, blamed, full)
            away, factors = shares - 1.0, shares
        else:
            shares = stage.precedence.shares(misses, blamed * stage.precedence.spared(misses, full), full)
            # shares are raised, so that the pull stays weaker than the goals that yield
            away, factors = np.zeros(shares.shape), stage.precedence.least(shares) ** -0.25
        moved = stage.tasks.shifted(wanted, point.kinematics, wanted, away)
        request = replace(some, targets=moved._replace(shares=factors * shares))
        again = stage.minimise(settings, stand(stage.tasks, point.state, request), request)
        point = again.point
        minimum.iterations[going] += again.iterations
    minimum.point = minimum.point.copy()
    minimum.point.error = minimum.point.error[:, : stage.tasks.m]
    minimum.point.put(going, stand(stage.hard_tasks, point.state, some))
    used = every.copy()
    used[going] = np.where(lanes[going][:, stage.lanes.goals], shares, full)
    return targets._replace(shares=used)


def _home(stage: Stage, start: Pose, home: np.ndarray) -> Pose:
    """The pose that the targets were moved from: the start pose, with the joints of the stage as they are in `home`."""
    joints, has_home = stage.space.moved, home.any((-1, -2), keepdims=True)
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
        apart = stage.apart[np.ix_(own, own)]
        blamed[:, own] = blame(frames.targets.positions[:, own], effectors[:, own], apart) * stage.yields[own]
    return blamed
