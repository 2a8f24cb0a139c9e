# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the unknowns in a clip: one-sided costs, stiff beside the smoothness.

    1/2 w |y - P(y)|^2,   P the nearest point inside the limits

What is left outside is brought inside exactly, frame by frame, afterwards.
"""

import numpy as np

from ..space.joint_space import JointSpace

WEIGHT = 1e-2  # w [1 / rad^2], for slides [1 / skeleton lengths^2]


class Bounds:
    """The limits of the k unknowns of a space: its coordinates, or those that no other one leads.

    Attributes
    ----------
    keep : (k,) the unknowns' coordinates. open : (k,) bool, those with room to move. units : (k,) 1 [rad], or the
        skeleton's length for slides.
    """

    def __init__(self, space: JointSpace) -> None:
        self._limits = space.unknowns or space
        self.keep = np.arange(space.n) if space.unknowns is None else space.unknowns.keep
        self.open = ~self._limits.closed
        self.units = self._limits.units
        self._weights = WEIGHT / self.units**2
        self._pairs = self._limits.pairs
        self._boxed = np.ones(len(self.keep), dtype=bool)
        self._boxed[self._pairs] = False

    def excess(self, y: np.ndarray) -> np.ndarray:
        """`y - P(y)` (F, k) of unknowns (F, k)."""
        return y - self._limits.project(y) if self._limits.limited else np.zeros_like(y)

    def costs(self, excess: np.ndarray) -> np.ndarray:
        """The costs (F,) of the frames."""
        return 0.5 * (excess * excess) @ self._weights

    def model(self, y: np.ndarray, step: np.ndarray, excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (F, k) and Hessian (F, k, k) at `y` of the cost, as it is beyond the limits that a step exceeds.

        excess : (F, k) of `y + step`. Where it is not 0, the limit is a plane through the nearest point inside.
        """
        beyond, count = excess - step, len(self.keep)
        felt = (excess != 0.0) & self._boxed
        gradient, hessian = self._weights * beyond * felt, np.zeros((len(y), count, count))
        own = np.arange(count)
        hessian[:, own, own] = self._weights * felt
        if self._pairs.size:
            out = excess[:, self._pairs]
            length = np.sqrt((out * out).sum(-1, keepdims=True))
            normal = np.where(length > 0.0, out / np.where(length > 0.0, length, 1.0), 0.0)
            along = (normal * beyond[:, self._pairs]).sum(-1, keepdims=True)
            gradient[:, self._pairs] = self._weights[self._pairs] * normal * along
            first, second = self._pairs[:, :, None], self._pairs[:, None, :]
            hessian[:, first, second] = self._weights[first] * (normal[..., :, None] * normal[..., None, :])
        return gradient, hessian
