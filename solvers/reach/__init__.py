# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the end of a chain can go, and in how many orientations: the reachable and the dexterous workspace."""

from .reach import POSTURES, SampledChain, Shell, shell

__all__ = ["POSTURES", "SampledChain", "Shell", "shell"]
