# SPDX-License-Identifier: GPL-3.0-or-later
"""The linearised problem of one iteration, and its exact solution on a set of free directions.

    minimise  1/2 |e - J d|^2 + g . d + 1/2 s d^T D d + 1/2 d^T K d      with x + d inside the limits

`g` is the gradient of the pull toward the base pose, `D` the joints' reluctance, `s` the pull's strength plus the
Levenberg-Marquardt damping, `K` the second derivatives of errors and pull, for solvers that compute them. `D` contains
the joints' gains, so that `s D` contains the pull's curvature.
All arrays have a leading axis of frames.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import by_row
from ..space.joint_space import JointSpace
from ..space.unknowns import Unknowns

ROUNDING = 1e-13
SINGULAR = 1e-15  # of a matrix's trace: less, added to its diagonal, is lost in rounding
NEARLY_SINGULAR = 1e-6  # of J^T J's diagonal: less damping is lost in the rounding of nearly singular directions
LEAST = 1e-200  # below which a square counts as 0

Invert = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""`A^# e` (F, n) of matrices `A` (F, m, n), errors `e` (F, m) and damping (F,)."""


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Scalar products (F,) of rows (F, n)."""
    return (a[:, None, :] @ b[:, :, None])[:, 0, 0]


@dataclass
class LinearSystem:
    """One iteration's problem for F frames, m error rows and n degrees of freedom."""

    space: JointSpace | Unknowns
    x: np.ndarray  # (F, n) coordinates at the iteration's point
    jacobian: np.ndarray  # (F, m, n)
    error: np.ndarray  # (F, m)
    gradient: np.ndarray | None  # (F, n)
    damping: np.ndarray  # (F,) s > 0
    reluctance: np.ndarray  # (n,) D > 0
    pull: float = 0.0  # strength of the pull, whose gradient is `pull D v` for a turn v from the base pose
    curvature: np.ndarray | None = None  # (F, n, n) K, symmetric
    metric: np.ndarray | None = None  # (F, n, n) damps in D's place, for solvers that make one
    one_sided: np.ndarray | None = None  # (m,) bool, rows that count only where the error after the step is above 0

    def take(self, frames: np.ndarray) -> "LinearSystem":
        """The problem of some of the frames."""
        gradient = None if self.gradient is None else self.gradient[frames]
        curvature = None if self.curvature is None else self.curvature[frames]
        metric = None if self.metric is None else self.metric[frames]
        return LinearSystem(self.space, self.x[frames], self.jacobian[frames], self.error[frames], gradient,
                            self.damping[frames], self.reluctance, self.pull, curvature, metric,
                            self.one_sided)  # fmt: skip

    def reduced(self, unknowns: Unknowns) -> "LinearSystem":
        """The problem of the unknowns alone, where coordinates are coupled."""
        s = unknowns.matrix
        return replace(
            self, space=unknowns, x=self.x[:, unknowns.keep], jacobian=self.jacobian @ s,
            gradient=None if self.gradient is None else by_row(self.gradient, s),
            reluctance=unknowns.reluctance(self.reluctance),
            curvature=None if self.curvature is None else s.T @ self.curvature @ s,
            metric=None if self.metric is None else s.T @ self.metric @ s,
        )  # fmt: skip

    def value(self, d: np.ndarray) -> np.ndarray:
        """The objective (F,) at steps `d` (F, n)."""
        residual = self.error - (self.jacobian @ d[..., None])[..., 0]
        value = 0.5 * dot(residual, residual) + 0.5 * self.damping * dot(self.reluctance * d, d)
        if self.curvature is not None:
            value += 0.5 * dot(d, (self.curvature @ d[..., None])[..., 0])
        return value if self.gradient is None else value + dot(self.gradient, d)

    def decrease(self, d: np.ndarray) -> np.ndarray:
        """Predicted decrease (F,) of the objective, without its damping, by a step `d` (F, n)."""
        motion, error = (self.jacobian @ d[..., None])[..., 0], self.error
        if self.one_sided is not None:
            left = np.where(self.one_sided, np.maximum(error - motion, 0.0), error - motion)
            error = np.where(self.one_sided, np.maximum(error, 0.0), error)
            motion = error - left
        decrease = dot(motion, error - 0.5 * motion)
        if self.curvature is not None:
            decrease -= 0.5 * dot(d, (self.curvature @ d[..., None])[..., 0])
        return decrease if self.gradient is None else decrease - dot(self.gradient, d)

    def descent(self, d: np.ndarray) -> np.ndarray:
        """The negative gradient (F, n) of the objective at `d` (F, n)."""
        residual = self.error - (self.jacobian @ d[..., None])[..., 0]
        down = (residual[:, None, :] @ self.jacobian)[:, 0] - self.damping[:, None] * self.reluctance * d
        if self.curvature is not None:
            down -= (self.curvature @ d[..., None])[..., 0]
        return down if self.gradient is None else down - self.gradient


Inner = Callable[[LinearSystem], np.ndarray]
"""The step (F, n) of one iteration, inside the limits."""


def free_step(
    system: LinearSystem,
    free: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    fixed: np.ndarray | None = None,
) -> np.ndarray:
    """The exact minimiser (F, n) over the free directions.

    Solved in the space of the error rows, where the matrix is m x m for any number of joints: `(J_F D^-1 J_F^T + s I) y
    = e - J fixed + J_F D^-1 g / s`, then `d_F = D^-1 (J_F^T y - g / s)`. Where there are fewer degrees of freedom than
    rows: `(J_F^T J_F + s D) d_F = J_F^T (e - J fixed) - g`.

    Parameters
    ----------
    free : (F, n) or (n,) bool, the degrees of freedom that may move; None for all.
    normals : (F, pairs, 2) unit normals of swing ellipses along which the step must not move; zero where it may.
    fixed : (F, n) the fixed part of the step; zero along free directions.
    """
    jacobian, error, gradient = _restricted(system, free, normals, fixed)
    if 0 < jacobian.shape[-1] < jacobian.shape[-2]:
        step = _solve_by_freedom(system, jacobian, error, gradient)
        return step if fixed is None else step + fixed
    weighted = jacobian / system.reluctance
    matrix = weighted @ np.swapaxes(jacobian, -1, -2)
    diagonal = matrix.reshape(len(matrix), -1)[:, :: matrix.shape[-1] + 1]
    # damping that is lost in rounding would leave a singular matrix singular
    diagonal += np.maximum(system.damping, ROUNDING * diagonal.sum(-1))[:, None]
    if gradient is None:
        y = np.linalg.solve(matrix, error[..., None])
        step = (np.swapaxes(y, -1, -2) @ weighted)[:, 0]
    else:
        pulled = gradient / system.damping[:, None]
        y = np.linalg.solve(matrix, error[..., None] + weighted @ pulled[..., None])
        step = (np.swapaxes(y, -1, -2) @ weighted)[:, 0] - pulled / system.reluctance
    return step if fixed is None else step + fixed


def _solve_by_freedom(
    system: LinearSystem, jacobian: np.ndarray, error: np.ndarray, gradient: np.ndarray | None
) -> np.ndarray:
    """`free_step` (F, n) in the space of the degrees of freedom."""
    transposed, damped = np.swapaxes(jacobian, -1, -2), system.damping[:, None] * system.reluctance
    matrix = transposed @ jacobian
    diagonal = matrix.reshape(len(matrix), -1)[:, :: matrix.shape[-1] + 1]
    squares = diagonal.copy()
    diagonal += np.maximum(damped, SINGULAR * squares.sum(-1, keepdims=True))

    def solve(residual: np.ndarray, d: np.ndarray | None) -> np.ndarray:
        down = (residual[:, None, :] @ jacobian)[:, 0]
        down = down if gradient is None else down - gradient
        return np.linalg.solve(matrix, (down if d is None else down - damped * d)[..., None])[..., 0]

    step = solve(error, None)
    # where J is nearly singular the damping decides, but J^T J has lost its digits: one step of refinement
    near = system.damping <= NEARLY_SINGULAR * squares.max(-1)
    if near.any():
        correction = solve(error - (jacobian @ step[..., None])[..., 0], step)
        step = np.where(near[:, None], step + correction, step)
    return step


def weighted_step(
    invert: Invert,
    system: LinearSystem,
    free: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    fixed: np.ndarray | None = None,
) -> np.ndarray:
    """The step (F, n) of a generalised inverse over the free directions, with the pull in the goals' null space.

    `d = D^-1/2 (A^# e + (I - A^+ A) w)` with `A = J D^-1/2` (Parent eq. 5.25-5.28; Soch & Lorencz eq. 5): `w` leads
    back to the base pose; the projection keeps the part of it that does not move the effectors. The metric `D` holds
    the joints' gains: a reluctant joint is moved less and led back more. (Parent's 5.27 squares `q - q_c`: that is
    the objective, not its gradient.)

    Parameters
    ----------
    invert : gives `A^# e`. free, normals, fixed : as for `free_step`.
    """
    jacobian, error, gradient = _restricted(system, free, normals, fixed)
    scale = 1.0 / np.sqrt(system.reluctance)
    scaled = jacobian * scale
    step = invert(scaled, error, system.damping)
    if gradient is not None and system.pull > 0.0:
        back = -gradient * scale / system.pull
        step = step + back - least_norm(scaled, (scaled @ back[..., None])[..., 0], system.damping)
    step = step * scale
    return step if fixed is None else step + fixed


def least_norm(matrix: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """`A^+ e` (F, n) of matrices (F, m, n) (Parent eq. 5.22).

    `ROUNDING` times the trace is added to the squares of the singular values, so that a singular matrix is solved too.
    Where the trace is 0 nothing may move, and 1 is added. Matrices with no more rows than columns are solved by
    `A A^T`; the rounding of a singular one is lost in its product with `A^T`. For others there is no such product, so
    their singular values are computed. `damping` is not used.
    """
    del damping
    transposed = np.swapaxes(matrix, -1, -2)
    if matrix.shape[-2] > matrix.shape[-1]:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        least = ROUNDING * (values * values).sum(-1, keepdims=True)
        shares = values / (values * values + np.where(least > LEAST, least, 1.0))
        return (((error[:, None, :] @ left) * shares[:, None, :]) @ right)[:, 0]
    square = matrix @ transposed
    diagonal = square.reshape(len(square), -1)[:, :: square.shape[-1] + 1]
    least = ROUNDING * diagonal.sum(-1, keepdims=True)
    diagonal += np.where(least > LEAST, least, 1.0)
    return (transposed @ np.linalg.solve(square, error[..., None]))[..., 0]


def _restricted(
    system: LinearSystem, free: np.ndarray | None, normals: np.ndarray | None, fixed: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Jacobian, error and gradient of the free directions alone, after the fixed part of the step."""
    jacobian, error, gradient = system.jacobian, system.error, system.gradient
    if fixed is not None:
        error = error - (jacobian @ fixed[..., None])[..., 0]
    jacobian = restrict(system.space, jacobian, free, normals)
    if gradient is not None:
        gradient = restrict(system.space, gradient[:, None], free, normals)[:, 0]
    return jacobian, error, gradient


def restrict(
    space: JointSpace | Unknowns, rows: np.ndarray, free: np.ndarray | None, normals: np.ndarray | None
) -> np.ndarray:
    """Rows (F, k, n) without their components along directions that are not free."""
    if free is not None:
        rows = rows * (free[:, None, :] if free.ndim == 2 else free)
    if normals is not None and normals.size:
        pairs = space.pairs
        rows = rows if free is not None else rows.copy()
        rows[:, :, pairs] = tangential(rows[:, :, pairs], normals[:, None])
    return rows


def tangential(vectors: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """`vectors` (..., 2) without their part along unit (or zero) `normals` (..., 2)."""
    return vectors - normals * (vectors * normals).sum(-1, keepdims=True)
