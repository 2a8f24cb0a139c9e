# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact tasks: one one-sided row for each pair of bodies, `e = wanted gap - gap`.

The wanted gaps (`Targets.gaps`) include the multipliers of an augmented Lagrangian, as lengths (`group/apart.py`).
"""

from typing import Any

import numpy as np

from ...model.goals import Targets
from .setup import Columns, Kinematics, Setup

WEIGHT = 30.0  # per skeleton length; a position goal's is 1


class ContactTasks:
    """The contacts of a stage, T of them; see `table.Kind`."""

    kind, name, size, unit = None, "contact", 1, None
    data = None  # the compiled kernel solves no contacts

    def __init__(self, setup: Setup) -> None:
        self._gaps = setup.gaps
        count = 0 if setup.gaps is None else setup.gaps.count
        self.goals = np.zeros(count, dtype=np.intp)
        self.weights = np.full(count, WEIGHT / setup.skeleton.length)
        self.one_sided = np.ones(count, dtype=bool)
        self.acts = np.ones((count, setup.space.n), dtype=bool)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """How much wider the gaps (F, T, 1) should be; below 0 for those with room."""
        return (targets.gaps - self._gaps.at(kinematics, targets).gaps)[..., None]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, T, n)."""
        gap = self._gaps.at(kinematics, targets)
        out[...] = self._gaps.jacobian(gap, columns, kinematics) * self.weights[:, None]

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Zeros (F, T, 1): obstacles count as not moving."""
        del now
        return np.zeros((len(then.positions), len(self.goals), self.size))

    def pack(self, index: int) -> dict[str, Any]:
        """The compiled kernel solves no contacts."""
        raise NotImplementedError(f"contact {index}: the compiled kernel solves no contacts")
