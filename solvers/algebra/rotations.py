# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations spread evenly over all rotations."""

import numpy as np

_PHI, _PSI = np.sqrt(2.0), 1.533751168755204288118041  # the root of x^4 = x + 4


def spread(count: int) -> np.ndarray:
    """Unit quaternions (count, 4) of rotations that are spread evenly, always the same.

    A spiral on the sphere of quaternions with low discrepancy (Alexa 2022, "Super-Fibonacci Spirals: Fast,
    Low-Discrepancy Sampling of SO(3)", algorithm 1): a share of them close to `v` lies in any region of the volume `v`.
    """
    s = np.arange(count) + 0.5
    t, d = s / count, 2.0 * np.pi * s
    near, far = np.sqrt(t), np.sqrt(1.0 - t)
    one, other = d / _PHI, d / _PSI
    return np.stack([near * np.sin(one), near * np.cos(one), far * np.sin(other), far * np.cos(other)], -1)
