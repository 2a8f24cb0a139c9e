# SPDX-License-Identifier: GPL-3.0-or-later
"""TRANSPOSE: the Jacobian's transpose instead of its inverse.

    d = alpha J^T e,   alpha = <e, J J^T e> / <J J^T e, J J^T e>

(Soch & Lorencz 1.3; Parent; Wolovich & Elliott 1984.) The direction is that of steepest descent, the length the best
one for the linear model. Nothing is inverted and a step is cheap, but many are needed: with one step per iteration, 200
iterations bring five fingers to their goals in less than half of a motion's frames. So an iteration makes `REPEATS`
steps with one Jacobian, each on the error that the one before left. Directions in which the effectors move easily
converge first.
"""

from functools import partial

import numpy as np

from ..iterate.active_set import limited
from ..iterate.descent import shortened
from ..iterate.linear_step import weighted_step
from ..iterate.steepest import scaled_transpose
from ..methods.table import Method

REPEATS = 20


def repeated(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The sum of `REPEATS` steps of the transpose: (F, n) of (F, m, n), (F, m)."""
    del damping
    total = np.zeros((len(matrix), matrix.shape[-1]))
    for _ in range(REPEATS):
        step, moved = scaled_transpose(matrix, error)
        total, error = total + step, error - moved
    return total


step = limited(partial(weighted_step, repeated), release=False)
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(shortened(step))
