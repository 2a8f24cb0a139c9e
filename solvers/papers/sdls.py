# SPDX-License-Identifier: GPL-3.0-or-later
"""SDLS: selectively damped least squares, which limits every singular vector by itself.

    d = clamp( sum_i clamp( v_i u_i^T e / sigma_i, gamma_i ), gamma_max ),   gamma_i = gamma_max min(1, N_i / M_i)

(Buss & Kim 2005, "Selectively damped least squares for inverse kinematics"; Kenwright's reference 15.) `N_i` is how far
the effectors move along `u_i`, `M_i` the sum of the movements that the joints' turns would give them one by one. Only
where joints must turn much to move the effectors little is the turn limited. There is no damping to choose.

`N` and `M` are sums over the effectors' positions; here a rotation counts as one more effector, with its weighted rows.
"""

from functools import partial

import numpy as np

from ..iterate.active_set import limited
from ..iterate.descent import shortened
from ..iterate.linear_step import weighted_step
from ..methods.table import Method

GAMMA_MAX = 0.25 * np.pi  # [rad] Buss & Kim's choice


def inverse(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The selectively damped inverse times an error: (F, n) of (F, m, n), (F, m)."""
    del damping
    u, sigma, v = np.linalg.svd(matrix, full_matrices=False)
    along = (error[:, None, :] @ u)[:, 0]
    significant = sigma > 1e-12 * np.maximum(sigma[:, :1], 1e-300)
    inverted = np.where(significant, 1.0 / np.where(significant, sigma, 1.0), 0.0)
    moved = lengths(u).sum(-2)  # N (F, r)
    swept = inverted * (np.abs(v) @ lengths(matrix).sum(-2)[..., None])[..., 0]  # M (F, r)
    gamma = GAMMA_MAX * np.minimum(1.0, moved / np.maximum(swept, 1e-300))
    turns = clamp((inverted * along)[..., None] * v, gamma[..., None])
    return clamp(turns.sum(-2), np.array(GAMMA_MAX))


def lengths(rows: np.ndarray) -> np.ndarray:
    """Lengths (F, m / 3, k) of the columns of each effector's three rows (F, m, k), independent of the world's axes.

    Poles' rows, the last ones, are taken three at a time as well.
    """
    frames, count, columns = rows.shape
    effectors = -(-count // 3)
    padded = np.zeros((frames, 3 * effectors, columns))
    padded[:, :count] = rows
    return np.sqrt((padded.reshape(frames, effectors, 3, columns) ** 2).sum(-2))


def clamp(step: np.ndarray, most: np.ndarray) -> np.ndarray:
    """`step` (..., n), scaled so that no component is larger than `most`."""
    longest = np.abs(step).max(-1, keepdims=True, initial=0.0)
    return step * np.minimum(1.0, most / np.maximum(longest, 1e-300))


step = limited(partial(weighted_step, inverse))
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(shortened(step), step=step)
