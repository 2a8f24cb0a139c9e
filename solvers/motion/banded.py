# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear systems in which each frame's unknowns meet those of two frames before and after: block Cholesky in a band.

`H = L L^T` has the band of `H`, so that time and memory grow with the number of frames (Golub & Van Loan, *Matrix
Computations*, 4.3 and 4.5.2).
"""

import numpy as np

from ..compiled.clip import BandMemory, solve_band


def solve(
    diagonal: np.ndarray, first: np.ndarray, second: np.ndarray, right: np.ndarray, memory: BandMemory | None = None
) -> np.ndarray:
    """`H^-1 right` (F, n) for a symmetric positive definite `H` in a band of blocks.

    diagonal : (F, n, n) blocks (f, f). first : (F - 1, n, n) blocks (f + 1, f). second : (F - 2, n, n), (f + 2, f).
    memory : of several solves one after the other.

    Raises `numpy.linalg.LinAlgError` if `H` is not positive definite.
    """
    compiled = solve_band(diagonal, first, second, right, memory or BandMemory())
    return solve_with_numpy(diagonal, first, second, right) if compiled is None else compiled


def solve_with_numpy(diagonal: np.ndarray, first: np.ndarray, second: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`solve` without the kernel."""
    frames, n = right.shape
    one, two, inverse = (np.zeros((frames, n, n)) for _ in range(3))  # blocks of L below, and inverses on, the diagonal
    y = np.zeros((frames, n))
    for f in range(frames):
        block: np.ndarray = diagonal[f].copy()
        rest = right[f].copy()
        if f > 0:
            block -= one[f - 1] @ one[f - 1].T
            rest -= one[f - 1] @ y[f - 1]
        if f > 1:
            block -= two[f - 2] @ two[f - 2].T
            rest -= two[f - 2] @ y[f - 2]
        inverse[f] = np.linalg.inv(np.linalg.cholesky(block))
        y[f] = inverse[f] @ rest
        if f + 1 < frames:
            below = first[f] - two[f - 1] @ one[f - 1].T if f > 0 else first[f]
            one[f] = below @ inverse[f].T
        if f + 2 < frames:
            two[f] = second[f] @ inverse[f].T
    x = y  # overwritten from the last frame to the first
    for f in range(frames - 1, -1, -1):
        rest = y[f]
        if f + 1 < frames:
            rest = rest - one[f].T @ x[f + 1]
        if f + 2 < frames:
            rest = rest - two[f].T @ x[f + 2]
        x[f] = inverse[f].T @ rest
    return x
