# SPDX-License-Identifier: GPL-3.0-or-later
"""TSVD: the pseudo-inverse without its small singular values.

    d = sum over sigma_i >= epsilon of 1 / sigma_i v_i u_i^T e,   J = sum_i sigma_i u_i v_i^T

(Amino, differential kinematics.) Directions in which the effectors can hardly move are left out, and the rest is solved
without damping: the step is bounded at a straight chain, but it jumps where a singular value crosses epsilon.
"""

from functools import partial

import numpy as np

from ..iterate.active_set import limited
from ..iterate.descent import shortened
from ..iterate.linear_step import weighted_step
from ..methods.table import Method

EPSILON = 0.003  # of singular values that are about 1 for an arm as long as its skeleton


def inverse(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The truncated inverse times an error: (F, n) of (F, m, n), (F, m); epsilon is the root of `damping` if above 0.

    The largest singular value is always kept, so that a step exists wherever the effectors can move.
    """
    u, sigma, v = np.linalg.svd(matrix, full_matrices=False)
    epsilon = np.where(damping > 0.0, np.sqrt(damping), EPSILON)[:, None]
    significant = (sigma >= np.minimum(epsilon, sigma[:, :1])) & (sigma > 0.0)
    along = (error[:, None, :] @ u)[:, 0]
    return (np.where(significant, along / np.where(significant, sigma, 1.0), 0.0)[:, None, :] @ v)[:, 0]


step = limited(partial(weighted_step, inverse))
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(shortened(step), step=step)
