# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses between two keys as people move: a spline through the keys, and what captured motion adds to it. Arrays only.

The spline goes through the keys' rotations and places (Catmull & Rom 1974, for keys at uneven times), nowhere much
faster at a key than on its slower side. What is added is learnt: of each part a change of its velocity at both keys
and a bulge between them, by a small network (two hidden layers of rectified linear units) from the two keys, the one
before, the one after, and their times. It is scaled by how much the part itself moves among these keys: what stands
still stays still. Keys further apart in time than those that were learnt from get the spline alone. Both are smooth
through the keys, and keys stay as they are.

Learnt from captured motion: the data used in this project was obtained from mocap.cs.cmu.edu. The database was created
with funding from NSF EIA-0196217.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

LIMB_PARTS = ("collar", "arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
PARTS = ("hips", "spine", "spine", "spine", "neck", "neck", "neck", *LIMB_PARTS, *LIMB_PARTS)
"""The parts that are turned: the trunk upward, with the head as the last of the neck, then the left and right limbs."""
_TRUNK = len(PARTS) - 2 * len(LIMB_PARTS)  # parts of it
TRUNK_LINES = 4  # hips to chest, chest to neck, neck to head, and the head's own
LIMB_LINES = 8  # of each side, the own ones of its parts
_LINES = TRUNK_LINES + 2 * LIMB_LINES + 1  # the last one from the right to the left hip joint
_OWN = ([0, _LINES - 1], [0], [0], [0], [1, 2], [1, 2], [3], *([TRUNK_LINES + row] for row in range(2 * LIMB_LINES)))
BULGES = 5
_UP = np.array([0.0, 0.0, 1.0])
_USUAL = 0.4  # seconds between keys that count as usual
_STILL = 1e-3  # of unit directions
_LEAST = 1e-12
_OTHERS = 0.4  # of the movement of all parts counts for each
_HIGHEST, _STEP, _SAME_PLACE = 0.4, 1.5, 0.1  # of the leg: higher feet are told as this high; further steps count less
_OUTLIER = 4.0  # scales: what is further from the mean is told as this far
_LEARNT, _UNKNOWN = 1.0, 2.0  # seconds between keys: up to which all that is learnt counts, and from which on nothing
_STEEPEST = 3.0  # of the slower of the speeds before and after a key: the most that one at it has
_TURNS, _SPINS = np.radians([90.0, 120.0])  # between keys: up to which all counts, and from which on nothing
_LEVEL = 0.2  # a line between the hip joints that is steeper tells no direction

Weights = dict[str, np.ndarray]
"""`mean` and `scale` (n,) of what is told, the three layers `first`, `second` and `last`, and what is added in each."""


class KeyPoses(NamedTuple):
    """K poses of a figure in the world, whose third axis is up.

    times : (K,) seconds. parts : (B,), the numbers in `PARTS` of its B bones, and turns : (K, B, 4) of these, each away
    from any rest. hips : (K, 3), the place between the hip joints. lines : (K, 21, 3), unit directions: of the trunk's
    four, upward, of the left and of the right limbs' parts, and from the right to the left hip joint. feet : (K, 2, 2,
    3), the places of heel and ball of both feet. leg : the length of a leg, in the unit of the places. facing : 1, or
    -1 for a figure that is mirrored, which faces the other way than its left side tells.
    """

    times: np.ndarray
    parts: np.ndarray
    turns: np.ndarray
    hips: np.ndarray
    lines: np.ndarray
    feet: np.ndarray
    leg: float
    facing: float = 1.0


class Between(NamedTuple):
    """F poses: turns (F, B, 4), and places of the hips (F, 3)."""

    turns: np.ndarray
    hips: np.ndarray


class PoseWindow(NamedTuple):
    """N windows of four keys in the axes of the figure, in leg lengths; a missing key is the one beside it.

    axes : (N, 3, 3), left, up and forward in rows. lines : (N, 4, 21, 3). hips : (N, 4, 3), from those of the second
    key. feet : (N, 4, 2, 2, 3), heels and balls from the hips of their key. spans : (N, 3) [s]. missing : (N, 2).
    """

    axes: np.ndarray
    lines: np.ndarray
    hips: np.ndarray
    feet: np.ndarray
    spans: np.ndarray
    missing: np.ndarray

    @property
    def movement(self) -> tuple[np.ndarray, np.ndarray]:
        """How much all parts (N, 1), and each part and the hips' place (N, P + 1) with these, move among the keys."""
        each = (np.diff(self.lines, axis=1) ** 2).sum(-1).mean(1)
        way = (np.diff(self.hips, axis=1) ** 2).sum(-1).mean(1)
        whole = np.sqrt(each.mean(1) + 0.3 * way + _STILL**2)[:, None]
        own = np.stack([each[:, lines].mean(1) for lines in _OWN] + [way], 1)
        return whole, np.sqrt(own + (_OTHERS * whole) ** 2)


@cache
def load() -> Weights:
    """The weights that come with the extension."""
    with np.load(Path(__file__).with_name("in_betweens.npz")) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def in_betweens(poses: KeyPoses, times: np.ndarray, weights: Weights | None = None) -> Between:
    """The poses at times (F,) [s] within those of K keys, two at least. weights : by default those of the extension."""
    last = len(poses.times) - 2
    gap = np.clip(np.searchsorted(poses.times, times, side="right") - 1, 0, last)
    rows, missing = windows(np.arange(last + 1), last + 2)
    window, span = window_of(poses, rows, missing), np.diff(poses.times)
    learnt = outputs(window, load() if weights is None else weights)
    bulges = np.einsum("nji,nbpj->nbpi", window.axes, learnt)
    bulges[:, :, :-1] *= poses.facing  # turns seen in a mirror go the other way
    shared = 0.5 * (bulges[1:, 0] / span[1:, None, None] + bulges[:-1, 1] / span[:-1, None, None])
    bulges[1:, 0], bulges[:-1, 1] = shared * span[1:, None, None], shared * span[:-1, None, None]
    share = (times - poses.times[gap]) / span[gap]
    turns, hips = spline(poses, rows[gap], missing[gap], share[:, None])
    added = np.einsum("fb,fbpi->fpi", bulge_shapes(share), bulges[gap])
    turned = quaternion.product(quaternion.exp(added[:, poses.parts]), turns[:, 0])
    return Between(turned, hips[:, 0] + poses.leg * added[:, -1])


def trust(poses: KeyPoses) -> np.ndarray:
    """How much (K, B), from 0 to 1, the turns made around each key count against those of the curves that are there.

    Trunk and arms of who spins count for nothing: seen alone, they would go around another way than the hips. Hips and
    legs always count, since feet stand with these.
    """
    hips = poses.turns[:, int(poses.parts.argmin())]
    turned = np.pad(quaternion.angle(hips[:-1], hips[1:]), 2)
    most = np.max([turned[first : first + len(poses.times)] for first in range(4)], axis=0)
    of_limb = (poses.parts - _TRUNK) % len(LIMB_PARTS)
    below = (poses.parts == 0) | ((poses.parts >= _TRUNK) & (of_limb >= LIMB_PARTS.index("thigh")))
    return np.where(below, 1.0, np.clip((_SPINS - most) / (_SPINS - _TURNS), 0.0, 1.0)[:, None])


def windows(gaps: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows (N, 4) of the keys about gaps (N,) of `count` keys, and whether (N, 2) the outer ones are missing."""
    rows = gaps[:, None] + np.arange(-1, 3)
    inside = np.clip(rows, 0, count - 1)
    return inside, (inside != rows)[:, [0, 3]].astype(float)


def window_of(poses: KeyPoses, rows: np.ndarray, missing: np.ndarray) -> PoseWindow:
    """The windows (N, 4) of keys, of which outer ones (N, 2) may be missing."""
    axes, feet, hips = figure_axes(poses, rows), poses.feet[rows] / poses.leg, poses.hips[rows] / poses.leg
    return PoseWindow(axes, np.einsum("nij,nkpj->nkpi", axes, poses.lines[rows]),
                  np.einsum("nij,nkj->nki", axes, hips - hips[:, 1:2]),
                  np.einsum("nij,nkslj->nksli", axes, feet - hips[:, :, None, None]),
                  spans_of(poses.times[rows]), missing)  # fmt: skip


def told(window: PoseWindow) -> np.ndarray:
    """What the network is told (N, n)."""
    lines, hips, feet, spans = window.lines, window.hips, window.feet, window.spans
    whole, _ = window.movement
    places = feet + hips[:, :, None, None]
    heights, steps = places[..., 1], np.diff(places, axis=1)
    low = heights.min((1, 2, 3), keepdims=True)
    moves = (np.diff(each, axis=1).reshape(len(lines), -1) / whole for each in (lines, hips))
    parts = [lines[:, 1:3].mean(1), *moves, np.log(whole), low, np.log(spans[:, 1:2] / _USUAL),
             np.log(spans[:, ::2] / spans[:, 1:2]), window.missing, feet, np.minimum(heights - low, _HIGHEST),
             less(steps, _STEP), near(np.linalg.norm(steps, axis=-1), _SAME_PLACE)]  # fmt: skip
    return np.concatenate([part.reshape(len(lines), -1) for part in parts], 1)


def less(values: np.ndarray, much: float) -> np.ndarray:
    """Values of which those beyond `much` count less."""
    return values / (1.0 + np.abs(values) / much)


def near(values: np.ndarray, wide: float) -> np.ndarray:
    """How near values are to 0: a Gaussian."""
    return np.exp(-((values / wide) ** 2))


def figure_axes(poses: KeyPoses, rows: np.ndarray) -> np.ndarray:
    """Left, up and forward (N, 3, 3), in rows, of the figure by the lines between its hip joints in windows (N, 4)."""
    first, second = poses.lines[rows[:, 1:3], -1].swapaxes(0, 1)
    level = np.array([1.0, 1.0, 0.0])
    left = (first + second) * level
    for other in (first * level, np.broadcast_to([1.0, 0.0, 0.0], first.shape)):
        left = np.where(np.linalg.norm(left, axis=-1, keepdims=True) < _LEVEL, other, left)
    left = left / np.linalg.norm(left, axis=-1, keepdims=True)
    up = np.broadcast_to(_UP, left.shape)
    return np.stack([left, up, poses.facing * np.cross(left, up)], 1)


def spans_of(times: np.ndarray) -> np.ndarray:
    """The times (N, 3) between keys at times (N, 4); a missing one is as that in the middle."""
    spans = np.diff(times, axis=1)
    return np.where(spans > 0.0, spans, spans[:, 1:2])


def outputs(window: PoseWindow, weights: Weights) -> np.ndarray:
    """The bulges (N, 5, P + 1, 3), of parts [rad] and hips [leg], in the figure's axes."""
    learnt = layers(weights, told(window))[-1].reshape(-1, BULGES, len(PARTS) + 1, 3)
    known = np.clip((_UNKNOWN - window.spans[:, 1]) / (_UNKNOWN - _LEARNT), 0.0, 1.0)
    return known[:, None, None, None] * window.movement[1][:, None, :, None] * learnt


def layers(
    weights: Weights, numbers: np.ndarray, kept: Sequence[np.ndarray | float] = (1.0, 1.0, 1.0)
) -> list[np.ndarray]:  # fmt: skip
    """What is told (N, n), as it goes in, both hidden layers, and the outputs. kept : factors of those but the last."""
    scaled = kept[0] * np.clip((numbers - weights["mean"]) / weights["scale"], -_OUTLIER, _OUTLIER)
    first = kept[1] * np.maximum(scaled @ weights["first"] + weights["first_add"], 0.0)
    second = kept[2] * np.maximum(first @ weights["second"] + weights["second_add"], 0.0)
    return [scaled, first, second, second @ weights["last"] + weights["last_add"]]


def bulge_shapes(share: np.ndarray) -> np.ndarray:
    """What is added at shares (...) of a gap, (..., 5): for the velocities at both keys, and for what is between."""
    s, middle = share, 2.0 * share - 1.0
    hill = 4.0 * (s * (1.0 - s)) ** 2
    return np.stack([s * (1.0 - s) ** 2, -s * s * (1.0 - s), hill, hill * middle, hill * middle * middle], -1)


def spline(
    poses: KeyPoses, rows: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turns (N, S, B, 4) and hips (N, S, 3) at shares (N, S) of the gaps of windows (N, 4), on splines through them."""
    turns = poses.turns[rows].copy()
    for key, beside in ((2, 1), (0, 1), (3, 2)):
        away = (turns[:, key] * turns[:, beside]).sum(-1, keepdims=True) < 0.0
        turns[:, key] = np.where(away, -turns[:, key], turns[:, key])
    spans = spans_of(poses.times[rows])
    turned, _ = hermite(turns, spans, missing, shares)
    return quaternion.normalize(turned), hermite(poses.hips[rows], spans, missing, shares)[0]


def hermite(
    values: np.ndarray, spans: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Values and changes a second (N, S, ..., n) of splines through windows (N, 4, ..., n) with `spans_of` (N, 3).

    The speed at a key is at most a few times that of its slower side, so that what rests before a strike does not swing
    out.
    """

    def each(numbers: np.ndarray) -> np.ndarray:
        return numbers.reshape(*numbers.shape, *[1] * (values.ndim - 2))

    chords = np.diff(values, axis=1) / each(spans)
    no_first, no_last = (each(missing[:, end]) > 0.0 for end in (0, 1))
    before, own, after = chords.swapaxes(0, 1)
    before_span, span, after_span = (each(one) for one in spans.T)
    start = _slower((before * span + own * before_span) / (before_span + span), before, own)
    end = _slower((own * after_span + after * span) / (span + after_span), own, after)
    start, end = (np.where(no_first, np.where(no_last, own, 1.5 * own - 0.5 * end), start),
                  np.where(no_last, np.where(no_first, own, 1.5 * own - 0.5 * start), end))  # fmt: skip
    start, own, end, span = (one[:, None] for one in (start, own, end, span))
    s = each(shares)
    rest, rise = 1.0 - s, s * s * (3.0 - 2.0 * s)
    found = (1.0 - rise) * values[:, None, 1] + rise * values[:, None, 2]
    found += span * s * rest * (rest * start - s * end)
    return found, 6.0 * s * rest * own + rest * (1.0 - 3.0 * s) * start + s * (3.0 * s - 2.0) * end


def _slower(speed: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """A speed (..., n) at a key that is at most a few times the slower one of those on both sides."""
    slower = np.minimum(*(np.linalg.norm(one, axis=-1, keepdims=True) for one in (before, after)))
    size = np.maximum(np.linalg.norm(speed, axis=-1, keepdims=True), _LEAST)
    return speed * np.minimum(1.0, _STEEPEST * slower / size)
