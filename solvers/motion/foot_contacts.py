# SPDX-License-Identifier: GPL-3.0-or-later
"""When feet stand between keyed poses, told from the keys alone. Arrays only.

A small network (two hidden layers of rectified linear units) tells for one foot, at a time between two keys, whether
its heel and its ball stand: from both feet at the two keys, the one before and the one after, and from the spline
through these at that time. The right foot is told as the left one of a figure in a mirror. Then both are told
together: that no foot stands is rarer than two tellings would have it. A foot that is in different places at two keys
has stepped between them.

Learnt from captured motion: the data used in this project was obtained from mocap.cs.cmu.edu. The database was created
with funding from NSF EIA-0196217.
"""

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .contacts import lengths, runs, tidy, width
from .foot_lock import Leg
from .in_betweens import KeyPoses, figure_axes, hermite, less, near, spans_of, windows

Weights = dict[str, np.ndarray]
"""Means and scales of what is told of keys (n,) and times (m,), the three layers, and what is added in each."""

HIDDEN = (64, 32)
HIPS_COST = 30.0  # of `plant_feet`: keys tell more about the hips than about feet that stand
_LEAST_ODDS = -0.8  # logarithm of the odds from which on a point may stand
_FAR = 0.15  # of the leg: a point that would go so far to stand needs odds that are e times as large
_EARLIER, _STEPS = 2, 2  # frames of 30 a second: by which stances begin earlier, and of a step around its middle
_APART = 0.03  # of the leg: a point has stepped between keys at which it is so far apart
_FLIGHTS = 1.0  # logarithm of by how much rarer no foot stands than two feet that were told apart would have it
_HIGHEST = 0.6  # of the leg: feet that are higher are told as this high
_SAME_PLACE, _SLOW = 0.1, 0.6  # of the leg, a second: ways and speeds that tell most about contacts
_STEP, _SPEED, _AWAY = 1.5, 3.0, 1.0  # of the leg, a second: larger ways and speeds count less
_OUTLIER = 4.0  # scales: what is further from the mean is told as this far
_USUAL = 0.4  # seconds between keys that count as usual
_MIRROR = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])  # of left, up and forward, for both feet


@cache
def load() -> Weights:
    """The weights that come with the extension."""
    with np.load(Path(__file__).with_name("foot_contacts.npz")) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def contact_odds(poses: KeyPoses, times: np.ndarray, weights: Weights | None = None) -> np.ndarray:
    """The logarithms of the odds (F, 2, 2) that heel and ball of both feet stand at times (F,) [s] within K keys.

    weights : by default those of the extension.
    """
    last = len(poses.times) - 2
    gap = np.clip(np.searchsorted(poses.times, times, side="right") - 1, 0, last)
    shares = (times - poses.times[gap]) / np.diff(poses.times)[gap]
    keys, at = told(poses, *windows(gap, last + 2), shares[:, None])
    odds = layers(load() if weights is None else weights, keys, at)[-1][:, 0]
    other = np.exp(odds.max(-1, keepdims=True)[:, ::-1])
    return odds + np.log((1.0 + other) / (np.exp(-_FLIGHTS) + other))


class KeyWindow(NamedTuple):
    """N windows of four keys, in leg lengths over the lowest point of a foot in each.

    feet : (N, 4, 2, 2, 3), heels and balls. hips : (N, 4, 3). spans : (N, 3), the times between keys [s]. missing :
    (N, 2), of the outer keys. axes : (N, 2, 3, 3), of the figure in rows, and of that in the mirror.
    """

    feet: np.ndarray
    hips: np.ndarray
    spans: np.ndarray
    missing: np.ndarray
    axes: np.ndarray

    @property
    def against(self) -> np.ndarray:
        """The places of the feet from the hips."""
        return self.feet - self.hips[:, :, None, None]


def told(
    poses: KeyPoses, rows: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """What is told of both feet: of windows (N, 4) of keys (N, 1, 2, n), and of S times in their gaps (N, S, 2, m)."""
    feet, hips = poses.feet[rows] / poses.leg, poses.hips[rows] / poses.leg
    low = feet[..., 2].min((1, 2, 3))
    feet[..., 2] -= low[:, None, None, None]
    hips[..., 2] -= low[:, None]
    axes = figure_axes(poses, rows)[:, None] * _MIRROR[:, :, None]
    window = KeyWindow(feet, hips, spans_of(poses.times[rows]), missing, axes)
    return _told_of_keys(window), _told_of_times(window, shares)


def _told_of_keys(window: KeyWindow) -> np.ndarray:
    feet, hips, spans, missing, axes = window
    steps, ways = _seen(axes, np.diff(feet, axis=1)), _turned(axes, _to_both(np.diff(hips, axis=1)))
    parts = [_seen(axes, window.against), np.minimum(_sides(feet)[..., 2], _HIGHEST), less(ways, _SPEED),
             less(ways / spans[:, :, None, None], 2.0 * _SPEED), less(steps, _STEP),
             near(lengths(steps[..., ::2]), _SAME_PLACE), _to_both(hips[..., 2:]),
             _to_both(np.log(spans / _USUAL)[..., None]), _to_both(missing[..., None])]  # fmt: skip
    return np.concatenate([np.moveaxis(one, 2, 1).reshape(len(feet), 1, 2, -1) for one in parts], -1)


def _told_of_times(window: KeyWindow, shares: np.ndarray) -> np.ndarray:
    feet, hips, spans, missing, axes = window
    values = np.concatenate([window.against.reshape(len(missing), 4, 4, 3), hips[:, :, None]], 2)
    place, speed = hermite(values, spans, missing, shares)
    against, places, velocities = (one.reshape(*shares.shape, 2, 2, 3) for one in
                                   (place[:, :, :4], place[:, :, :4] + place[:, :, 4:],
                                    speed[:, :, :4] + speed[:, :, 4:]))  # fmt: skip
    fast = lengths(_sides(velocities))
    away = lengths((places[:, :, None] - feet[:, None, 1:3])[..., :2])
    away = _sides(np.moveaxis(away, 2, -1))
    gone, span = shares * spans[:, 1:2], spans[:, 1:2]
    clock = np.stack([shares, shares * shares, gone, span - gone], -1)
    parts = [np.minimum(_sides(places)[..., 2], _HIGHEST), less(_seen(axes, velocities), _SPEED),
             less(fast, _SPEED), near(fast, _SLOW), _seen(axes, against), less(away, _AWAY),
             near(away, _SAME_PLACE), _to_both(clock)]  # fmt: skip
    return np.concatenate([one.reshape(*shares.shape, 2, -1) for one in parts], -1)


def _sides(values: np.ndarray) -> np.ndarray:
    """Values (N, T, 2, ...) of left and right as (N, T, 2, 2, ...): of each foot itself, and of the other one."""
    return np.stack([values, values[:, :, ::-1]], 2)


def _to_both(values: np.ndarray) -> np.ndarray:
    """Values (N, T, n) as told of both feet."""
    return np.repeat(values[:, :, None], 2, axis=2)


def _turned(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (N, T, 2, ..., 3) told of both feet in their axes (N, 2, 3, 3)."""
    return np.einsum("noij,nto...j->nto...i", axes, vectors)


def _seen(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return _turned(axes, _sides(vectors))


def layers(weights: Weights, keys: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
    """What is told, as it goes in, both hidden layers, and the outputs (N, S, 2, 2), of what `told` says."""
    keys, at = (np.clip((one - weights[f"{name}_mean"]) / weights[f"{name}_scale"], -_OUTLIER, _OUTLIER)
                for name, one in (("keys", keys), ("at", at)))  # fmt: skip
    first = np.maximum(keys @ weights["keys"] + at @ weights["at"] + weights["first_add"], 0.0)
    second = np.maximum(first @ weights["second"] + weights["second_add"], 0.0)
    return [keys, at, first, second, second @ weights["last"] + weights["last_add"]]


def stances(odds: np.ndarray, feet: np.ndarray, kept: np.ndarray, leg: float, rate: float) -> np.ndarray:
    """The frames (F, 2, 2) on which heel and ball of both feet, at places (F, 2, 2, 3), stand.

    odds : (F, 2, 2), as of `contact_odds`. kept : the frames with keys, between which a stance goes straight; without
    any it stands where it is in the mean. A point that would have to go far to its place stands only if that is sure.
    rate : frames a second.
    """
    found = np.zeros(odds.shape, dtype=bool)
    for side, k in np.ndindex(odds.shape[1:]):
        places, own_odds = feet[:, side, k], odds[:, side, k]
        may = tidy(own_odds > _LEAST_ODDS, rate)
        may &= ~_steps(may, own_odds, places, kept, leg, rate)
        for begin, end in runs(may):
            far = lengths(_stood(places, begin, end, kept) - places[begin:end]) / (_FAR * leg)
            found[begin:end, side, k] = own_odds[begin:end] - far**2 > _LEAST_ODDS
        found[:, side, k] = _earlier(tidy(found[:, side, k], rate), own_odds > _LEAST_ODDS, rate)
    return found


def _stood(places: np.ndarray, begin: int, end: int, kept: np.ndarray) -> np.ndarray:
    """Where a point at places (F, 3) stands from `begin` to `end`: straight from key to key, or in the mean."""
    own = kept[(kept >= begin) & (kept < end)]
    stands = np.broadcast_to(places[begin:end].mean(0), (end - begin, 3)).copy()
    for axis in range(3) if len(own) else ():
        stands[:, axis] = np.interp(np.arange(begin, end), own, places[own, axis])
    return stands


def in_reach(stands: np.ndarray, legs: Sequence[Leg], kept: np.ndarray) -> np.ndarray:
    """Stances (F, 2, 2) without the frames on which a leg, straight, does not reach the place of one that has no key.

    Little is known of that place, and the hips would be drawn along. legs : both. kept : the frames with keys.
    """
    found = stands.copy()
    for (side, leg), k in itertools.product(enumerate(legs), range(2)):
        points, straight = leg.points[:, k], lengths(leg.knee - leg.hip) + lengths(leg.ankle - leg.knee)
        for begin, end in runs(stands[:, side, k]):
            if not ((kept >= begin) & (kept < end)).any():
                line = (leg.ankle - leg.hip - points)[begin:end] + _stood(points, begin, end, kept)
                found[begin:end, side, k] = lengths(line) < straight[begin:end]
    return found


def _earlier(stands: np.ndarray, may: np.ndarray, rate: float) -> np.ndarray:
    """Stances (F,) that begin a little earlier, as long as a point may stand there (F,), however far it is.

    A foot that comes down is fast just before, so it is far from its place when it already stands there. Time for a
    step stays before it. A foot that lifts off does not stay longer: that would stretch the leg, and the knee pops.
    """
    found = stands.copy()
    for begin, end in runs(~stands):
        most = min(_EARLIER * width(rate), end - begin - (2 * _STEPS + 1) * width(rate))
        for frame in range(end - 1, end - 1 - most, -1) if end < len(stands) else ():
            if not may[frame]:
                break
            found[frame] = True
    return found


def ground(poses: KeyPoses, stands: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The height (F,) below which no foot goes between keys: of the lowest heel or ball at the four keys around a gap.

    Where no foot stands among these there is none, and it is infinitely low: legs may dangle. stands : (F, 2, 2), as of
    `stances`. kept : the K frames with keys, the first and the last of the F among them.
    """
    found, lowest = np.full(len(stands), -np.inf), poses.feet[..., 2].min((1, 2))
    for gap, (begin, end) in enumerate(itertools.pairwise(kept.tolist())):
        around = slice(max(gap - 1, 0), gap + 3)
        if stands[kept[around][0] : kept[around][-1] + 1].any():
            found[begin : end + 1] = lowest[around].min()
    return found


def _steps(
    may: np.ndarray, odds: np.ndarray, places: np.ndarray, kept: np.ndarray, leg: float, rate: float
) -> np.ndarray:  # fmt: skip
    """The frames (F,) on which a point steps that may stand from key to key (F,), but is in different places there."""
    found, around = np.zeros(len(odds), dtype=bool), _STEPS * width(rate)
    for begin, end in itertools.pairwise(kept.tolist()):
        if may[begin : end + 1].all() and lengths(places[end] - places[begin]) > _APART * leg:
            middle = begin + int(odds[begin : end + 1].argmin())
            middle = max(min(middle, end - 1 - around), begin + 1 + around)
            found[middle - around : min(end, middle + around + 1)] = True
    return found
