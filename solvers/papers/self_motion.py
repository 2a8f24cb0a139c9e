# SPDX-License-Identifier: GPL-3.0-or-later
"""Leads poses that meet their goals to where a criterion `g` is least among such poses: Baillieul's rows.

    J d = e,    (n_i^T H) d = -n_i^T grad g        n_i : an orthonormal basis of the null space of J

(Baillieul 1985; Soch & Lorencz eq. 6.) With the lower rows the matrix is square, and its steps end where
`n_i^T grad g = 0`. `H` is the derivative of `grad g - J^T y` for fixed multipliers `y` with `grad g ~ J^T y`, so that
`n_i^T H` is the derivative of `n_i^T grad g` where that is 0, with the motion of the basis in it.

The rows are solved from top to bottom: `d = J^+ e + N z`. Our own additions: `n_i^T H n_j` counts with the absolute
values of its eigenvalues, so that `z` leads downhill in `g` and not to a maximum; after a step `J^+ e` alone brings the
effectors back to their targets; a step counts only if `g` falls then. Directions into limits are left out of `J` and
the basis. `H` is computed by finite differences, which serve every kind of task.
"""

from dataclasses import dataclass

import numpy as np

from ..iterate.descent import LONGEST_STEP
from ..space.joint_space import JointSpace
from ..space.point import Point, Request, evaluate
from ..space.tasks import Tasks
from .criteria import Criterion

SMALL = 1e-9  # [of grad g] projected gradient that counts as 0
RANK = 1e-6  # of the largest singular value: directions below it do not move the effectors
LEAST_CURVED = 1e-3  # of the largest eigenvalue
CORRECTIONS, CORRECT = 5, 1e-12  # steps back to the targets, and the error that needs none
DELTA = 1e-6  # [rad], slides [skeleton lengths]: of the finite differences
CUTS, CUT = 6, 0.25  # of a step after which g has not fallen
ON_LIMIT = 1e-9
FLAT = 1e-12  # of g: changes that are rounding


@dataclass(frozen=True)
class NullSpaceRows:
    """The system of one pose: directions that it may take, Jacobian, null space, and what is left of the gradient.

    Attributes
    ----------
    free : (n, f) the directions. jacobian : (m, n). inverse : (f, m) J^+ over the directions.
    basis : (f, r) of the null space. multipliers : (m,). left : (r,) `n_i^T grad g`.
    """

    free: np.ndarray
    jacobian: np.ndarray
    inverse: np.ndarray
    basis: np.ndarray
    multipliers: np.ndarray
    left: np.ndarray


class SelfMotion:
    """The poses of one frame that meet its goals, and a criterion on them."""

    def __init__(self, tasks: Tasks, space: JointSpace, criterion: Criterion, frame: Request) -> None:
        self.tasks, self.space, self.criterion, self.frame = tasks, space, criterion, frame

    def least(self, point: Point, tolerance: float, rotation_tolerance: float, most: int) -> tuple[Point, int]:
        """From a point (1,) to one with a smaller criterion that meets the goals; it, and the steps taken.

        tolerance, rotation_tolerance : of the goals. most : steps.
        """

        def met(one: Point) -> bool:
            return bool(self.tasks.within(one.error, tolerance, rotation_tolerance)[0])

        back = self._corrected(point)
        if not met(back):
            return point, 0
        point, rows, value, taken = back, self.rows(back), self.criterion.value(back.state), 0
        while taken < most and np.abs(rows.left).max(initial=0.0) > SMALL:
            taken += 1
            d, share = self._step(point, rows), 1.0
            for _ in range(CUTS):
                trial = self._corrected(self._moved(point, share * d))
                trial_value = self.criterion.value(trial.state)
                rounding = FLAT * abs(value)
                if met(trial) and trial_value <= value + rounding:
                    trial_rows = self.rows(trial)
                    if trial_value < value - rounding or _size(trial_rows) < _size(rows):
                        break
                share *= CUT
            else:
                break
            point, rows, value = trial, trial_rows, trial_value
        return point, taken

    def rows(self, point: Point) -> NullSpaceRows:
        """The system at a point (1,)."""
        gradient, jacobian = self.criterion.gradient(point.state)[0], self._jacobian(point)
        free = self._directions(point, gradient, jacobian)
        left, values, right = np.linalg.svd(jacobian @ free, full_matrices=True)
        rank = int((values > RANK * values.max(initial=0.0)).sum())
        inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        basis, down = right[rank:].T, free.T @ gradient
        return NullSpaceRows(free, jacobian, inverse, basis, inverse.T @ down, basis.T @ down)

    def _step(self, point: Point, rows: NullSpaceRows) -> np.ndarray:
        """The step (n,) along the null space."""
        curved = rows.basis.T @ self._derivative(point, rows) @ rows.basis
        values, vectors = np.linalg.eigh(0.5 * (curved + curved.T))
        size = np.abs(values)
        least = max(LEAST_CURVED * float(size.max(initial=0.0)), np.finfo(float).tiny)
        z = vectors @ ((vectors.T @ -rows.left) / np.maximum(size, least))
        d = rows.free @ (rows.basis @ z)
        return d * min(1.0, LONGEST_STEP / max(float(self.space.sizes(d).max(initial=0.0)), 1e-300))

    def _derivative(self, point: Point, rows: NullSpaceRows) -> np.ndarray:
        """`H` (f, f) over the free directions."""
        count = int(rows.free.shape[1])
        delta = DELTA * np.abs(rows.free.T * self.space.units).max(-1, keepdims=True)
        steps = np.concatenate([np.zeros((1, self.space.n)), delta * rows.free.T])
        many = self.frame.take(np.zeros(count + 1, dtype=np.intp))
        state = self.space.step(point.state.take(np.zeros(count + 1, dtype=np.intp)), steps)
        kinematics = self.tasks.kinematics(state, many.links)
        jacobians = self.tasks.jacobian(state, kinematics, many.targets)[:, self._active(point)]
        slopes = (self.criterion.gradient(state) - rows.multipliers @ jacobians) @ rows.free
        return ((slopes[1:] - slopes[0]) / delta).T

    def _jacobian(self, point: Point) -> np.ndarray:
        """`J` (m, n) of the rows that count at a point."""
        whole = self.tasks.jacobian(point.state, point.kinematics, self.frame.targets)[0]
        return whole[self._active(point)]

    def _active(self, point: Point) -> np.ndarray:
        """(all,) bool: one-sided rows count only where their error is above 0."""
        if self.tasks.one_sided is None:
            return np.ones(self.tasks.all, dtype=bool)
        return ~self.tasks.one_sided | (point.error[0] > 0.0)

    def _moved(self, point: Point, d: np.ndarray) -> Point:
        x = point.state.x
        return evaluate(self.tasks, self.space.step(point.state, self.space.project(x + d) - x), self.frame)

    def _corrected(self, point: Point) -> Point:
        """The point (1,) after a few steps `J^+ e`, which bring its effectors back to their targets."""
        for _ in range(CORRECTIONS):
            error = point.error[0, self._active(point)]
            if np.abs(error).max(initial=0.0) < CORRECT:
                break
            jacobian = self._jacobian(point)
            free = self._directions(point, np.zeros(self.space.n), jacobian)
            d = free @ (np.linalg.pinv(jacobian @ free, RANK) @ error)
            nearer = self._moved(point, d)
            if not (nearer.error**2).sum() < (point.error**2).sum():
                break
            point = nearer
        return point

    def _directions(self, point: Point, gradient: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
        """Columns (n, f) that do not lead into limits while `gradient - J^T y` falls; of ellipses their tangents."""
        reduced = self.space.unknowns
        part = self.space if reduced is None else reduced
        spread = np.eye(part.n) if reduced is None else reduced.matrix
        x = point.state.x[0] if reduced is None else point.state.x[0, reduced.keep]
        boxed = np.ones(part.n, dtype=bool)
        boxed[part.pairs] = False
        low, high = boxed & (x <= part.lo + ON_LIMIT), boxed & (x >= part.hi - ON_LIMIT)
        normals = np.zeros((part.n, part.n))  # of ellipses that x lies on, as projections
        ellipses = list(zip(part.pairs, part.normals(x[None])[0], strict=True)) if part.pairs.size else []
        for pair, normal in ellipses:
            normals[np.ix_(pair, pair)] = np.outer(normal, normal)
        inside = (spread @ (np.eye(part.n) - normals))[:, ~(low | high | part.closed)]
        led = jacobian @ inside @ inside.T
        y = np.linalg.lstsq(led @ jacobian.T, led @ gradient, rcond=None)[0]
        uphill = spread.T @ (gradient - jacobian.T @ y)
        stays = part.closed | (low & (uphill >= 0.0)) | (high & (uphill <= 0.0))
        for pair, normal in ellipses:
            if normal @ uphill[pair] > 0.0:  # inward
                normals[np.ix_(pair, pair)] = 0.0
        columns = (spread @ (np.eye(part.n) - normals))[:, ~stays]
        return columns[:, np.abs(columns).max(0, initial=0.0) > ON_LIMIT]


def _size(rows: NullSpaceRows) -> float:
    return float(np.abs(rows.left).max(initial=0.0))
