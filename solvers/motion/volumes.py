# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a body with their skin: where points are about a part, and where such places are on another body.

A part is a line of one or several bones with the radius of the skin at places along it and directions around it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

PartKey = tuple[str, str]
"""A part's name and side."""

STATIONS, CAPS, AROUND = 13, 6, 24  # places along a part, angles beyond each of its ends, and directions around it
_PALM = ((0.2, 6), (0.5, 6), (0.8, 6), (1.0, 6))  # points of a hand: how far along it, and how many around


class BodyMotion(NamedTuple):
    """A figure's motion over F frames, in the world: heads (F, N, 3) and turns from rest (F, N, 4) of all bones.

    The turns are those from bones at rest along the world's axes, as if the object were not turned.
    """

    heads: np.ndarray
    turns: np.ndarray


class SkinPart(NamedTuple):
    """A part at rest, in armature space, of K bones.

    bones : (K,) numbers. nodes : (K + 1, 3) its line; each node but the last is carried by the bone after it. frames :
    (K, 4) with X along the part. radii : (CAPS + STATIONS + CAPS, AROUND) of the skin; beyond the ends by angles, of
    which the first and the last one are along the part.
    """

    bones: list[int]
    nodes: np.ndarray
    frames: np.ndarray
    radii: np.ndarray

    @classmethod
    def round(cls, bones: list[int], nodes: np.ndarray, frames: np.ndarray, radius: float) -> "SkinPart":
        """With one radius everywhere."""
        return cls(bones, nodes, frames, np.full((CAPS + STATIONS + CAPS, AROUND), radius))

    def measured(self, radii: np.ndarray) -> "SkinPart":
        """With other radii; those that are missing (NaN) are taken from their neighbours, or are the usual one."""
        return self._replace(radii=_filled(radii, float(self.radii.mean())))

    @property
    def marks(self) -> np.ndarray:
        """How far along (K + 1,) the nodes are, from 0 to 1."""
        lengths = np.linalg.norm(np.diff(self.nodes, axis=0), axis=-1)
        return np.concatenate([[0.0], np.cumsum(lengths)]) / max(float(lengths.sum()), 1e-9)


class PartPlace(NamedTuple):
    """Where points (F, P) are about a part: how far along it (F, P), in which direction (F, P, 3), and the gap (F, P).

    The direction is in the part's frames, and the gap is from the skin, below zero inside.
    """

    along: np.ndarray
    direction: np.ndarray
    gap: np.ndarray


def rays(part: SkinPart) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each row of a part's radii, where it is measured from (AROUND, 3) at rest, and in which directions."""
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    around = np.stack([np.zeros(AROUND), np.cos(angles), np.sin(angles)], -1)
    for row in range(-CAPS, STATIONS + CAPS):
        along = min(max(row / (STATIONS - 1), 0.0), 1.0)
        beyond = 0.5 * np.pi / CAPS * (row - along * (STATIONS - 1))
        directions = np.cos(beyond) * around + np.sin(beyond) * np.eye(3)[0]
        places = np.full((1, AROUND), along)
        turn = _turn(part, part.frames[None], places)[0]
        yield _on_line(part, part.nodes[None], places)[0], quaternion.rotate(turn, directions)


def _filled(radii: np.ndarray, usual: float) -> np.ndarray:
    """Radii with those that are missing (NaN) from their neighbours."""
    while np.isnan(radii).any():
        around = np.stack([np.roll(radii, 1, 1), np.roll(radii, -1, 1), np.vstack([radii[1:], radii[-1:]]),
                           np.vstack([radii[:1], radii[:-1]])])  # fmt: skip
        known = ~np.isnan(around)
        if not known.any():
            return np.full(radii.shape, usual)
        mean = np.where(known, around, 0.0).sum(0) / np.maximum(known.sum(0), 1)
        radii = np.where(np.isnan(radii) & known.any(0), mean, radii)
    return radii


def palm(hand: SkinPart) -> np.ndarray:
    """The points (P, 3) of a hand's skin at rest."""
    found = list[np.ndarray]()
    for along, count in _PALM:
        angle = 2.0 * np.pi * np.arange(count) / count
        direction = np.stack([np.zeros(count), np.cos(angle), np.sin(angle)], -1)[None]
        place = PartPlace(np.full((1, count), along), direction, np.zeros((1, count)))
        found.append(placed(hand, hand.nodes[None], hand.frames[None], 1.0, place)[0])
    return np.concatenate(found)


def core(part: SkinPart, along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) of a part's line at rest at places (n,) along it, and the mean radii (n,) of the skin there."""
    mean: np.ndarray = part.radii[CAPS:-CAPS].mean(1)
    return _on_line(part, part.nodes[None], along[None])[0], np.interp(along, np.linspace(0.0, 1.0, STATIONS), mean)


# -- posed -------------------------------------------------------------------------------------------------------------


def carried(
    shown: BodyMotion, bones: int | np.ndarray, heads: np.ndarray, scale: float, points: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Points (..., 3) at rest that bones, one or (...), carry, over F frames: (F, ..., 3). heads : (N, 3) of bones."""
    bones = np.broadcast_to(bones, points.shape[:-1])
    return shown.heads[:, bones] + scale * quaternion.rotate(shown.turns[:, bones], points - heads[bones])


def posed(part: SkinPart, shown: BodyMotion, heads: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The nodes (F, K + 1, 3) and frames (F, K, 4) of a part in the world."""
    owners = [*part.bones, part.bones[-1]]
    nodes = [carried(shown, bone, heads, scale, node) for bone, node in zip(owners, part.nodes, strict=True)]
    turns = shown.turns[:, part.bones]
    return np.stack(nodes, 1), quaternion.product(turns, np.broadcast_to(part.frames, turns.shape))


def seen(part: SkinPart, nodes: np.ndarray, frames: np.ndarray, scale: float, points: np.ndarray) -> PartPlace:
    """Where points (F, P, 3) in the world are about a posed part."""
    start, line = nodes[:, None, :-1], np.diff(nodes, axis=1)[:, None]
    offset = points[:, :, None] - start
    share = np.clip((offset * line).sum(-1) / np.maximum((line * line).sum(-1), 1e-18), 0.0, 1.0)
    distance = np.linalg.norm(offset - share[..., None] * line, axis=-1)
    best = distance.argmin(-1)
    share = np.take_along_axis(share, best[..., None], -1)[..., 0]
    along = part.marks[best] + share * np.diff(part.marks)[best]
    away = np.take_along_axis(distance, best[..., None], -1)[..., 0]
    line = points - _on_line(part, nodes, along)
    direction = quaternion.rotate(quaternion.conjugate(_turn(part, frames, along)), line)
    direction = direction / np.maximum(away, 1e-12)[..., None]
    return PartPlace(along, direction, away - scale * _radius(part, along, direction))


def placed(part: SkinPart, nodes: np.ndarray, frames: np.ndarray, scale: float, place: PartPlace) -> np.ndarray:
    """The points (F, P, 3) in the world at places about a posed part."""
    away = place.gap + scale * _radius(part, place.along, place.direction)
    return _on_line(part, nodes, place.along) + np.maximum(away, 0.0)[..., None] * outward(part, frames, place)


def outward(part: SkinPart, frames: np.ndarray, place: PartPlace) -> np.ndarray:
    """The directions (F, P, 3) in the world of places about a posed part."""
    return quaternion.rotate(_turn(part, frames, place.along), place.direction)


def _on_line(part: SkinPart, nodes: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The points (F, P, 3) of the part's line at some places along it."""
    marks = part.marks
    at = np.clip(np.searchsorted(marks, along, side="right") - 1, 0, len(marks) - 2)
    share = (along - marks[at]) / np.maximum(np.diff(marks)[at], 1e-12)
    rows = np.arange(len(nodes))[:, None]
    start, end = nodes[rows, at], nodes[rows, at + 1]
    return start + np.clip(share, 0.0, 1.0)[..., None] * (end - start)


def _turn(part: SkinPart, frames: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The frames (F, P, 4) of the part at places along it: between two bones, between theirs."""
    middles = 0.5 * (part.marks[1:] + part.marks[:-1])
    rows = np.arange(len(frames))[:, None]
    if len(middles) == 1:
        return np.broadcast_to(frames, (*along.shape, 4))
    at = np.clip(np.searchsorted(middles, along, side="right") - 1, 0, len(middles) - 2)
    share = np.clip((along - middles[at]) / np.maximum(np.diff(middles)[at], 1e-12), 0.0, 1.0)[..., None]
    one, other = frames[rows, at], frames[rows, at + 1]
    other = np.where((one * other).sum(-1, keepdims=True) < 0.0, -other, other)
    return quaternion.normalize((1.0 - share) * one + share * other)


def _radius(part: SkinPart, along: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The radius of the skin at rest (...) at places along a part, in directions (..., 3) of its frames."""
    row = CAPS + np.clip(along, 0.0, 1.0) * (STATIONS - 1)
    beyond = 2.0 / np.pi * CAPS * np.arcsin(np.clip(direction[..., 0], -1.0, 1.0))
    row = row + np.where(along <= 0.0, np.minimum(beyond, 0.0), np.where(along >= 1.0, np.maximum(beyond, 0.0), 0.0))
    low = np.minimum(row.astype(int), len(part.radii) - 2)
    angle = np.arctan2(direction[..., 2], direction[..., 1]) / (2.0 * np.pi) % 1.0 * AROUND
    left = angle.astype(int) % AROUND
    right, share, turn = (left + 1) % AROUND, row - low, angle - np.floor(angle)

    def of(at: np.ndarray) -> np.ndarray:
        return (1.0 - turn) * part.radii[at, left] + turn * part.radii[at, right]

    return (1.0 - share) * of(low) + share * of(low + 1)
