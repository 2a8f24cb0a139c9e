# SPDX-License-Identifier: GPL-3.0-or-later
"""Key reduction: a piecewise cubic through some of the baked frames. NumPy only."""

import numpy as np


def reduce_keys(frames: np.ndarray, values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the frames (K,) to key, and the channels' slopes (K, C) there.

    The segments are cubic Hermite curves with the slopes of the baked motion. A segment that misses a baked value by
    more than the tolerance is split where it misses most. All channels of a bone are keyed on the same frames.

    Parameters
    ----------
    frames : (N,) increasing. values : (N, C). tolerance : in the channels' unit, met at every baked frame.
    """
    slopes = np.gradient(values, frames, axis=0) if len(frames) > 1 else np.zeros_like(values)
    keys, segments = {0, len(frames) - 1}, [(0, len(frames) - 1)]
    while segments:
        first, last = segments.pop()
        if last - first < 2:
            continue
        miss = np.abs(_hermite(frames, values, slopes, first, last) - values[first : last + 1]).max(-1)
        worst = int(np.argmax(miss))
        if miss[worst] > tolerance:
            keys.add(first + worst)
            segments += [(first, first + worst), (first + worst, last)]
    indices = np.array(sorted(keys))
    return indices, slopes[indices]


def _hermite(frames: np.ndarray, values: np.ndarray, slopes: np.ndarray, first: int, last: int) -> np.ndarray:
    """The cubic between two keys at their frames and all between, (last - first + 1, C)."""
    span = frames[last] - frames[first]
    t = ((frames[first : last + 1] - frames[first]) / span)[:, None]
    return (
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * values[first]
        + t * (1.0 - t) ** 2 * span * slopes[first]
        + t * t * (3.0 - 2.0 * t) * values[last]
        + t * t * (t - 1.0) * span * slopes[last]
    )
