# SPDX-License-Identifier: GPL-3.0-or-later
"""The steadiest path near a path that trembles: of least acceleration, nowhere further from it than a distance.

    minimise  1/2 sum |x[t - 1] - 2 x[t] + x[t + 1]|^2    with |x[t] - a[t]| <= reach on every frame

The ends stay. A barrier keeps the path inside its tube, and each of Newton's steps is one banded system over all frames
(Boyd & Vandenberghe, *Convex Optimization*, 11.3).
"""

import numpy as np

from ..compiled.clip import BandMemory
from .banded import solve

STANDS_OUT = 4.0  # times the steps beside it: a step that is a jump, if it is also longer than a bound
EXACT = 1e-3  # of the objective: how far the path may be from the steadiest
EASING = 0.2  # of the barrier, once the path has settled inside it
SETTLED = 0.1  # of the barrier: a step that gains less settles the path
LEAST_SHARE, MOST_STEPS = 1e-3, 60


def steady_path(path: np.ndarray, reach: float, jump: float = np.inf, held: tuple[int, int] = (1, 1)) -> np.ndarray:
    """The steadiest path (F, K) no further than `reach` from `path` (F, K) on any frame.

    jump : a step longer than this, and much longer than those beside it, parts the path, and both sides of it stay.
    held : how many frames at the beginning and at the end stay as they are, 1 at least.
    """
    found, begin, frames = path.copy(), 0, len(path)
    for end in [*(jumps(path, jump) + 1).tolist(), frames]:
        first, last = max(begin + 1, held[0]), min(end - 1, frames - held[1])
        if reach > 0.0 and last > first:
            low, high = max(first - 2, begin), min(last + 2, end)
            found[first:last] = _steadied(path[low:high] / reach, first - low, last - low) * reach
        begin = end
    return found


def jumps(path: np.ndarray, least: float) -> np.ndarray:
    """The frames from which a path (F, K) jumps to the next one, by more than `least`."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=-1)
    around = np.pad(steps, 1)
    return np.flatnonzero((steps > least) & (steps > STANDS_OUT * np.maximum(around[:-2], around[2:])))


def _steadied(path: np.ndarray, first: int, last: int) -> np.ndarray:
    """The steadiest path of frames `first` to `last`, no further than 1 from `path` (F, K)."""
    frames, size = path.shape
    inner, one = slice(first, last), np.eye(size)
    diagonal, beside = np.zeros(frames), np.zeros(frames - 1)
    diagonal[:-2] += 1.0
    diagonal[1:-1] += 4.0
    diagonal[2:] += 1.0
    beside[:-1] -= 2.0
    beside[1:] -= 2.0
    bands = [diagonal[inner, None, None] * one, beside[first : last - 1, None, None] * one,
             np.broadcast_to(one, (max(last - first - 2, 0), size, size))]  # fmt: skip
    moved, memory = np.zeros_like(path), BandMemory()

    def objective(by: np.ndarray) -> float:
        return 0.5 * float((np.diff(path + by, 2, axis=0) ** 2).sum())

    def room(by: np.ndarray) -> np.ndarray:
        return 1.0 - (by[inner] ** 2).sum(-1)

    count = last - first
    barrier, value = objective(moved) / count, objective(moved)
    for _ in range(MOST_STEPS):
        left, own = room(moved)[:, None, None], moved[inner, :, None]
        curvature = barrier * (2.0 * one / left + 4.0 * own * own.swapaxes(1, 2) / left**2)
        slope = _second_differences(np.diff(path + moved, 2, axis=0))[inner] + barrier * 2.0 * (own / left)[..., 0]
        step = np.zeros_like(path)
        step[inner] = solve(bands[0] + curvature, bands[1], bands[2], -slope, memory)
        begun, share = objective(moved) - barrier * float(np.log(left).sum()), 1.0
        downhill = float((slope * step[inner]).sum())
        while share > LEAST_SHARE:
            trial = moved + share * step
            inside = room(trial)
            if inside.min() > 0.0:
                reached = objective(trial) - barrier * float(np.log(inside).sum())
                if reached <= begun + 0.1 * share * downhill:
                    moved = trial
                    break
            share *= 0.5
        value = objective(moved)
        if -downhill < SETTLED * barrier * count:
            if barrier * count <= EXACT * value:
                break
            barrier *= EASING
    return (path + moved)[inner]


def _second_differences(rows: np.ndarray) -> np.ndarray:
    """The transpose of second differences, (F, K) of (F - 2, K)."""
    return np.diff(np.pad(rows, ((2, 2), (0, 0))), 2, axis=0)
