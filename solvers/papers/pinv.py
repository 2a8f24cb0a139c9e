# SPDX-License-Identifier: GPL-3.0-or-later
"""PINV: the Moore-Penrose inverse, undamped.

    d = J^+ e = J^T (J J^T)^-1 e

(Parent eq. 5.20-5.23, solved by LU; Soch & Lorencz 1.1; Amino.) It is the shortest of all steps that meet the goals'
linear model, so it is fast where the chain is bent and the target near. Near a straight or folded chain its step grows
without bound. Damping (DLS) and the related solvers prevent that; here the step is shortened until it lowers the cost.
"""

from functools import partial

from ..iterate.active_set import limited
from ..iterate.descent import shortened
from ..iterate.linear_step import least_norm, weighted_step
from ..methods.table import Method

step = limited(partial(weighted_step, least_norm))
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(shortened(step), step=step)
