# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves whole motions: all frames as one problem."""

from .solve import solve_into
from .stretches import Window, borders, stretches
from .watch import Watch, unwatched

__all__ = ["Watch", "Window", "borders", "solve_into", "stretches", "unwatched"]
