# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that sit: when, and what keeps the seat where it is.

A body sits where its seat is slow for a while, and is on the ground, or is low while the centre of mass is beside all
that the body stands on: then something else carries it.
"""

import numpy as np

from . import fine_time
from .contacts import runs, still_runs

_SITS = 0.4  # seconds: shorter, and a body only passes its lowest place
_LOW, _ON_GROUND = 0.62, 0.12  # leg lengths over the lowest place of the feet, or over a ground that is known
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
    lowest: np.ndarray = points[..., 2].min(-1)
    below = lowest if ground is None else np.where(np.isnan(ground := fine_time.finer_heights(ground, count)), lowest,
                                                   ground)  # fmt: skip
    rests = seat[:, 2] - below < _ON_GROUND * leg
    rests |= (seat[:, 2] - lowest < _LOW * leg) & (beside(weight, points, stands) > _BESIDE * leg)
    found = np.zeros(len(seat), dtype=bool)
    for begin, end in still_runs(seat, rate * count, leg, _SITS):
        found[begin:end] = rests[begin:end].mean() > 0.5
    return found


def beside(weight: np.ndarray, points: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """How far (F,) a centre of mass (F, 3) is from being over the points (F, P, 3) that stand (F, P); infinite if none.

    Over the area between them, seen from above, it is 0 or less.
    """
    reach = np.where(stands[..., None], points[..., :2] @ _WAYS.T, -np.inf).max(1)
    return (weight[:, :2] @ _WAYS.T - reach).max(-1)


def seated(
    seat: np.ndarray, hips: np.ndarray, sits: np.ndarray, leg: float, ground: np.ndarray | None = None,
    thick: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """By how much (G, 3) the hips move so that the seat stays where it is in the mean of each run of `sits` (G,).

    NaN where nothing is asked of them. seat, hips : (G, 3), where they are. leg : a leg's length. ground : its heights
    (G,) under the seat, NaN where there is none. A body on it has its hips at least so high over it as it is thick.
    """
    moves = np.full(seat.shape, np.nan)
    for begin, end in runs(sits):
        own = slice(begin, end)
        moves[own] = seat[own].mean(0) - seat[own]
        if ground is not None:
            near = np.abs(seat[own, 2] - ground[own]) < _ON_GROUND * leg
            if near.mean() > 0.5:
                height = max(float(hips[own, 2].mean()), float(ground[own][near].mean()) + thick)
                moves[own, 2] = height - hips[own, 2]
    return moves
