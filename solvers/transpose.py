# SPDX-License-Identifier: GPL-3.0-or-later
"""TRANSPOSE: the Jacobian's transpose instead of its inverse.

    d = alpha J^T e,   alpha = <e, J J^T e> / <J J^T e, J J^T e>

(Soch & Lorencz 1.3; Parent; Wolovich & Elliott 1984.) The direction of steepest descent with the length that would be
best if the model were exact. Nothing is inverted, so nothing blows up and a step is cheap, but there are many of them.
"""

from functools import partial

import numpy as np

from .linear_step import LinearSystem, dot, weighted_step, within_limits


def step(system: LinearSystem) -> np.ndarray:
    """The step (F, n) of one iteration, inside the limits."""
    return within_limits(system, partial(weighted_step, system, scaled_transpose))


def scaled_transpose(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """`alpha A^T e`: (F, n) of (F, m, n), (F, m)."""
    del damping
    down = (error[:, None, :] @ matrix)[:, 0]
    moved = (matrix @ down[..., None])[..., 0]
    square = dot(moved, moved)
    alpha = dot(error, moved) / np.where(square > 0.0, square, 1.0)
    return alpha[:, None] * down
