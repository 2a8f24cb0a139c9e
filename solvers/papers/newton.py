# SPDX-License-Identifier: GPL-3.0-or-later
"""NEWTON: the exact Hessian of the cost, which the other solvers approximate by `J^T J`.

    (H + mu D) d = J^T e,   H = J^T J - sum_k e_k d2 e_k + pull D   (`curvature.py`)

(Kenwright XI asks how it compares.) Where the goals can be met the errors vanish, and with them the terms that `J^T J`
leaves out. Where they cannot, because they are out of reach or contradict each other, these terms slow the other
solvers down: they converge linearly, Newton's method quadratically. The price is an eigenvalue decomposition of `H`, an
n x n matrix for n degrees of freedom.

Far from the answer `J^T J` converges better, so second derivatives are used only where the last step did not make the
errors much smaller (Fletcher & Xu 1987, "Hybrid methods for nonlinear least squares"). Where the cost curves downward
`H` would lead to a saddle point, so the absolute values of its eigenvalues are used. The curvature of an active swing
ellipse is left out; along one it converges like the others.
"""

import numpy as np

from ..iterate.active_set import limited
from ..iterate.descent import Model, Settings, damped
from ..iterate.linear_step import LinearSystem, dot, restrict
from ..methods.table import Method
from ..space.joint_space import JointSpace
from ..space.point import Point, Request
from ..space.tasks import Tasks
from .curvature import Curvature

FAST = 0.5  # share of the errors' squares that a fast step removes


class SecondOrder(Model):
    """The exact Jacobian, with second derivatives where the errors no longer fall fast."""

    def __init__(self, tasks: Tasks, space: JointSpace, settings: Settings) -> None:
        super().__init__(tasks, space, settings)
        self._curvature = Curvature(tasks, space)
        self._error = np.zeros((0, 0))
        self._slow: np.ndarray | None = None  # (F,) frames whose errors do not fall fast

    def curvature(self, point: Point, frames: Request, system: LinearSystem, v: np.ndarray | None) -> np.ndarray:
        """The Hessian (F, n, n) of the cost minus `J^T J + pull D`; 0 where the errors fall fast."""
        self._error = point.error
        total = np.zeros((*system.x.shape, self.space.n))
        slow = self._slow
        if slow is not None and slow.any():
            v = None if v is None else v[slow]
            total[slow] = self._curvature(point.take(slow), frames.take(slow), system.take(slow), v)
        return total

    def learn(self, d: np.ndarray, change: np.ndarray, better: np.ndarray, poor: np.ndarray) -> None:
        """Use second derivatives in the next step unless the errors' squares fell by `FAST`."""
        error = self._error - change
        self._slow = ~better | (dot(error, error) > (1.0 - FAST) * dot(self._error, self._error))
        del d, poor

    def keep(self, frames: np.ndarray) -> None:
        """Keep the data of some of the frames only."""
        self._slow = None if self._slow is None else self._slow[frames]


def modified_step(
    system: LinearSystem,
    free: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    fixed: np.ndarray | None = None,
) -> np.ndarray:
    """`(|H| + mu D)^-1` times the descent (F, n) over the free directions; `|H|` has the eigenvalues' absolute values.

    The eigenvalues are those in the metric of the reluctance. `free`, `normals` and `fixed` are as for
    `linear_step.free_step`.
    """
    scale = 1.0 / np.sqrt(system.reluctance)
    hessian = np.swapaxes(system.jacobian, -1, -2) @ system.jacobian
    if system.curvature is not None:
        hessian = hessian + system.curvature
    hessian = restrict(system.space, scale[:, None] * hessian * scale, free, normals)
    hessian = restrict(system.space, np.swapaxes(hessian, -1, -2), free, normals)
    down = system.descent(np.zeros_like(system.x) if fixed is None else fixed)
    down = restrict(system.space, (scale * down)[:, None], free, normals)
    values, vectors = np.linalg.eigh(hessian)
    curved = np.abs(values + system.pull) + (system.damping - system.pull)[:, None]
    along = (down @ vectors)[:, 0] / np.maximum(curved, np.finfo(float).tiny)
    step = scale * (vectors @ along[..., None])[..., 0]
    return step if fixed is None else step + fixed


step = limited(modified_step, release=False)
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(damped(step, SecondOrder), continues=True)
