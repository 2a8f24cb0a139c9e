# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupling tasks: one row for each coupling that gives way to goals, `e = factor * x_leader + offset - x`.

They are soft, and weigh more the stiffer the coupling is: `w^2 = w0^2 k / (1 - k)`.
"""

from typing import Any

import numpy as np

from ...model.coupling import coordinate
from ...model.goals import Targets
from .kind import Kind
from .setup import Columns, Kinematics, Setup

WEIGHT = 0.05  # [skeleton lengths / rad] w0: of a coupling with stiffness 1/2, the same as a pole's


class CouplingTasks(Kind):
    """The soft couplings of a stage, T of them; see `Kind`. A coupling belongs to a goal that moves its joint."""

    kind, name, size, unit = None, "coupling", 1, None
    data = (("int32", "own leader", "degrees of freedom"), ("double", "factor offset", ""))

    def __init__(self, setup: Setup) -> None:
        space = setup.space
        starts = {int(space.joint[block.start]): block.start for block in space.blocks}
        soft = [
            one for one in setup.skeleton.couplings
            if 0.0 < one.stiffness < 1.0 and one.joint in starts and one.leader in starts
        ]  # fmt: skip
        ends = [
            [starts[joint] + number for joint, number in (
                coordinate(setup.skeleton, one.joint, one.axis),
                coordinate(setup.skeleton, one.leader, one.leader_axis),
            )] for one in soft
        ]  # fmt: skip
        self._own, self._leader = np.array(ends, dtype=np.intp).reshape(-1, 2).T
        self._factor = np.array([one.factor for one in soft], dtype=float)
        self._offset = np.array([one.offset for one in soft], dtype=float)
        self.goals = np.argmax(setup.moved[:, self._own], axis=0) if soft else np.zeros(0, dtype=np.intp)
        stiffness = np.array([one.stiffness for one in soft], dtype=float)
        unit = space.units[self._own]  # slides count in skeleton lengths
        self.weights = WEIGHT * np.sqrt(stiffness / (1.0 - stiffness)) / unit
        self.acts = np.zeros((len(soft), space.n), dtype=bool)
        rows = np.arange(len(soft))
        self.acts[rows, self._own] = self.acts[rows, self._leader] = True

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """How much more the coordinates (F, T, 1) should be."""
        del targets
        x = kinematics.coordinates
        return (self._factor * x[:, self._leader] + self._offset - x[:, self._own])[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, T, n)."""
        del columns, kinematics, targets
        rows = np.arange(len(self._own))
        out[...] = 0.0
        out[:, rows, self._own] = self.weights
        out[:, rows, self._leader] -= self.weights * self._factor

    def pack(self, index: int) -> dict[str, Any]:
        """See `Kind`."""
        ends = {"own": self._own[index], "leader": self._leader[index]}
        relation = {"factor": self._factor[index], "offset": self._offset[index]}
        return {"levers": None, "data": {**ends, **relation}}
