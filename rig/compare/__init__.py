# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers measured on an animator's own rig and frames: the measurements, and the same as text and as a picture."""

from .measurement import Row, measure
from .text import comma_separated, table

__all__ = ["Row", "comma_separated", "measure", "table"]
