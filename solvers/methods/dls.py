# SPDX-License-Identifier: GPL-3.0-or-later
"""DLS: damped least squares with an active set for the limits.

    d = J^T (J J^T + lambda^2 I)^-1 e

(Wampler 1986; Parent eq. 5.24), here with the joints' reluctance as metric. Damping slows convergence but bounds the
step: an undamped step has no bound where the chain is straight or the target out of reach.
"""

from ..iterate.active_set import limited
from ..iterate.descent import damped
from ..iterate.linear_step import free_step
from .table import Method

step = limited(free_step)
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(damped(step), step, continues=True)
