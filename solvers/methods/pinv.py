# SPDX-License-Identifier: GPL-3.0-or-later
"""PINV: the Moore-Penrose inverse, undamped.

    d = J^+ e = J^T (J J^T)^-1 e

(Parent eq. 5.20-5.23, solved by LU; Soch & Lorencz 1.1; Amino.) Of all steps that meet the goals' linear model it is
the shortest, so it is fast where the chain is bent and the target near. Near a straight or folded chain its step grows
without bound, which is what damping (DLS) and the other relatives cure; here the step is shortened until it helps.
"""

from functools import partial

from ..iterate.active_set import limited
from ..iterate.linear_step import least_norm, weighted_step

step = limited(partial(weighted_step, least_norm))
"""The step (F, n) of one iteration, inside the limits."""
