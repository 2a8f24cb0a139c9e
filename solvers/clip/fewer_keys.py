# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a dense motion: cubics from key to key that stay within a bound of it at all samples.

From each key the longest cubic that stays within the bound goes to the next. Its end and its slopes are those of least
squares, since with the motion's own, which tremble, more cubics are needed. Where the motion has an extreme near the
cubic's end, the key goes there, because animators look for keys at extremes. At last the two slopes at a key become one
where the bound allows it.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

_RIDGE = 1e-6  # holds what few samples leave open to the motion's value and the chord's slope
_NEAR = 0.6  # an extreme after this share of a cubic ends it

Miss = Callable[[slice, np.ndarray], np.ndarray]
"""How far (n,) values (n, C) at a slice of samples are from the motion, as a share of what is allowed."""


class Keys(NamedTuple):
    """K keys: the samples (K,) they are on, their values (K, C), and the slopes (K, 2, C) before and after them."""

    samples: np.ndarray
    values: np.ndarray
    slopes: np.ndarray


def few_keys(times: np.ndarray, values: np.ndarray, miss: Miss, step: int = 1, must: Collection[int] = ()) -> Keys:
    """Keys whose cubics are within the bound on all samples.

    Parameters
    ----------
    times : (F,) increasing. values : (F, C). miss : at most 1 is within the bound. step : keys lie on every `step`th
    sample. must : samples that get a key if they can have one.
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
    if not slopes:
        return Keys(np.zeros(1, dtype=int), values[:1], np.zeros((1, 2, values.shape[1])))
    before, after = [slopes[0][0], *(own[1] for own in slopes)], [*(own[0] for own in slopes), slopes[-1][1]]
    keys = Keys(np.array(at) * step, np.array(points), np.stack([before, after], 1))
    _smooth(motion, keys)
    return keys


class _Motion(NamedTuple):
    """What cubics are compared with; a cubic is its value at the end and its two slopes, (3, C)."""

    times: np.ndarray
    values: np.ndarray
    miss: Miss

    def basis(self, begin: int, end: int) -> np.ndarray:
        """What (n, 4) the two values and the two slopes of a cubic between two samples count for at its samples."""
        span = self.times[end] - self.times[begin]
        s = (self.times[begin : end + 1] - self.times[begin]) / span
        rise = s * s * (3.0 - 2.0 * s)
        return np.stack([1.0 - rise, rise, span * s * (1.0 - s) ** 2, span * s * s * (s - 1.0)], -1)

    def fitted(self, begin: int, end: int, start: np.ndarray) -> np.ndarray:
        """The cubic of least squares between two samples that begins with the value `start` (C,)."""
        chord = (self.values[end] - start) / (self.times[end] - self.times[begin])
        usual, basis = np.stack([self.values[end], chord, chord]), self.basis(begin, end)
        rest = self.values[begin : end + 1] - basis[:, :1] * start - basis[:, 1:] @ usual
        normal = basis[:, 1:].T @ basis[:, 1:]
        held = _RIDGE * np.diag(np.diag(normal) + np.trace(normal))
        return usual + np.linalg.solve(normal + held, basis[:, 1:].T @ rest)

    def worst(self, begin: int, end: int, start: np.ndarray, cubic: np.ndarray) -> float:
        """The largest miss of a cubic that begins with the value `start` (C,)."""
        return float(self.miss(slice(begin, end + 1), self.basis(begin, end) @ np.vstack([start, cubic])).max())


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


def _smooth(motion: _Motion, keys: Keys) -> None:
    """Make the slopes before and after a key one wherever the bound allows it."""
    samples, values, slopes = keys
    for key in range(1, len(samples) - 1):
        one = slopes[key].mean(0)
        before = np.stack([values[key], slopes[key - 1, 1], one])
        after = np.stack([values[key + 1], one, slopes[key + 1, 0]])
        if max(motion.worst(samples[key - 1], samples[key], values[key - 1], before),
               motion.worst(samples[key], samples[key + 1], values[key], after)) <= 1.0:  # fmt: skip
            slopes[key] = one
