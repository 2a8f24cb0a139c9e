# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks: rows of errors and Jacobians of the goals. One file per kind, a table of the kinds, and `Tasks` for all."""

from .pole import turned_to_pole
from .setup import ROTATION_LENGTH, Columns, Kinematics, Setup, priority_weights
from .tasks import Tasks

__all__ = ["ROTATION_LENGTH", "Columns", "Kinematics", "Setup", "Tasks", "priority_weights", "turned_to_pole"]
