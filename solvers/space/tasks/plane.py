# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane tasks: one row for each goal that stays on its target's XY plane, or above it."""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .kind import Kind
from .setup import Columns, Kinematics, Setup, Target, effector, of_kind, one_point, weights_of


class PlaneTasks(Kind):
    """The plane tasks of a stage, T of them; see `Kind`."""

    kind, name, size, unit = "PLANE", "plane", 1, "length"
    data = (("double", "height", ""),)

    def __init__(self, setup: Setup) -> None:
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        goals = setup.some(self.goals)
        self._height = np.array([goal.distance for goal in goals])
        self.one_sided = np.array([goal.side == "ABOVE" for goal in goals], dtype=bool)
        self._tip = one_point(setup, self.goals)
        self.acts = self._tip.moves > 0.0

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, T, 1) [length units]: how much higher the effectors should be; below 0 for those above."""
        away = self._tip.at(kinematics) - targets.positions[:, self.goals]
        return (self._height - (self._normals(targets) * away).sum(-1))[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, T, n): how fast the effectors rise."""
        moved = self._tip.columns(columns, kinematics, self._tip.at(kinematics))
        out[...] = (self._normals(targets)[..., None, :] @ moved)[..., 0, :] * self.weights[:, None]

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the plane toward the effector."""
        del skeleton
        normal = quaternion.to_matrix(target.rotation)[:, 2]
        height = float(normal @ (effector(goal, world) - target.position))
        return target._replace(position=target.position + left * (height - goal.distance) * normal)

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        return {"levers": self._tip.levers[index], "data": {"height": self._height[index]}}

    def _normals(self, targets: Targets) -> np.ndarray:
        """The planes' unit normals (F, T, 3)."""
        return quaternion.to_matrix(targets.rotations[:, self.goals])[..., 2]
