# SPDX-License-Identifier: GPL-3.0-or-later
"""One-sided rows: a row whose error counts only above 0 takes part in a step only where the step would break it.

    minimise  1/2 |e - J d|^2 over the two-sided rows + 1/2 |max(e - J d, 0)|^2 over the one-sided ones

An active set around the solver's own step: rows that are broken at the point count, and those that the step would break
are added until there are no more. A row never leaves the set within a step, because a solver without damping meets it
up to rounding, and would have it come and go; the next step begins afresh.
"""

from dataclasses import replace

import numpy as np

from ..space.joint_space import JointSpace
from ..space.tasks import Tasks
from .linear_step import Inner, LinearSystem

ROUNDS = 4


def is_plain(space: JointSpace, tasks: Tasks) -> bool:
    """Whether `step_inside` is the solver's own step: no coordinates are coupled, and no rows are one-sided."""
    return space.unknowns is None and tasks.one_sided is None


def step_inside(space: JointSpace, system: LinearSystem, inner: Inner) -> np.ndarray:
    """The step (F, n) of a solver `inner` in a space: over the unknowns alone where coordinates are coupled.

    `system.error` has the room of one-sided rows below 0.
    """
    unknowns, sided = space.unknowns, system.one_sided
    if unknowns is not None:
        system = system.reduced(unknowns)
    active = system.error[:, sided] > 0.0 if sided is not None else np.zeros(0, dtype=bool)
    d = inner(system) if sided is None else np.zeros_like(system.x)
    for _ in range(ROUNDS if sided is not None else 0):
        mask = np.ones(system.error.shape)
        mask[:, sided] = active
        d = inner(replace(
            system, jacobian=system.jacobian * mask[..., None], error=system.error * mask, one_sided=None
        ))  # fmt: skip
        left = system.error[:, sided] - (system.jacobian[:, sided] @ d[..., None])[..., 0]
        more = (left > 0.0) & ~active
        if not more.any():
            break
        active |= more
    return d if unknowns is None else unknowns.expand(d)
