# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a dense motion of many parts: cubics from key to key that stay within bounds at all samples.

What is bounded are vectors, such as the turn of a joint or the way of a hand. A part changes one or several: all bones
from the hips to a hand lead it. What a part does to them is taken as linear in its channels. The parts get keys one
after the other, each as far as the errors of those before it allow. From each key the longest cubic that stays within
the bounds goes to the next; its end and its slopes are those of least squares, since with the motion's own, which
tremble, more cubics are needed. Where the motion has an extreme near the cubic's end, the key goes there, because
animators look for keys at extremes. At last all parts together lose the keys that they do not need (`spare_keys`). The
first and the last key have the motion's own values, so that what comes before and after goes on from there.
"""

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .cubics import Keys, Part, basis, least_squares
from .spare_keys import take_spare_keys

_NEAR = 0.6  # an extreme after this share of a cubic ends it
_FIRST = 0.9  # of the bounds, for the keys of which spare ones are taken


def few_keys(times: np.ndarray, parts: Sequence[Part], step: int = 1) -> list[Keys]:
    """Keys of each part, whose cubics are within the bounds on all samples.

    times : (F,), increasing. step : keys lie on every `step`th sample.
    """
    steps = fit_keys(times, parts, np.ones((len(times), _count(parts))), step)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def fit_keys(
    times: np.ndarray, parts: Sequence[Part], limits: np.ndarray, step: int = 1
) -> Generator[float, None, list[Keys]]:  # fmt: skip
    """As `few_keys`; yields the progress from 0 to 1. limits : (F, V) of the vectors."""
    errors, keys = np.zeros((*limits.shape, 3)), list[Keys]()
    acting, done = np.zeros(limits.shape[1]), np.zeros(limits.shape[1])
    for part in parts:
        acting[part.vectors] += 1.0
    for number, part in enumerate(parts):
        done[part.vectors] += 1.0
        allowed = _FIRST * limits[:, part.vectors] * np.sqrt(done[part.vectors] / acting[part.vectors])
        own = _longest_cubics(_Motion(times, part, errors[:, part.vectors], allowed), step)
        errors[:, part.vectors] += part.off(own.shown(times))
        keys.append(own)
        yield 0.5 * (number + 1) / len(parts)
    everywhere = np.ones(len(times), dtype=bool)
    for share in take_spare_keys(times, parts, keys, errors, limits, dict.fromkeys(range(len(parts)), everywhere)):
        yield 0.5 + 0.5 * share
    return keys


def refit_keys(
    times: np.ndarray, parts: Sequence[Part], keys: Sequence[Keys], limits: np.ndarray, where: dict[int, np.ndarray],
    step: int = 1, takes: bool = True,
) -> Generator[float, None, list[Keys]]:  # fmt: skip
    """Keys of which some parts get new ones at some samples (F,), by their numbers; yields the progress from 0 to 1.

    limits : (F, V), which are lower there than they were. takes : whether spare keys are taken; if not, all samples
    there that can have keys have them.
    """
    found = [_with_dense(times, part, own, where[number], step) if number in where else own
             for number, (part, own) in enumerate(zip(parts, keys, strict=True))]  # fmt: skip
    if takes:
        errors = total_errors(times, parts, found, limits.shape[1])
        yield from take_spare_keys(times, parts, found, errors, limits, where)
    return found


def total_errors(times: np.ndarray, parts: Sequence[Part], keys: Sequence[Keys], count: int) -> np.ndarray:
    """The errors (F, `count`, 3) of the vectors with the keys of all parts."""
    errors = np.zeros((len(times), count, 3))
    for part, own in zip(parts, keys, strict=True):
        errors[:, part.vectors] += part.off(own.shown(times))
    return errors


def _with_dense(times: np.ndarray, part: Part, keys: Keys, at: np.ndarray, step: int) -> Keys:
    """Keys with one of the motion's own on each sample that can have it `at` some (F,)."""
    new = np.flatnonzero(at)
    new = new[new % step == 0]
    samples = np.union1d(keys.samples, new)
    old, fresh, shape = np.searchsorted(samples, keys.samples), np.searchsorted(samples, new), part.values.shape[1]
    values, slopes = np.zeros((len(samples), shape)), np.zeros((len(samples), 2, shape))
    kept = np.zeros(values.shape, dtype=bool)
    values[old], slopes[old], kept[old] = keys.values, keys.slopes, keys.kept
    values[fresh], kept[fresh] = part.values[new], True
    is_new = np.isin(samples, new)
    for channel in range(shape):
        for first, last in pairwise(np.flatnonzero(kept[:, channel]).tolist()):
            if is_new[first] or is_new[last]:
                begin, end, ends = int(samples[first]), int(samples[last]), values[[first, last], channel]
                rows, chord = basis(times[begin : end + 1]), (ends[1] - ends[0]) / (times[end] - times[begin])
                rest = part.values[begin : end + 1, channel] - rows @ np.array([*ends, chord, chord])
                slopes[[first, last], [1, 0], channel] = chord + least_squares(rows[:, 2:]) @ rest
    slopes[0, 0], slopes[-1, 1] = slopes[0, 1], slopes[-1, 0]
    return Keys(samples, values, slopes, kept)


def _count(parts: Sequence[Part]) -> int:
    """The number of vectors."""
    return 1 + max(int(part.vectors.max(initial=-1)) for part in parts)


class _Motion(NamedTuple):
    """A motion that cubics are compared with; a cubic is its value at the end and its two slopes, (3, C).

    errors : (F, R, 3) that others make. allowed : (F, R).
    """

    times: np.ndarray
    part: Part
    errors: np.ndarray
    allowed: np.ndarray

    def fitted(self, begin: int, end: int, start: np.ndarray) -> np.ndarray:
        """The cubic of least squares between two samples that begins with the value `start` (C,).

        On the last sample it ends with the motion's own value.
        """
        values = self.part.values
        chord = (values[end] - start) / (self.times[end] - self.times[begin])
        usual, rows = np.stack([values[end], chord, chord]), basis(self.times[begin : end + 1])
        rest = values[begin : end + 1] - rows[:, :1] * start - rows[:, 1:] @ usual
        free = 1 if end == len(values) - 1 else 0  # what least squares find of it
        usual[free:] += least_squares(rows[:, 1 + free :]) @ rest
        return usual

    def allows(self, begin: int, end: int, start: np.ndarray, cubic: np.ndarray) -> bool:
        """Whether a cubic that begins with the value `start` (C,) is within the bounds."""
        at = slice(begin, end + 1)
        shown = basis(self.times[at]) @ np.vstack([start, cubic])
        off = self.errors[at] + self.part.off(shown, at)
        return bool(((off * off).sum(-1) <= self.allowed[at] ** 2).all())


def _longest_cubics(motion: _Motion, step: int) -> Keys:
    """Keys of all channels, on the samples that the longest cubics reach."""
    part, last = motion.part, (len(motion.times) - 1) // step
    stops = sorted({one // step for one in part.must if one % step == 0 and 0 < one // step < last} | {last})
    turning = _extremes(part.values[::step])
    at, points, slopes = [0], [part.values[0]], list[np.ndarray]()
    while at[-1] < last:
        stop = next(one for one in stops if one > at[-1])
        end, cubic = _longest(motion, step, at[-1], stop, points[-1])
        if end < stop:
            for extreme in turning[(turning > at[-1] + _NEAR * (end - at[-1])) & (turning < end)][::-1].tolist():
                own = motion.fitted(at[-1] * step, extreme * step, points[-1])
                if motion.allows(at[-1] * step, extreme * step, points[-1], own):
                    end, cubic = extreme, own
                    break
        at.append(end)
        points.append(cubic[0])
        slopes.append(cubic[1:])
    every = np.ones((len(at), part.values.shape[1]), dtype=bool)
    if not slopes:
        return Keys(np.zeros(1, dtype=int), part.values[:1], np.zeros((1, 2, part.values.shape[1])), every)
    before, after = [slopes[0][0], *(own[1] for own in slopes)], [*(own[0] for own in slopes), slopes[-1][1]]
    return Keys(np.array(at) * step, np.array(points), np.stack([before, after], 1), every)


def _longest(motion: _Motion, step: int, begin: int, stop: int, start: np.ndarray) -> tuple[int, np.ndarray]:
    """The furthest key that a cubic from `begin` reaches within the bounds, and the cubic; at least the next key."""
    good, bad, length = begin + 1, stop + 1, 2
    best = motion.fitted(begin * step, good * step, start)
    while bad - good > 1:
        end = min(begin + length, stop) if bad > stop else (good + bad) // 2
        cubic = motion.fitted(begin * step, end * step, start)
        if motion.allows(begin * step, end * step, start, cubic):
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
