# SPDX-License-Identifier: GPL-3.0-or-later
"""Lanes: groups of goals that do not depend on each other, solved side by side in one stage.

One large solve costs less in NumPy than several small ones. No row of one lane has entries in the columns of another,
so one linear system holds all lanes as diagonal blocks. Only quantities that sum over a whole frame are kept lane by
lane: cost, damping, whether a step is accepted, and when the iteration stops. So each lane's answer is the same as if
it were solved alone.
"""

import numpy as np

from ..model.skeleton import Skeleton


class Split:
    """The lane, of L, of each of K entries along an axis: `of` (K,)."""

    def __init__(self, of: np.ndarray, count: int) -> None:
        self.of, self._single = of, count == 1
        self._member = of == np.arange(count)[:, None]  # (L, K) whether it is of the lane
        self._members = self._member.astype(float)

    def dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Scalar products (F, L) of rows (F, K)."""
        by_lane = a[:, None] if self._single else a[:, None] * self._members
        return (by_lane @ b[:, :, None])[..., 0]

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sums (F, L) of values (F, K)."""
        return values.sum(-1, keepdims=True) if self._single else (self._members @ values[:, :, None])[..., 0]

    def largest(self, values: np.ndarray) -> np.ndarray:
        """The largest (F, L) of non-negative values (F, K); 0 for a lane without entries."""
        if self._single:
            return values.max(-1, initial=0.0, keepdims=True)
        return (values[:, None] * self._members).max(-1, initial=0.0)

    def any(self, values: np.ndarray) -> np.ndarray:
        """Whether any (F, L) of values (F, K) is true."""
        if self._single:
            return np.any(values, axis=-1, keepdims=True)
        return np.any(values[:, None] & self._member, axis=-1)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values (F, L) of the lanes, repeated for each entry (F, K); (F, 1) for one lane."""
        return values if self._single else values[:, self.of]


class Lanes:
    """The lanes of a stage.

    Attributes
    ----------
    count : number L of lanes.
    goals : (G,) lane of each goal. joints : (J,) lane of each joint that a lane moves or carries, else 0.
    freedoms, rows, tasks, per_goal : `Split` of the degrees of freedom, of the error rows, of the tasks that are not
        soft, and of the goals.
    """

    def __init__(
        self, skeleton: Skeleton, goals: np.ndarray, chains: np.ndarray, freedom_joints: np.ndarray,
        row_goals: np.ndarray, task_goals: np.ndarray,
    ) -> None:  # fmt: skip
        """`chains` (G, J); `freedom_joints` (n,) of the degrees of freedom; `row_goals`, `task_goals` likewise."""
        self.goals, self.count = goals, int(goals.max(initial=0)) + 1
        self.joints = np.zeros(len(skeleton), dtype=np.intp)
        moved = np.any(chains, axis=0)
        for joint in skeleton.order:
            if moved[joint]:
                self.joints[joint] = goals[np.argmax(chains[:, joint])]
            elif skeleton.parent[joint] >= 0:
                self.joints[joint] = self.joints[skeleton.parent[joint]]
        self.freedoms = Split(self.joints[freedom_joints], self.count)
        self.rows, self.tasks = Split(goals[row_goals], self.count), Split(goals[task_goals], self.count)
        self.per_goal = Split(goals, self.count)
