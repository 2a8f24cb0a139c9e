# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-at tasks: three rows for each goal whose bone points an axis at its target.

The error is the smallest turn from the axis to the line `l` from the effector to the target; see `directions`.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .directions import turn_between, turn_rates
from .kind import Kind
from .setup import Columns, Kinematics, Setup, Target, TargetFrames, effector, of_kind, one_point, turning, weights_of

LEAST_FAR = 1e-9  # [skeleton lengths] a nearer target has no direction


class LookAtTasks(Kind):
    """The look-at tasks of a stage, T of them; see `Kind`."""

    kind, name, size, unit = "LOOK_AT", "look_at", 3, "angle"
    data = (
        ("double[3]", "axis", "in the joint's frame"),
        ("uint8[]", "turns", "(n) degrees of freedom that turn the joint"),
    )
    constants = "LEAST_FAR"

    def __init__(self, setup: Setup) -> None:
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        self._axis = np.array([goal.axis for goal in setup.some(self.goals)], dtype=float).reshape(-1, 3)
        self._eye, self._turns = one_point(setup, self.goals), turning(setup, self.goals)
        self._target = TargetFrames(setup, self.goals)
        self._least = LEAST_FAR * setup.skeleton.length
        self.acts = self._turns | (self._eye.moves + self._target.moves > 0.0)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, T, 3) [rad] from the axes to the lines to their targets."""
        axis, line, _ = self._lines(kinematics, targets)
        return turn_between(axis, line)[0]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, 3 T, n).

        The line turns by `v = -l x dX / far` as the effector moves by `dX` against the target; see `turn_rates`.
        """
        axis, line, far = self._lines(kinematics, targets)
        error, by_axis = turn_rates(axis, line)
        moved = self._eye.columns(columns, kinematics, self._eye.at(kinematics))
        moved = self._target.less(moved, columns, kinematics, self._target.at(kinematics, targets))
        by_line = -(quaternion.skew(line) @ moved) / far[..., None, None]
        turned = columns.axes[:, None] * self._turns[:, None, :]
        rows = by_axis @ (turned - by_line) + quaternion.skew(error) @ by_line
        out[...] = (rows * self.weights[:, None, None]).reshape(out.shape)

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the target toward the place at which the axis points, as far away."""
        del skeleton
        tip = effector(goal, world)
        far = max(float(np.linalg.norm(tip - target.position)), 1e-12)
        ahead = tip + far * quaternion.rotate(world[goal.joint, :4], np.asarray(goal.axis, dtype=float))
        return target._replace(position=target.position + left * (ahead - target.position))

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        values = {"axis": self._axis[index], "turns": self._turns[index]}
        return {**self._target.pack(index, self._eye), "data": values}

    def _lines(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Axes (F, T, 3), unit lines to the targets, and the distances (F, T) of these."""
        axis = (kinematics.matrices[:, self._eye.joint] @ self._axis[..., None])[..., 0]
        away = self._target.at(kinematics, targets) - self._eye.at(kinematics)
        far = np.maximum(np.sqrt((away * away).sum(-1)), self._least)
        return axis, away / far[..., None], far
