# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that yield to others because not all can be met.

A sum of squares lets a goal that cannot be met drag down one that can. If a chain hangs from a root that nothing else
moves, its length tells before the solve whether its goal yields (`Yielding`). In other cases, where hips slide or goals
share a spine, a solve is made first. If it misses goals, those of a lower priority yield, and of goals of the same
priority those to blame (`Precedence`, `blame`).
"""

from collections.abc import Sequence

import numpy as np

from ..model.goals import Goal, Targets
from ..model.skeleton import Skeleton
from .joint_space import JointSpace

YIELD_EXCESS = 0.01  # of a chain's reach beyond it, at which a goal counts half
YIELD_FLOOR = 0.02  # what it counts at least
YIELD_REACH = 0.05  # of a chain's reach beyond it, from which a target further off is drawn in
YIELD_MISS = 0.003  # [skeleton lengths] by which a goal to blame misses its target where it counts half
YIELD_LEAST = 0.1  # what it counts at least then
YIELD_NEAR = 0.02  # [skeleton lengths] error of a goal whose target is shifted by half the error
LEAST_ROUNDS, MOST_ROUNDS = 2, 8  # solves with shares and shifts that follow from the errors of the solve before
ROUND_SHARE = 0.1  # of the tolerance: a round that changes no goal's error by more is the last one


class Yielding:
    """Which goals yield to others because their targets lie beyond their chain's reach.

    How far a target lies beyond a chain's length depends on the target alone, so the shares, and with them the answer,
    change as smoothly as it does. Chains that slide, or whose root another goal moves, have no fixed reach.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], space: JointSpace, chains: np.ndarray, lane: np.ndarray
    ) -> None:
        """`lane` (G,) of each goal: it yields to others in its lane."""
        movable = np.zeros(len(skeleton), dtype=bool)
        movable[space.joint] = True
        sliding = np.zeros(len(skeleton), dtype=bool)
        sliding[space.joint[~space.turns]] = True
        self.goals: list[int] = []
        self.top: list[int] = []
        paths: list[np.ndarray] = []
        extra: list[float] = []
        for index, goal in enumerate(goals):
            top = next((j for j in skeleton.order if chains[index, j] and movable[j]), None)
            if goal.position is None or top is None or (skeleton.ancestors[top] & movable).sum() > 1:
                continue
            if (sliding & skeleton.ancestors[goal.joint]).any():
                continue
            self.goals.append(index)
            self.top.append(top)
            paths.append(
                skeleton.ancestors[goal.joint] & skeleton.ancestors[:, top] & (np.arange(len(skeleton)) != top)
            )
            extra.append(float(np.linalg.norm(goal.offset)))
        self.paths, self.extra = np.array(paths, dtype=float).reshape(len(paths), len(skeleton)).T, np.array(extra)
        self._beside = (lane == lane[:, None]).sum(-1)[self.goals] > 1  # (K,) whether there is another goal to yield to

    def beyond(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> np.ndarray:
        """Frames (F,) in which a target is further from its chain's root than the chain is long."""
        if not self.goals:
            return np.zeros(len(positions), dtype=bool)
        return np.any(self._ratio(positions, links, targets)[1] > 1.0, axis=-1)

    def _ratio(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """From the chains' roots to the targets (F, K, 3), and these distances in lengths of the chains (F, K)."""
        offsets = 2.0 * np.sqrt((links[..., 4:] ** 2).sum(-1))  # |d| = |t| / 2
        reach = np.maximum(offsets @ self.paths + self.extra, 1e-12)
        away = targets.positions[:, self.goals] - positions[:, self.top]
        return away, np.sqrt((away * away).sum(-1)) / reach

    def targets(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> Targets:
        """The targets as the solve should see them: those out of reach drawn in to just beyond it, at lower shares.

        positions : (F, J, 3) of the joints in any pose. links : (F or 1, J, 8) as in `Skeleton.transforms`.
        """
        if not self._beside.any():
            return targets
        away, ratio = self._ratio(positions, links, targets)
        ratio = ratio * self._beside
        if ratio.max(initial=0.0) <= 1.0:
            return targets
        drawn, shares = targets.positions.copy(), np.ones(targets.positions.shape[:2])
        # others to the last digit as they are: a frame's answer must not depend on what else is in its batch
        far = positions[:, self.top] + away * ((1.0 + YIELD_REACH) / np.maximum(ratio, 1e-12))[..., None]
        drawn[:, self.goals] = np.where((ratio > 1.0 + YIELD_REACH)[..., None], far, drawn[:, self.goals])
        excess = np.maximum(ratio - 1.0, 0.0) / YIELD_EXCESS
        shares[:, self.goals] = np.maximum(1.0 / (1.0 + excess * excess), YIELD_FLOOR)
        return targets._replace(positions=drawn, shares=shares)


def blame(targets: np.ndarray, effectors: np.ndarray) -> np.ndarray:
    """How far each of P goals is to blame (F, P) for targets (F, P, 3) that cannot all be reached, 1 for the most.

    Two hands pulled apart are equally far from where they are asked to be. To blame is the one whose target has left
    its place in the start pose (`effectors`, (F, P, 3)), as against the way that most of the targets have gone: the
    median of their ways and of standing still, coordinate by coordinate.
    """
    ways = targets - effectors
    common = np.median(np.concatenate([ways, np.zeros_like(ways[:, :1])], 1), axis=1, keepdims=True)
    away = np.sqrt(((ways - common) ** 2).sum(-1))
    return away / np.maximum(away.max(-1, keepdims=True, initial=0.0), 1e-12)


class Precedence:
    """The order of a stage's goals where not all can be met: by priority; of equal ones those to blame come last.

    Attributes
    ----------
    equal : (G, G) bool, other goals of the same priority and lane.
    """

    def __init__(self, goals: Sequence[Goal], lane: np.ndarray) -> None:
        """`lane` (G,) of each goal: goals of different lanes have no order."""
        priority = np.array([goal.priority for goal in goals], dtype=int)
        same, ahead = lane == lane[:, None], priority - priority[:, None]
        self._higher, self._lower = same & (ahead > 0), same & (ahead < 0)  # (G, G) of the second for the first
        self.equal = same & (ahead == 0) & ~np.eye(len(goals), dtype=bool)

    def own(self, misses: np.ndarray, blamed: np.ndarray, full: np.ndarray) -> np.ndarray:
        """Shares (F, G) of goals as against others of their priority: those of a robust (Cauchy) loss.

        misses : (F, G) by which they miss [skeleton lengths]. blamed : (F, G) 0 to 1. full : (F, G) shares at no miss.
        """
        return np.maximum(full * _falling(misses * blamed, YIELD_MISS), YIELD_LEAST)

    def shares(self, own: np.ndarray) -> np.ndarray:
        """Shares (F, G) of goals: where a goal yields (`own`), those of a lower priority yield with it."""
        return own * np.where(self._higher, own[:, None], 1.0).min(-1, initial=1.0)

    def shifts(self, misses: np.ndarray, own: np.ndarray) -> np.ndarray:
        """By how much (F, G) of what they miss the goals' targets are to be shifted.

        1 for a goal that misses by little and comes before one that misses.
        """
        lower = np.where(self._lower, 1.0 - _falling(misses, YIELD_MISS)[:, None], 0.0).max(-1, initial=0.0)
        equal = np.where(self.equal, 1.0 - own[:, None], 0.0).max(-1, initial=0.0)
        return _falling(misses, YIELD_NEAR) * np.maximum(lower, equal)


def _falling(errors: np.ndarray, half: float) -> np.ndarray:
    """1 for errors of 0, a half for errors of `half`."""
    excess = errors / half
    return 1.0 / (1.0 + excess * excess)
