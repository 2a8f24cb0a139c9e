# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers, a file each, and the table of them."""

from .table import METHODS

__all__ = ["METHODS"]
