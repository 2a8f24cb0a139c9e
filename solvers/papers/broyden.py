# SPDX-License-Identifier: GPL-3.0-or-later
"""BROYDEN: a Jacobian that is computed once and then updated from the steps.

    J <- J + (de - J d) d^T D / (d^T D d),   de = decrease of the error by the step d

(Broyden 1965, his "good" update; Kenwright XI asks how it compares.) Of all Jacobians that explain the last step this
is the nearest to the previous one, in the joints' metric D. Steps are those of damped least squares. The update saves
computing the Jacobian, which in a batch is a small part of a step's time, but takes more steps. The method is meant for
errors whose Jacobian is not known; it is here for comparison.

The Jacobian is computed again where a step gains less than predicted, and before an iteration stops for lack of
progress, because an updated Jacobian may miss a direction that still leads downhill.
"""

import numpy as np

from ..algebra import quaternion
from ..iterate.active_set import limited
from ..iterate.descent import Model, Settings, damped
from ..iterate.linear_step import dot, free_step
from ..methods.table import Method
from ..space.joint_space import JointSpace
from ..space.point import Point, Request
from ..space.tasks import Tasks

step = limited(free_step, release=False)
"""The step (F, n) of one iteration, inside the limits."""


class Secant(Model):
    """A Jacobian for each frame, computed once and then updated from the steps."""

    def __init__(self, tasks: Tasks, space: JointSpace, settings: Settings) -> None:
        super().__init__(tasks, space, settings)
        self._jacobian: np.ndarray | None = None
        self._exact, self._stale = np.zeros((2, 0), dtype=bool)  # (F,) each
        free = [block.start for block in space.blocks if space.is_free(block)]
        self._balls = np.array(free, dtype=np.intp)[:, None] + np.arange(
            3
        )  # (B, 3) degrees of freedom whose axes turn with the joint

    def jacobian(self, point: Point, frames: Request) -> np.ndarray:
        """`J` (F, m, n), computed for the first step and where a step gained too little."""
        if self._jacobian is None:
            self._jacobian = super().jacobian(point, frames)
            self._exact = np.ones(len(self._jacobian), dtype=bool)
        elif self._stale.any():
            self._jacobian[self._stale] = super().jacobian(point.take(self._stale), frames.take(self._stale))
            self._exact |= self._stale
        return self._jacobian

    def learn(self, d: np.ndarray, change: np.ndarray, better: np.ndarray, poor: np.ndarray) -> np.ndarray:
        """Update after steps `d` (F, n); a frame that did not move keeps its Jacobian if that was exact."""
        before = self._jacobian
        assert before is not None
        exact = self._exact
        after = self._carried(secant(before, d, change, self.settings.reluctance), d)
        self._jacobian = np.where(better[:, None, None], after, before)
        self._exact = exact & ~better
        self._stale = poor & ~self._exact
        return exact

    def keep(self, frames: np.ndarray) -> None:
        """Keep the data of some of the frames only."""
        if self._jacobian is not None:  # None before the first step
            self._jacobian = self._jacobian[frames]
            self._exact, self._stale = self._exact[frames], self._stale[frames]

    def _carried(self, jacobian: np.ndarray, d: np.ndarray) -> np.ndarray:
        """`jacobian` with the columns of free balls turned like their axes by a step `d` (F, n)."""
        if self._balls.size:
            turns = quaternion.to_matrix(quaternion.exp(d[:, self._balls]))  # (F, balls, 3, 3)
            columns = jacobian[:, :, self._balls].swapaxes(1, 2) @ turns
            jacobian[:, :, self._balls] = columns.swapaxes(1, 2)
        return jacobian


def secant(jacobian: np.ndarray, d: np.ndarray, change: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The Jacobian (F, m, n) with `J d = change` (F, m) that is nearest to `jacobian` in the metric `weight` (n,)."""
    missed = change - (jacobian @ d[..., None])[..., 0]
    along = weight * d
    square = dot(along, d)
    return jacobian + (missed / np.where(square > 0.0, square, 1.0)[:, None])[..., None] * along[:, None, :]


METHOD = Method(damped(step, Secant), continues=True)
