# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that single channels of a motion can do without.

The channels of a bone do not all need a key where one of them does. Key by key, the one that is missed least is taken
from its channel, and the cubic over the gap is that of least squares, as long as the motion stays within the bound.
"""

import heapq
from collections.abc import Collection

import numpy as np

from .cubics import Keys, Miss, basis, least_squares

_TURNS = 2.0  # a key where its channel turns is as dear as another one that is missed so many times as much


class _Cubics:
    """The cubics of keys while some of these are taken away, and the values (F, C) that they have at the times."""

    def __init__(self, times: np.ndarray, values: np.ndarray, miss: Miss, keys: Keys) -> None:
        self.times, self.motion, self.miss = times, values, miss
        self.keys, self.values = keys, keys.shown(times)
        rows: np.ndarray = np.indices(keys.kept.shape)[0]
        self.before, self.after = rows - 1, rows + 1  # keys (K, C) of the same channel
        self._parts = dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]()

    def _part(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The basis of cubics between two samples, and what finds their slopes."""
        if (begin, end) not in self._parts:
            rows = basis(self.times[begin:end])
            self._parts[begin, end] = rows, least_squares(rows[:, 2:])
        return self._parts[begin, end]

    def without(self, key: int, channel: int) -> tuple[float, np.ndarray, np.ndarray]:
        """The miss, the two slopes and the values (n,) of a channel between the keys beside one, without this one."""
        first, last = self.before[key, channel], self.after[key, channel]
        begin, end = int(self.keys.samples[first]), int(self.keys.samples[last]) + 1
        rows, solver = self._part(begin, end)
        ends = self.keys.values[[first, last], channel]
        chord = (ends[1] - ends[0]) / (self.times[end - 1] - self.times[begin])
        usual = rows @ np.array([ends[0], ends[1], chord, chord])
        slopes = solver @ (self.motion[begin:end, channel] - usual)
        values = self.values[begin:end].copy()
        values[:, channel] = usual + rows[:, 2:] @ slopes
        return float(self.miss(slice(begin, end), values).max()), chord + slopes, values[:, channel]

    def take(self, key: int, channel: int, slopes: np.ndarray, values: np.ndarray) -> None:
        """Take a key from a channel, which then has the slopes and values that `without` says."""
        first, last = int(self.before[key, channel]), int(self.after[key, channel])
        begin, end = self.keys.samples[first], self.keys.samples[last] + 1
        self.keys.kept[key, channel] = False
        self.after[first, channel], self.before[last, channel] = last, first
        self.keys.slopes[first, 1, channel], self.keys.slopes[last, 0, channel] = slopes
        self.values[begin:end, channel] = values

    def join(self, key: int, channel: int) -> None:
        """Make the slopes of a channel before and after a key one, if the bound allows it."""
        keys, first, last = self.keys, self.before[key, channel], self.after[key, channel]
        begin, middle, end = (int(keys.samples[one]) for one in (first, key, last))
        slope = keys.slopes[key, :, channel].mean()
        ends, outer = keys.values[:, channel], keys.slopes[[first, last], [1, 0], channel]
        left = basis(self.times[begin : middle + 1]) @ np.array([ends[first], ends[key], outer[0], slope])
        right = basis(self.times[middle : end + 1]) @ np.array([ends[key], ends[last], slope, outer[1]])
        values = self.values[begin : end + 1].copy()
        values[:, channel] = np.concatenate([left, right[1:]])
        if self.miss(slice(begin, end + 1), values).max() <= 1.0:
            keys.slopes[key, :, channel] = slope
            self.values[begin : end + 1] = values


def without_spare_keys(
    times: np.ndarray, values: np.ndarray, miss: Miss, keys: Keys, must: Collection[int] = (), whole: bool = False
) -> Keys:  # fmt: skip
    """Take as many keys from single channels as the bound allows, and make slopes smooth where it allows that.

    times, values, miss : as in `few_keys`. must : samples whose keys stay. whole : no key is taken away.
    """
    if len(keys.samples) < 3:
        return keys
    keys = Keys(keys.samples, keys.values, keys.slopes.copy(), keys.kept.copy())
    cubics, width = _Cubics(times, values, miss, keys), values.shape[1]
    inner = [key for key in range(1, len(keys.samples) - 1) if int(keys.samples[key]) not in must and not whole]
    prices = np.where(_turning(keys.values), _TURNS, 1.0)
    waiting = list[tuple[float, int, int]]()
    for key in inner:
        for channel in range(width):
            own = cubics.without(key, channel)[0]
            if own <= 1.0:
                waiting.append((prices[key, channel] * own, key, channel))
    heapq.heapify(waiting)
    while waiting:
        price, key, channel = heapq.heappop(waiting)
        own, slopes, cubic = cubics.without(key, channel)
        if own > 1.0:
            continue
        now = prices[key, channel] * own
        if now > price and waiting and now > waiting[0][0]:  # others have been taken since
            heapq.heappush(waiting, (now, key, channel))
        else:
            cubics.take(key, channel, slopes, cubic)
    for key, channel in np.argwhere(keys.kept[1:-1]).tolist():
        cubics.join(key + 1, channel)
    left = keys.kept.any(1)
    return Keys(*(one[left] for one in keys))


def _turning(values: np.ndarray) -> np.ndarray:
    """Which values (K, C) are higher, or lower, than both beside them."""
    steps = np.diff(values, axis=0)
    return np.pad(steps[:-1] * steps[1:] < 0.0, ((1, 1), (0, 0)))
