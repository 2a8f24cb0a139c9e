# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways by which a limb's end is elsewhere, which change only as far as it goes: what stands or holds does not slide.

    minimise  sum |x[t] - way[t]|^2 + sum (rate time[t])^2 |x[t + 1] - x[t]|^2

A way settles in a time that falls with the square of the end's speed: at a step's speed at once, at rest hardly ever.
So nothing has to be known about where contacts begin and end.
"""

import numpy as np

from .banded import solve

_SETTLES, _SLOWEST = 0.03, 0.03  # seconds at a leg's length a second, and legs a second: what is slower is as this
_NEVER = 1e4  # seconds


def settled(
    ways: np.ndarray, places: np.ndarray, rate: float, stands: np.ndarray, share: np.ndarray | None = None
) -> np.ndarray:
    """Ways (F, 3) that change only as far as their end goes.

    places : (F, 3) of the end [leg lengths]. rate : frames a second. stands : (F,) bool where it stands, and a way does
    not change at all, nor a frame before and after. share : (F,) from 0 to 1, how much of this there is; else all.
    """
    near = stands[:-1] | stands[1:]
    near |= np.append(near[1:], False) | np.append(False, near[:-1])
    speed = np.linalg.norm(np.diff(places, axis=0), axis=-1) * rate
    times = _SETTLES / np.maximum(speed, _SLOWEST) ** 2
    times = times if share is None else times * np.minimum(share[1:], share[:-1])
    cost = (rate * np.where(near, _NEVER, times)) ** 2
    diagonal = 1.0 + np.append(cost, 0.0) + np.append(0.0, cost)
    unit = np.eye(ways.shape[1])
    none = np.zeros((max(len(cost) - 1, 0), *unit.shape))
    return solve(diagonal[:, None, None] * unit, -cost[:, None, None] * unit, none, ways)
