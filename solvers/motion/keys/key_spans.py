# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels that have their keys on the same samples: where cubics can go from, and where they go at best.

Each cubic has the motion's own values at its ends, and the slopes of least squares: whether it is within the bounds
depends on nothing beside it. So all spans are tried, those of one length at once, and the keys are the shortest way
over spans that are within: with the fewest keys, and of ways with as many the one that is nearest to the motion.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .cubics import Cubics, Part

_EACH = 16  # frames: of longer spans some lengths are tried, each so many times the one before
_GROWS = 1.25
_HOPELESS = 9.0  # times the square of the bound: longer spans are not tried
_TRIES = 2  # lengths beyond the bounds one after the other: longer ones are not tried
_LIKELY = 0.15  # of a key: so much cheaper it is where people look for one
_NEAR = 0.05  # of a key: what a cubic as far off as the bounds allow costs
_FULL = 1.0 + 1e-5  # of the bounds, beside which single precision rounds


class _Effects(NamedTuple):
    """What channels (a slice) do (c, K, F) to K of the components of vectors."""

    channels: slice
    effects: np.ndarray
    components: np.ndarray


class KeyedLimb:
    """Channels of parts that are keyed together.

    Attributes
    ----------
    times : (F,). values : (C, F), of all its channels. vectors : (R,), which ones they change. errors : (3 R, F) that
    others make, and limits : (R, F) for those of all.
    """

    def __init__(
        self, times: np.ndarray, members: Sequence[tuple[Part, slice]], errors: np.ndarray, limits: np.ndarray
    ) -> None:  # fmt: skip
        """`members` : parts, each with some of its channels. errors : (F, V, 3) and limits : (F, V) of all vectors."""
        self.times, self.vectors = np.ascontiguousarray(times, dtype=float), vectors_of(members)
        self.values = np.concatenate([part.values[:, channels] for part, channels in members], 1).T
        self.errors = np.ascontiguousarray(errors[:, self.vectors].reshape(len(times), -1).T, dtype=np.float32)
        self.limits = np.ascontiguousarray(limits[:, self.vectors].T, dtype=np.float32)
        self._values = (self.values - self.values.mean(1, keepdims=True)).astype(np.float32)
        self._weights = 1.0 / self.limits**2
        self._effects, first = list[_Effects](), 0
        for part, channels in members:
            own = np.moveaxis(part.effects[channels], 1, -1)
            own = own.reshape(len(own), 3 * len(part.vectors), len(times))
            at = 3 * np.searchsorted(self.vectors, part.vectors)[:, None] + np.arange(3)
            does = own.any((0, 2))
            effects = np.ascontiguousarray(own[:, does], dtype=np.float32)
            self._effects.append(_Effects(slice(first, first + len(own)), effects, at.ravel()[does]))
            first += len(own)

    def with_values(self, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The errors (F, R, 3) with values `shown` (C, F), and which samples (F,) are beyond the limits."""
        off = (shown - self.values).astype(np.float32)
        found = self._errors(self.errors.copy(), off, [one.effects for one in self._effects])
        squares = (found.reshape(-1, 3, len(self.times)) ** 2).sum(1)
        return found.T.reshape(len(self.times), -1, 3), (squares * self._weights > _FULL).any(0)

    def spans(self, step: int, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lengths (n,), and how far (n, N) the cubics of a length are off from each of N frames on.

        That is the largest square as a share of the limit's; infinite where it is beyond that, or beyond one of the
        frames `stops`. step : samples in a frame. From a frame to the next there is a cubic in any case.
        """
        last = (len(self.times) - 1) // step
        lengths, begins, misses = _lengths(stops), np.arange(last), np.zeros(last, dtype=int)
        reach = stops[np.searchsorted(stops, begins, side="right")] - begins
        off = np.full((len(lengths), last + 1), np.inf)
        off[0, :last] = 0.0
        for row, length in enumerate(lengths[1:].tolist(), 1):
            begins = begins[reach[begins] >= length]
            if not len(begins):
                break
            own = self._off(begins, length, step)
            off[row, begins] = np.where(own <= 1.0, own, np.inf)
            misses[begins] = np.where(own <= 1.0, 0, misses[begins] + 1)
            begins = begins[(misses[begins] < _TRIES) & (own < _HOPELESS)]
        return lengths, off

    def _off(self, begins: np.ndarray, length: int, step: int) -> np.ndarray:
        """How far (n,) cubics of a length are off from n frames on, as in `spans`."""
        width = length * step + 1
        every = 2 * len(begins) > begins[-1] - begins[0]  # then all between, without copies, are not dearer
        at = slice(begins[0] * step, begins[-1] * step + 1, step) if every else begins * step

        def windows(array: np.ndarray) -> np.ndarray:
            shape = *array.shape[:-1], array.shape[-1] - width + 1, width
            return np.ndarray(shape, array.dtype, array, 0, (*array.strides, array.strides[-1]))[..., at, :]

        times, values = windows(self.times), windows(self._values)
        span = times[:, -1:] - times[:, :1]
        cubics = Cubics(*(one.astype(np.float32) for one in ((times - times[:, :1]) / span, span)))
        first, last = values[..., :1], values[..., -1:]
        off = cubics.through(first, last, *[(last - first) / cubics.span] * 2) - values
        slopes = cubics.slopes(-off)
        off += slopes[0][..., None] * cubics.before
        off += slopes[1][..., None] * cubics.after
        found = self._errors(windows(self.errors).copy(), off, [windows(one.effects) for one in self._effects])
        np.square(found, out=found)
        squares = found[::3] + found[1::3]
        squares += found[2::3]
        squares *= windows(self._weights)
        worst = squares.max(0, initial=0.0).max(-1)  # of the vectors first: these lie apart, and NumPy compares rows
        return worst[begins - begins[0]] if every else worst

    def _errors(self, errors: np.ndarray, off: np.ndarray, effects: Sequence[np.ndarray]) -> np.ndarray:
        """Errors (3 R, ...) and those that channels add to them that are `off` (C, ...)."""
        for own, does in zip(self._effects, effects, strict=True):
            errors[own.components] += np.einsum("c...,ck...->k...", off[own.channels], does)
        return errors


def vectors_of(members: Sequence[tuple[Part, slice]]) -> np.ndarray:
    """The vectors that members change."""
    return np.unique(np.concatenate([part.vectors for part, _ in members]))


def best_keys(lengths: np.ndarray, off: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """The frames (K,) of the cheapest row of cubics over `off`, which `KeyedLimb.spans` found. likely : (N,) bool."""
    count, price = off.shape[1], 1.0 - _LIKELY * likely
    best, before = np.full(count, np.inf), np.zeros(count, dtype=int)
    best[0] = 0.0
    for frame in range(1, count):
        begins = frame - lengths[: np.searchsorted(lengths, frame, side="right")]
        costs = best[begins] + _NEAR * off[np.arange(len(begins)), begins]
        least = int(np.argmin(costs))
        best[frame], before[frame] = costs[least] + price[frame], begins[least]
    found = [count - 1]
    while found[-1] > 0:
        found.append(int(before[found[-1]]))
    return np.array(found[::-1])


def extremes(values: np.ndarray) -> np.ndarray:
    """Rows at which a column of values (F, C) turns that moves at least half as far as the one that moves most."""
    if len(values) < 3 or not values.size:
        return np.zeros(0, dtype=int)
    before, after = np.diff(values[:-1], axis=0), np.diff(values[1:], axis=0)
    sizes = np.ptp(values, axis=0)
    return np.flatnonzero(((before * after < 0.0) & (sizes >= 0.5 * sizes.max())).any(-1)) + 1


def _lengths(stops: np.ndarray) -> np.ndarray:
    """The lengths [frames] that are tried, up to that of all; also those from stop to stop."""
    last = int(stops[-1])
    found = list(range(1, min(_EACH, last) + 1))
    while found and found[-1] < last:
        found.append(min(int(found[-1] * _GROWS), last))
    return np.union1d(found, np.diff(stops, prepend=0)).astype(int)
