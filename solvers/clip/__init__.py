# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves whole motions: all frames as one problem."""

from .banded import solve as solve_band
from .solve import solve_into

__all__ = ["solve_band", "solve_into"]
