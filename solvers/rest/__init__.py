# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures at rest, arrays only: the hierarchy of their bones, limbs by shape alone, and where they face."""

from . import branches, directions, standing
from .branches import LIMBS, LimbBones
from .directions import LEFT, RIGHT, SMALL, Key, nearest_axis, unit
from .folding import BEND, FoldingLimb, GoalChain, folding_limbs
from .tree import Tree

__all__ = [
    "BEND", "LEFT", "LIMBS", "RIGHT", "SMALL", "FoldingLimb", "GoalChain", "Key", "LimbBones", "Tree", "branches",
    "directions", "folding_limbs", "nearest_axis", "standing", "unit",
]  # fmt: skip
