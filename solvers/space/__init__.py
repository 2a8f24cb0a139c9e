# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom, and the goals' errors and Jacobians over them, with poles and limbs."""

from . import limit_curves
from .joint_space import JointSpace, State
from .poles import SINGLE, Pole, swivel_share, swivel_vector
from .tasks.curve import joints_on_curve
from .tasks.setup import PRIORITY_STEP, ROTATION_LENGTH, Target, points_in
from .tasks.table import eased

__all__ = [
    "PRIORITY_STEP", "ROTATION_LENGTH", "SINGLE", "JointSpace", "Pole", "State", "Target",
    "eased", "joints_on_curve", "limit_curves", "points_in", "swivel_share", "swivel_vector",
]  # fmt: skip
