# SPDX-License-Identifier: GPL-3.0-or-later
"""The needs of a solve, and those that the kernel supports; NumPy solves if there is any other."""

from collections.abc import Sequence

from ..group.stage import Stage
from ..model.options import Options
from ..model.skeleton import Skeleton
from .structures import TASK_KINDS

SOLVERS = {"PGS": 0, "DLS": 1, "CCD": 2}
"""The solvers of the kernel, and their numbers."""

KINDS = {"free ball": 0, "ball": 1, "hinge": 2, "prismatic": 3, "fixed": 4}
"""Kinds of joints, as `Skeleton.kinds` and `JointSpace.block_shapes` name them, and their numbers."""

TASKS = {name: number for number, name in enumerate(TASK_KINDS)}
"""The kinds of tasks of the kernel, by the names of `solvers/space/tasks/table.py`, and their numbers."""

SUPPORTED = frozenset(
    f"{what} {name}"
    for what, names in (
        ("solver", SOLVERS), ("joint", KINDS), ("task", TASKS), ("reduction", ("coupling",)),
    )
    for name in names
)  # fmt: skip


def needs(skeleton: Skeleton, stages: Sequence[Stage], solver: str, options: Options) -> set[str]:
    """The solver, the kinds of joints and tasks, the reductions of coordinates and the options that take part."""
    found = {f"solver {solver}", *(f"joint {kind}" for kind in skeleton.kinds)}
    for stage in stages:
        found |= {f"task {kind.name}" for kind in stage.tasks.kinds}
        found |= {f"joint {kind}" for kind in stage.space.block_shapes()[0]}
        if stage.space.unknowns is not None:
            found.add(f"reduction {stage.space.unknowns.name}")
    if options.restarts > 0 and options.restart_seconds is not None:
        found.add("option restart_seconds")  # needs a clock
    return found
