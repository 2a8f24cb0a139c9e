# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of rotations and rigid transforms."""

from . import dual_quaternion, quaternion, rotations, twist_swing
from .arctan2 import arctan2
from .by_row import by_row
from .uniform import SplitMix64

__all__ = ["SplitMix64", "arctan2", "by_row", "dual_quaternion", "quaternion", "rotations", "twist_swing"]
