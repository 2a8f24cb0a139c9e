# SPDX-License-Identifier: GPL-3.0-or-later
"""Continuation: leads to the answer nearest to the base pose by a pull that is strong at first.

It begins with limbs folded to their targets and weakens the pull step by step. So the path to the answer, and the
answer, depend continuously on the targets.
"""

import numpy as np

from ..iterate.descent import Minimum
from ..space import limb
from ..space.point import Request, stand
from .stage import Stage
from .starts import folded

CHOSEN_AFTER = 2  # number of pull strengths after which only the cheapest of several starts goes on
ALIKE = 0.05  # [rad] a start this near to a cheaper one after the first strength leads to the same answer


def continued(stage: Stage, frame: Request) -> Minimum:
    """The nearest answer by continuation in the pull, from limbs folded to their targets at several swivels.

    While the pull is strong the costs show which swivel leads to the cheapest answer; only that one goes on.
    """
    starts = folded(stage, frame, limb.SWIVELS)
    point = stand(stage.tasks, starts, frame.repeated(len(starts.x)))
    iterations = np.zeros(len(starts.x), dtype=int)
    cost = np.zeros(len(starts.x))
    for number, settings in enumerate(stage.runs.phases, 1):
        minimum = stage.minimise(settings, point, frame.repeated(len(iterations)))
        point, cost, iterations = minimum.point, minimum.cost, iterations + minimum.iterations
        if len(cost) > 1:
            chosen = np.argmin(cost, keepdims=True)
            some = _distinct(point.state.rotations[:, stage.space.moved], cost) if number < CHOSEN_AFTER else chosen
            point, cost, iterations = point.take(some), cost[some], iterations[some]
    return Minimum(point, iterations, cost)


def _distinct(q: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The starts, of S, that do not lead to the answer of a cheaper one.

    q : (S, J, 4) motions of the joints. cost : (S,) so far; on ties the first start counts as cheaper.
    """
    order = np.argsort(cost, kind="stable")
    turns = np.abs((q[order, None] * q[order]).sum(-1))  # (S, S, J) cosines of half the turns between them
    alike = (turns >= np.cos(0.5 * ALIKE)).all(-1)
    return np.sort(order[~np.triu(alike, 1).any(0)])
