# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that sit or lie: when, and what keeps seat and back where they are.

A body sits where its seat is slow for a while, and is on the ground, or is low while the centre of mass is beside all
that the body stands on: then something else carries it. It lies where its back, between the shoulders, is slow and low.
"""

from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from . import fine_time
from .contacts import runs, still_runs
from .foot_lock import cost_away, faded, stances

_SITS = 0.4  # seconds: shorter, and a body only passes its lowest place
_LOW, _ON_GROUND = 0.62, 0.12  # leg lengths over the lowest place of the feet, or over a ground that is known
_LIES = 0.24  # leg lengths over the lowest place of legs, or over a known ground: half as much as a back is wide
_BESIDE = 0.08  # leg lengths from what stands to a centre of mass that it does not carry
_WAYS = np.stack([(np.cos(angle), np.sin(angle)) for angle in np.arange(0.0, 2.0 * np.pi, np.pi / 12.0)])


def find_seats(
    seat: np.ndarray, weight: np.ndarray, points: np.ndarray, stands: np.ndarray, rate: float, leg: float,
    ground: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The times (G,) of the fine grid at which a seat at places (F, 3) carries the body.

    weight : (F, 3), the centre of mass. points : (F, P, 3) of legs, and stands : (G, P), when these are on the ground.
    rate : frames a second. leg : a leg's length, in the unit of the places, whose third number is the height. ground :
    its heights (F,) under the seat, NaN where there is none, if they are known.
    """
    count = fine_time.steps(rate)
    if len(seat) <= _SITS * rate:
        return np.zeros(count * (len(seat) - 1) + 1, dtype=bool)
    seat, weight, points = (fine_time.finer(one, count) for one in (seat, weight, points))
    lowest, below = _below(points, ground, count)
    rests = seat[:, 2] - below < _ON_GROUND * leg
    rests |= (seat[:, 2] - lowest < _LOW * leg) & (beside(weight, points, stands) > _BESIDE * leg)
    return _mostly(rests, seat, rate * count, leg)


def find_backs(
    back: np.ndarray, points: np.ndarray, rate: float, leg: float, ground: np.ndarray | None = None
) -> np.ndarray:  # fmt: skip
    """The times (G,) of the fine grid at which a body lies on its back at places (F, 3), or its front, or a side.

    Other arguments as those of `find_seats`.
    """
    count = fine_time.steps(rate)
    if len(back) <= _SITS * rate:
        return np.zeros(count * (len(back) - 1) + 1, dtype=bool)
    back, points = fine_time.finer(back, count), fine_time.finer(points, count)
    return _mostly(back[:, 2] - _below(points, ground, count)[1] < _LIES * leg, back, rate * count, leg)


def _below(points: np.ndarray, ground: np.ndarray | None, count: int) -> tuple[np.ndarray, np.ndarray]:
    """How high (G,) the lowest of points (G, P, 3) is, and the ground: as high if its heights (F,) are not known."""
    lowest: np.ndarray = points[..., 2].min(-1)
    if ground is None:
        return lowest, lowest
    known = fine_time.finer_heights(ground, count)
    return lowest, np.where(np.isnan(known), lowest, known)


def _mostly(rests: np.ndarray, places: np.ndarray, rate: float, leg: float) -> np.ndarray:
    """The times (G,) of the runs on which something at places (G, 3) is still, and mostly rests (G,)."""
    found = np.zeros(len(places), dtype=bool)
    for begin, end in still_runs(places, rate, leg, _SITS):
        found[begin:end] = rests[begin:end].mean() > 0.5
    return found


def beside(weight: np.ndarray, points: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """How far (F,) a centre of mass (F, 3) is from being over the points (F, P, 3) that stand (F, P); infinite if none.

    Over the area between them, seen from above, it is 0 or less.
    """
    reach = np.where(stands[..., None], points[..., :2] @ _WAYS.T, -np.inf).max(1)
    return (weight[:, :2] @ _WAYS.T - reach).max(-1)


class TrunkPlaces(NamedTuple):
    """Where the seat of a body is, its back, and the joint of the spine that turns it: places (G, 3)."""

    seat: np.ndarray
    back: np.ndarray
    spine: np.ndarray


def rested(
    trunk: TrunkPlaces, hips: np.ndarray, sits: np.ndarray, lies: np.ndarray, rate: float, leg: float,
    ground: np.ndarray | None = None, thick: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """By how much (G, 3) the hips move so that seat and back stay on `sits` and `lies` (G,), and the spine turns.

    Each run of either has one place, where it was in the mean; runs that overlap belong together. The hips keep a seat
    where it is, or a back alone; the spine turns a back beside a seat (rotation vectors (G, 3)), which fades. Of the
    hips NaN where nothing is asked of them. hips : (G, 3), where they are. rate : of the grid. leg : a leg's length.
    ground : its heights (G,) under the seat, NaN where there is none. A body on it has its hips at least so high over
    it as it is thick.
    """
    rests = np.stack([sits, lies], -1)
    seat, back = stances(np.stack(trunk[:2], 1), rests, None).swapaxes(0, 1)
    moves = seat - trunk.seat
    for begin, end in runs(sits):
        own = slice(begin, end)
        if ground is not None:
            near = np.abs(trunk.seat[own, 2] - ground[own]) < _ON_GROUND * leg
            if near.mean() > 0.5:
                height = max(float(hips[own, 2].mean()), float(ground[own][near].mean()) + thick)
                moves[own, 2] = height - hips[own, 2]
    line, cost = trunk.back - trunk.spine, cost_away(rests, rate)
    wanted = back - trunk.spine - moves  # NaN but where both rest
    turns, both = np.full(moves.shape, np.nan), sits & lies
    turns[both] = quaternion.log(quaternion.between(line[both], wanted[both]))
    turns = faded(turns, cost, rate)
    line = quaternion.rotate(quaternion.exp(turns), line)
    left = faded(line - wanted, cost, rate)  # a spine keeps its length
    return np.where(lies[:, None] & ~sits[:, None], back + left - trunk.spine - line, moves), turns
