# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest turn from one direction to another, and how it changes as both turn.

The turn from `a` to `l` is `e = t k` with the angle `t` and `k` along `a x l`. Where the two are opposite, any turn
across `a` is as small, and one of these is taken.
"""

import numpy as np

from ...algebra import quaternion

LEAST_SINE = 1e-9  # of the angle: below it the turn's axis counts as any across `a`


def turn_between(axis: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The turn (..., 3) from unit axes to unit lines, its axis `k`, and its angle over its sine (...)."""
    cross = quaternion.cross(axis, line)
    sine, cosine = np.sqrt((cross * cross).sum(-1)), (axis * line).sum(-1)
    angle = np.arctan2(sine, cosine)
    parallel = sine < LEAST_SINE
    least = np.argmin(np.abs(axis), axis=-1)
    other = quaternion.cross(axis, np.eye(3)[least])
    other /= np.sqrt((other * other).sum(-1, keepdims=True))
    k = np.where(parallel[..., None], other, cross / np.where(parallel, 1.0, sine)[..., None])
    slope = np.where(cosine > 0.0, 1.0, 0.0) * parallel + ~parallel * angle / np.where(parallel, 1.0, sine)
    return angle[..., None] * k, k, slope


def turn_rates(axis: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The turn `e` (..., 3) from unit axes to unit lines, and `D` (..., 3, 3) with `de = v x e - D (w - v)`.

    The axis turns by `w` and the line by `v`. If both turn alike, so does `e`; the axis alone changes its angle by
    `-k . w` and its direction by `-(t . w) (k x l) / sin`, with `t = k x a`: `D = k k^T + angle / sin (k x l) t^T`.
    """
    error, k, slope = turn_between(axis, line)
    across = quaternion.cross(k, line)[..., :, None] * quaternion.cross(k, axis)[..., None, :]
    return error, k[..., :, None] * k[..., None, :] + slope[..., None, None] * across
