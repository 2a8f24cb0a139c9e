# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel: its contract, loading it, and packing a prepared solve for it."""

from .contract import SOLVERS

__all__ = ["SOLVERS"]
