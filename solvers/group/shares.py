# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that cannot all be met, solved again with smaller shares of the way for those that are to blame."""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from ..space.point import Request, stand
from ..space.yielding import YIELD_ROUNDS, blame, shares_of_missed
from .polish import polish
from .stage import Stage


def solve_shares(stage: Stage, minimum: Minimum, frames: Request, start: Pose) -> Targets:
    """Solve frames that miss goals again, with smaller shares for the goals to blame; the targets with the shares.

    The errors in `minimum` are those without the shares.
    """
    placed, targets = stage.tasks.placed, frames.targets
    if stage.runs.yielding is None:
        return targets
    lanes = stage.missed(minimum.point, frames) & [part.yields for part in stage.parts]
    missed = np.flatnonzero(lanes.any(-1))
    if not missed.size:
        return targets
    some, point = replace(frames.take(missed), lanes=lanes[missed]), minimum.point.take(missed)
    blamed = _blamed(stage, some, stage.space.state(start, len(targets.positions)).take(missed), lanes[missed])
    full = np.ones((len(missed), len(stage.goals))) if some.targets.shares is None else some.targets.shares
    request = some
    for number in range(YIELD_ROUNDS):
        shares, away = full.copy(), some.targets.positions[:, placed] - point.kinematics.effectors[:, placed]
        errors = np.sqrt((away * away).sum(-1)) / stage.skeleton.length
        shares[:, placed] *= shares_of_missed(errors, blamed)
        request = replace(some, targets=some.targets._replace(shares=shares))
        again = stage.minimise(stage.runs.yielding, stand(stage.tasks, point.state, request), request)
        if number + 1 == YIELD_ROUNDS:
            again = polish(stage, again, request)
        minimum.iterations[missed] += again.iterations
        point = again.point
    minimum.point = minimum.point.copy()
    minimum.point.error = minimum.point.error[:, : stage.tasks.m]
    minimum.point.put(missed, stand(stage.hard_tasks, point.state, some))
    shares = np.ones((len(targets.positions), len(stage.goals))) if targets.shares is None else targets.shares.copy()
    shares[missed] = request.targets.shares
    return targets._replace(shares=shares)


def _blamed(stage: Stage, frames: Request, start: State, lanes: np.ndarray) -> np.ndarray:
    """How much (F, P) each goal that asks for a position is to blame, in the `lanes` (F, L) that miss goals."""
    placed, lane = stage.tasks.placed, stage.lanes.goals[stage.tasks.placed]
    begun = stage.tasks.kinematics(start, frames.links).effectors[:, placed]
    blamed = (stage.alone[placed] & lanes[:, lane]).astype(float)
    for own in (lane == number for number in range(stage.lanes.count)):
        blamed[:, own] *= blame(frames.targets.positions[:, placed[own]], begun[:, own])
    return blamed
