# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions between their frames, on a fine grid of time: what is found there does not depend on the frames a second.

The grid has a whole number of steps a frame, about `RATE` a second, so each frame is one of its times. Between frames a
motion goes along the polynomial of the fifth degree through the six frames around (Lagrange).
"""

import numpy as np

from ..algebra import quaternion

RATE = 120.0
_TAPS = np.arange(-2, 4)  # frames around, of which the polynomial is


def steps(rate: float) -> int:
    """The steps of the grid from a frame to the next, at `rate` frames a second."""
    return max(round(RATE / rate), 1)


def on_frames(values: np.ndarray, rate: float) -> np.ndarray:
    """What values (G, ...) of the grid are on the frames (F, ...), at `rate` frames a second."""
    return values[:: steps(rate)]


def finer(values: np.ndarray, count: int, still: float = 0.0) -> np.ndarray:
    """Values (F, ..., K) on the grid (count (F - 1) + 1, ..., K); beyond its ends the motion goes on as inside them.

    still : what moves by less from a frame to the next goes straight there, so that what stands on frames stands
    between them too, however fast it comes and goes.
    """
    if count == 1 or len(values) < 2:
        return values
    wide = [(-_TAPS[0], _TAPS[-1] - 1), *[(0, 0)] * (values.ndim - 1)]
    ends = np.pad(values, wide, "reflect", reflect_type="odd")
    found, shares = np.zeros((len(values) - 1, count, *values.shape[1:])), np.arange(count) / count
    for tap, weight in enumerate(_weights(shares).T):
        found += ends[tap : tap + len(found), None] * weight.reshape(-1, *[1] * (values.ndim - 1))
    if still > 0.0:
        step = np.diff(values, axis=0)[:, None]
        straight = values[:-1, None] + shares.reshape(-1, *[1] * (values.ndim - 1)) * step
        square = (step**2).sum(-1, keepdims=True)
        found = straight + square / (square + still**2) * (found - straight)
    return np.concatenate([found.reshape(-1, *values.shape[1:]), values[-1:]])


def finer_turns(turns: np.ndarray, count: int, still: float = 0.0) -> np.ndarray:
    """Rotations (F, ..., 4) on the grid; arguments as those of `finer`."""
    return quaternion.normalize(finer(one_sign(turns), count, still))


def finer_heights(heights: np.ndarray, count: int) -> np.ndarray:
    """Heights (F, ...) of a ground on the grid, straight from frame to frame; NaN beside one that is."""
    share = (np.arange(count) / count).reshape(-1, *[1] * (heights.ndim - 1))
    found = heights[:-1, None] + share * (heights[1:] - heights[:-1])[:, None]
    found[:, 0] = heights[:-1]
    return np.concatenate([found.reshape(-1, *heights.shape[1:]), heights[-1:]])


def finer_mask(mask: np.ndarray, count: int, found: np.ndarray | None = None) -> np.ndarray:
    """The times (G, ...) of the grid on which what a mask (F, ...) says of frames holds: on both frames beside them.

    found : (G, ...), where it was found to hold. A run of frames begins and ends where it does there, if that is less
    than a frame away.
    """
    later, earlier = mask[1:, None], mask[:-1, None]
    inner = np.repeat(later & earlier, count, axis=1)
    if found is not None:
        own = found[:-1].reshape(inner.shape)
        after = np.logical_and.accumulate(own, axis=1) & earlier
        ends = np.concatenate([own[:, 1:], found[count::count][:, None]], axis=1)
        before = np.logical_and.accumulate(ends[:, ::-1], axis=1)[:, ::-1] & later
        before = np.concatenate([np.zeros_like(before[:, :1]), before[:, :-1]], axis=1)
        inner |= after | before
    inner[:, 0] = mask[:-1]
    return np.concatenate([inner.reshape(-1, *mask.shape[1:]), mask[-1:]])


def one_sign(turns: np.ndarray) -> np.ndarray:
    """Rotations (F, ..., 4) with the signs that make each nearest to the one before."""
    flips = np.cumsum((turns[1:] * turns[:-1]).sum(-1) < 0.0, axis=0) % 2 == 1
    found = turns.copy()
    found[1:][flips] *= -1.0
    return found


def _weights(at: np.ndarray) -> np.ndarray:
    """The weights (N, 6) of the frames around in the polynomials at shares (N,) of a frame."""
    own, others = _TAPS[:, None], _TAPS[None, :]
    is_other = own != others
    apart = np.where(is_other, own - others, 1.0)
    return np.where(is_other, (at[:, None, None] - others) / apart, 1.0).prod(-1)
