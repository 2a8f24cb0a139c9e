# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs as triangles: from the place of the wrist and the axis of the elbow's hinge to the frames of both bones.

Limb by limb in plain numbers: a NumPy call on four limbs costs more than the arithmetic of all of them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

STEADY = 0.4  # the least share of the usual hinge in a predicted one
SOFT = 0.03  # of both lengths together, over which a limb comes to its full length without a jerk of its bend
LEAST_BEND = 0.1  # [rad] that is predicted for a knee
LEAST_KNEE, MOST_KNEE = -0.8, 2.4  # [rad] bends of a leg whose foot is fitted to its toes' distance
MOST_EASED = 0.6  # [rad] by which a foot turns further than predicted
POINTED = 0.95  # cosine of the least angle between foot and line to the hip
ROOM = 0.11  # of the limb's length, about its axis: while its end moves by that much, the line turns by 1 rad at most
FOLDED = 0.05  # of both lengths together, by which the end of a limb is further than when the limb is folded
_QUARTER = 0.5 * np.pi


class Bones(NamedTuple):
    """Both bones of a limb.

    lengths : of upper and lower bone. side : of the line from root to end, on which the lower bone is: 1 for limbs that
    bend forward about their hinge (arms), -1 for legs. room : see `half_way`, as a length.
    """

    lengths: tuple[float, float]
    side: float
    room: float


def triangle(bones: Bones, lower: float, both: Sequence[Sequence[float]], bend: float) -> tuple[float, ...]:
    """A limb's pose as nine numbers, the factors of `between_frames`, each group up to a common factor.

    Three of the swing to the line of reach, two of the twist about the limb, and two for the turn of each bone about
    the hinge.

    lower : length from the middle joint to the end. both : (2, 3) from the root to the end, and the predicted hinge, in
    axes of which the first is the straight limb. bend : nan where the distance of the end tells it.
    """
    reach, hinge = both
    middle, part, distance = half_way(reach, bones.room)
    if math.isnan(bend):
        bend = corner(distance, bones.lengths[0], lower)
    return *middle, *twist(middle, hinge, part * part), *aside(bend, bones.lengths[0], lower, bones.side)


def half_way(reach: Sequence[float], room: float) -> tuple[tuple[float, float, float], float, float]:
    """The unit vector half way from a straight limb to the line along which it reaches for its end.

    `reach` leads from the root to the end. The line makes the angle between the straight limb and its end, but at most
    1 / `room` times the distance of the end from the axis of the straight limb, in radians. So lines turn slowly
    everywhere: near the root, where directions turn fast, and behind it, where no limb comes. There it is needed
    because frames cannot follow directions all around a sphere without a jump (Brouwer's hairy ball): on the axis,
    lines are the straight limb's again.

    Also the part of the angle that is left, 1 where a line leads to its end, and the distance of the end.
    """
    x, y, z = reach
    off = max(math.hypot(y, z), quaternion.LEAST)
    angle = math.atan2(off, x)
    part = math.sin(min(off / (room * angle), _QUARTER))
    half = 0.5 * part * angle
    sine = math.sin(half) / off
    return (math.cos(half), sine * y, sine * z), part, math.hypot(off, x)


def twist(middle: Sequence[float], hinge: Sequence[float], certainty: float) -> tuple[float, float]:
    """The turn about a straight limb, before it swings to its line, that brings the usual hinge to a predicted one.

    So the hinge is square to the line. A prediction that points against the usual hinge, as it swings with the limb, is
    mirrored to its side, and one that points along the line counts less: the hinge neither vanishes nor flips.

    Cosine and sine of half the angle, but for a factor. middle : as of `half_way`. hinge : (3,) predicted. certainty :
    its factor.
    """
    (x, y, z), (a, b, c) = middle, hinge
    back = 2.0 * (a * x + b * y + c * z)  # the hinge is swung back, but for its first number
    sine, cosine = certainty * (b - back * y), math.hypot(certainty * (c - back * z), STEADY)
    return math.hypot(sine, cosine) + cosine, -sine


def corner(distance: float, upper: float, lower: float) -> float:
    """The bend [rad] with which two bones span a distance from root to end, by the law of cosines."""
    whole = upper + lower
    spare = whole - distance  # softened: the bend of a stretched limb depends on it by a square root
    distance = whole - 0.5 * (spare + math.hypot(spare, SOFT * whole))
    distance = max(distance, abs(upper - lower) + FOLDED * whole)
    twice = max(2.0 * upper * lower, quaternion.LEAST)
    return math.acos(min((distance * distance - upper * upper - lower * lower) / twice, 1.0))


def aside(bend: float, upper: float, lower: float, side: float) -> tuple[float, float, float, float]:
    """Cosine and sine of half the angles, but for factors, by which both bones leave the line from root to end."""
    cosine, sine = math.cos(bend), side * math.sin(bend)
    along, across = upper + lower * cosine, -lower * sine
    others_along, others_across = lower + upper * cosine, upper * sine
    return (
        math.hypot(along, across) + along, across,
        math.hypot(others_along, others_across) + others_along, others_across,
    )  # fmt: skip


def turns_of_bones(triangles: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Turns (F, L, 2, 4) of both bones of limbs, but for a factor.

    triangles : (F, L, 9) as of `triangle`. frames : (L, 2, 12, 4) as of `between_frames`.
    """
    swung = triangles[..., :3, None] * triangles[..., None, 3:5]
    sides = triangles[..., 5:].reshape(*triangles.shape[:2], 2, 1, 2)
    products = swung.reshape(*triangles.shape[:2], 1, 6, 1) * sides
    return (products.reshape(*triangles.shape[:2], 2, 1, 12) @ frames)[..., 0, :]


def between_frames(axes: np.ndarray, back: np.ndarray) -> np.ndarray:
    """(2, 12, 4) from products of the numbers of a swing, a twist and a turn about the hinge to the turns of two bones.

    axes : (4,) whose axes are the straight limb, forward, and the usual hinge. back : (2, 4) inverse turns of both
    bones' frames at rest.
    """
    one, twist, forward, hinge = np.eye(4)
    swings, twists, turns = np.stack([one, hinge, -forward]), np.stack([one, twist]), np.stack([one, hinge])
    whole = quaternion.product(quaternion.product(swings[:, None], twists)[:, :, None], turns).reshape(12, 4)
    return quaternion.product(quaternion.product(axes, whole), back[:, None])


class EasedLeg(NamedTuple):
    """A leg without rotation whose foot turns about the ankle, about the hinge of the knee.

    upper, lower, foot : lengths of both bones, and from the ankle to the toes across the hinge. rest : angle of the
    toes at rest against the lower bone. squared : length from the ankle to the toes. doubt : variance of a predicted
    bend; that of the turn of the foot is 1.
    """

    upper: float
    lower: float
    foot: float
    rest: float
    squared: float
    doubt: float

    @classmethod
    def of(cls, lengths: tuple[float, float], tip: np.ndarray, doubt: float) -> "EasedLeg":
        """Tip : (3,) as for `LooseEnds.tips`."""
        x, y, _ = tip.tolist()
        return cls(*lengths, math.hypot(x, y), math.atan2(y, x), float(tip @ tip), doubt)


def fitted(distance: float, predicted: Sequence[float], more: float, leg: EasedLeg) -> tuple[float, float]:
    """The turn of a foot about the hinge and the bend of its knee that fit predicted ones best.

    The distance of the toes from the hip leaves one of both open. One step of Gauss and Newton from the predicted bend.

    more : by how much the bend is increased then.
    """
    turn, bend = predicted[0], max(predicted[1], LEAST_BEND)
    needed, slope = ankle(distance, bend, leg)
    bend -= leg.doubt * slope * eased(needed - turn) / (1.0 + leg.doubt * slope * slope)
    bend = min(max(bend + more, LEAST_KNEE), MOST_KNEE)
    return turn + eased(ankle(distance, bend, leg)[0] - turn), bend


def eased(turn: float) -> float:
    """An angle that grows more slowly and not beyond `MOST_EASED`."""
    return MOST_EASED * math.tanh(turn / MOST_EASED)


def ankle(distance: float, bend: float, leg: EasedLeg) -> tuple[float, float]:
    """The turn of a foot about the hinge with which its toes are at a distance from the hip, and its slope by the bend.

    Bend : of the knee.
    """
    upper, lower, foot, rest, squared, _ = leg
    x, y = lower + upper * math.cos(bend), upper * math.sin(bend)
    square = x * x + y * y
    chord = math.sqrt(square)
    cosine = (distance * distance - square - squared) / (2.0 * chord * foot)
    cosine = min(max(cosine, -POINTED), POINTED)
    fall = lower * y / square  # of the chord's logarithm by the bend
    slope = 1.0 - lower * x / square - (chord / foot + cosine) * fall / math.sqrt(1.0 - cosine * cosine)
    return math.atan2(y, x) + math.acos(cosine) - rest, slope
