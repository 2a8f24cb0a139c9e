# SPDX-License-Identifier: GPL-3.0-or-later
"""Second derivatives of the cost: its Hessian minus `J^T J + pull D`.

All derivations are our own. `i` above `j` means that the joint of `i` carries that of `j`.

- A position error `r` with velocity columns `J_j`: a turn about `u_i` turns the columns of all joints below it, so
  `d2 p / dq_i dq_j = u_i x J_j`, and the Hessian gets `-r . (u_i x J_j)`. Slides turn nothing.
- A rotation error `phi`: `grad 1/2 |phi|^2 = -u . phi` is exact. Its derivative is `u_j^T J_r(phi)^-1 u_i` less
  `phi . (u_i x u_j)` where `i` is above `j`, which comes to `u_j^T (I + c [phi]^2) u_i -+ 1/2 phi . (u_i x u_j)`.
- The three directions of one joint are not above each other: the mean of both orders is taken, for free balls
  (rotation vectors at zero) and for limited ones.
- The coordinates of a limited ball are curved: a rate `dx` turns it by `C(x) dx`, so the Hessian also gets the
  symmetric part of the gradient times `C^-1 dC/dx`.
- The pull's `1/2 |v|^2` has the Hessian `C^T (I + c [v]^2) C`.

Other kinds of tasks have `J^T J` only: poles, for example, whose rows are small.
"""

import numpy as np

from ..algebra import quaternion, twist_swing
from ..iterate.linear_step import LinearSystem
from ..model.goals import Targets
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request
from ..space.tasks import Kinematics, Tasks

_NEAR = 0.05  # [rad] below it series are more precise: their next terms are under 1e-8
_REGULAR = 1e-12  # keeps a limited ball's coordinates invertible at a swing of half a turn
_TWIST, _SWING = np.eye(3)[1], np.eye(3)[[0, 2]]


class Curvature:
    """The second derivatives of some tasks in a joint space."""

    def __init__(self, tasks: Tasks, space: JointSpace) -> None:
        self.tasks, self.space = tasks, space
        skeleton, joint = tasks.skeleton, space.joint
        carries = skeleton.ancestors[joint][:, joint].T & (skeleton.segment[joint][:, None] == skeleton.segment[joint])
        same = joint[:, None] == joint
        self._first = np.where(same, 0.5, carries)  # (n, n) factor of `u_i x J_j`: half within a joint
        above = carries & ~same
        self._order = above.astype(float) - above.T
        balls = [block for block in space.blocks if block.stop - block.start == 3]
        limited = np.array([not space.is_free(block) for block in balls], dtype=bool)
        self._balls = np.array([block.start for block in balls], dtype=np.intp)[:, None] + np.arange(3)
        self._limited = limited

    def __call__(self, point: Point, frames: Request, system: LinearSystem, v: np.ndarray | None) -> np.ndarray:
        """The sum of all parts (F, n, n) at points with their linear system; `v` as in `pull`, None without one."""
        x = point.state.x
        total = self.goals(point.state, point.kinematics, frames.targets, system.jacobian, point.error)
        if v is not None:
            total += self.pull(x, v, system.pull * system.reluctance)
        return total + self.coordinates(x, -system.descent(np.zeros_like(x)))

    def goals(self, state: State, kinematics: Kinematics, targets: Targets, jacobian: np.ndarray,
              error: np.ndarray) -> np.ndarray:  # fmt: skip
        """The goals' part (F, n, n), from the Jacobian (F, m, n) and the error rows (F, m) at these states."""
        tasks, frames = self.tasks, len(error)
        axes = np.swapaxes(self.space.rows(self.space.axes(state, kinematics.matrices)), -1, -2)  # u (F, n, 3)
        axes = axes * self.space.turns[:, None]
        total = np.zeros((frames, self.space.n, self.space.n))
        placed, oriented = tasks.rows_of("position"), tasks.rows_of("rotation")
        if placed.stop:
            columns = jacobian[:, placed].reshape(frames, -1, 3, self.space.n)
            away = error[:, placed].reshape(frames, -1, 1, 3)
            lever = quaternion.cross(away, axes[:, None] * tasks.moves[tasks.placed][..., None])  # r x u_i (F, P, n, 3)
            first = self._first * (lever @ columns).sum(1)
            total -= first + np.swapaxes(first, -1, -2)
        if oriented.stop:
            turned = tasks.rotation_errors(kinematics, targets)  # phi (F, R, 3)
            columns = jacobian[:, oriented].reshape(frames, -1, 3, self.space.n)
            spun = np.swapaxes(quaternion.skew(turned) @ columns, -1, -2)  # phi x u_i (F, R, n, 3)
            total -= 0.5 * self._order * (spun @ columns).sum(1)
            total -= (_bend(turned)[..., None, None] * spun @ np.swapaxes(spun, -1, -2)).sum(1)
        return total

    def coordinates(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The part (F, n, n) of limited balls' coordinates `x` (F, n), for a cost with this gradient (F, n)."""
        total = np.zeros((*x.shape, self.space.n))
        dofs = self._balls[self._limited]
        if dofs.size:
            body = twist_swing.body_jacobian(x[:, dofs])
            torque = _solve_transposed(body, gradient[:, dofs])
            curved = rates(x[:, dofs], body) @ torque[..., None, :, None]
            total[:, dofs[:, :, None], dofs[:, None, :]] = curved[..., 0]
        return total

    def pull(self, x: np.ndarray, v: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The pull's part (F, n, n) beyond its weights (n,), for turns `v` (F, n) from the base pose."""
        total = np.zeros((*v.shape, self.space.n))
        dofs = self._balls
        if dofs.size:
            turn = v[:, dofs]
            body = np.tile(np.eye(3), (*turn.shape[:-1], 1, 1))
            limited = self._limited
            # the coordinates of limited balls have the twist first
            turn[:, limited] = turn[:, limited][..., [1, 0, 2]]
            body[:, limited] = twist_swing.body_jacobian(x[:, dofs[limited]])
            spun = quaternion.skew(turn) @ body
            square = np.swapaxes(body, -1, -2) @ body - np.eye(3)
            square -= _bend(turn)[..., None, None] * (np.swapaxes(spun, -1, -2) @ spun)
            total[:, dofs[:, :, None], dofs[:, None, :]] = weight[dofs][..., None] * square
        return total


def rates(x: np.ndarray, body: np.ndarray) -> np.ndarray:
    """Symmetric part (..., 3, 3, 3) of the derivatives by `x` of `C`, a limited ball's `twist_swing.body_jacobian`.

    `[..., i, j, :]` is the mean of the derivatives of column `j` by `x_i` and of column `i` by `x_j`.
    """
    swing = x[..., 1:] @ _SWING
    square = (swing * swing).sum(-1)
    a, b, c = _swing_series(square)
    undo_twist = quaternion.to_matrix(quaternion.exp(-x[..., :1] * _TWIST))
    total = np.zeros((*x.shape[:-1], 3, 3, 3))
    # the twist carries the swing's columns about its axis
    carried = -0.5 * quaternion.cross(_TWIST, np.swapaxes(body[..., 1:], -1, -2))
    total[..., 0, 1:, :] = total[..., 1:, 0, :] = carried
    # J_r(s) = I - A [s] + B [s]^2, its derivative by s_i times e_j
    once = quaternion.cross(swing[..., None, :], _SWING)  # s x e_j (..., 2, 3)
    along = a[..., None, None] * once - b[..., None, None] * quaternion.cross(swing[..., None, :], once)
    curved = -x[..., 1:, None, None] * along[..., None, :, :]
    curved += c[..., None, None, None] * quaternion.cross(_SWING[:, None, :], once[..., None, :, :])
    curved = 0.5 * (curved + np.swapaxes(curved, -3, -2))
    total[..., 1:, 1:, :] = curved @ np.swapaxes(undo_twist, -1, -2)[..., None, :, :]
    return total


def _swing_series(square: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`A'/t`, `B'/t` and `B` of `A = (1 - cos t)/t^2`, `B = (t - sin t)/t^3`, for `t^2` (...)."""
    near = square < _NEAR**2
    t = np.sqrt(np.where(near, 1.0, square))
    sine, short = t - np.sin(t), 1.0 - np.cos(t)
    return (
        np.where(near, -1.0 / 12.0 + square / 180.0, (t * np.sin(t) - 2.0 * short) / t**4),
        np.where(near, -1.0 / 60.0 + square / 1260.0, (t * short - 3.0 * sine) / t**5),
        np.where(near, 1.0 / 6.0 - square / 120.0, sine / t**3),
    )


def _bend(v: np.ndarray) -> np.ndarray:
    """`c` (...) of `J_r(v)^-1 = I + 1/2 [v] + c [v]^2` for rotation vectors (..., 3), `|v| <= pi`."""
    square = (v * v).sum(-1)
    near = square < _NEAR**2
    half = 0.5 * np.sqrt(np.where(near, 1.0, square))
    return np.where(near, 1.0 / 12.0 + square / 720.0, (1.0 - half / np.tan(half)) / (4.0 * half * half))


def _solve_transposed(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """`M^-T v` (..., 3) of (..., 3, 3) and (..., 3), regularised."""
    square = matrix @ np.swapaxes(matrix, -1, -2) + _REGULAR * np.eye(3)
    return np.linalg.solve(square, matrix @ vector[..., None])[..., 0]
