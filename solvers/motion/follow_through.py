# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through of tails, hair, ears and spare limbs: bones that lag behind a motion, swing over, and come to rest.

The tip of each bone hangs on a damped spring at the place where the motion has it, so it lags, and what hangs on it
lags more. Each spring is one banded linear system over all frames: the trapezoidal rule (Newmark's average
acceleration), which is stable at any frequency. The answer is therefore a property of the motion, not of the order in
which frames are visited. If the motion is a loop, the system is circulant, and its answer closes as the motion does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..algebra import quaternion

_LEAST = 1e-12
_MOST = np.radians(120.0)  # a bone is led no further from the motion than this


@dataclass(frozen=True)
class Spring:
    """The spring that a bone follows on.

    frequency : swings a second. damping : 0 swings for ever, 1 does not swing over. drag : 0 to 1, the share of the
    damping that brakes against the air instead of against the motion: with it, what moves steadily is trailed too.
    """

    frequency: float = 3.0
    damping: float = 0.5
    drag: float = 0.25


def follow(motion: np.ndarray, spring: Spring, rate: float, loop: bool) -> np.ndarray:
    """Places (F, K) that follow places `motion` (F, K), which come `rate` times a second.

    `x'' = w^2 (a - x) + 2 z w ((1 - drag) a' - x')` with `w = 2 pi frequency`.
    loop : the last frame is the first one again, but for a steady drift, which is followed too; else the first frame
    moves as the motion does.
    """
    if len(motion) < 3:
        return motion.copy()
    w = 2.0 * np.pi * spring.frequency / rate
    stiff, brake = 0.25 * w * w, spring.damping * w
    left = np.array([1.0 - brake + stiff, -2.0 + 2.0 * stiff, 1.0 + brake + stiff])  # of x at t - 1, t, t + 1
    led = (1.0 - spring.drag) * brake
    right = np.array([stiff - led, 2.0 * stiff, stiff + led])  # of the motion
    if loop:
        return _closed(motion, left, right, 2.0 * spring.drag * spring.damping / w)
    pushes = np.apply_along_axis(np.convolve, 0, motion, right[::-1], "valid")
    places = motion.copy()
    for t, push in enumerate(pushes, 1):
        places[t + 1] = (push - left[1] * places[t] - left[0] * places[t - 1]) / left[2]
    return places


def _closed(motion: np.ndarray, left: np.ndarray, right: np.ndarray, trail: float) -> np.ndarray:
    """The periodic answer: both sides are circulant, so a Fourier transform solves them.

    trail : frames by which a steady drift is trailed.
    """
    period = len(motion) - 1
    drift = (motion[-1] - motion[0]) / period
    steady = np.arange(period)[:, None] * drift
    waves = np.fft.rfft(motion[:-1] - steady, axis=0)
    turn = np.exp(2j * np.pi * np.arange(len(waves)) / period)[:, None]
    gain = (right[0] / turn + right[1] + right[2] * turn) / (left[0] / turn + left[1] + left[2] * turn)
    places = np.fft.irfft(waves * gain, period, axis=0) + steady - trail * drift
    return np.concatenate([places, places[:1] + period * drift])


@dataclass(frozen=True)
class Chain:
    """The world motion of B bones over F frames, each after the one that it hangs on.

    parents : (B,) the bone among these that each hangs on, -1 for none. turns : (F, B, 4). heads, tails : (F, B, 3).
    carried : (B,) bool, whether the rotation of what a bone hangs on turns it too.
    """

    parents: np.ndarray
    turns: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    carried: np.ndarray


def follow_through(
    chain: Chain, spring: Spring, rate: float, loop: bool, amount: float = 1.0,
    inside: Callable[[int, np.ndarray], np.ndarray] = lambda bone, turns: turns,
) -> np.ndarray:  # fmt: skip
    """The turns (F, B, 4) of each bone beyond its own motion, about its own axes.

    rate : frames a second. loop : as for `follow`. amount : 0 to 1, of the answer. inside : keeps turns (F, 4) of a
    bone inside its limits.
    """
    extra = np.empty_like(chain.turns)
    turns, heads = chain.turns.copy(), chain.heads.copy()
    for bone, parent in enumerate(chain.parents.tolist()):
        carried = chain.turns[:, bone]
        if parent >= 0:
            turn = quaternion.product(turns[:, parent], quaternion.conjugate(chain.turns[:, parent]))
            heads[:, bone] = heads[:, parent] + quaternion.rotate(turn, chain.heads[:, bone] - chain.heads[:, parent])
            carried = quaternion.product(turn, carried) if chain.carried[bone] else carried
        back = quaternion.conjugate(chain.turns[:, bone])
        along = quaternion.rotate(back, chain.tails[:, bone] - chain.heads[:, bone])
        way = quaternion.rotate(carried, along)
        swing = amount * _swing(way, follow(heads[:, bone] + way, spring, rate, loop) - heads[:, bone])
        own = quaternion.product(quaternion.conjugate(carried), quaternion.product(quaternion.exp(swing), carried))
        extra[:, bone] = inside(bone, own)
        turns[:, bone] = quaternion.product(carried, extra[:, bone])
    return extra


def _swing(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Rotation vectors (F, 3) of the smallest turns from the directions of `start` to those of `end` (F, 3)."""
    turn = quaternion.log(quaternion.between(start, end))
    angle = np.sqrt((turn * turn).sum(-1, keepdims=True))
    return turn * (_MOST * np.tanh(angle / _MOST) / np.maximum(angle, _LEAST))
