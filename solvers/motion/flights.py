# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in the air: the curve of a fall through places, and what puts a body back on it.

While nothing touches a body, its centre of mass goes on as it left the ground: level at one speed, and upward as
gravity has it. The curve is fitted to the frames that fit one (Geman-McClure). Those before the first and after the
last of them belong to the ground, which a foot that pushes off or lands is slow to leave: there the body goes over from
the curve to what stands. Where the motion begins or ends in the air by a jump off the curve, there is no ground.
"""

from typing import NamedTuple

import numpy as np

from . import fine_time
from .contacts import lengths, runs

_SHORTEST, _LONGEST = 0.15, 2.0  # seconds: of a flight
_TELLS = 0.25  # seconds: of a flight that the motion's end cuts, so that gravity is told from a steady way
_FITS = 0.01  # leg lengths: how far from the curve a frame fits half
_GOOD, _MOST = 0.02, 0.5  # leg lengths: frames nearer to the curve fit; the share of them from which on it is a flight
_JUMPS = 0.05  # leg lengths from a frame to the next: who pushes off or lands leaves the curve more slowly
_ROUNDS = 30


class Flights(NamedTuple):
    """By how much (G, 3) a body in the air has to move; NaN elsewhere.

    found, others : how many spans without contacts are flights, and how many do not fall as gravity has it.
    """

    moves: np.ndarray
    found: int
    others: int


def fitted_fall(
    times: np.ndarray, places: np.ndarray, bend: np.ndarray | None = None, weights: np.ndarray | None = None
) -> np.ndarray:  # fmt: skip
    """The fall `p + v t - b t^2 / 2` nearest to places (F, K) at times (F,): `p`, `v` and `b` (3, K).

    bend : (K,), if it is known. weights : (F,), of the squares.
    """
    rows = np.stack([np.ones_like(times), times, -0.5 * times**2], -1)
    root = np.ones_like(times) if weights is None else np.sqrt(weights)
    if bend is None:
        return np.linalg.lstsq(root[:, None] * rows, root[:, None] * places, rcond=None)[0]
    aims = places - rows[:, 2:] * bend
    own = np.linalg.lstsq(root[:, None] * rows[:, :2], root[:, None] * aims, rcond=None)[0]
    return np.concatenate([own, bend[None]])


def on_fall(curve: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The places (F, K) of a fall (3, K) at times (F,)."""
    return np.stack([np.ones_like(times), times, -0.5 * times**2], -1) @ curve


def flights(body: np.ndarray, touches: np.ndarray, rate: float, gravity: float, leg: float) -> Flights:
    """The flights of a centre of mass at places (F, 3), of which the third number is the height.

    touches : (G,), the times of the fine grid at which something of the body is in contact. rate : frames a second.
    gravity : in units of the places, of which `leg` are a leg's length, a second squared. A motion may begin or end in
    the air, if enough of its flight is seen to tell.
    """
    count = fine_time.steps(rate)
    every = fine_time.finer(body, count)
    moves, found = np.full(every.shape, np.nan), [0, 0]
    for begin, end in runs(~touches):
        opens, ends = begin == 0, end == len(touches)
        least = _TELLS if opens or ends else _SHORTEST
        if not least <= (end - begin) / (rate * count) <= _LONGEST:
            continue
        frames = np.arange(-(-begin // count), -(-end // count))
        middle = 0.5 * (begin + end)
        times = (frames * count - middle) / (rate * count)
        curve = _curve(times, body[frames], gravity, leg)
        off = lengths(body[frames] - on_fall(curve, times)) / leg
        near = off < _GOOD
        is_flight = near.mean() >= _MOST
        found[not is_flight] += 1
        if is_flight:
            first, last = np.flatnonzero(near)[[0, -1]]
            first = 0 if opens and off[max(first - 1, 0)] > off[first] + _JUMPS else first
            last = len(off) - 1 if ends and off[min(last + 1, len(off) - 1)] > off[last] + _JUMPS else last
            first, last = frames[[first, last]] * count
            own: np.ndarray = np.arange(int(first), int(last) + 1)
            moves[own] = on_fall(curve, (own - middle) / (rate * count)) - every[own]
    return Flights(moves, *found)


def _curve(times: np.ndarray, places: np.ndarray, gravity: float, leg: float) -> np.ndarray:
    """The fall (3, 3) that most places (F, 3) are near to."""
    bend, curves = np.array([0.0, 0.0, gravity]), list[tuple[float, np.ndarray]]()
    for some in (slice(None), slice(None, len(times) // 2 + 1), slice(len(times) // 2, None)):  # where to begin
        curve = fitted_fall(times[some], places[some], bend)
        for _ in range(_ROUNDS):
            off = (lengths(places - on_fall(curve, times)) / (leg * _FITS)) ** 2
            curve = fitted_fall(times, places, bend, (1.0 + off) ** -2)
        off = (lengths(places - on_fall(curve, times)) / (leg * _FITS)) ** 2
        curves.append((float((off / (1.0 + off)).sum()), curve))
    return min(curves, key=lambda one: one[0])[1]
