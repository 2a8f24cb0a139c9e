# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs as triangles: from the place of the wrist and the axis of the elbow's hinge to the frames of both bones."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion

STEADY = 0.4  # the least share of the usual hinge in a predicted one
SOFT = 0.03  # of both lengths together, over which a limb comes to its full length without a jerk of its bend
LEAST_BEND = 0.1  # [rad] that is predicted for a knee
LEAST_KNEE, MOST_KNEE = -0.8, 2.4  # [rad] bends of a leg whose foot is fitted to its toes' distance
MOST_EASED = 0.6  # [rad] by which a foot turns further than predicted
POINTED = 0.95  # cosine of the least angle between foot and line to the hip
ROOM = 0.11  # of the limb's length, about its axis: while its end moves by that much, the line turns by 1 rad at most
FOLDED = 0.05  # of both lengths together, by which the end of a limb is further than when the limb is folded
_QUARTER = 0.5 * np.pi
_SIDES_OF_LINE = np.array([-1.0, 1.0])  # from root to end, on which both bones are


def half_way(reach: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors (F, L, 3) half way from a straight limb to the line along which it reaches for its end.

    `reach` (F, L, 3) leads from the roots to the ends. The lines make the angle between the straight limb and its end,
    but at most 1 / `room` (L,) times the distance of the end from the axis of the straight limb, in radians. So lines
    turn slowly everywhere: near the root, where directions turn fast, and behind it, where no limb comes. There
    it is needed because frames cannot follow directions all around a sphere without a jump (Brouwer's hairy ball):
    on the axis, lines are the straight limb's again.

    Also the part of the angle (F, L, 1) that is left, 1 where a line leads to its end.
    """
    off = np.maximum(np.hypot(reach[..., 1], reach[..., 2]), quaternion.LEAST)
    angle = np.arctan2(off, reach[..., 0])
    part = np.sin(np.minimum(off / (room * angle), _QUARTER))
    half = 0.5 * part * angle
    middle = np.empty(reach.shape)
    np.cos(half, out=middle[..., 0])
    np.multiply((np.sin(half) / off)[..., None], reach[..., 1:], out=middle[..., 1:])
    return middle, part[..., None]


def twist(middle: np.ndarray, hinge: np.ndarray) -> np.ndarray:
    """The turns about straight limbs, before these swing to their lines, that bring the usual hinge to predicted ones.

    So hinges are square to the lines. Predictions that point against the usual hinge, as it swings with the limb, are
    mirrored to its side, and those that point along the line count less: the hinge neither vanishes nor flips.

    Cosine and sine (F, L, 2) of half the angle, but for a factor. middle : (F, L, 3) as of `half_way`. hinge :
    (F, L, 3) predicted.
    """
    hinge = hinge - 2.0 * (hinge * middle).sum(-1, keepdims=True) * middle  # swung back, but for its first number
    pair = np.empty((*hinge.shape[:-1], 2))
    sine, cosine = hinge[..., 1], np.hypot(hinge[..., 2], STEADY)
    np.add(np.hypot(sine, cosine), cosine, out=pair[..., 0])
    np.negative(sine, out=pair[..., 1])
    return pair


class Bones(NamedTuple):
    """Both bones of limbs, and what follows from their lengths.

    lengths : (F or 1, L, 2). others : (F or 1, L, 2) lengths of the other bones. aside : the same, with the signs of
    the sides of the line from root to end on which the bones are. whole, least : (F or 1, L) the distances that they
    may span. squares, twice : (F or 1, L) the sum of their squares, and twice their product.
    """

    lengths: np.ndarray
    others: np.ndarray
    aside: np.ndarray
    whole: np.ndarray
    least: np.ndarray
    squares: np.ndarray
    twice: np.ndarray

    @classmethod
    def of(cls, lengths: np.ndarray, sign: np.ndarray) -> "Bones":
        """Sign : (L, 1) 1 for limbs that bend forward about their hinge (arms), -1 for legs."""
        upper, lower = lengths[..., 0], lengths[..., 1]
        whole = upper + lower
        others = lengths[..., ::-1]
        aside = others * (sign * _SIDES_OF_LINE)
        least = np.abs(upper - lower) + FOLDED * whole
        return cls(lengths, others, aside, whole, least, upper * upper + lower * lower, 2.0 * upper * lower)


def corners(distance: np.ndarray, bones: Bones) -> np.ndarray:
    """The bends (F, L) [rad] with which two bones span a distance (F, L) from root to end, by the law of cosines."""
    spare = bones.whole - distance  # softened: the bend of a stretched limb depends on it by a square root
    distance = bones.whole - 0.5 * (spare + np.hypot(spare, SOFT * bones.whole))
    distance = np.maximum(distance, bones.least)
    return np.arccos((distance * distance - bones.squares) / bones.twice)


def triangles(
    middle: np.ndarray, twist: np.ndarray, bend: np.ndarray, bones: Bones, frames: np.ndarray
) -> np.ndarray:
    """Turns (F, L, 2, 4) of both bones of limbs, but for a factor.

    middle : (F, L, 3) as of `half_way`. twist : (F, L, 2) as of `twist`. bend : (F, L). frames : (L, 2, 12, 4) as of
    `between_frames`.
    """
    turns = np.empty((*bend.shape, 2, 2))  # cosine and sine of half the angle of each bone from the line
    bend = bend[..., None]
    along = bones.lengths + bones.others * np.cos(bend)
    across = np.multiply(bones.aside, np.sin(bend), out=turns[..., 1])
    np.add(np.hypot(along, across), along, out=turns[..., 0])
    swung = (middle[..., None] * twist[..., None, :]).reshape(*middle.shape[:2], 1, 6, 1)
    products = (swung * turns[..., None, :]).reshape(*turns.shape[:3], 1, 12)
    return (products @ frames)[..., 0, :]


def between_frames(axes: np.ndarray, back: np.ndarray) -> np.ndarray:
    """(2, 12, 4) from products of the numbers of a swing, a twist and a turn about the hinge to the turns of two bones.

    axes : (4,) whose axes are the straight limb, forward, and the usual hinge. back : (2, 4) inverse turns of both
    bones' frames at rest.
    """
    one, twist, forward, hinge = np.eye(4)
    swings, twists, turns = np.stack([one, hinge, -forward]), np.stack([one, twist]), np.stack([one, hinge])
    whole = quaternion.product(quaternion.product(swings[:, None], twists)[:, :, None], turns).reshape(12, 4)
    return quaternion.product(quaternion.product(axes, whole), back[:, None])


class Leg(NamedTuple):
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
    def of(cls, lengths: tuple[float, float], tip: np.ndarray, doubt: float) -> "Leg":
        """Tip : (3,) as for `LooseEnds.tips`."""
        x, y, _ = tip.tolist()
        return cls(*lengths, math.hypot(x, y), math.atan2(y, x), float(tip @ tip), doubt)


def fitted(distance: float, predicted: Sequence[float], more: float, leg: Leg) -> tuple[float, float]:
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


def ankle(distance: float, bend: float, leg: Leg) -> tuple[float, float]:
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
