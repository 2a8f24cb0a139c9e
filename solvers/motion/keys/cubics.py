# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubics from key to key, as F-curves have them, and how far they are from a dense motion."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import numpy as np

_RIDGE = 1e-6  # holds slopes that few samples leave open to the chord's
_LEAST = 1e-30  # where there are no samples between two keys


class Keys(NamedTuple):
    """K keys: the samples (K,) they are on, their values (K, C), and the slopes (K, 2, C) before and after them.

    kept : (K, C) the channels that have a key there. What the others have there is where their cubics pass.
    """

    samples: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    kept: np.ndarray

    def shown(self, times: np.ndarray) -> np.ndarray:
        """The values (F, C) of the cubics at the times (F,) of all samples."""
        if self.kept.all():
            return self._shown(times, slice(None))
        return np.concatenate([self._shown(times, slice(c, c + 1)) for c in range(self.kept.shape[1])], 1)

    def _shown(self, times: np.ndarray, channels: slice) -> np.ndarray:
        """The values of channels that have the same keys."""
        rows = np.flatnonzero(self.kept[:, channels].all(1))
        if len(rows) < 2:
            return np.repeat(self.values[:1, channels], len(times), 0)
        span, cubics = between(times, self.samples[rows])
        first, last = rows[span], rows[span + 1]
        values, slopes = self.values[:, channels].T, self.slopes[..., channels].T
        return cubics.through(values[:, first], values[:, last], slopes[:, 1, first], slopes[:, 0, last]).T

    @classmethod
    def joined(cls, begins: Sequence[int], every: Sequence["Keys"]) -> "Keys":
        """Keys one after the other, each with the sample at which it begins: where they meet there is one key."""
        parts = [keys._replace(samples=keys.samples + begin) for begin, keys in zip(begins, every, strict=True)]
        columns = zip(*parts, strict=True)
        whole = cls(*(np.concatenate([first, *(other[1:] for other in others)]) for first, *others in columns))
        for meet, keys in zip(accumulate(len(one.samples) - 1 for one in parts), parts[1:], strict=False):
            whole.slopes[meet, 1] = keys.slopes[0, 1]
        return whole


@dataclass
class Part:
    """A bone, or another thing with C channels, over F samples.

    values : (F, C), the motion. effects : (C, F, R, 3), what a unit of each channel does to R of the vectors that are
    bounded, as a share of what is allowed. vectors : (R,), which these are. must : samples that get a key in all
    channels if they can have one. likely : samples at which people look for a key. limb : parts with one number have
    all their keys on the same samples; None if each channel has its own.
    """

    values: np.ndarray
    effects: np.ndarray
    vectors: np.ndarray
    must: Collection[int] = field(default_factory=tuple)
    likely: Collection[int] = field(default_factory=tuple)
    limb: int | None = None

    def off(self, shown: np.ndarray) -> np.ndarray:
        """The errors (F, R, 3) of the vectors with values `shown` (F, C)."""
        return np.einsum("fc,cfrx->frx", shown - self.values, self.effects)


class Cubics:
    """Cubics (..., n) at shares `s` (..., n) of their spans [time] from 0 to 1.

    Attributes
    ----------
    span : as given. rise : what the change of the value counts. before, after : what the slopes at the begin and at the
    end count.
    """

    def __init__(self, s: np.ndarray, span: np.ndarray) -> None:
        self.span, rest = span, 1.0 - s
        self.rise = s * s * (3.0 - 2.0 * s)
        self.before, self.after = span * s * rest * rest, -span * s * s * rest

    def through(self, first: np.ndarray, last: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The values with those `first` and `last`, and with the slopes at the `begin` and at the `end`."""
        return first + (last - first) * self.rise + begin * self.before + end * self.after

    def normal(self, total: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The normal equations of both slopes: how much (...) of each and of both, drawn a little toward the chord's.

        total : sums over the times of a cubic.
        """
        begin, end = total(self.before * self.before), total(self.after * self.after)
        ridge = _RIDGE * (begin + end) + _LEAST
        return begin + ridge, end + ridge, total(self.before * self.after)

    def slopes(self, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slopes (...) of least squares for what is left (..., n) with those of the chord."""
        begin, end, both = self.normal(lambda values: values.sum(-1))
        pulls = (self.before * rest).sum(-1), (self.after * rest).sum(-1)
        size = begin * end - both * both
        return (end * pulls[0] - both * pulls[1]) / size, (begin * pulls[1] - both * pulls[0]) / size


def between(times: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, Cubics]:
    """The cubics (F,) at times (F,) between keys on samples (K,), from the first to the last; and which these are."""
    span = np.searchsorted(samples, np.arange(len(times)), side="right").clip(1, len(samples) - 1) - 1
    begin, end = times[samples[span]], times[samples[span + 1]]
    return span, Cubics((times - begin) / (end - begin), end - begin)
