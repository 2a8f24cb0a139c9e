# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of tasks. A new kind needs a class like `PositionTasks` in a file of its own, and a line here.

A kind of goal has a line in `solvers/model/kinds.py` too. The compiled kernel needs a file in `kernel/src/tasks/` that
is named like the kind; NumPy solves goals with tasks that declare no data for it. The contract with the kernel
(`solvers/compiled/contract.py`) is made from what the classes declare.
"""

from typing import Any, Protocol

import numpy as np

from ...algebra import dual_quaternion, quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .balance import BalanceTasks
from .coupling import CouplingTasks
from .curve import CurveTasks
from .distance import DistanceTasks
from .look_at import LookAtTasks
from .parallel import ParallelTasks
from .plane import PlaneTasks
from .pole import PoleTasks
from .position import PositionTasks
from .rotation import RotationTasks
from .setup import Columns, Kinematics, Setup, Target


class Kind(Protocol):
    """All tasks of one kind in a stage, T of them, each with `size` rows. Made from a `Setup`.

    Attributes
    ----------
    kind : of the goals, a name in `GOAL_KINDS`; None for tasks that no goal asks for. name : of the kind of tasks.
    size : rows of each task.
    data : what the kernel reads of a task that only its kind has: kinds, names and a note of the fields of a structure
        `dqik_<name>`, see `declare.Field`; empty for nothing; None if the kernel does not solve such tasks.
    constants : names of the file's constants that the kernel has too, there as `<NAME>_<constant>`; optional.
    ease : of a kind of goal, a function of skeleton, goal, `left`, the transforms (J, 8) of a pose and the goal's
        `Target`: the target moved by the share `left` of its way to one that the pose meets; optional.
    unit : "length" or "angle", which of the tolerances applies to the norm of a task's error; None for a soft task,
        which does not count for whether goals are met and has no share (`Targets.shares`).
    goals : (T,) the goal that each task belongs to. weights : (T,) of a unit of each error.
    one_sided : (T,) bool, tasks whose errors count only above 0, row by row; None if none are.
    acts : (T, n) bool, degrees of freedom with non-zero columns.
    """

    kind: str | None
    name: str
    size: int
    data: tuple[tuple[str, str, str], ...] | None
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
        """For the kernel: `levers`, and `data` (its fields by name, or None), of a task; `TargetFrames` packs more."""
        ...


KINDS: list[Any] = [
    PositionTasks, RotationTasks, LookAtTasks, DistanceTasks, PlaneTasks, BalanceTasks, CurveTasks, ParallelTasks,
    PoleTasks, CouplingTasks,
]  # fmt: skip
"""Classes that make a `Kind` from a `Setup`, in the order of their rows, the soft ones last."""


def eased(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
    """The target of a resolved goal, moved by the share `left` of its way to one that a pose meets already.

    world : (J, 8) transforms of the pose's joints. A target that a joint carries is in the frame of this joint.
    """
    ease = next((kind.ease for kind in KINDS if kind.kind == goal.kind and hasattr(kind, "ease")), None)
    if ease is None or goal.target_joint is None:
        return target if ease is None else ease(skeleton, goal, left, world, target)
    carrier = world[goal.target_joint]
    moved = ease(skeleton, goal, left, world, _carried(carrier, target))
    return _carried(dual_quaternion.conjugate(carrier), moved)


def _carried(by: np.ndarray, target: Target) -> Target:
    """A target in the frame that a transform (8,) takes it to."""
    return target._replace(
        position=dual_quaternion.transform(by, target.position), rotation=quaternion.product(by[:4], target.rotation)
    )


def make(setup: Setup, soft: bool = True) -> list[Kind]:
    """The kinds with at least one task; `soft`: with soft ones."""
    present = {None, *(goal.kind for goal in setup.goals)}
    kinds: list[Kind] = [kind(setup) for kind in KINDS if kind.kind in present and (soft or kind.unit is not None)]
    kinds = [kind for kind in kinds if kind.goals.size]
    return sorted(kinds, key=lambda kind: kind.unit is None)
