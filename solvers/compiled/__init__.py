# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel: its contract, loading it, and packing prepared solves and priors for it."""

from .figure import CompiledPrior
from .needs import SOLVERS

__all__ = ["SOLVERS", "CompiledPrior"]
