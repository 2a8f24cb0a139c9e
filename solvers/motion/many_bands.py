# SPDX-License-Identifier: GPL-3.0-or-later
"""Many symmetric positive definite systems at once, each of F unknowns and with three numbers beside its diagonal.

`H = U^T D U`, and `Z`, the band of `H^-1`, follows from `U` and `D` alone, from the last row to the first (Takahashi,
Fagan & Chin 1973; Rue & Held, *Gaussian Markov Random Fields*, 2.4). Each step is one over all S systems.
"""

import numpy as np

BESIDE = 3  # numbers beside the diagonal
_ROW, _COLUMN = np.triu_indices(BESIDE)  # of the block that a row changes behind its own
_OFF = np.abs(np.subtract.outer(np.arange(BESIDE), np.arange(BESIDE)))
_FIRST = np.minimum.outer(np.arange(BESIDE), np.arange(BESIDE)) + 1


def factors(bands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The diagonals `D` (F, S), and the rows of `U` beside its ones (3, F, S).

    bands : (4, F, S), [k, f] is the number of `H` in row f and column f + k.
    """
    frames = bands.shape[1]
    rows = _longer(bands, 1)
    for f in range(frames):
        share = rows[1:, f] / rows[0, f]
        rows[_COLUMN - _ROW, f + 1 + _ROW] -= share[_ROW] * rows[1 + _COLUMN, f]
    rows = rows[:, :frames]
    return rows[0], rows[1:] / rows[0]


def solve(diagonal: np.ndarray, beside: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`H^-1 right` (F, S, K), of `factors`."""
    frames, found = len(right), _longer(right, 0)
    for f in range(frames):
        found[f + 1 : f + 1 + BESIDE] -= beside[:, f, :, None] * found[f]
    found = _longer(found[:frames] / diagonal[..., None], 0)
    for f in range(frames - 1, -1, -1):
        found[f] -= (beside[:, f, :, None] * found[f + 1 : f + 1 + BESIDE]).sum(0)
    return found[:frames]


def inverse_bands(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """The numbers (4, F, S) of `H^-1` on its diagonal and beside it, of `factors`, as `bands` there."""
    frames, found = len(diagonal), np.zeros((BESIDE + 1, len(diagonal) + BESIDE, diagonal.shape[1]))
    for f in range(frames - 1, -1, -1):
        found[1:, f] = -(found[_OFF, f + _FIRST] * beside[:, f]).sum(1)
        found[0, f] = 1.0 / diagonal[f] - (beside[:, f] * found[1:, f]).sum(0)
    return found[:, :frames]


def _longer(values: np.ndarray, axis: int) -> np.ndarray:
    """A copy with room behind the last row."""
    return np.pad(values, [(0, BESIDE * (one == axis)) for one in range(values.ndim)])
