# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tasks: three rows for each goal with a rotation.

One radian counts as `ROTATION_LENGTH` skeleton lengths, so that metres and radians can be compared.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Targets
from .setup import ROTATION_LENGTH, Columns, Kinematics, Setup


class RotationTasks:
    """The rotation tasks of a stage, R of them; see `table.Kind`."""

    name, size, unit = "rotation", 3, "angle"

    def __init__(self, setup: Setup) -> None:
        goals, skeleton, space = setup.goals, setup.skeleton, setup.space
        self.goals = np.array([g for g, goal in enumerate(goals) if goal.rotation is not None], dtype=np.intp)
        goal_weights = np.array([goal.rotation_weight for goal in goals])
        self.weights = ROTATION_LENGTH * (setup.scale * goal_weights)[self.goals]
        self._joint = setup.joint[self.goals]
        # joints above a detached segment do not change its orientation
        same = skeleton.segment[self._joint][:, None] == skeleton.segment[space.joint]
        self.acts = (setup.moves[self.goals] > 0.0) & same & space.turns
        self._moves = (setup.moves[self.goals] * same * self.weights[:, None] * space.turns)[:, None, :]

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) [rad] from the joints to their targets, in the skeleton's frame."""
        back = quaternion.conjugate(kinematics.rotations[:, self._joint])
        return quaternion.log(quaternion.product(targets.rotations[:, self.goals], back))

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Velocity columns `u` (Amino), weighted, to `out` (F, 3 R, n)."""
        del kinematics, targets
        out[...] = (columns.axes[:, None] * self._moves).reshape(out.shape)

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) of the targets' motion [rad]."""
        turned = quaternion.product(then.rotations, quaternion.conjugate(now.rotations))
        return quaternion.log(turned)[:, self.goals]

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        del index
        return {"levers": None, "data": None}
