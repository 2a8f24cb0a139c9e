# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of tasks. A new kind is a class like those of `position.py` in a file of its own, and a line here.

For the compiled kernel it is also a file in `kernel/src/tasks/`, a line in the table of `tasks.c` there and a number in
`solvers/compiled/contract.py`; until then NumPy solves what has such tasks.
"""

from typing import Any, Protocol

import numpy as np

from ...model.goals import Targets
from .pole import PoleTasks
from .position import PositionTasks
from .rotation import RotationTasks
from .setup import Columns, Kinematics, Setup


class Kind(Protocol):
    """All tasks of one kind in a stage, T of them, each with `size` rows. Made from a `Setup`.

    Attributes
    ----------
    name : of the kind. size : rows of each task.
    unit : "length" or "angle", the tolerance that the norm of a task's error is held against; None for a soft task,
        on which it does not depend whether goals are met, and which yields to none.
    goals : (T,) the goal that each task belongs to. weights : (T,) what a unit of each error counts.
    acts : (T, n) bool, degrees of freedom whose columns may not be 0.
    """

    name: str
    size: int
    unit: str | None
    goals: np.ndarray
    weights: np.ndarray
    acts: np.ndarray

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, T, size), target less current, without weights."""
        ...

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Write `J` with `e(state + d) ~ e - J d`, weights included, to `out` (F, T * size, n)."""
        ...

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """How the targets move (F, T, size) between two frames, in the errors' units."""
        ...

    def pack(self, index: int) -> dict[str, Any]:
        """What the kernel needs of a task: `levers`, and its own `data`, a structure's name and fields, or None."""
        ...


KINDS: list[Any] = [PositionTasks, RotationTasks, PoleTasks]
"""Classes that make a `Kind` from a `Setup`, in the order of their rows, the soft ones last."""


def make(setup: Setup) -> list[Kind]:
    """The kinds that the goals ask for."""
    kinds: list[Kind] = [kind(setup) for kind in KINDS]
    kinds = [kind for kind in kinds if kind.goals.size]
    return sorted(kinds, key=lambda kind: kind.unit is None)
