# SPDX-License-Identifier: GPL-3.0-or-later
"""A character's own way of moving: corrections of the prior, fitted to its own frames by ridge regression."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class OwnMotion:
    """Corrections (K, 3) of a prior's motions, linear in what is told about the effectors.

    mean, scale : (n,) of the features. map : (n + 1, 3 K), the last row a constant.
    """

    mean: np.ndarray
    scale: np.ndarray
    map: np.ndarray

    def correction(self, features: np.ndarray) -> np.ndarray:
        """Rotation vectors (F, K, 3)."""
        inputs = np.clip((features - self.mean) / self.scale, -3.0, 3.0)
        return (inputs @ self.map[:-1] + self.map[-1]).reshape(len(features), -1, 3)
