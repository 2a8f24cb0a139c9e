# SPDX-License-Identifier: GPL-3.0-or-later
"""What all kinds of tasks have in common."""

from typing import Any, Protocol

import numpy as np

from ...model.goals import Targets
from .setup import Columns, Kinematics


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
    one_sided: np.ndarray | None = None
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
        """Motion (F, T, size) of the targets between two frames, in the errors' units; rotations are carried.

        Zeros, unless a kind says otherwise: its targets count as not moving.
        """
        del then
        return np.zeros((len(now.positions), len(self.goals), self.size))

    def pack(self, index: int) -> dict[str, Any]:
        """For the kernel: `levers`, and `data` (its fields by name, or None), of a task; `TargetFrames` packs more."""
        ...
