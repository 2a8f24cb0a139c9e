# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubics from key to key, as F-curves have them, and how far they are from a dense motion."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

_RIDGE = 1e-6  # holds what few samples leave open to the motion's value and the chord's slope
_REMEMBERED = 1024  # lengths of cubics
_LEAST = 1e-30  # where there are no samples between two keys


class Keys(NamedTuple):
    """K keys: the samples (K,) they are on, their values (K, C), and the slopes (K, 2, C) before and after them.

    kept : (K, C) the channels that have a key there. What the others have there is where their cubics pass.
    """

    samples: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    kept: np.ndarray

    def shown(self, times: np.ndarray) -> np.ndarray:
        """The values (F, C) of the cubics at the times (F,) of all samples."""
        values = np.repeat(self.values[:1], len(times), 0)
        for channel in range(self.values.shape[1]):
            rows = np.flatnonzero(self.kept[:, channel]).tolist()
            for first, last in pairwise(rows):
                begin, end = int(self.samples[first]), int(self.samples[last]) + 1
                ends = [self.values[first, channel], self.values[last, channel],
                        self.slopes[first, 1, channel], self.slopes[last, 0, channel]]  # fmt: skip
                values[begin:end, channel] = basis(times[begin:end]) @ np.array(ends)
        return values


@dataclass
class Part:
    """A bone, or another thing with C channels that are keyed together, over F samples.

    values : (F, C), the motion. effects : (C, F, R, 3), what a unit of each channel does to R of the vectors that are
    bounded, as a share of what is allowed. vectors : (R,), which these are. must : samples that get a key in all
    channels if they can have one. whole : all channels have all keys.
    """

    values: np.ndarray
    effects: np.ndarray
    vectors: np.ndarray
    must: Collection[int] = field(default_factory=tuple)
    whole: bool = False

    def off(self, shown: np.ndarray, at: slice = slice(None)) -> np.ndarray:
        """The errors (n, R, 3) of the vectors at some samples with values `shown` (n, C)."""
        return np.einsum("nc,cnrx->nrx", shown - self.values[at], self.effects[:, at])


def basis(times: np.ndarray) -> np.ndarray:
    """The shares (n, 4) at times of the two values and the two slopes of a cubic from the first to the last time."""
    return _basis((times - times[0]).astype(float, copy=False).tobytes())


@lru_cache(_REMEMBERED)
def _basis(times: bytes) -> np.ndarray:
    """As `basis`, for times from 0 on: those of most cubics are the same, since keys lie on frames."""
    own = np.frombuffer(times)
    span = own[-1]
    s = own / span
    rise, rest = s * s * (3.0 - 2.0 * s), 1.0 - s
    found = np.stack([1.0 - rise, rise, span * s * rest * rest, -span * s * s * rest], -1)
    found.setflags(write=False)
    return found


def least_squares(rows: np.ndarray) -> np.ndarray:
    """The map (m, n) from n residuals of the equations `rows` (n, m) to m unknowns, drawn a little toward zero."""
    normal = rows.T @ rows
    ridge = _RIDGE * (np.diag(normal) + np.trace(normal)) + _LEAST
    return np.linalg.solve(normal + np.diag(ridge), rows.T)
