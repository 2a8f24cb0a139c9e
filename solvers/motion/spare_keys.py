# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that single channels of a motion can do without.

The channels of a bone do not all need a key where one of them does, and what one bone leaves of a bound another one can
use. Key by key, of all parts, the one that costs least is taken from its channel, as long as all vectors stay within
their bounds. The two keys beside the gap change with it, as least squares have it: measured by what that does to the
vectors, and with more weight where these are largest.
"""

import heapq
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from .cubics import Keys, Part, basis

_TURNS = 2.0  # a key where its channel turns is as dear as another one that costs so many times as much
_FAR = 2.0  # a square beyond so many times its limit is not worth a second try
_ROUNDS = 4  # in which keys that could not be taken are tried again, since others have been taken meanwhile
_BEAT = 64  # tries from one report of the progress to the next
_LEAST = 1e-30


class _Gap(NamedTuple):
    """A channel without a key: the cost, the samples that change, and their new values (n,).

    change : (6,), of the left key beside the gap the slope before it, the value, and the slope after it, and of the
    right one the slope before it, the value, and the slope after it; over the gap, from the chord's slope.
    """

    cost: float
    at: slice
    values: np.ndarray
    change: np.ndarray


class _Channels:
    """The cubics of a part while some of its keys are taken away."""

    def __init__(self, times: np.ndarray, part: Part, keys: Keys, errors: np.ndarray, squares: np.ndarray) -> None:
        """`errors` : (F, V, 3), of all parts, and `squares` : (F, V), of the limits; shared by the parts."""
        self.times, self.part, self.keys, self.errors = times, part, keys, errors
        self.squares = squares[:, part.vectors]
        self.values = keys.shown(times)
        self.before, self.after = np.full((2, *keys.kept.shape), -1)  # keys (K, C) of the same channel
        for channel, kept in enumerate(keys.kept.T):
            rows = np.flatnonzero(kept)
            self.before[rows[1:], channel], self.after[rows[:-1], channel] = rows[:-1], rows[1:]

    def without(self, key: int, channel: int) -> _Gap | None:
        """A channel without a key; None if a bound would not hold."""
        at, inner, start, rows = self._around(key, channel)
        effects, squares = self.part.effects[channel, at], self.squares[at]
        errors = self.errors[at][:, self.part.vectors]
        shares = np.ones(squares.shape)
        for _ in range(2):
            change = _best_change(rows, start, effects, errors, shares)
            off = start + rows @ change
            after = errors + effects * off[:, None, None]
            shares = (after * after).sum(-1) / squares
            most = shares.max()
            if most <= 1.0:
                return _Gap(float(shares[inner].max()), at, self.values[at, channel] + off, change)
            if most > _FAR:
                break
        return None

    def _around(self, key: int, channel: int) -> tuple[slice, slice, np.ndarray, np.ndarray]:
        """The samples at which the cubics around a gap change, and those of these in the gap.

        Also, how far (n,) a cubic with the chord's slopes over the gap is from the values, and what (n, 6) a change of
        the keys beside it does.
        """
        samples, left, right = self.keys.samples, int(self.before[key, channel]), int(self.after[key, channel])
        begin, end = int(samples[left]), int(samples[right])
        first = int(samples[self.before[left, channel]]) if left > 0 else begin
        last = int(samples[self.after[right, channel]]) if right < len(samples) - 1 else end
        inner, count = slice(begin - first, end - first + 1), last - first + 1
        rows, start, own = np.zeros((6, count)), np.zeros(count), basis(self.times[begin : end + 1]).T
        if left > 0:
            rows[[1, 0], : begin - first + 1] = basis(self.times[first : begin + 1]).T[[1, 3]]
        if right < len(samples) - 1:
            rows[[4, 5], end - first :] = basis(self.times[end : last + 1]).T[[0, 2]]
        rows[[1, 4, 2, 3], inner] = own
        rows[[1, 4]] *= [[left > 0], [right < len(samples) - 1]]  # the first and the last key keep their values
        values = self.keys.values[[left, right], channel]
        start[inner] = values @ own[:2] + self._chord(left, right, channel) * own[2:].sum(0)
        start[inner] -= self.values[begin : end + 1, channel]
        return slice(first, last + 1), inner, start, rows.T

    def _chord(self, left: int, right: int, channel: int) -> float:
        """The slope of the straight line from key to key."""
        values, times = self.keys.values[:, channel], self.times[self.keys.samples[[left, right]]]
        return float((values[right] - values[left]) / (times[1] - times[0]))

    def take(self, key: int, channel: int, gap: _Gap) -> None:
        """Take a key from a channel."""
        keys, left, right = self.keys, int(self.before[key, channel]), int(self.after[key, channel])
        keys.kept[key, channel] = False
        self.after[left, channel], self.before[right, channel] = right, left
        chord = self._chord(left, right, channel)
        keys.slopes[left, 0, channel] += gap.change[0]
        keys.values[[left, right], channel] += gap.change[[1, 4]]
        keys.slopes[left, 1, channel], keys.slopes[right, 0, channel] = chord + gap.change[2:4]
        keys.slopes[right, 1, channel] += gap.change[5]
        self._set(gap.at, channel, gap.values)

    def join(self, key: int, channel: int) -> None:
        """Make the slopes of a channel before and after a key one, if the bounds allow it."""
        keys, first, last = self.keys, self.before[key, channel], self.after[key, channel]
        begin, middle, end = (int(keys.samples[one]) for one in (first, key, last))
        slope = keys.slopes[key, :, channel].mean()
        ends, outer = keys.values[:, channel], keys.slopes[[first, last], [1, 0], channel]
        left = basis(self.times[begin : middle + 1]) @ np.array([ends[first], ends[key], outer[0], slope])
        right = basis(self.times[middle : end + 1]) @ np.array([ends[key], ends[last], slope, outer[1]])
        at, values = slice(begin, end + 1), np.concatenate([left, right[1:]])
        off = values - self.values[at, channel]
        after = self.errors[at][:, self.part.vectors] + self.part.effects[channel, at] * off[:, None, None]
        if ((after * after).sum(-1) <= self.squares[at]).all():
            keys.slopes[key, :, channel] = slope
            self._set(at, channel, values)

    def _set(self, at: slice, channel: int, values: np.ndarray) -> None:
        off = values - self.values[at, channel]
        self.errors[at, self.part.vectors] += self.part.effects[channel, at] * off[:, None, None]
        self.values[at, channel] = values


def take_spare_keys(
    times: np.ndarray, parts: Sequence[Part], keys: list[Keys], errors: np.ndarray, limits: np.ndarray,
    where: dict[int, np.ndarray],
) -> Generator[float, None, None]:  # fmt: skip
    """Take as many keys from single channels as the bounds allow, and make slopes smooth where these allow that.

    keys : of all parts; those of some are replaced. errors : (F, V, 3) that all parts together make. limits : (F, V).
    where : by the number of a part, the samples (F,) at which its keys may go. Yields the progress from 0 to 1.
    """
    channels, squares = dict[int, _Channels](), limits**2
    prices, free, waiting = dict[int, np.ndarray](), dict[int, np.ndarray](), list[tuple[float, int, int, int]]()
    for number, at in where.items():
        part, own = parts[number], Keys(*(one.copy() for one in keys[number]))
        keys[number], channels[number] = own, _Channels(times, part, own, errors, squares)
        prices[number] = np.where(_turning(own.values), _TURNS, 1.0)
        free[number] = own.kept & at[own.samples, None]
        free[number][[0, -1]] = False
        left = free[number] & ~np.isin(own.samples, list(part.must))[:, None]
        waiting += [] if part.whole else [(0.0, number, key, channel) for key, channel in np.argwhere(left).tolist()]
    for turn in range(_ROUNDS):
        refused, tries, most = list[tuple[float, int, int, int]](), 0, 3 * len(waiting) + 1
        heapq.heapify(waiting)
        while waiting:
            tries += 1
            if tries % _BEAT == 0:
                yield (turn + min(tries / most, 1.0)) / _ROUNDS
            price, number, key, channel = heapq.heappop(waiting)
            gap = channels[number].without(key, channel)
            if gap is None:
                refused.append((0.0, number, key, channel))
                continue
            now = prices[number][key, channel] * gap.cost
            if now > price * (1.0 + 1e-9) and waiting and now > waiting[0][0]:  # others have been taken meanwhile
                heapq.heappush(waiting, (now, number, key, channel))
            else:
                channels[number].take(key, channel, gap)
        waiting = refused
    for number in where:
        own = keys[number]
        for key, channel in np.argwhere(own.kept & free[number]).tolist():
            channels[number].join(key, channel)
        left_over = own.kept.any(1)
        keys[number] = Keys(*(one[left_over] for one in own))


def _best_change(
    rows: np.ndarray, start: np.ndarray, effects: np.ndarray, errors: np.ndarray, weights: np.ndarray
) -> np.ndarray:  # fmt: skip
    """The change (6,) with the least squares of `errors + effects * (start + rows @ change)` by weights (n, R)."""
    weighted = effects * weights[..., None]
    sizes: np.ndarray = (effects * weighted).sum((1, 2))
    sizes += 1e-6 * sizes.max() + _LEAST
    pulls = rows.T * sizes
    normal: np.ndarray = pulls @ rows
    normal[range(6), range(6)] += 1e-9 * normal.diagonal() + 1e-12 * normal.trace() + _LEAST
    pull: np.ndarray = (errors * weighted).sum((1, 2))
    return np.linalg.solve(normal, -rows.T @ pull - pulls @ start)


def _turning(values: np.ndarray) -> np.ndarray:
    """The values (K, C) bool that are higher, or lower, than both beside them."""
    if len(values) < 3:
        return np.zeros(values.shape, dtype=bool)
    steps = np.diff(values, axis=0)
    return np.pad(steps[:-1] * steps[1:] < 0.0, ((1, 1), (0, 0)))
