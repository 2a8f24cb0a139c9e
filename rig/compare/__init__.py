# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of solvers on an animator's own rig: the measurements, and their text and picture."""

from .measurement import Row, compared, measure
from .text import comma_separated, table

__all__ = ["Row", "comma_separated", "compared", "measure", "table"]
