# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves whole motions: all frames as one problem."""

from .solve import solve_into

__all__ = ["solve_into"]
