# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a dense motion: cubics from key to key that stay within a bound of it at all samples.

From each key the longest cubic that stays within the bound goes to the next. Its end and its slopes are those of least
squares, since with the motion's own, which tremble, more cubics are needed. Where the motion has an extreme near the
cubic's end, the key goes there, because animators look for keys at extremes. At last each channel loses the keys that
it does not need, and the two slopes at a key become one where the bound allows it.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from .cubics import Keys, Miss, basis, least_squares
from .spare_keys import without_spare_keys

_NEAR = 0.6  # an extreme after this share of a cubic ends it


def few_keys(
    times: np.ndarray, values: np.ndarray, miss: Miss, step: int = 1, must: Collection[int] = (), whole: bool = False
) -> Keys:  # fmt: skip
    """Keys whose cubics are within the bound on all samples.

    Parameters
    ----------
    times : (F,) increasing. values : (F, C). miss : at most 1 is within the bound. step : keys lie on every `step`th
    sample. must : samples that get a key if they can have one. whole : all channels have all keys.
    """
    motion, last = _Motion(times, values, miss), (len(times) - 1) // step
    stops = sorted({one // step for one in must if one % step == 0 and 0 < one // step < last} | {last})
    turning = _extremes(values[::step])
    at, points, slopes = [0], [values[0]], list[np.ndarray]()
    while at[-1] < last:
        stop = next(one for one in stops if one > at[-1])
        end, cubic = _longest(motion, step, at[-1], stop, points[-1])
        if end < stop:
            for extreme in turning[(turning > at[-1] + _NEAR * (end - at[-1])) & (turning < end)][::-1].tolist():
                own = motion.fitted(at[-1] * step, extreme * step, points[-1])
                if motion.worst(at[-1] * step, extreme * step, points[-1], own) <= 1.0:
                    end, cubic = extreme, own
                    break
        at.append(end)
        points.append(cubic[0])
        slopes.append(cubic[1:])
    every = np.ones((len(at), values.shape[1]), dtype=bool)
    if not slopes:
        return Keys(np.zeros(1, dtype=int), values[:1], np.zeros((1, 2, values.shape[1])), every)
    before, after = [slopes[0][0], *(own[1] for own in slopes)], [*(own[0] for own in slopes), slopes[-1][1]]
    keys = Keys(np.array(at) * step, np.array(points), np.stack([before, after], 1), every)
    return without_spare_keys(times, values, miss, keys, must, whole)


class _Motion(NamedTuple):
    """What cubics are compared with; a cubic is its value at the end and its two slopes, (3, C)."""

    times: np.ndarray
    values: np.ndarray
    miss: Miss

    def fitted(self, begin: int, end: int, start: np.ndarray) -> np.ndarray:
        """The cubic of least squares between two samples that begins with the value `start` (C,)."""
        chord = (self.values[end] - start) / (self.times[end] - self.times[begin])
        usual, rows = np.stack([self.values[end], chord, chord]), basis(self.times[begin : end + 1])
        rest = self.values[begin : end + 1] - rows[:, :1] * start - rows[:, 1:] @ usual
        return usual + least_squares(rows[:, 1:]) @ rest

    def worst(self, begin: int, end: int, start: np.ndarray, cubic: np.ndarray) -> float:
        """The largest miss of a cubic that begins with the value `start` (C,)."""
        rows = basis(self.times[begin : end + 1])
        return float(self.miss(slice(begin, end + 1), rows @ np.vstack([start, cubic])).max())


def _longest(motion: _Motion, step: int, begin: int, stop: int, start: np.ndarray) -> tuple[int, np.ndarray]:
    """The furthest key that a cubic from `begin` reaches within the bound, and the cubic; at least the next key."""
    good, bad, length = begin + 1, stop + 1, 2
    best = motion.fitted(begin * step, good * step, start)
    while bad - good > 1:
        end = min(begin + length, stop) if bad > stop else (good + bad) // 2
        cubic = motion.fitted(begin * step, end * step, start)
        if motion.worst(begin * step, end * step, start, cubic) <= 1.0:
            good, best, length = end, cubic, 2 * length
        else:
            bad = end
    return good, best


def _extremes(values: np.ndarray) -> np.ndarray:
    """Indices at which a channel of values (F, C) turns that moves at least half as far as the one that moves most."""
    if len(values) < 3:
        return np.zeros(0, dtype=int)
    before, after = np.diff(values[:-1], axis=0), np.diff(values[1:], axis=0)
    sizes = np.ptp(values, axis=0)
    return np.flatnonzero(((before * after < 0.0) & (sizes >= 0.5 * sizes.max())).any(-1)) + 1
