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


def serve_in_order(
    stage: Stage, minimum: Minimum, frame: Request, start: Pose, home: np.ndarray
) -> tuple[Minimum, Targets]:
    """Solve a frame that misses goals again, in the order of the goals; returns also the targets with the shares used.

    The errors of the minimum are those without shares and shifts. home : (1, J, 4) as `FrameArrays.home_rotations`.
    """
    targets, precedence = frame.targets, stage.precedence
    if not stage.runs.yielding or stage.met(minimum.point):
        return minimum, targets
    point, iterations = minimum.point, minimum.iterations
    full = np.ones((1, len(stage.goals))) if targets.shares is None else targets.shares
    blamed = _blamed(stage, frame, stage.space.state(_home(stage, start, home)))
    misses = stage.tasks.misses(point.kinematics, targets)
    shares = precedence.shares(misses, blamed, full)
    if not (shares > (1.0 + YIELD_ALIKE) * shares.min()).any():
        return minimum, targets
    for number, settings in enumerate(stage.runs.yielding):
        if number:
            misses = stage.tasks.misses(point.kinematics, targets)
            shares = precedence.shares(misses, blamed, full)
            away, factor = shares - 1.0, shares
        else:
            shares = precedence.shares(misses, blamed * precedence.spared(misses, full), full)
            # shares are raised, so that the pull stays weaker than the goals that yield
            away, factor = np.zeros(shares.shape), shares.min(-1, keepdims=True) ** -0.25
        moved = stage.tasks.shifted(targets, point.kinematics, targets, away)
        request = replace(frame, targets=moved._replace(shares=factor * shares))
        again = stage.minimise(settings, stand(stage.tasks, point.state, request), request)
        point, iterations = again.point, iterations + again.iterations
    point = stand(stage.hard_tasks, point.state, frame)
    return Minimum(point, iterations, minimum.cost), targets._replace(shares=shares)


def _home(stage: Stage, start: Pose, home: np.ndarray) -> Pose:
    """The pose that the targets were moved from: the start pose, with the joints of the stage as they are in `home`."""
    if not home.any():
        return start
    rotations = start.rotations.copy()
    rotations[:, stage.space.moved] = home[:, stage.space.moved]
    return Pose(rotations, start.translations)


def _blamed(stage: Stage, frame: Request, home: State) -> np.ndarray:
    """The blame (1, G) of each goal if goals of its priority are missed; 0 for goals that do not yield."""
    effectors = stage.tasks.kinematics(home, frame.links).effectors
    blamed, placed = np.zeros(effectors.shape[:2]), stage.tasks.placed
    apart = stage.apart[np.ix_(placed, placed)]
    blamed[:, placed] = blame(frame.targets.positions[:, placed], effectors[:, placed], apart) * stage.yields[placed]
    return blamed
