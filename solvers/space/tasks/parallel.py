# SPDX-License-Identifier: GPL-3.0-or-later
"""Parallel tasks: three rows for each goal whose bone keeps an axis parallel to an axis of its target.

The error is the smallest turn from the bone's axis to the target's; see `directions`.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .directions import turn_between, turn_rates
from .kind import Kind
from .setup import Columns, Kinematics, Setup, Target, TargetFrames, of_kind, turning, weights_of


class ParallelTasks(Kind):
    """The parallel tasks of a stage, T of them; see `Kind`."""

    kind, name, size, unit = "PARALLEL", "parallel", 3, "angle"
    data = (
        ("double[3]", "axis target_axis", "in the joint's frame; in the target's"),
        ("uint8[]", "turns target_turns", "(n) degrees of freedom that turn the joint; those that turn the target"),
    )

    def __init__(self, setup: Setup) -> None:
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        goals = setup.some(self.goals)
        self._joint = setup.joint[self.goals]
        self._axis = np.array([goal.axis for goal in goals], dtype=float).reshape(-1, 3)
        self._target_axis = np.array([goal.target_axis for goal in goals], dtype=float).reshape(-1, 3)
        self._turns, self._target = turning(setup, self.goals), TargetFrames(setup, self.goals)
        self.acts = self._turns | self._target.turns

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, T, 3) [rad] from the axes to those of their targets."""
        return turn_between(*self._axes(kinematics, targets))[0]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, 3 T, n): `D (w - v) + e x v`, the turns of joint and target; see `turn_rates`."""
        error, by_axis = turn_rates(*self._axes(kinematics, targets))
        turned, by_target = (columns.axes[:, None] * turns[:, None] for turns in (self._turns, self._target.turns))
        rows = by_axis @ (turned - by_target) + quaternion.skew(error) @ by_target
        out[...] = (rows * self.weights[:, None, None]).reshape(out.shape)

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the target turned so that its axis goes toward the joint's."""
        del skeleton
        axis = quaternion.rotate(world[goal.joint, :4], np.asarray(goal.axis, dtype=float))
        line = quaternion.rotate(target.rotation, np.asarray(goal.target_axis, dtype=float))
        turn = quaternion.exp(left * turn_between(line, axis)[0])
        return target._replace(rotation=quaternion.product(turn, target.rotation))

    def pack(self, index: int) -> dict[str, Any]:
        """See `Kind`."""
        values = {
            "axis": self._axis[index], "target_axis": self._target_axis[index], "turns": self._turns[index],
            "target_turns": self._target.turns[index],
        }  # fmt: skip
        return {**self._target.pack(index), "data": values}

    def _axes(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """World directions (F, T, 3) of the joints' axes and of the targets'."""
        axis = (kinematics.matrices[:, self._joint] @ self._axis[..., None])[..., 0]
        return axis, self._target.turned(kinematics, targets, self._target_axis)
