# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves whole motions: all frames as one problem."""

from .pops import popping
from .solve import solve_into
from .stretches import Window, borders, joined, stretches
from .watch import Watch, unwatched

__all__ = ["Watch", "Window", "borders", "joined", "popping", "solve_into", "stretches", "unwatched"]
