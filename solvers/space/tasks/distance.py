# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance tasks: one row for each goal that keeps a distance from its target: at it, within it, or beyond it."""

from typing import Any

import numpy as np

from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .kind import Kind
from .setup import Columns, Kinematics, Setup, Target, TargetFrames, effector, of_kind, one_point, weights_of

SIGNS = {"AT": 1.0, "WITHIN": -1.0, "BEYOND": 1.0}  # of the error `distance - far`
LEAST_FAR = 1e-9  # [skeleton lengths] nearer to its target an effector has no direction from it; Z is taken


class DistanceTasks(Kind):
    """The distance tasks of a stage, T of them; see `Kind`."""

    kind, name, size, unit = "DISTANCE", "distance", 1, "length"
    data = (("double", "distance sign", ""),)
    constants = "LEAST_FAR"

    def __init__(self, setup: Setup) -> None:
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        goals = setup.some(self.goals)
        self._distance = np.array([goal.distance for goal in goals])
        self._sign = np.array([SIGNS[str(goal.side)] for goal in goals])
        self.one_sided = np.array([goal.side != "AT" for goal in goals], dtype=bool)
        self._tip, self._target = one_point(setup, self.goals), TargetFrames(setup, self.goals)
        self._least = LEAST_FAR * setup.skeleton.length
        self.acts = (self._tip.moves + self._target.moves) > 0.0

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, T, 1) [length units]; below 0 where a one-sided goal has room."""
        far = self._lines(kinematics, targets)[1]
        return (self._sign * (self._distance - far))[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, T, n): how fast the distances grow."""
        away, _ = self._lines(kinematics, targets)
        moved = self._tip.columns(columns, kinematics, self._tip.at(kinematics))
        moved = self._target.less(moved, columns, kinematics, self._target.at(kinematics, targets))
        out[...] = (away[..., None, :] @ moved)[..., 0, :] * (self._sign * self.weights)[:, None]

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the target along its line to the effector."""
        del skeleton
        away = effector(goal, world) - target.position
        far = max(float(np.linalg.norm(away)), 1e-12)
        return target._replace(position=target.position + left * (far - goal.distance) * away / far)

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        values = {"distance": self._distance[index], "sign": self._sign[index]}
        return {**self._target.pack(index, self._tip), "data": values}

    def _lines(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors (F, T, 3) from the targets to the effectors, and their distances (F, T)."""
        away = self._tip.at(kinematics) - self._target.at(kinematics, targets)
        far = np.sqrt((away * away).sum(-1))
        near = (far < self._least)[..., None]
        return np.where(near, [0.0, 0.0, 1.0], away / np.maximum(far, self._least)[..., None]), far
