# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows times a matrix, each row as if it were alone.

BLAS multiplies several rows together, and on some processors rounds a row by its place among the others. A frame's
answer would then depend on how many frames are solved with it.
"""

import numpy as np


def by_row(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """`rows @ matrix` of (..., n) and (n, m) or a stack of such matrices (..., n, m)."""
    return (rows[..., None, :] @ matrix)[..., 0, :]
