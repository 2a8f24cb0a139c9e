# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: frames are read one by one, solved meanwhile in runs, and written as keyframes in bulk."""

from .frames import answers, digests, solve_inputs
from .keys import Options, write_keys
from .solving import Solving

__all__ = ["Options", "Solving", "answers", "digests", "solve_inputs", "write_keys"]
