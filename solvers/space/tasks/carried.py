# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of `REACH` goals whose targets joints of the same skeleton carry: three rows for a place, three for a rotation.

Effector and target may both move, as the two ends of a closed loop do (Featherstone 2008, ch. 8). Limbs, arcs and what
draws far targets in know targets in the skeleton's frame only, so these tasks are not `PositionTasks`.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .kind import Kind
from .setup import Columns, Kinematics, Setup, Target, TargetFrames, effector, one_point, turning, weights_of


class CarriedPositionTasks(Kind):
    """The places to reach that joints carry in a stage, T of them; see `Kind`."""

    kind, name, size, unit = "REACH", "carried_position", 3, "length"
    data = ()

    def __init__(self, setup: Setup) -> None:
        asks = [goal.is_carried and goal.position is not None for goal in setup.goals]
        self.goals = np.flatnonzero(asks)
        self.weights = weights_of(setup, self.goals, self.unit)
        self._tip, self._target = one_point(setup, self.goals), TargetFrames(setup, self.goals)
        self.acts = (self._tip.moves + self._target.moves) > 0.0

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Vectors (F, T, 3) from the effectors to their targets [length units], in the skeleton's frame."""
        return self._target.at(kinematics, targets) - self._tip.at(kinematics)

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted velocities of the effectors against their targets, to `out` (F, 3 T, n)."""
        moved = self._tip.columns(columns, kinematics, self._tip.at(kinematics))
        moved = self._target.less(moved, columns, kinematics, self._target.at(kinematics, targets))
        out[...] = (moved * self.weights[:, None, None]).reshape(out.shape)

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the target toward the effector, and turned toward the joint."""
        del skeleton
        turn = quaternion.log(quaternion.product(world[goal.joint, :4], quaternion.conjugate(target.rotation)))
        return target._replace(
            position=target.position + left * (effector(goal, world) - target.position),
            rotation=quaternion.product(quaternion.exp(left * turn), target.rotation),
        )

    def pack(self, index: int) -> dict[str, Any]:
        """See `Kind`."""
        return {**self._target.pack(index, self._tip), "data": None}


class CarriedRotationTasks(Kind):
    """The rotations to reach that joints carry in a stage, T of them; see `Kind`."""

    kind, name, size, unit = "REACH", "carried_rotation", 3, "angle"
    data = (
        ("uint8[]", "turns target_turns", "(n) degrees of freedom that turn the joint; those that turn the target"),
    )  # fmt: skip

    def __init__(self, setup: Setup) -> None:
        asks = [goal.is_carried and goal.rotation is not None for goal in setup.goals]
        self.goals = np.flatnonzero(asks)
        self.weights = weights_of(setup, self.goals, self.unit)
        self._joint, self._turns = setup.joint[self.goals], turning(setup, self.goals)
        self._target = TargetFrames(setup, self.goals)
        self.acts = self._turns != self._target.turns  # what turns both changes no error

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, T, 3) [rad] from the joints to their targets, in the joints' frames."""
        wanted = self._target.rotations(kinematics, targets)
        return quaternion.log(quaternion.product(quaternion.conjugate(kinematics.rotations[:, self._joint]), wanted))

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted turns of the joints against their targets, to `out` (F, 3 T, n); exact where the error is 0."""
        del targets
        turned = columns.axes[:, None] * (self._turns.astype(float) - self._target.turns)[:, None]  # (F, T, 3, n)
        own = np.swapaxes(kinematics.matrices[:, self._joint], -1, -2) @ turned
        out[...] = (own * self.weights[:, None, None]).reshape(out.shape)

    def pack(self, index: int) -> dict[str, Any]:
        """See `Kind`."""
        values = {"turns": self._turns[index], "target_turns": self._target.turns[index]}
        return {**self._target.pack(index), "data": values}
