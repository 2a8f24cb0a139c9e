# SPDX-License-Identifier: GPL-3.0-or-later
"""Many frames through the same step: read frame by frame, solved in runs, written as keyframes in bulk."""

from .frames import answers, solve_inputs
from .keys import Options, write_keys

__all__ = ["Options", "answers", "solve_inputs", "write_keys"]
