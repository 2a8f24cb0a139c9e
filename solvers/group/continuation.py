# SPDX-License-Identifier: GPL-3.0-or-later
"""Continuation: leads to the answer nearest to the base pose by a pull that is strong at first.

It begins with limbs folded to their targets and weakens the pull step by step. So the path to the answer, and the
answer, depend continuously on the targets.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..space import limb
from ..space.joint_space import State
from ..space.point import Request, stand
from .stage import Stage
from .starts import folded

CHOSEN_AFTER = 2  # number of pull strengths after which only the cheapest of several starts goes on
ALIKE = 0.05  # [rad] a start this near to a cheaper one after the first strength leads to the same answer


def continued(stage: Stage, frames: Request) -> Minimum:
    """The nearest answers by continuation in the pull, from limbs folded to their targets at several swivels.

    While the pull is strong the costs show which swivel leads to the cheapest answer; only that one goes on.
    """
    count, cost = len(frames.targets.positions), np.zeros((0, 0))
    state = folded(stage, frames, limb.SWIVELS)
    tries = len(state.rotations) // count
    many = frames if tries == 1 else frames.take(np.tile(np.arange(count), tries))
    point, index = stand(stage.tasks, state, many), np.arange(count * tries, dtype=np.intp)
    every = np.ones((len(index), stage.lanes.count), dtype=bool)
    alive: np.ndarray = every if many.lanes is None else many.lanes.copy()
    alive[count:] &= stage.folds
    iterations: np.ndarray = np.zeros(alive.shape, dtype=int)
    for number, settings in enumerate(stage.runs.phases):
        undecided = tries > 1 and number < CHOSEN_AFTER
        request = replace(many, lanes=alive) if undecided else many
        minimum = stage.minimise(settings, point, request)
        point, cost, iterations = minimum.point, minimum.cost, iterations + minimum.iterations
        if not undecided:
            continue
        if number + 1 < CHOSEN_AFTER:
            alive = _distinct_lanes(stage, point.state, cost, index % count, alive)
            keep = np.flatnonzero(alive.any(-1))
            index, alive, iterations = index[keep], alive[keep], iterations[keep]
            point, many = point.take(keep), frames.take(index % count)
        else:
            costs = np.full((tries * count, alive.shape[1]), np.inf)
            costs[index] = np.where(alive, cost, np.inf)
            chosen = np.argmin(costs.reshape(tries, count, -1), axis=0) * count + np.arange(count)[:, None]
            rows = np.asarray(np.searchsorted(index, chosen), dtype=np.intp)
            iterations, many = np.take_along_axis(iterations, rows, axis=0), frames
            point = point.gather(stage.tasks.lanes, rows)
    return Minimum(point, iterations, cost)


def _distinct_lanes(stage: Stage, state: State, cost: np.ndarray, frame: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Mask (S, L) of the starts of each `frame` (S,) that do not lead to the answer of a cheaper one, lane by lane.

    cost : (S, L). alive : (S, L) bool, the starts that count.
    """
    distinct = np.zeros(alive.shape, dtype=bool)
    for lane in range(stage.lanes.count):
        some = np.flatnonzero(alive[:, lane])
        joints = stage.space.joint[stage.lanes.freedoms.of == lane]
        turned = state.rotations[some[:, None], joints]
        distinct[some, lane] = _distinct(turned, cost[some, lane], frame[some])
    return distinct


def _distinct(q: np.ndarray, cost: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Mask (S,) of the starts of each `frame` (S,) that do not lead to the answer of a cheaper one.

    q : (S, n, 4) motions of the joints. cost : (S,) so far; on ties the first start counts as cheaper.
    """
    order = np.lexsort((np.arange(len(cost)), cost, frame))
    distinct = np.ones(len(cost), dtype=bool)
    for back in range(1, len(cost)):
        one, cheaper = order[back:], order[:-back]
        near = frame[one] == frame[cheaper]
        if not near.any():
            break
        near &= (np.abs((q[one] * q[cheaper]).sum(-1)) >= np.cos(0.5 * ALIKE)).all(-1)
        distinct[one[near]] = False
    return distinct
