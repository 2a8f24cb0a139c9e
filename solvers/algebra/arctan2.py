# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a sine and a cosine, the same wherever they lie in memory.

NumPy 1.26 takes another, differently rounded `arctan2` where the memory that an argument spans touches that of the
result, on processors with AVX-512. One column of an array spans more than the array, so it may touch what lies behind.
"""

import numpy as np


def arctan2(sine: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """`np.arctan2` of two arrays of one shape, in radians."""
    return np.arctan2(np.ascontiguousarray(sine), np.ascontiguousarray(cosine)).reshape(np.shape(sine))
