# SPDX-License-Identifier: GPL-3.0-or-later
"""Steepest descent inside the limits: the Jacobian's transpose, with the best length for the linear model.

d = alpha J^T e,   alpha = <e, J J^T e> / <J J^T e, J J^T e>
"""

from functools import partial

import numpy as np

from .active_set import limited
from .linear_step import dot, weighted_step


def scaled_transpose(matrix: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`alpha A^T e` (F, n) of (F, m, n), (F, m), and the error that it removes (F, m)."""
    down = (error[:, None, :] @ matrix)[:, 0]
    moved = (matrix @ down[..., None])[..., 0]
    square = dot(moved, moved)
    alpha = (dot(error, moved) / np.where(square > 0.0, square, 1.0))[:, None]
    return alpha * down, alpha * moved


def _once(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    del damping
    return scaled_transpose(matrix, error)[0]


step = limited(partial(weighted_step, _once), release=False)
"""The step (F, n) of one iteration, inside the limits."""
