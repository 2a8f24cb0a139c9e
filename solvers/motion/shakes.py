# SPDX-License-Identifier: GPL-3.0-or-later
"""Shakes are taken out of motions that have a value on each frame, and fast strikes keep their height and their time.

Values `y` of a motion `x` shake by noise of one size, `s`, and how fast the motion's acceleration changes, `v`, differs
from time to time:

    y[t] = x[t] + s e,    x[t] - 3 x[t + 1] + 3 x[t + 2] - x[t + 3] = v[t] e,    e of the normal distribution

With `s` and `v` known, the likeliest motion minimises `sum |y - x|^2 / s^2 + sum |third differences|^2 / v^2`
(Whittaker 1923; Eilers, *A perfect smoother*, 2003). `s` is measured where the motion is quietest. `v` is the likeliest
one, the same for times next to each other, by expectation and maximisation (Shumway & Stoffer 1982): small where a
motion rests, so that it becomes quiet, and large in a strike, which then stays as it is.

The numbers of a quaternion are such values: turning the space before or after turns them all alike.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from . import many_bands

_THIRD = np.array([1.0, -3.0, 3.0, -1.0])
_NOISE = 8.0  # a second: people do little that swings so often (Winter 2009, 3)
_QUIET, _QUARTER = 0.25, 1.2125  # the share of frames that are quietest, and the squared length of noise there at most
_STAYS = 2.0  # a second: what swings less often stays
_ALIKE = 0.07  # seconds before and after in which the motion's changes are alike
_ROUNDS = 10
_LONGEST = 2  # frames that jump away together
_OUT, _CLEARLY = 3.0, 10.0  # times what steps beside it change by, and times the noise: what is further off is a jump
_FAST = 0.95  # the share of steps that are no fast ones: a jump is longer
_ROUNDING = 1e-5  # of the largest number, in single precision
_LEAST = 1e-12


class Quiet(NamedTuple):
    """Motions (F, S, 4) without shakes, the noise (S,) that each had along an axis, and frames (F, S) that jumped."""

    values: np.ndarray
    noise: np.ndarray
    jumped: np.ndarray


def without_shakes(values: np.ndarray, rate: float, amount: float = 1.0) -> Generator[float, None, Quiet]:
    """S motions without their shakes; yields the progress from 0 to 1.

    values : (F, S, 4), quaternions of one sign, or places and a 0: noise has three axes in both. rate : frames a
    second. amount : how large the noise is taken for, against what is measured.
    """
    noise = noise_levels(values, rate)
    jumped, found = jumps(values, noise), values.copy()
    shaking = np.flatnonzero((amount * noise > _LEAST) & (len(values) > many_bands.BESIDE))
    if len(shaking):
        weights = np.where(jumped[:, shaking], 0.0, 1.0)
        found[:, shaking] = yield from _likeliest(values[:, shaking], weights, rate, amount * noise[shaking])
    return Quiet(found, noise, jumped)


def noise_levels(values: np.ndarray, rate: float) -> np.ndarray:
    """The noise (S,) along an axis of motions (F, S, 4): what is faster than people move, in the quietest quarter.

    Frames on which nothing moves at all do not count. As much a frame as noise has that is the same at all frequencies.
    """
    if len(values) <= many_bands.BESIDE:
        return np.zeros(values.shape[1:2])
    off = ((values - _smooth(values, rate)) ** 2).sum(-1)
    off[off < _LEAST**2] = np.nan
    moving = np.isfinite(off).any(0)
    off[:, ~moving] = 0.0
    middle = round(rate)
    impulse = np.zeros((2 * middle + 1, 1, 1))
    impulse[middle] = 1.0
    share = float(((impulse - _smooth(impulse, rate)) ** 2).sum())  # of the noise that is so fast
    least = np.array(np.nanquantile(off, _QUIET, axis=0), dtype=float)
    return np.sqrt(least / (_QUARTER * share))


def jumps(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The frames (F, S) on which motions (F, S, 4) are far off, for one or two frames, between even steps.

    They are away from the cubic through two frames before and after by much more than the steps between the three
    frames before and after change: a strike is fast, but its steps change little by little.
    """
    frames, found = len(values), np.zeros(values.shape[:2], dtype=bool)
    if frames < 2:
        return found
    steps = np.linalg.norm(np.diff(values, axis=0), axis=-1)
    usual = np.maximum(_CLEARLY * noise, np.quantile(steps, _FAST, axis=0))
    usual = np.maximum(usual, _ROUNDING * np.abs(values).max((0, 2)))
    longer = np.pad(values, ((1, 1), (0, 0), (0, 0)), mode="reflect", reflect_type="odd")  # goes on beyond its ends
    for length in range(1, _LONGEST + 1):
        count = frames - length - 3  # places where the run and two frames on both sides fit
        if count < 1:
            continue
        at = np.array([-3.0, -2.0, -1.0, length, length + 1.0, length + 2.0])
        beside = np.stack([longer[3 + int(one) :][:count] for one in at])
        apart = np.diff(at)
        changes = np.diff(np.diff(beside, axis=0) / apart[:, None, None, None], axis=0)
        shares = 2.0 / apart[:-1] ** 2 + 2.0 / apart[1:] ** 2 + 2.0 / (apart[:-1] * apart[1:])  # of three axes' noise
        own = (changes**2).sum(-1) - 3.0 * shares[:, None, None] * noise**2
        least = np.maximum(_OUT * np.sqrt(np.maximum(own.max(0), 0.0)), usual)
        out = np.ones(found[:count].shape, dtype=bool)
        for inside in range(length):
            near = at[1:-1]
            weights = [np.prod([(inside - other) / (own - other) for other in near if other != own]) for own in near]
            cubic = np.tensordot(weights, beside[1:-1], 1)
            out &= np.linalg.norm(values[2 + inside :][:count] - cubic, axis=-1) > least
        for inside in range(length):
            found[2 + inside :][:count] |= out
    return found


def _likeliest(
    values: np.ndarray, weights: np.ndarray, rate: float, noise: np.ndarray
) -> Generator[float, None, np.ndarray]:  # fmt: skip
    """The likeliest motions (F, S, 4). weights : (F, S), 0 where a value is not known. Yields the progress."""
    most = _stiffness(rate, _STAYS)
    stiff = np.full((len(values) - many_bands.BESIDE, values.shape[1]), _stiffness(rate, _NOISE))
    for number in range(_ROUNDS):
        found, spread = _solved(values, weights, stiff, True)
        change = (np.diff(found, 3, axis=0) ** 2).sum(-1) / 3.0 / noise**2  # a quaternion has three axes too
        stiff = np.minimum(1.0 / np.maximum(_around(change + spread, _ALIKE * rate), _LEAST), most)
        yield (number + 1) / _ROUNDS
    return _solved(values, weights, stiff)[0]


def _smooth(values: np.ndarray, rate: float) -> np.ndarray:
    """Motions (F, S, 4) without what is faster than people move."""
    frames, series = values.shape[:2]
    stiff = np.full((frames - many_bands.BESIDE, series), _stiffness(rate, _NOISE))
    return _solved(values, np.ones((frames, series)), stiff)[0]


def _solved(
    values: np.ndarray, weights: np.ndarray, stiff: np.ndarray, spreads: bool = False
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """What minimises weights (F, S) times squared distances to values and stiffnesses times squared third differences.

    Also, if asked, how uncertain its third differences (F - 3, S) are: their variance for noise of 1.
    """
    bands = np.zeros((many_bands.BESIDE + 1, *weights.shape))
    bands[0], last = weights, len(stiff)
    pairs = [(i, j, _THIRD[i] * _THIRD[j]) for i in range(4) for j in range(4)]
    for i, j, both in pairs:
        if i <= j:
            bands[j - i, i : i + last] += both * stiff
    own = many_bands.factors(bands)
    found, spread = many_bands.solve(*own, weights[..., None] * values), np.zeros_like(stiff)
    if spreads:
        inverse = many_bands.inverse_bands(*own)
        for i, j, both in pairs:
            spread += both * inverse[abs(j - i), min(i, j) :][:last]
    return found, spread


def _stiffness(rate: float, frequency: float) -> float:
    """The stiffness against a weight of 1 that leaves half of what swings so often a second."""
    return float((2.0 * np.sin(np.pi * min(frequency / rate, 0.3))) ** -6)


def _around(values: np.ndarray, wide: float) -> np.ndarray:
    """Means (F, S) of values over a window that fades to 0 a little more than `wide` frames to both sides."""
    reach, known = int(np.ceil(wide)), np.ones((len(values), 1))
    shares = np.cos(0.5 * np.pi * np.arange(-reach, reach + 1) / (wide + 1.0)) ** 2
    total, share = np.zeros_like(values), np.zeros_like(known)
    for rows, found in ((values, total), (known, share)):
        padded = np.pad(rows, ((reach, reach), (0, 0)))
        for k, own in enumerate(shares):
            found += own * padded[k : k + len(rows)]
    return total / share
