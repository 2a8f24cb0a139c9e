# SPDX-License-Identifier: GPL-3.0-or-later
"""GAUSS_SEIDEL: plain projected Gauss-Seidel sweeps, Kenwright's algorithm 1.

    (J^T J + delta I) d = J^T e

(Kenwright VII, eq. 28-31.) Each iteration makes a fixed number of sweeps from no step at all. A sweep visits the joints
one after the other and projects each on its limits as it is updated. `delta` is fixed and there is no subspace
minimisation; both are what PGS adds. The metric is the joints' reluctance instead of `I`, as in the other solvers, and
the pull adds its own curvature to `delta`. Sweeps converge slowly, so the step is often far from the minimum of its
problem, above all along the goals' null space: a pull brings the pose nearer to its base pose, but not all the way. A
step that would raise the cost is shortened.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import shortened
from ..iterate.linear_step import LinearSystem
from ..methods.pgs import block_inverses, sweeps
from ..methods.table import Method

DELTA = 1e-4  # Kenwright's, of squared singular values that are about 1 for an arm as long as its skeleton
SWEEPS = 10


def step(system: LinearSystem) -> np.ndarray:
    """The step (F, n) of one iteration, inside the limits; `delta` is the system's damping if that is above 0."""
    delta = np.where(system.damping > 0.0, system.damping, DELTA) + system.pull
    fixed = replace(system, damping=delta)
    return sweeps(fixed, np.zeros_like(system.x), block_inverses(fixed), SWEEPS)


METHOD = Method(shortened(step))
