# SPDX-License-Identifier: GPL-3.0-or-later
"""ALTERNATIVE: pulls the goals to the effectors instead of pushing the effectors to the goals.

    d = J_g^+ e,   columns of J_g:  u x (g - p)  in place of  u x (effector - p)

(Parent, "Alternative Jacobian".) Each joint turns as if the goal `g` were fastened to it, and moves the goal onto the
effector the other way round. Where the goal lies on the effector the two Jacobians are one; before that they differ by
`u x e`, which is square to `e`, so that `J_g^T e = J^T e`: the downhill direction is the same, and every step leads
downhill. What differs is the length of the lever. A goal far away is seen at a long one, so joints turn less for it
than the pseudo-inverse has them do, and a straight chain whose goal lies beside it is not singular; a goal close to a
joint is seen at a short one, and there the step is cut down until it helps.

Slides and orientations have no lever and count as they do elsewhere. Below a joint that does not inherit rotation only
the head of the segment is turned, and the goal with it.
"""

import numpy as np

from ..iterate.descent import Model
from ..space.point import Point, Request
from .pinv import step

__all__ = ["GoalLevers", "step"]


class GoalLevers(Model):
    """The Jacobian (F, m, n) whose levers end at the goals; poles keep theirs."""

    def jacobian(self, point: Point, frames: Request) -> np.ndarray:
        """`J_g` (F, m, n)."""
        tasks, targets = self.tasks, frames.targets
        fastened = point.kinematics._replace(effectors=targets.positions)
        jacobian = tasks.jacobian(point.state, fastened, targets)
        if tasks.poles:
            jacobian[:, tasks.m :] = tasks.jacobian(point.state, point.kinematics, targets)[:, tasks.m :]
        return jacobian
