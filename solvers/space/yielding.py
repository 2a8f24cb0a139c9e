# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that yield to others because not all can be met.

In a sum of squares a goal that cannot be met drags the others off their targets. Three measures decide which goal
yields. A target that is further from the first joint that moves than the bones from there reach is known before the
solve (`Yielding`). Otherwise, if hips slide or goals share a spine, a solve comes first: if it misses goals, those of a
lower priority yield, and of equal priority those to blame (`Precedence`, `blame`). Targets that are much further away
than bones reach are moved in, since their distance would outweigh all else.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..algebra import dual_quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import Skeleton
from .joint_space import JointSpace

YIELD_EXCESS = 0.01  # of the reach: at this distance beyond it a goal's share is a half
YIELD_FLOOR = 0.02  # least share of such a goal
YIELD_REACH = 0.05  # of the reach: a target further beyond it is moved in to this distance
YIELD_ALONE = 0.02  # the same for a lone goal: the nearer its target, the more the pull counts
YIELD_ANYWAY = 3.0  # the same for a lone goal without a pull: toward a target far away an iteration hardly settles
YIELD_MISS = 3e-4  # [skeleton lengths] error of a goal to blame at which its share is a half
YIELD_SHARED = 0.25  # of the largest error of its priority counts for each goal, which may miss little and drag others
YIELD_RAISED = 10.0  # times a goal's own error, which so counts for it at most: one that is met does not yield
YIELD_LEAST = 0.05  # least share of such a goal
YIELD_FAR = 0.02  # of the bones between: targets further beyond them than this are to blame for that alone
YIELD_FEWEST = 3  # goals of which one can be out of reach of most others
YIELD_FARTHEST = 2.0  # of the bones between: a target further from most others is moved in to this distance
YIELD_ALIKE = 1e-9  # relative difference of shares that counts as none


class Yielding:
    """The goals that yield to others because their targets lie beyond their reach.

    The reach is the length of the bones from the first joint above the effector that moves, whichever goal moves it.
    The distance of a target beyond it depends on the target only, so the shares, and with them the answer, change as
    smoothly as the target. Where a joint slides there is no fixed reach.

    apart : (G, G) as `longest_apart`.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], space: JointSpace, chains: np.ndarray, pulled: bool,
        continues: bool,
    ) -> None:  # fmt: skip
        """Whether a pull shapes the answer (`pulled`), and `continues` as of `Method`: others step as published."""
        self.apart, self._placed = longest_apart(skeleton, goals, space), [g.has_place for g in goals]
        self._between = self.apart[np.ix_(self._placed, self._placed)]
        movable = np.zeros(len(skeleton), dtype=bool)
        movable[space.joint] = True
        sliding = np.zeros(len(skeleton), dtype=bool)
        sliding[space.joint[~space.turns]] = True
        self.goals: list[int] = []
        self.top: list[int] = []
        paths: list[np.ndarray] = []
        extra: list[float] = []
        for index, goal in enumerate(goals):
            above = skeleton.ancestors[goal.joint]
            if not goal.has_place or not (chains[index] & movable).any() or (sliding & above).any():
                continue
            top = next(j for j in skeleton.order if above[j] and movable[j])
            self.goals.append(index)
            self.top.append(top)
            paths.append(above & skeleton.ancestors[:, top] & (np.arange(len(skeleton)) != top))
            extra.append(float(np.linalg.norm(goal.offset)))
        self.paths, self.extra = np.array(paths, dtype=float).reshape(len(paths), len(skeleton)).T, np.array(extra)
        self._alone = len(goals) == 1
        alone = np.inf if not continues else 1.0 + YIELD_ALONE if pulled else YIELD_ANYWAY
        most = alone if self._alone else 1.0 + YIELD_REACH
        self.most = np.full(len(self.goals), most)  # (K,) farthest that targets stay, in reaches

    def beyond(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> np.ndarray:
        """Frames (F,) in which a target is further from the root of its reach than that."""
        return np.any(self._ratio(positions, links, targets)[1] > 1.0, axis=-1)

    def _ratio(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (F, K, 3) from the roots of the reaches to the targets, and their lengths in reaches (F, K)."""
        offsets = 2.0 * np.sqrt((links[..., 4:] ** 2).sum(-1))  # |d| = |t| / 2
        reach = np.maximum(offsets @ self.paths + self.extra, 1e-12)
        away = targets.positions[:, self.goals] - positions[:, self.top]
        return away, np.sqrt((away * away).sum(-1)) / reach

    def targets(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> Targets:
        """The targets for the solve: those out of reach are moved in to just beyond reach, with lower shares.

        A limb that stretches toward a target far away would hardly feel its rotation, nor the pull, which keeps it from
        turning about itself: so a lone goal's target is moved in too; its share stays. So is one that is far from most
        others, which bones tie it to, wherever hips slide to.

        positions : (F, J, 3) of the joints in any pose. links : (F or 1, J, 8) as in `Skeleton.transforms`.
        """
        targets = self._near_others(targets)
        away, ratio = self._ratio(positions, links, targets)
        if ratio.max(initial=0.0) <= 1.0:
            return targets
        drawn, shares = targets.positions.copy(), np.ones(targets.positions.shape[:2])
        # other targets stay the same to the last digit: a frame's answer must not depend on its batch
        far = positions[:, self.top] + away * np.minimum(self.most / np.maximum(ratio, 1e-12), 1.0)[..., None]
        drawn[:, self.goals] = np.where((ratio > self.most)[..., None], far, drawn[:, self.goals])
        if not self._alone:
            excess = np.maximum(ratio - 1.0, 0.0) / YIELD_EXCESS
            shares[:, self.goals] = np.maximum(1.0 / (1.0 + excess * excess), YIELD_FLOOR)
        return targets._replace(positions=drawn, shares=shares)

    def _near_others(self, targets: Targets) -> Targets:
        """The targets, those that are far from most others moved in, toward the median of all."""
        places = targets.positions[:, self._placed]
        far = _from_most(places, self._between)
        if far.max(initial=0.0) <= YIELD_FARTHEST:
            return targets
        drawn, middle = targets.positions.copy(), np.median(places, axis=1, keepdims=True)
        nearer = middle + (places - middle) * (YIELD_FARTHEST / np.maximum(far, 1e-12))[..., None]
        drawn[:, self._placed] = np.where((far > YIELD_FARTHEST)[..., None], nearer, places)
        return targets._replace(positions=drawn)


def longest_apart(skeleton: Skeleton, goals: Sequence[Goal], space: JointSpace) -> np.ndarray:
    """The distances (G, G) that effectors cannot exceed: the bones between them, in a line; infinity if any slides."""
    lengths = np.linalg.norm(dual_quaternion.translation(skeleton.links), axis=-1)
    slides = np.zeros(len(skeleton), dtype=bool)
    slides[space.joint[~space.turns]] = True
    apart = np.full((len(goals), len(goals)), np.inf)
    tips = [float(np.linalg.norm(goal.offset)) for goal in goals]
    for i, j in combinations(range(len(goals)), 2):
        one, other = skeleton.ancestors[goals[i].joint], skeleton.ancestors[goals[j].joint]
        between = one ^ other
        if (one & other).any() and not (between & slides).any() and goals[i].has_place and goals[j].has_place:
            apart[i, j] = apart[j, i] = max(lengths[between].sum() + tips[i] + tips[j], 1e-12)
    return apart


def blame(targets: np.ndarray, effectors: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """The blame (F, P) of P goals for targets (F, P, 3) that cannot all be reached; 1 for the largest.

    A target that is further from most others than the bones between reach cannot be met with them, wherever these have
    been moved from: so it is to blame, by how far it is out of their reach (`apart` (P, P), as `longest_apart`).

    Two hands that are pulled apart miss their targets equally. The goal to blame then is the one whose target has moved
    away from its effector in the pose that targets were moved from (`effectors`, (F, P, 3)), relative to the common
    motion of the targets: the median, per coordinate, of their motions and 0. Where a figure was posed by its targets,
    all have moved; the square of the share leaves most of the blame to the one that has moved most.
    """
    motions = targets - effectors
    common = np.median(np.concatenate([motions, np.zeros_like(motions[:, :1])], 1), axis=1, keepdims=True)
    away = np.sqrt(((motions - common) ** 2).sum(-1))
    away = away / np.maximum(away.max(-1, keepdims=True, initial=0.0), 1e-12)
    far = np.maximum(_from_most(targets, apart) - 1.0, 0.0)
    most = far.max(-1, keepdims=True)
    share = np.minimum(most / YIELD_FAR, 1.0)
    return ((1.0 - share) * away + share * far / np.maximum(most, 1e-12)) ** 2


def _from_most(targets: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """How far P targets (F, P, 3) are from most others, in lengths of the bones between (F, P); 0 for a few targets."""
    count = targets.shape[1]
    if count < YIELD_FEWEST:
        return np.zeros(targets.shape[:2])
    lines = targets[:, :, None] - targets[:, None]
    ratio = np.sqrt((lines * lines).sum(-1)) / apart
    return -np.partition(-ratio, (count - 1) // 2, axis=-1)[..., (count - 1) // 2]


class Precedence:
    """The order of a stage's goals if not all can be met: by priority; within a priority those to blame come last.

    Attributes
    ----------
    equal : (G, G) bool, other goals of the same priority.
    """

    def __init__(self, goals: Sequence[Goal]) -> None:
        priority = np.array([goal.priority for goal in goals], dtype=int)
        ahead = priority - priority[:, None]
        self._higher = ahead > 0  # (G, G) of the second for the first
        self._peers = ahead == 0  # (G, G) with the goal itself
        self.equal = self._peers & ~np.eye(len(goals), dtype=bool)

    def shares(self, misses: np.ndarray, blamed: np.ndarray, full: np.ndarray) -> np.ndarray:
        """Shares (F, G) of goals: those of a robust (Cauchy) loss, relative to the goal of its priority most to blame.

        Of a lower priority at least one goal yields if one is missed, and all of them yield with goals of a higher one.

        misses : (F, G) errors [skeleton lengths]. blamed : (F, G) 0 to 1. full : (F, G) shares at an error of 0.
        """
        missed = np.where(self._peers, misses[:, None], 0.0).max(-1)
        suspect = np.minimum(misses + YIELD_SHARED * missed, YIELD_RAISED * misses)
        excess = (blamed * suspect / YIELD_MISS) ** 2
        own = np.minimum(full, _falling(excess, np.where(self._peers, excess[:, None], 0.0).max(-1)))
        level = (missed / YIELD_MISS) ** 2 * self._higher.any(-1)
        least = np.where(self._peers, own[:, None], 1.0).min(-1)
        shares = own * np.minimum(_falling(level, level) / least, 1.0)
        return np.minimum(shares, np.where(self._higher, own[:, None], 1.0).min(-1, initial=1.0))

    def spared(self, misses: np.ndarray, full: np.ndarray) -> np.ndarray:
        """Factors (F, 1) of the blame while goals of a lower priority can yield first: 0 if one of these is missed.

        Arguments as for `shares`.
        """
        lower = self.shares(misses, np.zeros(misses.shape), full) / full
        return np.maximum(2.0 * lower.min(-1, keepdims=True) - 1.0, 0.0)


def _falling(excess: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """1 for an excess of 0, a half for 1; `YIELD_LEAST` for the largest one if that is large."""
    return 1.0 / (1.0 + excess / (1.0 + YIELD_LEAST * largest))
