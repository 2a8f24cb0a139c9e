# SPDX-License-Identifier: GPL-3.0-or-later
"""The mathematics of motions, arrays in and arrays out: contacts, planted feet, fewer keys, tails, frame rates."""

from . import fine_time, foot_contacts, in_betweens, kneeling, planting, shakes, two_bones, volumes
from .banded import solve as solve_band
from .contacts import FOOT_POINT, KNEE_POINT, find_contacts, find_holds, runs, smooth, standing_heights
from .flights import Flights, flights
from .foot_lock import Leg, Planted, bends, faded, plant_feet, raise_feet
from .frame_rate import likely_rate
from .keys import limits as key_limits
from .keys.cubics import Keys, Part
from .keys.fewer_keys import few_keys, fit_keys, total_errors
from .keys.key_spans import extremes
from .settled import settled
from .sitting import TrunkPlaces, find_backs, find_seats, rested
from .steady_path import steady_path
from .tails import keep_out
from .tails.chains import Chain, Spring
from .tails.follow_through import follow_through, following
from .tails.keep_out import Bodies
from .volumes import BodyMotion, PartKey, PartPlace, SkinPart

__all__ = [
    "FOOT_POINT",
    "KNEE_POINT",
    "Bodies",
    "BodyMotion",
    "Chain",
    "Flights",
    "Keys",
    "Leg",
    "Part",
    "PartKey",
    "PartPlace",
    "Planted",
    "SkinPart",
    "Spring",
    "TrunkPlaces",
    "bends",
    "extremes",
    "faded",
    "few_keys",
    "find_backs",
    "find_contacts",
    "find_holds",
    "find_seats",
    "fine_time",
    "fit_keys",
    "flights",
    "follow_through",
    "following",
    "foot_contacts",
    "in_betweens",
    "keep_out",
    "key_limits",
    "kneeling",
    "likely_rate",
    "plant_feet",
    "planting",
    "raise_feet",
    "rested",
    "runs",
    "settled",
    "shakes",
    "smooth",
    "solve_band",
    "standing_heights",
    "steady_path",
    "total_errors",
    "two_bones",
    "volumes",
]  # fmt: skip
