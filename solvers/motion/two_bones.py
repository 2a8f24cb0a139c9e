# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs and arms over F frames whose ends are put to places, as near as may be to how they were. Arrays only.

They have two bones; the legs of an animal that stands on the tips of its feet have three.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

_LEAST = 1e-9
_STRAIGHT = 0.02  # sine of half a knee's bend: legs bent by less are straight
_LEVEL = 0.3  # how much the height of hips over ankles counts; the bend of an upright leg counts 2 and more
_UPRIGHT = 3.0  # how much less legs count that lean, as an exponent
_FLAT = 0.35  # of the leg: hips do not go down to less to reach what is far aside
_HALVINGS = 40


class Span(NamedTuple):
    """From ankles to hips (F, 3), and the lengths of the two bones between them.

    That of the lower one may differ from frame to frame (F,): with the foot of who stands on its tip.
    """

    line: np.ndarray
    upper: float
    lower: float | np.ndarray

    @property
    def length(self) -> float | np.ndarray:
        """Of the straight leg."""
        return self.upper + self.lower

    def higher(self, by: np.ndarray, up: np.ndarray) -> "Span":
        """With the hips higher by (F,)."""
        return self._replace(line=self.line + by[:, None] * up)

    def bend(self) -> np.ndarray:
        """The sine (F,) of half the angle by which the knee is bent."""
        square = (self.length**2 - (self.line * self.line).sum(-1)) / (4.0 * self.upper * self.lower)
        return np.sqrt(np.clip(square, 0.0, 1.0) + _STRAIGHT**2)

    def upright(self, up: np.ndarray) -> np.ndarray:
        """The cosine (F,) of the line to the vertical."""
        return self.line @ up / np.maximum(np.linalg.norm(self.line, axis=-1), _LEAST * self.length)

    def heights(self, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest lift (F,) of the hips with the ankle in reach."""
        high = self.line @ up
        square = self.length**2 - (self.line * self.line).sum(-1) + high * high
        most = np.sqrt(np.maximum(square, (_FLAT * self.length) ** 2))
        return -most - high, most - high


class Support(NamedTuple):
    """An arm over F frames that may carry a body: as it is, as it should be bent, and how much (F,) it carries."""

    own: Span
    wanted: Span
    share: np.ndarray


def higher(source: Sequence[Span], own: Sequence[Span], up: np.ndarray) -> np.ndarray:
    """The lift (F,) of the hips with which knees are bent as the source's are.

    Where legs differ, the straighter one counts more, and one that would be stretched too far counts without bound.
    The less upright legs are, the more it counts that hips are as high over ankles: legs that are level, or above the
    hips, do not tell how high hips are. All this is the same seen from the other figure: so the way back leads back.
    """
    ends = np.array([span.heights(up) for span in own])
    pulls = [_Pull(*one, up) for one in zip(own, source, strict=True)]
    low, high = ends[:, 0].max(0), ends[:, 1].min(0)
    return _balanced(lambda lift: np.sum([pull.of(lift) for pull in pulls], axis=0), low, high)


def lifted(legs: Sequence[Span], stands: Sequence[np.ndarray], arms: Sequence[Support], up: np.ndarray) -> np.ndarray:
    """The lift (F,) of a body that goes on its arms too, whose legs are bent as they should be.

    stands : (F,) of each leg, from 0 to 1. Arms count as limbs of `higher` do, as far as they carry; else the body
    stays as high as it is. A leg that stands counts beside them, and reaches its foot, whatever arms want.
    """
    carried = np.max([arm.share for arm in arms], axis=0)
    pulls = [(arm.share, _Pull(arm.own, arm.wanted, up)) for arm in arms]
    size = sum(arm.own.length for arm in arms)

    def by_arms(lift: np.ndarray) -> np.ndarray:
        return (1.0 - carried) * lift / size + np.sum([share * pull.of(lift) for share, pull in pulls], axis=0)

    most = np.full_like(carried, 2.0 * size)
    free, less = _balanced(by_arms, -most, most), list[np.ndarray]()
    for leg, stand in zip(legs, stands, strict=True):
        pull, (low, high) = _Pull(leg, leg, up), leg.heights(up)
        ends = np.minimum(low, 0.0), np.maximum(high, 0.0)
        on_it = _balanced(lambda lift, pull=pull: by_arms(lift) + pull.of(lift), *ends)
        less.append(stand * np.abs(free - on_it))
    return free - np.sign(free) * np.max(less, axis=0)


class _Pull:
    """How much lower the hips over a leg should be, for it to be bent as another one."""

    def __init__(self, own: Span, wanted: Span, up: np.ndarray) -> None:
        self._own, self._up = own, up
        self._bend, self._upright, self._height = wanted.bend(), wanted.upright(up), wanted.line @ up / wanted.length

    def of(self, lift: np.ndarray) -> np.ndarray:
        """Above 0 where hips that are higher by (F,) are too high."""
        span = self._own.higher(lift, self._up)
        along = np.maximum(np.minimum(self._upright, span.upright(self._up)), 0.0)
        is_bent = span.bend()
        found = along**_UPRIGHT * (self._bend / is_bent - is_bent / self._bend)
        return found + _LEVEL * (span.line @ self._up / span.length - self._height)


def _balanced(pull: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where (F,) between two bounds a function that rises is 0."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_low = pull(middle) < 0.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return 0.5 * (low + high)


def reach(
    hips: np.ndarray, thigh: np.ndarray, shin: np.ndarray, lines: tuple[np.ndarray, np.ndarray], axis: np.ndarray,
    ankles: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Turns (F, 4) of thigh and shin with which the ankle is at its place (F, 3).

    hips : (F, 3). thigh, shin : (F, 4) turns from rest. lines : (3,) from hip to knee and from knee to ankle at rest;
    (F, 3) where the ankle moves against the shin.
    axis : (F, 3) about which the knee bends. The knee bends on in the plane in which it is bent; a straight one about
    its axis. A place out of reach is reached for.
    """
    upper, lower = (np.linalg.norm(line, axis=-1, keepdims=True) for line in lines)
    along = quaternion.rotate(thigh, lines[0] / upper)
    down = quaternion.rotate(shin, lines[1] / lower)
    upper, lower = upper[..., 0], lower[..., 0]
    wanted = ankles - hips
    distance = np.linalg.norm(wanted, axis=-1)
    cosine = (distance**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    cosine = np.clip(cosine, -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine * cosine)
    bent = down - along * (down * along).sum(-1, keepdims=True)
    ahead = _unit(np.cross(axis, along))
    missing = np.maximum(sine - np.linalg.norm(bent, axis=-1), 0.0)
    plane = _unit(bent + missing[:, None] * ahead + _LEAST * ahead)
    new = cosine[:, None] * along + sine[:, None] * plane
    shin = quaternion.product(quaternion.between(down, new), shin)
    swing = quaternion.between(_unit(upper * along + lower[..., None] * new), _unit(wanted))
    return quaternion.product(swing, thigh), quaternion.product(swing, shin)


def reach_on_tip(
    hips: np.ndarray, turns: Sequence[np.ndarray], lines: Sequence[np.ndarray], axis: np.ndarray, tips: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Turns (F, 4) of thigh, shin and foot with which the tip of the foot is at its place (F, 3).

    Knee and ankle open or fold alike, by a share of what is missing to a straight leg, or to a folded one whose tip can
    be at the hip, so that neither bends the other way; what that leaves, the knee takes. turns : of these three, from
    rest. lines : (3,), the third one from the ankle to the tip. The rest as for `reach`.
    """
    upper, lower, end = (np.linalg.norm(line) for line in lines)
    cosine = (upper**2 - lower**2 - end**2) / (2.0 * lower * end)
    folded = np.pi, np.arccos(np.clip(cosine, -1.0, 1.0))
    along = [quaternion.rotate(turn, line) for turn, line in zip(turns, lines, strict=True)]
    bends = [_bend(*pair, axis) for pair in pairwise(along)]
    distance = np.linalg.norm(tips - hips, axis=-1)

    def turned(share: np.ndarray) -> list[np.ndarray]:
        knee, ankle = (quaternion.exp(np.where(share < 0.0, share * angle, share * (most - angle))[:, None] * about)
                       for (angle, about), most in zip(bends, folded, strict=True))  # fmt: skip
        return [knee, quaternion.product(knee, ankle)]

    def line(more: Sequence[np.ndarray]) -> np.ndarray:
        return along[0] + sum(quaternion.rotate(turn, one) for turn, one in zip(more, along[1:], strict=True))

    ends = np.ones(len(distance))
    share = _balanced(lambda share: distance - np.linalg.norm(line(turned(share)), axis=-1), -ends, ends)
    shin, foot = (quaternion.product(one, turn) for one, turn in zip(turned(share), turns[1:], strict=True))
    bent = quaternion.relative(shin, foot)
    thigh, shin = reach(hips, turns[0], shin, (lines[0], lines[1] + quaternion.rotate(bent, lines[2])), axis, tips)
    return thigh, shin, quaternion.product(shin, bent)


def _bend(above: np.ndarray, below: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By what angle (F,) and about what unit axis (F, 3) a joint between two bones is bent; a straight one: `axis`."""
    normal = np.cross(above, below)
    sine, cosine = np.linalg.norm(normal, axis=-1), (above * below).sum(-1)
    is_straight = sine < _STRAIGHT * np.hypot(sine, cosine)
    return np.arctan2(sine, cosine), np.where(is_straight[:, None], axis, _unit(normal))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
