# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tasks: three rows for each goal with a rotation.

One radian counts as `ROTATION_LENGTH` skeleton lengths, so that metres and radians can be compared.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.carry import Carry
from ...model.goals import Targets
from .kind import Kind
from .setup import ROTATION_LENGTH, Columns, Kinematics, Setup


class RotationTasks(Kind):
    """The rotation tasks of a stage, R of them; see `Kind`."""

    kind, name, size, unit = "REACH", "rotation", 3, "angle"
    data = (  # of a goal whose rotation follows the limb above it; see Carry in solvers/model/carry.py
        ("int32", "limb", "joint above the goal's"),
        ("double", "follows", ""),
        ("double[4]", "back", "inverse orientation of that joint at rest"),
        ("uint8[]", "turns carries", "(n) degrees of freedom that turn the goal's joint; those that turn the limb"),
    )

    def __init__(self, setup: Setup) -> None:
        goals, skeleton, space = setup.goals, setup.skeleton, setup.space
        self.goals = np.array([g for g, goal in enumerate(goals) if goal.has_turn], dtype=np.intp)
        goal_weights = np.array([goal.rotation_weight for goal in goals])
        self.weights = ROTATION_LENGTH * (setup.scale * goal_weights)[self.goals]
        self._joint = setup.joint[self.goals]
        # joints above a detached segment do not change its orientation
        in_chain = (setup.moves[self.goals] > 0.0) & space.turns
        turns = in_chain & (skeleton.segment[self._joint][:, None] == skeleton.segment[space.joint])
        self.carry = Carry(skeleton, goals)
        self._row = np.searchsorted(self.goals, self.carry.goals)  # (K,) tasks of the goals that follow
        limb, joint = self.carry.limbs[:, None], space.joint
        above = skeleton.ancestors[self.carry.limbs][:, joint] & (skeleton.segment[limb] == skeleton.segment[joint])
        self.carries = in_chain[self._row] & above  # (K, n) degrees of freedom that turn the limb
        whole = (self.carry.follows == 1.0)[:, None] & self.carries & turns[self._row]  # both turn by the same
        self.acts = turns.copy()
        self.acts[self._row] = (turns[self._row] | self.carries) & ~whole
        turns[self._row] &= ~whole
        self.carries &= ~whole
        self._moves = (turns * self.weights[:, None])[:, None, :]

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) [rad] from the joints to their targets, in the skeleton's frame."""
        back = quaternion.conjugate(kinematics.rotations[:, self._joint])
        wanted = self.carry.carried(kinematics.rotations, targets.rotations)
        return quaternion.log(quaternion.product(wanted[:, self.goals], back))

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Velocity columns `u` (Amino), weighted, to `out` (F, 3 R, n); less the turn of a target that is carried."""
        del targets
        rows = columns.axes[:, None] * self._moves  # (F, R, 3, n)
        if self.carries.any():
            weights = self.weights[self._row][:, None, None]
            carried = self.carry.rates(kinematics.rotations) @ columns.axes[:, None]
            rows[:, self._row] -= carried * (weights * self.carries[:, None])
        out[...] = rows.reshape(out.shape)

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) of the targets' motion [rad]."""
        turned = quaternion.product(then.rotations, quaternion.conjugate(now.rotations))
        return quaternion.log(turned)[:, self.goals]

    def turned(self, targets: Targets, kinematics: Kinematics, by: np.ndarray) -> np.ndarray:
        """The targets' rotations (F, G, 4), each task's turned by a vector (F, R, 3) where the limb has carried it."""
        by, turned = by.copy(), targets.rotations.copy()
        if self.carry.goals.size:
            back = quaternion.conjugate(self.carry.carries(kinematics.rotations))
            by[:, self._row] = quaternion.rotate(back, by[:, self._row])
        turned[:, self.goals] = quaternion.product(quaternion.exp(by), turned[:, self.goals])
        return turned

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        at = np.flatnonzero(self._row == index)
        if not at.size:
            return {"levers": None, "data": None}
        carry, k = self.carry, int(at[0])
        values = {
            "limb": carry.limbs[k],
            "follows": carry.follows[k],
            "back": carry.back[k],
            "turns": self._moves[index, 0] > 0.0,
            "carries": self.carries[k],
        }
        return {"levers": None, "data": values}
