# SPDX-License-Identifier: GPL-3.0-or-later
"""Guesses the frames a second that a person's motion was made for, from the motion alone.

Two things tell. A body whose feet are both in the air falls as gravity has it: its hips go along a parabola, whose
bend in frames gives the rate within a tenth. And who walks or runs makes longer steps in a shorter time: the length of
a step times its duration is nearly the same at every speed, which gives the rate within a third. Motions that show
neither tell nothing.
"""

from itertools import pairwise

import numpy as np

from .contacts import runs
from .flights import fitted_fall, on_fall

RATES = (12, 15, 24, 30, 60, 120, 240)
"""Rates that are named; the nearest one is."""
_FALL = 12.0  # leg lengths a second squared: gravity, for legs of 0.82 m
_STEP = 0.41  # leg lengths times seconds: a step times its duration, of people who stroll, walk and run
_FALL_OFF, _STEP_OFF = 1.22, 1.7  # ratios of rates from which on falls and steps contradict
_RAISED = 0.06  # of a leg's length: feet that are higher over the ground are in the air
_LOWEST = 0.02  # the share of frames on which the lowest foot may be below its ground
_FEWEST, _MANY = 4, 8  # frames of a fall, and of one that counts alone
_FIT, _FIT_ALONE = 0.035, 0.02  # of the height of a fall: mean distance from the parabola at most
_SAG = (0.015, 0.7)  # leg lengths: how high falls are
_TOP = 0.25  # of the duration of a fall: how far from its middle it is highest
_ALIKE = 1.15  # ratio of the rates that most falls tell at most
_STEPS = 3  # pairs of steps at least
_EVEN, _EVEN_LONG = 0.2, 0.25  # how far steps differ in duration and in length
_LONG = 0.35  # leg lengths: the shortest step that counts


def likely_rate(points: np.ndarray, hips: np.ndarray, leg: float, rate: float) -> int | None:
    """The rate that a motion was likely made for, where it is not the one at which it is played; None if it may be.

    points : (F, 2, K, 3) places of both feet. hips : (F, 3), the place between the hip joints. leg : the length of a
    leg, in the unit of the places, whose third number is the height. rate : frames a second.
    """
    found, off = fall_rate(points, hips, leg), _FALL_OFF
    if found is None:
        found, off = step_rate(points, leg), _STEP_OFF
    if found is None or max(found / rate, rate / found) < off:
        return None
    nearest = min(RATES, key=lambda one: abs(np.log(one / found)))
    return nearest if max(nearest / rate, rate / nearest) >= min(off, _FALL_OFF) else None


def fall_rate(points: np.ndarray, hips: np.ndarray, leg: float) -> float | None:
    """The frames a second at which a body in the air falls as gravity has it; None if it does not jump or run.

    Arguments as those of `likely_rate`.
    """
    lowest: np.ndarray = points[..., 2].min((1, 2))
    in_air = lowest > float(np.quantile(lowest, _LOWEST)) + _RAISED * leg
    found = [_fall(hips[begin:end, 2] / leg) for begin, end in runs(in_air) if begin > 0 and end < len(hips)]
    falls = [fall for fall in found if fall is not None]
    alone = [rate for rate, frames, fit in falls if frames >= _MANY and fit < _FIT_ALONE]
    if len(falls) < 2 and not alone:
        return None
    low, middle, high = np.quantile([rate for rate, *_ in falls], (0.25, 0.5, 0.75))
    return float(middle) if high < _ALIKE * low else None


def _fall(height: np.ndarray) -> tuple[float, int, float] | None:
    """The rate of a fall of heights (F,), its frames, and how far it is from a parabola; None if it is no fall."""
    count = len(height)
    if count < _FEWEST:
        return None
    times = np.arange(count) - 0.5 * (count - 1)
    curve = fitted_fall(times, height[:, None])
    _, speed, bend = curve[:, 0].tolist()
    sag = bend * count**2 / 8.0
    if not _SAG[0] < sag < _SAG[1] or abs(speed / bend) > _TOP * count:
        return None
    fit = float(np.sqrt(np.mean((on_fall(curve, times)[:, 0] - height) ** 2))) / sag
    return (float(np.sqrt(_FALL / bend)), count, fit) if fit < _FIT else None


def step_rate(points: np.ndarray, leg: float) -> float | None:
    """The frames a second at which people make steps like these; None where feet do not go by each other evenly.

    Arguments as those of `likely_rate`.
    """
    feet = points.mean(2)
    apart = (feet[:, 0] - feet[:, 1])[:, :2] / leg
    own = apart - apart.mean(0)
    way: np.ndarray = np.linalg.eigh(own.T @ own)[1][:, -1]
    ahead: np.ndarray = apart @ way  # how far the left foot is ahead of the right one
    passes = np.flatnonzero(np.diff(np.sign(ahead)) != 0.0) + 1
    if len(passes) < _STEPS + 2:
        return None
    tops = [begin + int(np.argmax(np.abs(ahead[begin:end]))) for begin, end in pairwise(passes.tolist())]
    frames, far = np.diff(tops), np.abs(ahead[tops])
    long = float(np.median(far))
    if long < _LONG or np.std(frames) > _EVEN * np.median(frames) or np.std(far) > _EVEN_LONG * long:
        return None
    return float(np.median(frames) * long / _STEP)
