# SPDX-License-Identifier: GPL-3.0-or-later
"""Position tasks: three rows for each goal with a position.

Errors are divided by the skeleton's length, so that a rig in centimetres solves like one in metres.
"""

from typing import Any

import numpy as np

from ...model.goals import Targets
from .kind import Kind
from .setup import Columns, Kinematics, Setup, velocities


class PositionTasks(Kind):
    """The position tasks of a stage, P of them; see `Kind`."""

    kind, name, size, unit = "REACH", "position", 3, "length"
    data = ()

    def __init__(self, setup: Setup) -> None:
        goals, skeleton, space = setup.goals, setup.skeleton, setup.space
        self.goals = np.array([g for g, goal in enumerate(goals) if goal.has_place], dtype=np.intp)
        goal_weights = np.array([goal.position_weight for goal in goals])
        self.weights = (setup.scale * goal_weights)[self.goals] / skeleton.length
        self.acts = setup.moves[self.goals] > 0.0
        self._moves = (setup.moves[self.goals] * self.weights[:, None])[:, None, :]
        self._levers = skeleton.levers(setup.joint[self.goals], space.joint)
        self._detached = bool(skeleton.detached)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Vectors (F, P, 3) from the effectors to their targets [length units]."""
        return targets.positions[:, self.goals] - kinematics.effectors[:, self.goals]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Velocity columns of the effectors, weighted, to `out` (F, 3 P, n)."""
        effectors = kinematics.effectors[:, self.goals]
        moved = velocities(columns, kinematics, effectors, self._levers, self._detached)
        np.multiply(moved, self._moves, out=out.reshape(moved.shape))

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Motion (F, P, 3) of the targets [length units]."""
        return (then.positions - now.positions)[:, self.goals]

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        return {"levers": self._levers[index], "data": None}
