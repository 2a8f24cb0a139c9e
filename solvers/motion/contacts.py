# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of points with the ground, found from their speed and their height, on the fine grid of time.

A contact is a run of frames on which a point is slow and low, and on one of them at least clearly so (a hysteresis from
both ends of time, so that the answer does not depend on where the motion is cut). Speeds are measured after what the
points that stand have in common is taken out of them: a slide in proportion to the speed of the hips, as of a figure
whose way was scaled, and a steady drift. As this depends on the whole motion, it only says where a point may stand:
what begins and ends a contact is the speed against the stance's own slide.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from . import fine_time

_FPS = 30.0  # lengths of time below are in frames of this rate
_GAP, _SHORTEST = 2, 3  # frames: gaps that are closed, and the shortest contact
_EVEN = 0.042  # seconds
_SPEED, _HEIGHT = (0.18, 0.32), (0.035, 0.05)  # of the leg's length (a second): clearly in contact, and just in contact
_MAY = 0.6  # of the leg's length a second: what is faster than this against the shared slide does not stand
_OWN, _OWN_ALIKE = 0.15, 0.06  # ... a stance's own slide against the shared one at most, and what counts as one slide
_UPRIGHT = 0.15  # of the leg's length a second: what rises faster does not stand
_ALIKE = 0.04  # ... and slides that differ by less are one
_JITTER, _RAISED = 0.14, 1.6  # ... noise from which on the limits of speeds are raised, and by how much
_HELD_BACK = 3  # frames: how much the shared slide counts against the own one of a stance that shakes
_LEAST = 1e-9
_AROUND = 0.4  # seconds before and after, of which the lowest places of a point are its ground
_LOWEST = 3  # the number of the frame, from the lowest, that counts as its ground
_LOW = 0.05  # the share of frames on which a point is as low as it stands
_HELD, _HOLD = (0.08, 0.15), 0.25  # of the leg's length a second: hands that hold; for at least so many seconds
_NEAR, _STILL, _LED = 0.12, 0.04, 0.1  # of the leg's length: low hands, how far held ones go, and shoulders that move


class PointKind(NamedTuple):
    """How high a kind of point may be where it stands [leg lengths].

    above : over the lowest place of all points about that time, where the ground is not known. sole : how far from a
    ground that is known.
    """

    above: float
    sole: float


FOOT_POINT, KNEE_POINT = PointKind(0.3, 0.1), PointKind(0.15, 0.0)
"""Heels and balls, which are above soles, and the lowest places of knees, whose thickness is known."""


class Slide(NamedTuple):
    """A slide that standing points share: a share of the hips' speed, and a drift (2,) [leg lengths a second].

    jitter : how much the points shake [leg lengths a second].
    """

    share: float
    drift: np.ndarray
    jitter: float


def find_contacts(
    points: np.ndarray, hips: np.ndarray, rate: float, leg: float, ground: float | np.ndarray | None = None,
    kinds: Sequence[PointKind] = (),
) -> np.ndarray:  # fmt: skip
    """The times (G, L, K) bool at which the same K points of L limbs, at places (F, L, K, 3), touch the ground.

    Those of the frames are `fine_time.on_frames` of them. hips : (F, 3), the place between the hip joints. rate :
    frames a second. leg : the length of a leg, in the unit of the places, whose third number is the height. ground :
    its height, or those (F, L, K) under the points, NaN where there is none; by default the lowest places of each
    point. kinds : of the K points; by default all are of feet.
    """
    count = fine_time.steps(rate)
    points, hips, rate = fine_time.finer(points, count), fine_time.finer(hips, count), rate * count
    ground = fine_time.finer_heights(ground, count) if isinstance(ground, np.ndarray) else ground
    if len(points) < 3 * width(rate):
        return np.zeros(points.shape[:3], dtype=bool)
    slide = shared_slide(points, hips, rate, leg, ground, kinds)
    raised, even = 1.0, smooth(points, _evenly(rate))
    height = _heights(even, rate, leg, ground, kinds) / leg
    if slide.jitter > _JITTER:
        raised, even = _RAISED, smooth(even, _evenly(rate))
    velocity = _velocity(even, rate) / leg
    velocity[..., :2] -= (slide.share * _led(hips, rate) / leg + slide.drift)[:, None, None]
    found = np.zeros(points.shape[:3], dtype=bool)
    for limb, k in np.ndindex(found.shape[1:]):
        found[:, limb, k] = tidy(_stands(velocity[:, limb, k], height[:, limb, k], raised), rate)
    return found


def _stands(velocity: np.ndarray, height: np.ndarray, raised: float) -> np.ndarray:
    """The frames (F,) on which a point of velocities (F, 3) and heights (F,), in leg lengths, stands.

    The velocities are those against the shared slide. raised : by how much the limits of speeds are raised.
    """
    found = np.zeros(len(height), dtype=bool)
    for begin, end in runs((lengths(velocity) < raised * _MAY) & (height < _HEIGHT[1])):
        own = velocity[begin:end].copy()
        own[:, :2] -= _own_slide(own, raised)
        speed = lengths(own) / raised
        clearly = (speed < _SPEED[0]) & (height[begin:end] < _HEIGHT[0])
        found[begin:end] = _grown(clearly, speed < _SPEED[1])
    return found


def _own_slide(velocity: np.ndarray, raised: float) -> np.ndarray:
    """The level velocity (2,) that most frames of velocities (F, 3) have, `_OWN` at most: a robust fit.

    Noise hides a stance's own slide, so the shared one counts more there.
    """
    speed, level = lengths(velocity), velocity[:, :2]
    held_back = _HELD_BACK if raised > 1.0 else 0
    slide = np.median(level[speed <= np.median(speed)], axis=0)
    for _ in range(10):
        weight = (1.0 + ((level - slide) ** 2).sum(-1) / (raised * _OWN_ALIKE) ** 2) ** -2
        slide = weight @ level / (weight.sum() + held_back)
    return slide * min(raised * _OWN / max(float(lengths(slide)), _LEAST), 1.0)


def find_holds(
    points: np.ndarray, roots: np.ndarray, rate: float, leg: float, ground: float | np.ndarray
) -> np.ndarray:
    """The times (G, L, K) bool at which the K points of L hands, at places (F, L, K, 3), hold on to a still thing.

    A point is slow all the while, and either low over the ground, or the shoulder, at a root (F, L, 3), goes its way: a
    hand that hangs beside a body at rest holds nothing. Times and ground as those of `find_contacts`.
    """
    count = fine_time.steps(rate)
    points, roots, rate = fine_time.finer(points, count), fine_time.finer(roots, count), rate * count
    ground = fine_time.finer_heights(ground, count) if isinstance(ground, np.ndarray) else ground
    found = np.zeros(points.shape[:3], dtype=bool)
    if len(points) < 3 * width(rate):
        return found
    low = points[..., 2] - ground < _NEAR * leg
    for limb, k in np.ndindex(found.shape[1:]):
        for begin, end in still_runs(points[:, limb, k], rate, leg, _HOLD):
            is_led = _wide(roots[begin:end, limb]) > _LED * leg
            found[begin:end, limb, k] = low[begin:end, limb, k].mean() > 0.5 or is_led
    return found


def still_runs(places: np.ndarray, rate: float, leg: float, shortest: float) -> list[tuple[int, int]]:
    """The runs of frames on which a point at places (F, 3) is slow and keeps its place, for so many seconds at least.

    rate : frames a second. leg : a leg's length.
    """
    speed = np.linalg.norm(_velocity(smooth(places, _evenly(rate)), rate), axis=-1) / leg
    return [(begin, end) for begin, end in runs(tidy(_grown(*(speed < most for most in _HELD)), rate))
            if end - begin >= shortest * rate and _wide(places[begin:end]) <= _STILL * leg]  # fmt: skip


def _wide(places: np.ndarray) -> float:
    """The largest distance of places (F, 3) from their mean."""
    return float(np.linalg.norm(places - places.mean(0), axis=-1).max())


def shared_slide(
    points: np.ndarray, hips: np.ndarray, rate: float, leg: float, ground: float | np.ndarray | None = None,
    kinds: Sequence[PointKind] = (),
) -> Slide:  # fmt: skip
    """The slide that points on the ground share; arguments as those of `find_contacts`.

    A robust fit (Geman-McClure) over all low places: what moves otherwise does not count.
    """
    even = smooth(points, _evenly(rate))
    velocity = _velocity(even, rate) / leg
    low = (_heights(even, rate, leg, ground, kinds) < _HEIGHT[0] * leg) & (np.abs(velocity[..., 2]) < _UPRIGHT)
    if low.sum() < 8:
        return Slide(0.0, np.zeros(2), 0.0)
    shake = np.linalg.norm(points - even, axis=-1) / leg * _FPS
    own = velocity[low][:, :2]
    led = _led(hips, rate) / leg
    led = np.broadcast_to(led[:, None, None], (*low.shape, 2))[low]
    rows = np.zeros((len(own), 2, 3), dtype=float)
    rows[:, :, 0], rows[:, 0, 1], rows[:, 1, 2] = led, 1.0, 1.0
    fits = [_fit(own, rows, share) for share in (-0.25, -0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2)]
    best = min(fits, key=lambda x: _cost(own, rows, x))
    return Slide(float(best[0]), best[1:], float(np.sort(shake[low])[low.sum() // 2]))


def _led(hips: np.ndarray, rate: float) -> np.ndarray:
    """The level velocity (F, 2) of the hips (F, 3)."""
    return _velocity(smooth(hips, 2 * width(rate)), rate)[:, :2]


def _cost(own: np.ndarray, rows: np.ndarray, x: np.ndarray) -> float:
    return float(np.mean(1.0 - 1.0 / (1.0 + _squares(own, rows, x))) + 0.3 * np.abs(x[0]))


def _fit(own: np.ndarray, rows: np.ndarray, share: float) -> np.ndarray:
    """A robust fit x (3,) of velocities (N, 2) by rows (N, 2, 3), from a share of the hips' speed."""
    x = np.array([share, 0.0, 0.0])
    for _ in range(15):
        weight = (1.0 + _squares(own, rows, x)) ** -2
        weighted = (weight[:, None, None] * rows).reshape(-1, 3).T
        normal = weighted @ rows.reshape(-1, 3) + weight.sum() * np.diag([0.01, 0.3, 0.3])
        x[:] = np.linalg.solve(normal, weighted @ own.reshape(-1))
    return x


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """The runs of a mask (F,): the first frame of each, and the one after its last."""
    steps = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    return list(zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True))


def _squares(own: np.ndarray, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    return ((own - rows @ x) ** 2).sum(-1) / _ALIKE**2


def standing_heights(
    points: np.ndarray, leg: float, ground: float | np.ndarray, kinds: Sequence[PointKind] = ()
) -> np.ndarray:  # fmt: skip
    """The heights (K,) over a ground at which points stand, as `find_contacts` takes all: soles are below bones."""
    found, most = list[float](), leg * _kinds(points, kinds)[:, 1]
    for over in np.moveaxis(points[..., 2] - ground, -1, 0):
        known = over[np.isfinite(over)]
        found.append(float(np.sort(known)[int(_LOW * len(known))]) if len(known) else 0.0)
    return np.clip(found, -most, most)


def _kinds(points: np.ndarray, kinds: Sequence[PointKind]) -> np.ndarray:
    """The numbers (K, 2) of the kinds of points (F, L, K, 3)."""
    return np.array(kinds or [FOOT_POINT] * points.shape[-2])


def _heights(
    points: np.ndarray, rate: float, leg: float, ground: float | np.ndarray | None, kinds: Sequence[PointKind]
) -> np.ndarray:  # fmt: skip
    """The heights (...) of points (F, ..., 3) over the ground, infinite for those far above all ground.

    The ground is where the point is lowest about that time, so that steps and slopes have theirs, and the answer does
    not depend on the rest of the motion.
    """
    height = points[..., 2]
    if ground is not None:
        return np.nan_to_num(height - ground - standing_heights(points, leg, ground, kinds), nan=np.inf)
    around, lowest = round(_AROUND * rate), _LOWEST * width(rate)
    own = np.partition(_windows(height, around), lowest - 1, axis=-1)[..., lowest - 1]
    least = _windows(height.reshape(len(height), -1).min(-1), around).min(-1)
    far = height > leg * _kinds(points, kinds)[:, 0] + least.reshape(-1, *[1] * (height.ndim - 1))
    return np.where(far, np.inf, height - np.minimum(own, height))


def _windows(values: np.ndarray, around: int) -> np.ndarray:
    """The values (F, ..., 2 around + 1) about each frame of (F, ...), infinite beyond the motion's ends."""
    wide = [(around, around), *[(0, 0)] * (values.ndim - 1)]
    return sliding_window_view(np.pad(values, wide, constant_values=np.inf), 2 * around + 1, 0)


def lengths(vectors: np.ndarray) -> np.ndarray:
    """The lengths (...) of vectors (..., n)."""
    return np.linalg.norm(vectors, axis=-1)


def _grown(clearly: np.ndarray, just: np.ndarray) -> np.ndarray:
    """The runs of `just` on which `clearly` holds somewhere."""
    found = np.zeros(len(just), dtype=bool)
    for begin, end in runs(just):
        found[begin:end] = clearly[begin:end].any()
    return found


def tidy(mask: np.ndarray, rate: float) -> np.ndarray:
    """Close short gaps, then drop short contacts; those that the motion's ends cut stay."""
    mask = mask.copy()
    for value, most in ((False, _GAP), (True, _SHORTEST - 1)):
        for begin, end in runs(mask == value):
            if end - begin <= most * rate / _FPS + 1e-6 and begin > 0 and end < len(mask):
                mask[begin:end] = not value
    return mask


def width(rate: float) -> int:
    """The frames that are the time of one at 30 a second."""
    return max(round(rate / _FPS), 1)


def _evenly(rate: float) -> int:
    """The frames to both sides over which places are evened before speeds are taken of them."""
    return max(round(_EVEN * rate), 1)


def smooth(values: np.ndarray, wide: int) -> np.ndarray:
    """The mean of each frame and of `wide` frames to both sides; the motion goes on beyond its ends as inside them.

    Of a motion that is shorter, over as many frames as it has to one side.
    """
    wide = min(wide, max(len(values) - 1, 0))
    before, after = 2.0 * values[:1] - values[wide:0:-1], 2.0 * values[-1:] - values[-2 : -2 - wide : -1]
    ends = np.concatenate([before, values, after])
    return np.sum([ends[k : k + len(values)] for k in range(2 * wide + 1)], axis=0) / (2 * wide + 1)


def _velocity(values: np.ndarray, rate: float) -> np.ndarray:
    """Changes a second, over as many frames as make two at 30 a second; none of a single frame."""
    wide, last = width(rate), len(values) - 1
    after = np.minimum(np.arange(len(values)) + wide, last)
    before = np.maximum(np.arange(len(values)) - wide, 0)
    span = np.maximum(after - before, 1).reshape(-1, *[1] * (values.ndim - 1))
    return (values[after] - values[before]) * rate / span
