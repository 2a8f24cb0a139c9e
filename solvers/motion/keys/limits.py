# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits within which keys are fitted become smaller where the motion is seen beyond its bounds all the same.

shares : (H, V) how far V of the vectors are seen off at the times, as a share of what is allowed. expected : (H, V) how
far the keys should have led them. limits : (H, V) or wider, changed in place.
"""

import numpy as np

_LESS = 0.9  # of what would just do
_LEAST = 0.02  # the smallest limit
_FEW, _MOST = 0.4, 0.9  # smaller errors, and the times at which errors are largest, do not count for what is usual


def calibrate(limits: np.ndarray, shares: np.ndarray, expected: np.ndarray) -> bool:
    """Lower the limits of vectors that are often further off than expected; whether there are any."""
    ratios = np.quantile(shares / np.maximum(expected, _FEW), _MOST, axis=0)
    is_off = (shares.max(0) > 1.0) & (ratios > 1.0)
    limits[:, : shares.shape[1]] /= np.where(is_off, ratios, 1.0)
    return bool(is_off.any())


def tighten(limits: np.ndarray, shares: np.ndarray, expected: np.ndarray) -> None:
    """Lower the limits where vectors are beyond the bounds, or are at the time before or after."""
    limits = limits[:, : shares.shape[1]]
    padded = np.pad(shares, ((1, 1), (0, 0)))
    around = np.max([padded[:-2], shares, padded[2:]], axis=0)
    new = np.minimum(np.maximum(_LESS * expected / np.maximum(around, 1.0), _LEAST), limits)
    limits[around > 1.0] = new[around > 1.0]
