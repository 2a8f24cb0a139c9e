# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves whole motions: all frames as one problem."""

from .pops import popping
from .slower import slow_into
from .solve import solve_into
from .stretches import Window, across, borders, joined, stretches
from .watch import Watch, unwatched

__all__ = ["Watch", "Window", "across", "borders", "joined", "popping", "slow_into", "solve_into", "stretches",
           "unwatched"]  # fmt: skip
