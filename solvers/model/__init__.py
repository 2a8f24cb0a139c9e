# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs and outputs of a solve: skeletons, goals, limits, options, solutions, errors."""

from .frames import ANSWERS, QUESTIONS
from .goals import Targets, points_of
from .kinds import SETTINGS, SIDES, Setting
from .limits import CLOSED, FULL_TURN, locate, project_swing
from .skeleton import KEYED

__all__ = [
    "ANSWERS", "CLOSED", "FULL_TURN", "KEYED", "QUESTIONS", "SETTINGS", "SIDES", "Setting", "Targets", "locate",
    "points_of", "project_swing",
]  # fmt: skip
