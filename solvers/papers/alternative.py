# SPDX-License-Identifier: GPL-3.0-or-later
"""ALTERNATIVE: the pseudo-inverse with levers that end at the goals instead of the effectors.

    d = J_g^+ e,   columns of J_g:  u x (g - p)  in place of  u x (effector - p)

(Parent, "Alternative Jacobian".) Each joint turns as if the goal `g` were fastened to it, which pulls the goal to the
effector instead of pushing the effector to the goal. The two Jacobians are equal where the goal lies on the effector.
Elsewhere they differ by `u x e`, which is perpendicular to `e`, so that `J_g^T e = J^T e`: both have the same gradient,
and every step leads downhill. Only the lever's length differs. A goal far away has a long lever: joints turn less for
it than with the pseudo-inverse, and a straight chain whose goal lies beside it is not singular. A goal close to a joint
has a short lever, and there the step is shortened until it lowers the cost.

Slides and orientations have no lever and keep their usual columns. A joint above a detached segment turns the segment's
head, and the goal with it.
"""

import numpy as np

from ..iterate.descent import Model, shortened
from ..methods.table import Method
from ..space.point import Point, Request
from .pinv import step

__all__ = ["GoalLevers", "step"]


class GoalLevers(Model):
    """The Jacobian (F, m, n) whose levers end at the goals; poles keep theirs."""

    def jacobian(self, point: Point, frames: Request) -> np.ndarray:
        """`J_g` (F, m, n)."""
        tasks, targets = self.tasks, frames.targets
        kinematics = point.kinematics._replace(effectors=targets.positions)
        jacobian = tasks.jacobian(point.state, kinematics, targets)
        if tasks.all > tasks.m:
            jacobian[:, tasks.m :] = tasks.jacobian(point.state, point.kinematics, targets)[:, tasks.m :]
        return jacobian


METHOD = Method(shortened(step, GoalLevers))
