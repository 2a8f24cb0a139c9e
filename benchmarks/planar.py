# SPDX-License-Identifier: GPL-3.0-or-later
"""The extended Jacobian as published (Soch & Lorencz 2005): hinges in the plane, one fixed weight of the pairs."""

import numpy as np


def jacobian(lengths: np.ndarray, angles: np.ndarray, weight: float = 1.0) -> np.ndarray:
    """The Extended Jacobian (2n, n) of a chain of n hinges in the plane (eq. 9).

    Rows `i` and `i + n - 1` are x and y of the pair `i : i+2`, relative to the start of its first segment and turned
    with the segment before the pair (eq. 8); the last two are those of the main link, base to effector.

    The paper says that its rank is always n. This holds for three segments or more, unless one is folded flat onto its
    neighbour: then the rank may be lower, as for two segments in a line, whose only pair is the main link again.

    Parameters
    ----------
    lengths : (n,) of the segments. angles : (n,) [rad] of each segment from the one before. weight : of the pairs'
        rows.
    """
    lengths, angles = np.asarray(lengths, dtype=float), np.asarray(angles, dtype=float)
    n = len(lengths)
    first, second = angles[:-1], angles[:-1] + angles[1:]
    rows, pair = np.zeros((2 * n, n)), np.arange(n - 1)
    rows[pair, pair + 1] = -lengths[1:] * np.sin(second)
    rows[pair, pair] = rows[pair, pair + 1] - lengths[:-1] * np.sin(first)
    rows[pair + n - 1, pair + 1] = lengths[1:] * np.cos(second)
    rows[pair + n - 1, pair] = rows[pair + n - 1, pair + 1] + lengths[:-1] * np.cos(first)
    rows[:-2] *= weight
    rows[-2:] = main_link(lengths, angles)
    return rows


def main_link(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The plain Jacobian (2, n) of a planar chain's effector."""
    along = np.cumsum(angles)
    segments = np.stack([-lengths * np.sin(along), lengths * np.cos(along)])
    return np.cumsum(segments[:, ::-1], axis=1)[:, ::-1]


def effector(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Position (2,) of a planar chain's effector relative to its base (eq. 1)."""
    along = np.cumsum(angles)
    return np.array([lengths @ np.cos(along), lengths @ np.sin(along)])


def step(lengths: np.ndarray, angles: np.ndarray, displacement: np.ndarray, weight: float = 1.0) -> np.ndarray:
    """Changes of the angles (n,) that move the effector by about `displacement` (2,) and no pair.

    Eq. 10, by normal equations and LU.
    """
    rows = jacobian(lengths, angles, weight)
    displacements = np.concatenate([np.zeros(len(rows) - 2), displacement])
    return np.linalg.solve(rows.T @ rows, rows.T @ displacements)
