# SPDX-License-Identifier: GPL-3.0-or-later
"""Amino's two measures of the distance of poses from their targets, and their gradients.

    f_qv = |log(conj(r_act) r_ref)|^2 + |t_ref - t_act|^2        f_dq = |log(conj(Q_act) Q_ref)|^2

Half of one of them is minimised, with the goals' weights. `f_qv` is the sum of the squared error rows
(`space/tasks`). `f_dq` measures the screw that leads from a pose to its target: its rotation `v` and its linear part
`u = J_l(v)^-1 t`, which replaces the translation `t`. The two differ for large rotations, for which `f_dq` is the
larger. For a goal with a position or a rotation alone they are the same.

The screw is taken at the effector. The axes in which its two vectors are written do not change their squares.
"""

from dataclasses import dataclass

import numpy as np

from ..algebra import quaternion
from ..iterate.descent import Settings
from ..iterate.linear_step import dot
from ..space.joint_space import JointSpace
from ..space.point import Point, Request
from ..space.tasks import Tasks


@dataclass(frozen=True)
class Objective:
    """`1/2 |e(q)|^2 + 1/2 pull v^T W v` of frames, `e` the error rows of either measure."""

    tasks: Tasks
    space: JointSpace
    settings: Settings

    def value(self, point: Point, frames: Request) -> np.ndarray:
        """The objective (F,)."""
        error = point.error
        if self._screws:
            error = screws(self.tasks, error, None, frames.targets.shares)[0]
        return 0.5 * dot(error, error) + self._pulled(point, frames)

    def derivatives(self, point: Point, frames: Request) -> tuple[np.ndarray, np.ndarray]:
        """Its gradient (F, n), and the rows' Jacobian (F, m, n) with `e(q + d) ~ e - J d`."""
        error, jacobian = point.error, self.tasks.jacobian(point.state, point.kinematics, frames.targets)
        if self._screws:
            error, jacobian = screws(self.tasks, error, jacobian, frames.targets.shares)
        if self.tasks.one_sided is not None:  # a row with room has no part in the curvature
            jacobian = jacobian * (~self.tasks.one_sided | (point.error > 0.0))[..., None]
        gradient = -(error[:, None, :] @ jacobian)[:, 0]
        if self.settings.pull:
            v = self.space.difference(point.state, frames.base)
            gradient += self.settings.pull * self.space.pull_gradient(point.state, v, self.settings.weights)
        return gradient, jacobian

    def cost(self, point: Point, frames: Request) -> np.ndarray:
        """The cost (F,) that all solvers are compared by: the objective with `f_qv`."""
        return 0.5 * dot(point.error, point.error) + self._pulled(point, frames)

    @property
    def _screws(self) -> bool:
        return self.settings.options.objective == "DQ"

    def _pulled(self, point: Point, frames: Request) -> np.ndarray:
        if not self.settings.pull:
            return np.zeros(len(point.error))
        v = self.space.difference(point.state, frames.base)
        return 0.5 * self.settings.pull * dot(self.settings.weights * v, v)


def screws(
    tasks: Tasks, error: np.ndarray, jacobian: np.ndarray | None, shares: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Error rows (F, m) and Jacobian (F, m, n) in which screws replace the rows of goals with position and rotation.

    With `delta` the effector's twist, `log(exp(-delta) exp(xi)) ~ xi - J_l(xi)^-1 delta`: one 6 x 6 matrix per
    goal turns the rows of a velocity Jacobian into those of the screw.
    """
    rows, weights = tasks.pose_rows(shares)
    weight = np.repeat(weights, 3, axis=-1)  # (F or 1, P, 6)
    plain = error[:, rows] / weight
    turn, move = plain[..., :3], plain[..., 3:]
    linear = (quaternion.left_jacobian_inverse(turn) @ move[..., None])[..., 0]
    twist = np.concatenate([turn, linear], -1)
    error = error.copy()
    error[:, rows] = twist * weight
    if jacobian is None:
        return error, np.zeros((len(error), 0, 0))
    matrix = twist_jacobian_inverse(twist) * weight[..., :, None] / weight[..., None, :]
    jacobian = jacobian.copy()
    jacobian[:, rows] = matrix @ jacobian[:, rows]
    return error, jacobian


def twist_jacobian_inverse(twist: np.ndarray) -> np.ndarray:
    """`J_l(xi)^-1` (..., 6, 6) with `log(exp(delta) exp(xi)) ~ xi + J_l(xi)^-1 delta`, of twists `(v, u)` (..., 6).

    `I - 1/2 ad + a ad^2 + b ad^4` (Selig 2005): `x / (e^x - 1)` and its
    slope, matched at the eigenvalues 0 and +-i theta of `ad(xi)`, the latter double. Singular at `|v| = 2 pi`.
    """
    v, u = twist[..., :3], twist[..., 3:]
    squared = (v * v).sum(-1)[..., None, None]
    near = squared < 1e-2
    s = np.where(near, 1.0, squared)
    half = 0.5 * np.sqrt(s)
    h = half / np.tan(half)
    slope = 0.5 * (h - (half / np.sin(half)) ** 2)  # s dh/ds
    a = np.where(near, 1.0 / 12.0 - squared**2 / 30240.0, (2.0 * (1.0 - h) + slope) / s)
    b = np.where(near, -1.0 / 720.0 - squared / 15120.0, (1.0 - h + slope) / s**2)
    ad = np.zeros((*twist.shape[:-1], 6, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = quaternion.skew(v)
    ad[..., 3:, :3] = quaternion.skew(u)
    square = ad @ ad
    return np.eye(6) - 0.5 * ad + a * square + b * (square @ square)
