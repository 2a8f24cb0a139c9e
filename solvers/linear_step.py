# SPDX-License-Identifier: GPL-3.0-or-later
"""The linearised problem of one iteration, and its exact solution on a set of free directions.

    minimise  1/2 |e - J d|^2 + g . d + 1/2 s d^T D d      with x + d inside the limits

`g` is the gradient of the pull toward the base pose, `D` the joints' reluctance, `s` the pull's strength plus the
Levenberg-Marquardt damping. All arrays have a leading axis of frames.
"""

from dataclasses import dataclass

import numpy as np

from .joint_space import JointSpace


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Scalar products (F,) of rows (F, n)."""
    return (a[:, None, :] @ b[:, :, None])[:, 0, 0]


@dataclass
class LinearSystem:
    """One iteration's problem for F frames, m error rows and n degrees of freedom."""

    space: JointSpace
    x: np.ndarray  # (F, n) coordinates where the iteration stands
    jacobian: np.ndarray  # (F, m, n)
    error: np.ndarray  # (F, m)
    gradient: np.ndarray | None  # (F, n)
    damping: np.ndarray  # (F,) s > 0
    reluctance: np.ndarray  # (n,) D > 0

    def take(self, frames: np.ndarray) -> "LinearSystem":
        """The problem of some of the frames."""
        gradient = None if self.gradient is None else self.gradient[frames]
        return LinearSystem(self.space, self.x[frames], self.jacobian[frames], self.error[frames], gradient,
                            self.damping[frames], self.reluctance)  # fmt: skip

    def value(self, d: np.ndarray) -> np.ndarray:
        """The objective (F,) at steps `d` (F, n)."""
        left = self.error - (self.jacobian @ d[..., None])[..., 0]
        value = 0.5 * dot(left, left) + 0.5 * self.damping * dot(self.reluctance * d, d)
        return value if self.gradient is None else value + dot(self.gradient, d)

    def decrease(self, d: np.ndarray) -> np.ndarray:
        """By how much (F,) the objective at `d` (F, n), its damping left out, is below that of standing still."""
        moved = (self.jacobian @ d[..., None])[..., 0]
        gained = dot(moved, self.error - 0.5 * moved)
        return gained if self.gradient is None else gained - dot(self.gradient, d)

    def descent(self, d: np.ndarray) -> np.ndarray:
        """The negative gradient (F, n) of the objective at `d` (F, n)."""
        left = self.error - (self.jacobian @ d[..., None])[..., 0]
        down = (left[:, None, :] @ self.jacobian)[:, 0] - self.damping[:, None] * self.reluctance * d
        return down if self.gradient is None else down - self.gradient


def free_step(
    system: LinearSystem,
    free: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    fixed: np.ndarray | None = None,
) -> np.ndarray:
    """The exact minimiser (F, n) over the free directions.

    Solved in the space of the error rows, where the matrix is m x m however many joints there are:
    `(J_F D^-1 J_F^T + s I) y = e - J fixed + J_F D^-1 g / s`, then `d_F = D^-1 (J_F^T y - g / s)`.

    Parameters
    ----------
    free : (F, n) or (n,) bool, the degrees of freedom that may move; None for all.
    normals : (F, pairs, 2) unit normals of swing ellipses along which the step must not move; zero where it may.
    fixed : (F, n) the part of the step that is given; zero along free directions.
    """
    jacobian, error, gradient = system.jacobian, system.error, system.gradient
    if fixed is not None:
        error = error - (jacobian @ fixed[..., None])[..., 0]
    if free is not None:
        jacobian = jacobian * (free[:, None, :] if free.ndim == 2 else free)
        gradient = None if gradient is None else gradient * free
    if normals is not None and normals.size:
        pairs = system.space.pairs
        jacobian = jacobian if free is not None else jacobian.copy()
        jacobian[:, :, pairs] = tangential(jacobian[:, :, pairs], normals[:, None])
        if gradient is not None:
            gradient = gradient.copy()
            gradient[:, pairs] = tangential(gradient[:, pairs], normals)
    light = jacobian / system.reluctance
    matrix = light @ np.swapaxes(jacobian, -1, -2)
    matrix.reshape(len(matrix), -1)[:, :: matrix.shape[-1] + 1] += system.damping[:, None]
    if gradient is None:
        y = np.linalg.solve(matrix, error[..., None])
        step = (np.swapaxes(y, -1, -2) @ light)[:, 0]
    else:
        pulled = gradient / system.damping[:, None]
        y = np.linalg.solve(matrix, error[..., None] + light @ pulled[..., None])
        step = (np.swapaxes(y, -1, -2) @ light)[:, 0] - pulled / system.reluctance
    return step if fixed is None else step + fixed


def tangential(vectors: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """`vectors` (..., 2) less their part along unit (or zero) `normals` (..., 2)."""
    return vectors - normals * (vectors * normals).sum(-1, keepdims=True)
