# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-at tasks: three rows for each goal whose bone points an axis at its target.

The error is the smallest turn from the axis `a` to the line `l` from the effector to the target: `e = t k` with the
angle `t` and `k` along `a x l`. Where the axis points straight away from the target any such turn is as small; one
across the axis is taken.
"""

from typing import Any

import numpy as np

from ...algebra import quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .setup import Columns, Kinematics, Setup, Target, TargetPoints, effector, of_kind, one_point, turning, weights_of

LEAST_SINE = 1e-9  # of the angle: below it the turn's axis counts as any across `a`
LEAST_FAR = 1e-9  # [skeleton lengths] a nearer target has no direction


class LookAtTasks:
    """The look-at tasks of a stage, T of them; see `table.Kind`."""

    kind, name, size, unit, one_sided = "LOOK_AT", "look_at", 3, "angle", None
    data = (
        ("double[3]", "axis", "in the joint's frame"),
        ("uint8[]", "turns", "(n) degrees of freedom that turn the joint"),
    )
    constants = "LEAST_SINE LEAST_FAR"

    def __init__(self, setup: Setup) -> None:
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        self._axis = np.array([goal.axis for goal in setup.some(self.goals)], dtype=float).reshape(-1, 3)
        self._eye, self._turns = one_point(setup, self.goals), turning(setup, self.goals)
        self._target = TargetPoints(setup, self.goals)
        self._least = LEAST_FAR * setup.skeleton.length
        self.acts = self._turns | (self._eye.moves + self._target.moves > 0.0)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, T, 3) [rad] from the axes to the lines to their targets."""
        axis, line, _ = self._lines(kinematics, targets)
        return _turn(axis, line)[0]

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, 3 T, n).

        The axis turns by `w`, and the line by `v = -l x dX / far` as the effector moves by `dX` against the target. If
        both turn alike, so does the error; the axis alone changes its angle by `-k . w` and its direction by
        `-(t . w) (k x l) / sin`, with `t = k x a`: `de = v x e - D (w - v)`, `D = k k^T + angle / sin (k x l) t^T`.
        """
        axis, line, far = self._lines(kinematics, targets)
        error, k, slope = _turn(axis, line)
        across = quaternion.cross(k, line)[..., :, None] * quaternion.cross(k, axis)[..., None, :]
        by_axis = k[..., :, None] * k[..., None, :] + slope[..., None, None] * across
        moved = self._eye.columns(columns, kinematics, self._eye.at(kinematics))
        moved = self._target.less(moved, columns, kinematics, self._target.at(kinematics, targets))
        by_line = -(quaternion.skew(line) @ moved) / far[..., None, None]
        turned = columns.axes[:, None] * self._turns[:, None, :]
        rows = by_axis @ (turned - by_line) + quaternion.skew(error) @ by_line
        out[...] = (rows * self.weights[:, None, None]).reshape(out.shape)

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Zeros (F, T, 3): the targets count as not moving."""
        del now
        return np.zeros((len(then.positions), len(self.goals), self.size))

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `table.Kind`: the target toward the place at which the axis points, as far away."""
        del skeleton
        tip = effector(goal, world)
        far = max(float(np.linalg.norm(tip - target.position)), 1e-12)
        ahead = tip + far * quaternion.rotate(world[goal.joint, :4], np.asarray(goal.axis, dtype=float))
        return target._replace(position=target.position + left * (ahead - target.position))

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        values = {"axis": self._axis[index], "turns": self._turns[index]}
        return {**self._target.pack(index, self._eye), "data": values}

    def _lines(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Axes (F, T, 3), unit lines to the targets, and the distances (F, T) of these."""
        axis = (kinematics.matrices[:, self._eye.joint] @ self._axis[..., None])[..., 0]
        away = self._target.at(kinematics, targets) - self._eye.at(kinematics)
        far = np.maximum(np.sqrt((away * away).sum(-1)), self._least)
        return axis, away / far[..., None], far


def _turn(axis: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The turn (..., 3) from unit axes to unit lines, its axis `k`, and its angle over its sine (...)."""
    cross = quaternion.cross(axis, line)
    sine, cosine = np.sqrt((cross * cross).sum(-1)), (axis * line).sum(-1)
    angle = np.arctan2(sine, cosine)
    parallel = sine < LEAST_SINE
    least = np.argmin(np.abs(axis), axis=-1)
    other = quaternion.cross(axis, np.eye(3)[least])
    other /= np.sqrt((other * other).sum(-1, keepdims=True))
    k = np.where(parallel[..., None], other, cross / np.where(parallel, 1.0, sine)[..., None])
    slope = np.where(cosine > 0.0, 1.0, 0.0) * parallel + ~parallel * angle / np.where(parallel, 1.0, sine)
    return angle[..., None] * k, k, slope
