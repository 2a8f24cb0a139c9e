# SPDX-License-Identifier: GPL-3.0-or-later
"""A quadratic program inside the limits, and its solution by gradient projection.

    minimise  g . d + 1/2 d^T B d      with x + d inside the limits

`B` is any positive definite matrix; `linear_step.py` has the least-squares case. Arrays have a leading axis of frames.
"""

from dataclasses import dataclass

import numpy as np

from ..iterate.active_set import SAME, active_set
from ..space.joint_space import JointSpace
from ..space.unknowns import Unknowns

ROUNDS = 32  # at most; most programs take one or two
GRADIENT_STEPS = 3  # a round
SHARES = (1.0, 0.5, 0.25, 0.1, 0.03, 0.0)  # of the step to the minimiser, which leaves a curved limit along its tangent
ROUNDING = 1e-14  # of a Hessian's largest entry, added so that a singular one can be solved


@dataclass
class QuadraticProgram:
    """One iteration's problem for F frames of n degrees of freedom."""

    space: JointSpace | Unknowns
    x: np.ndarray  # (F, n) coordinates at the iteration's point
    gradient: np.ndarray  # (F, n)
    hessian: np.ndarray  # (F, n, n), positive definite
    reluctance: np.ndarray  # (n,) D > 0, the metric of gradients: equal for the degrees of freedom of a joint

    def take(self, frames: np.ndarray) -> "QuadraticProgram":
        """The problem of some of the frames."""
        return QuadraticProgram(
            self.space, self.x[frames], self.gradient[frames], self.hessian[frames], self.reluctance
        )

    def value(self, d: np.ndarray) -> np.ndarray:
        """The objective (..., F) at steps `d` (..., F, n), minus its value at 0."""
        return (d * (self.gradient + 0.5 * times(self.hessian, d))).sum(-1)

    def descent(self, d: np.ndarray) -> np.ndarray:
        """The negative gradient (F, n) at `d` (F, n)."""
        return -self.gradient - times(self.hessian, d)

    def inside(self, d: np.ndarray) -> np.ndarray:
        """The step (F, n) nearest to `d` that ends inside the limits."""
        return self.space.project(self.x + d) - self.x

    def free_step(
        self, free: np.ndarray | None = None, normals: np.ndarray | None = None, fixed: np.ndarray | None = None
    ) -> np.ndarray:
        """The exact minimiser (F, n) over the free directions; arguments as in `linear_step.free_step`."""
        if free is None or normals is None or fixed is None:
            return _solve(self.hessian, -self.gradient, self.reluctance)
        pairs, unit = self.space.pairs, np.eye(self.x.shape[-1])
        onto = free[:, :, None] * unit  # the projection on the free directions
        onto[:, pairs[:, :, None], pairs[:, None, :]] -= square(normals)
        # along fixed directions the metric keeps the system regular and the answer is 0
        matrix = onto @ self.hessian @ onto + (unit - onto) * self.reluctance
        return _solve(matrix, times(onto, self.descent(fixed)), self.reluctance) + fixed


def step(program: QuadraticProgram) -> np.ndarray:
    """The minimiser (F, n) inside the limits, by gradient projection (More & Toraldo 1991).

    Projected gradient steps find the active limits. From there a step leads to the exact minimiser on those limits: as
    far as the next bound, which then becomes active too, or a share of that where an ellipse curves away. Both repeat
    until nothing moves.
    """
    space = program.space
    newton = program.free_step()
    d = program.inside(newton)
    left = np.flatnonzero(np.abs(d - newton).max(-1, initial=0.0) > SAME)
    part, active = program.take(left), np.zeros((len(left), space.n))
    d[left] *= (part.value(d[left]) < 0.0)[:, None]
    for _ in range(ROUNDS):
        if not left.size:
            break
        start = np.where(active.any(-1, keepdims=True), d[left], _along_gradient(part, d[left]))
        down = np.where(active != 0.0, active, part.descent(start))
        free, normals, fixed = active_set(space, part.x, start, down)
        move = np.where(free, part.free_step(free, normals, fixed) - start, 0.0)
        share, hit = _next_limit(space, part.x + start, move)
        candidates = part.inside(start + np.outer(SHARES, share)[..., None] * move)
        lowest = np.argmin(part.value(candidates), axis=0)
        best, hit = candidates[lowest, np.arange(len(left))], hit * (lowest == 0)[:, None]
        more = (np.abs(best - d[left]).max(-1, initial=0.0) > SAME) | hit.any(-1) | active.any(-1)
        d[left] = best
        active = np.where(hit.any(-1, keepdims=True), active + hit, 0.0)[more]
        left, part = left[more], part.take(more)
    return d


def _next_limit(space: JointSpace | Unknowns, x: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share (F,) of a step (F, n) from `x` at which it meets a bound, and its sign (F, n) at the bounds it meets.

    Swing ellipses are left to the projection.
    """
    boxed = np.ones(space.n, dtype=bool)
    boxed[space.pairs] = False
    room = np.maximum(np.where(move > 0.0, space.hi - x, x - space.lo), 0.0)
    shares = np.where(boxed & (move != 0.0), room / np.maximum(np.abs(move), 1e-200), np.inf)
    share = np.minimum(shares.min(-1, initial=1.0), 1.0)
    return share, np.where((shares <= share[:, None]) & (share < 1.0)[:, None], np.sign(move), 0.0)


def _along_gradient(program: QuadraticProgram, d: np.ndarray) -> np.ndarray:
    """Some projected gradient steps from `d` (F, n), short enough not to overshoot."""
    scale = 1.0 / np.sqrt(program.reluctance)
    curved = (np.abs(program.hessian) @ scale * scale).max(-1, initial=np.finfo(float).tiny)[:, None]
    for _ in range(GRADIENT_STEPS):
        d = program.inside(d + program.descent(d) * scale * scale / curved)
    return d


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Products (..., m) of matrices (..., m, n) and vectors (..., n)."""
    return (matrices @ vectors[..., None])[..., 0]


def square(vectors: np.ndarray) -> np.ndarray:
    """`v v^T` (..., n, n) of vectors (..., n)."""
    return vectors[..., :, None] * vectors[..., None, :]


def _solve(matrix: np.ndarray, vector: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Solutions (F, n) of symmetric systems (F, n, n), regularised by `ROUNDING` of a metric (n,)."""
    matrix = matrix.copy()
    diagonal = matrix.reshape(len(matrix), -1)[:, :: matrix.shape[-1] + 1]
    diagonal += ROUNDING * metric * (diagonal / metric).max(-1, keepdims=True, initial=np.finfo(float).tiny)
    return np.linalg.solve(matrix, vector[..., None])[..., 0]
