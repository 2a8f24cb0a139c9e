# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Blender shows fewer keys beyond their bounds: there the limits that they are fitted within become smaller."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...solvers.motion import Keys, Part, total_errors
from .reduce_keys import Bounds

_LESS = 0.9  # of what would just do
_LEAST = 0.02  # the smallest limit
_FEW, _MOST = 0.4, 0.9  # smaller errors, and the times at which errors are largest, do not count for what is usual


class Seen(NamedTuple):
    """What Blender shows of keys: the parts of a motion, their keys, the limits (H, V) of these, and how far it is off.

    off : angles (H, N) of all bones and distances (H, E) of the ends, as `DenseMotion.differs` has them.
    """

    times: np.ndarray
    parts: Sequence[Part]
    keys: Sequence[Keys]
    limits: np.ndarray
    off: tuple[np.ndarray, ...]
    bounds: Bounds

    def shares(self) -> np.ndarray:
        """How far (H, N + E) bones and ends are off, as a share of what is allowed."""
        return np.concatenate([self.off[0] / self.bounds.angle, self.off[1] / self.bounds.distance], 1)

    def expected(self) -> np.ndarray:
        """How far (H, N + E) the keys should have led these."""
        count = self.off[0].shape[1] + self.off[1].shape[1]
        errors = total_errors(self.times, self.parts, self.keys, self.limits.shape[1])
        return np.linalg.norm(errors[:, :count], axis=-1)


def calibrate(seen: Seen) -> bool:
    """Lower the limits of bones and ends that are often further off than expected; whether there are any."""
    shares = seen.shares()
    ratios = np.quantile(shares / np.maximum(seen.expected(), _FEW), _MOST, axis=0)
    is_off = (shares.max(0) > 1.0) & (ratios > 1.0)
    seen.limits[:, : shares.shape[1]] /= np.where(is_off, ratios, 1.0)
    return bool(is_off.any())


def tighten(seen: Seen) -> None:
    """Lower the limits where bones or ends are beyond the bounds."""
    shares = seen.shares()
    limits, around = seen.limits[:, : shares.shape[1]], _around(shares, 1)
    new = np.minimum(np.maximum(_LESS * seen.expected() / np.maximum(around, 1.0), _LEAST), limits)
    limits[around > 1.0] = new[around > 1.0]


def _around(values: np.ndarray, steps: int) -> np.ndarray:
    """The largest of values (H, ...) within some steps."""
    padded = np.pad(values, ((steps, steps), (0, 0)))
    return np.max([padded[step : step + len(values)] for step in range(2 * steps + 1)], axis=0)
