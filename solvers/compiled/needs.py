# SPDX-License-Identifier: GPL-3.0-or-later
"""What a prepared solve needs of the code that solves it, by the names that `contract.SUPPORTED` has."""

from collections.abc import Sequence

from ..group.stage import Stage
from ..model.options import Options
from ..model.skeleton import Skeleton


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
