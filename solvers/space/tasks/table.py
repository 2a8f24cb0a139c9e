# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of tasks. A new kind needs a class like `PositionTasks` in a file of its own, and a line here.

A kind of goal has a line in `solvers/model/kinds.py` too. The compiled kernel needs a file in `kernel/src/tasks/` that
is named like the kind; NumPy solves goals with tasks that declare no data for it. The contract with the kernel
(`solvers/compiled/contract.py`) is made from what the classes declare.
"""

from typing import Any

import numpy as np

from ...algebra import dual_quaternion, quaternion
from ...model.goals import Goal
from ...model.skeleton import Skeleton
from .balance import BalanceTasks
from .carried import CarriedPositionTasks, CarriedRotationTasks
from .coupling import CouplingTasks
from .curve import CurveTasks
from .distance import DistanceTasks
from .kind import Kind
from .look_at import LookAtTasks
from .parallel import ParallelTasks
from .plane import PlaneTasks
from .pole import PoleTasks
from .position import PositionTasks
from .rotation import RotationTasks
from .setup import Setup, Target

KINDS: list[Any] = [
    PositionTasks, RotationTasks, LookAtTasks, DistanceTasks, PlaneTasks, BalanceTasks, CurveTasks, ParallelTasks,
    CarriedPositionTasks, CarriedRotationTasks, PoleTasks, CouplingTasks,
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
