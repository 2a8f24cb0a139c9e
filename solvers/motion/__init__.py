# SPDX-License-Identifier: GPL-3.0-or-later
"""The mathematics of motions, arrays in and arrays out: contacts, planted feet, fewer keys, tails, frame rates."""

from . import in_betweens, planting, two_bones
from .banded import solve as solve_band
from .contacts import find_contacts, find_holds, runs, standing_heights
from .cubics import Keys, Part
from .fewer_keys import few_keys, fit_keys, refit_keys, total_errors
from .follow_through import Chain, Spring, follow, follow_through
from .foot_lock import Leg, Planted, bends, plant_feet
from .frame_rate import likely_rate
from .steady_path import steady_path

__all__ = [
    "Chain", "Keys", "Leg", "Part", "Planted", "Spring", "bends", "few_keys", "find_contacts", "find_holds", "fit_keys",
    "follow", "follow_through", "in_betweens", "likely_rate", "plant_feet", "planting", "refit_keys", "runs",
    "solve_band", "standing_heights", "steady_path", "total_errors", "two_bones",
]  # fmt: skip
