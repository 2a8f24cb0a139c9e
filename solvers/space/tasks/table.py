# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of tasks. A new kind needs a class like `PositionTasks` in a file of its own, and a line here.

A kind of goal has a line in `solvers/model/kinds.py` too. The compiled kernel needs a file in `kernel/src/tasks/` and
the kind's name in `solvers/compiled/contract.py`; until then NumPy solves goals with such tasks.
"""

from typing import Any, Protocol

import numpy as np

from ...model.goals import Targets
from .balance import BalanceTasks
from .coupling import CouplingTasks
from .curve import CurveTasks
from .distance import DistanceTasks
from .look_at import LookAtTasks
from .plane import PlaneTasks
from .pole import PoleTasks
from .position import PositionTasks
from .rotation import RotationTasks
from .setup import Columns, Kinematics, Setup


class Kind(Protocol):
    """All tasks of one kind in a stage, T of them, each with `size` rows. Made from a `Setup`.

    Attributes
    ----------
    kind : of the goals, a name in `GOAL_KINDS`; None for tasks that no goal asks for. name : of the kind of tasks.
    size : rows of each task.
    unit : "length" or "angle", which of the tolerances applies to the norm of a task's error; None for a soft task,
        which does not count for whether goals are met and has no share (`Targets.shares`).
    goals : (T,) the goal that each task belongs to. weights : (T,) of a unit of each error.
    one_sided : (T,) bool, tasks whose errors count only above 0, row by row; None if none are.
    acts : (T, n) bool, degrees of freedom with non-zero columns.
    """

    kind: str | None
    name: str
    size: int
    unit: str | None
    one_sided: np.ndarray | None
    goals: np.ndarray
    weights: np.ndarray
    acts: np.ndarray

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, T, size), target less current, without weights; below 0 where a one-sided task has room."""
        ...

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Write `J` with `e(state + d) ~ e - J d`, weights included, to `out` (F, T * size, n)."""
        ...

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Motion (F, T, size) of the targets between two frames, in the errors' units; rotations are carried."""
        ...

    def pack(self, index: int) -> dict[str, Any]:
        """The kernel's data of a task that only its kind has: `levers`, and `data` (structure and fields) or None."""
        ...


KINDS: list[Any] = [
    PositionTasks, RotationTasks, LookAtTasks, DistanceTasks, PlaneTasks, BalanceTasks, CurveTasks, PoleTasks,
    CouplingTasks,
]  # fmt: skip
"""Classes that make a `Kind` from a `Setup`, in the order of their rows, the soft ones last."""


def make(setup: Setup, soft: bool = True) -> list[Kind]:
    """The kinds with at least one task; `soft`: with soft ones."""
    present = {None, *(goal.kind for goal in setup.goals)}
    kinds: list[Kind] = [kind(setup) for kind in KINDS if kind.kind in present and (soft or kind.unit is not None)]
    kinds = [kind for kind in kinds if kind.goals.size]
    return sorted(kinds, key=lambda kind: kind.unit is None)
