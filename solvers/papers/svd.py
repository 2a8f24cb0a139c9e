# SPDX-License-Identifier: GPL-3.0-or-later
"""SVD: damped singular values, with a constant damping.

    d = sum_i sigma_i / (sigma_i^2 + k^2) v_i u_i^T e,   J = sum_i sigma_i u_i v_i^T

(Amino, differential kinematics; he prints the numerator squared, a misprint: without damping that would not be the
inverse.) The same step as DLS with `lambda = k`, singular value by singular value: directions in which the effectors
move easily, `sigma >> k`, are inverted, and those in which they hardly move, `sigma << k`, get almost no step.
"""

from functools import partial

import numpy as np

from ..iterate.active_set import limited
from ..iterate.descent import shortened
from ..iterate.linear_step import weighted_step
from ..methods.table import Method

DAMPING = 1e-3  # k^2, of squared singular values that are about 1 for an arm as long as its skeleton


def inverse(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The damped inverse times an error: (F, n) of (F, m, n), (F, m) and `k^2` (F,), `DAMPING` where that is 0."""
    u, sigma, v = np.linalg.svd(matrix, full_matrices=False)
    factor = sigma / (sigma * sigma + np.where(damping > 0.0, damping, DAMPING)[:, None])
    along = (error[:, None, :] @ u)[:, 0]
    return ((factor * along)[:, None, :] @ v)[:, 0]


step = limited(partial(weighted_step, inverse))
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(shortened(step), step=step)
