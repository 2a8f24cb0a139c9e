# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs as triangles: from the place of the wrist and the axis of the elbow's hinge to the frames of both bones."""

from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion

STEADY = 0.4  # the least share of the usual hinge in a predicted one
SOFT = 0.03  # of both lengths together, over which a limb comes to its full length without a jerk of its bend
LEAST_KNEE, MOST_KNEE = -0.8, 2.4  # [rad] bends of a leg whose foot is fitted to its toes' distance
MOST_EASED = 0.6  # [rad] by which a foot turns further than predicted
POINTED = 0.95  # cosine of the least angle between foot and line to the hip
ROOM = 0.11  # of the limb's length, about its axis: by that much further, the line to its end turns at most 1 rad more
FOLDED = 0.05  # of both lengths together, by which the end of a limb is further than when the limb is folded
_HINGE = np.array([0.0, 0.0, 1.0])
_IN_PLANE = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1]])
"""From cosine, sine and 1 to the matrix of a turn about the third axis."""


def line(reach: np.ndarray, size: np.ndarray, straight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit lines (F, L, 3) along which limbs reach for their ends, at `reach` (F, L, 3) from the roots.

    A line makes the angle between `straight` (L, 3) and its end, but at most 1 / ROOM times the distance (in lengths of
    the limb) of the end from the axis of `straight`. So lines turn slowly everywhere: near the root, where directions
    turn fast, and behind it, where no limb comes. There it is needed because frames cannot follow directions all around
    a sphere without a jump (Brouwer's hairy ball): lines come to `straight` again on the axis.

    Also the part of the angle (F, L, 1) that is left, 1 where a line is exact. size : (L, 1) of the limbs.
    """
    along = (reach * straight).sum(-1, keepdims=True)
    across = reach - along * straight
    off = np.maximum(np.sqrt((across * across).sum(-1, keepdims=True)), 1e-12 * size)
    angle = np.maximum(np.arctan2(off, along), 1e-12)
    part = np.minimum(off / (ROOM * size * angle), 1.5)
    part = part - 0.5 * np.maximum(part - 0.5, 0.0) ** 2  # a smooth least of `part` and 1
    angle = part * angle
    return np.cos(angle) * straight + np.sin(angle) / off * across, part


def steady(hinge: np.ndarray, line: np.ndarray, usual: np.ndarray, straight: np.ndarray) -> np.ndarray:
    """Hinge axes (F, L, 3) square to unit lines (F, L, 3), not of unit length.

    The usual hinge, `usual` (L, 3) of limbs that point to `straight` (L, 3), is carried along the shortest arc. Hinges
    that point against it are mirrored to its side, and those that point along the line are lengthened along it. So the
    hinge neither vanishes nor flips to its other side.
    """
    cosine = np.maximum(1.0 + (line * straight).sum(-1, keepdims=True), 1e-4)
    carried = usual - (line * usual).sum(-1, keepdims=True) / cosine * (line + straight)
    part = (hinge * carried).sum(-1, keepdims=True)
    more = np.sqrt(part * part + STEADY * STEADY) - part
    return hinge - (hinge * line).sum(-1, keepdims=True) * line + more * carried


def corners(distance: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine (F, L, 1) of the bend with which two bones span a distance, by the law of cosines.

    distance : (F, L, 1) from root to end. lengths : (F or 1, L, 2).
    """
    upper, lower = lengths[..., :1], lengths[..., 1:]
    whole = upper + lower
    spare = whole - distance  # softened: the bend of a stretched limb depends on it by a square root
    distance = whole - 0.5 * (spare + np.sqrt(spare * spare + (SOFT * whole) ** 2))
    distance = np.maximum(distance, np.abs(upper - lower) + FOLDED * whole)
    cosine = (distance * distance - upper * upper - lower * lower) / (2.0 * upper * lower)
    return cosine, np.sqrt(np.maximum(1.0 - cosine * cosine, 0.0))


def triangles(
    reach: np.ndarray, cosine: np.ndarray, sine: np.ndarray, hinge: np.ndarray, lengths: np.ndarray, sign: np.ndarray
) -> np.ndarray:
    """Frames (F, L, 2, 3, 3) of both bones of limbs; columns along, forward, hinge.

    reach : (F, L, 3) unit lines from root to end. cosine, sine : (F, L, 1) of the bend. hinge : (F, L, 3) square to the
    lines. lengths : (F or 1, L, 2). sign : (L, 1), 1 for limbs that bend forward about their hinge (arms), -1 for legs.
    """
    frame = np.empty((*reach.shape, 3))  # along the line, forward, hinge
    hinge = hinge / np.sqrt(np.maximum((hinge * hinge).sum(-1, keepdims=True), 1e-24))
    frame[..., 0], frame[..., 2] = reach, hinge
    frame[..., 1:2] = quaternion.skew(hinge) @ reach[..., None]
    upper, lower, sine = lengths[..., :1], lengths[..., 1:], sign * sine
    x, y = upper + lower * cosine, lower * sine
    distance = np.sqrt(x * x + y * y)
    turns = np.ones((*reach.shape[:-1], 2, 3))  # cosine and sine about the hinge, of both bones against the line
    turns[..., 0, :1], turns[..., 0, 1:2] = x / distance, -y / distance
    turns[..., 1, :1], turns[..., 1, 1:2] = (upper * cosine + lower) / distance, upper * sine / distance
    return frame[..., None, :, :] @ (turns @ _IN_PLANE).reshape(*turns.shape[:-1], 3, 3)


def beyond(tip: np.ndarray, turn: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The line from the middle joint to the effector of limbs without rotation: lengths (F, P, 1), frames (F, P, 3, 3).

    The frames, columns along the line, across it, hinge, are in the axes of the lower bone. tip : (P, 3) from wrist or
    ankle to the effector at rest, turn : (F, P, 4) of the end, both in these axes. length : (P, 1) of the lower bone.
    """
    line = quaternion.rotate(turn, tip)
    line[..., :1] += length
    distance = np.sqrt((line * line).sum(-1, keepdims=True))
    frames = np.zeros((*line.shape, 3))
    frames[..., 0] = along = line / np.maximum(distance, 1e-9)
    size = np.sqrt(np.maximum(1.0 - along[..., 2:] * along[..., 2:], 1e-24))
    frames[..., :2, 1] = along[..., 1::-1] * [-1.0, 1.0] / size
    frames[..., 2] = (_HINGE - along[..., 2:] * along) / size
    return distance, frames


class Feet(NamedTuple):
    """Legs without rotation whose feet turn about the ankles, about the hinges of the knees.

    upper, lower, foot : (P, 1) lengths of both bones, and from the ankle to the toes across the hinge. rest : (P, 1)
    angle of the toes at rest against the lower bone. squared : (P, 1) length from the ankle to the toes.
    """

    upper: np.ndarray
    lower: np.ndarray
    foot: np.ndarray
    rest: np.ndarray
    squared: np.ndarray

    @classmethod
    def of(cls, lengths: np.ndarray, tip: np.ndarray) -> "Feet":
        """Lengths : (P, 2). tip : (P, 3) as for `beyond`."""
        foot, rest = np.hypot(tip[:, :1], tip[:, 1:2]), np.arctan2(tip[:, 1:2], tip[:, :1])
        return cls(lengths[:, :1], lengths[:, 1:], foot, rest, (tip * tip).sum(-1, keepdims=True))


def balanced(distance: np.ndarray, bend: np.ndarray, turn: np.ndarray, feet: Feet, doubt: np.ndarray) -> np.ndarray:
    """The bends (F, P, 1) of knees that fit predicted bends and predicted turns of feet best.

    The distance of the toes from the hip leaves one of both open. One step of Gauss and Newton from the predicted bend.

    distance : (F, P, 1) from hip to toes. bend : (F, P, 1) predicted. turn : (F, P, 1) of the feet about the hinge,
    predicted. doubt : (P, 1) variance of the bend; that of the turn is 1.
    """
    needed, slope = ankles(distance, bend, feet)
    return bend - doubt * slope * eased(needed - turn) / (1.0 + doubt * slope * slope)


def eased(turn: np.ndarray) -> np.ndarray:
    """Angles that grow more slowly and not beyond `MOST_EASED`."""
    return MOST_EASED * np.tanh(turn / MOST_EASED)


def ankles(distance: np.ndarray, bend: np.ndarray, feet: Feet) -> tuple[np.ndarray, np.ndarray]:
    """The turns (F, P, 1) of feet about the hinge with which toes are at their distances, and their slopes by the bend.

    Arguments as for `balanced`.
    """
    along, across = feet.upper * np.cos(bend), feet.upper * np.sin(bend)
    x = feet.lower + along
    square = x * x + across * across
    chord = np.sqrt(square)
    cosine = (distance * distance - square - feet.squared) / (2.0 * chord * feet.foot)
    cosine = np.minimum(np.maximum(cosine, -POINTED), POINTED)
    fall = feet.lower * across / square  # of the chord's logarithm by the bend
    slope = 1.0 - feet.lower * x / square - (chord / feet.foot + cosine) * fall / np.sqrt(1.0 - cosine * cosine)
    return np.arctan2(across, x) + np.arccos(cosine) - feet.rest, slope
