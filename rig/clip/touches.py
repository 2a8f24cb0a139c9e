# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that touch: where the source's hands are near its other hand or its body, another body's are as near.

Each point of a hand has its place about each part of the source: how far along, in which direction, how far from the
skin. The other hand is wanted where its points have the same places about its own body; the nearer the source's hand
is to its skin, the more. Frames are solved on their own, and the weights are smooth, so the motion is too.
"""

from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion
from . import two_bones, volumes
from .other_body import Body
from .person_frames import SIDES, Person
from .shown import Shown
from .volumes import PartKey, Place, Skin

_NEAR = 0.1  # of the height: hands that are further from all skin go by the angles of their arms
_FREE = 0.03  # of the height: the gap at which a point counts as much as the angles of the arm
_TOUCHING = 0.02  # of the height: points that are nearer may slide on the skin
_CLOSE = 0.004  # of the height: points count the more the nearer they are, down to this gap
_STEEP = 3.0  # how much more, as an exponent
_STRAIGHT, _BENT = 10.0, 0.05  # how much straight arms stay straight, and how soon bent ones count less
_SLIDING = 0.02  # how much a place on the skin counts against the gap to it
_BOTH = 10.0  # how much more the other hand counts than the body
_INSIDE = 0.003  # of the height: how far points may be below the skin
_ROUNDS, _STEP, _PUSHES = 14, 0.5, 6
_HINGE = np.array([0.0, 0.0, 1.0])  # of an elbow, in the frame of its bones
_OWN = ("arm", "forearm", "hand")  # the parts of an arm, which its own hand does not touch


class Arm(NamedTuple):
    """An arm by its bones, with its lines (3,) at rest from shoulder to elbow and from there to the wrist."""

    upper: int
    lower: int
    hand: int
    lines: tuple[np.ndarray, np.ndarray]


class Wanted(NamedTuple):
    """Where a hand is about the source's parts, scaled, with the gaps (F, P) as shares of the source's height.

    stretched : (F,) how far the source's arm is, as a share of its length.
    """

    places: dict[PartKey, tuple[Place, np.ndarray]]
    stretched: np.ndarray


def keep(source: tuple[Person, Shown, float], body: Body, shift: np.ndarray, carrier: int) -> None:
    """Bend the arms of a body so that its hands touch what the source's do, and are not inside of its skin.

    source : its figure, motion and scale. shift, carrier : as of `Body.posed`.
    """
    skin, their_skin = body.person.skin, source[0].skin
    arms = {side: arm for side in SIDES if (arm := _arm(body, side)) is not None and side in skin.hands}
    size = skin.height * body.space.scale / (their_skin.height * source[2])
    wanted = {side: _wanted(source, side, skin, size) for side in arms if side in their_skin.hands}
    straight = body.posed(shift, carrier)
    base = {side: straight.heads[:, arm.hand] for side, arm in arms.items()}
    turns = {side: (body.turns[arm.upper], body.turns[arm.lower]) for side, arm in arms.items()}
    whole = {side: np.zeros_like(base[side]) for side in wanted}

    def put(by: dict[str, np.ndarray]) -> Shown:
        for side, offset in by.items():
            _put(body, straight, arms[side], turns[side], base[side] + offset)
        return body.posed(shift, carrier)

    shown = straight
    for _ in range(_ROUNDS):
        steps = {side: _missing(one, body, skin, shown, arms[side], side, base[side]) for side, one in wanted.items()}
        whole = {side: shown.heads[:, arms[side].hand] - base[side] + _STEP * step for side, step in steps.items()}
        shown = put(whole)
    offsets = {side: np.zeros_like(base[side]) for side in arms} | whole
    for _ in range(0 if skin.bare else _PUSHES):
        shown = put(offsets)
        for side, arm in arms.items():
            reached = shown.heads[:, arm.hand] - base[side]
            offsets[side] = reached + _outward(body, skin, shown, arm, side)
    put(offsets)


def _arm(body: Body, side: str) -> Arm | None:
    chains, heads = body.person.chains, body.person.armature.heads
    bones = [chains.get((name, side, 0), [-1])[0] for name in _OWN]
    if any(bone not in body.turns for bone in bones):
        return None
    upper, lower, hand = bones
    return Arm(upper, lower, hand, (heads[lower] - heads[upper], heads[hand] - heads[lower]))


def _others(skin: Skin, side: str) -> list[PartKey]:
    """The parts that a hand may touch."""
    return [key for key in skin.parts if key[1] != side or key[0] not in _OWN]


def _wanted(source: tuple[Person, Shown, float], side: str, skin: Skin, size: float) -> Wanted:
    """Where the points of a hand are about the source's other parts, and how much that counts."""
    person, shown, scale = source
    own = person.skin
    heads, height = person.armature.heads, own.height * scale
    points = volumes.carried(shown, own.parts["hand", side].bones[0], heads, scale, own.hands[side])
    places = {}
    for key in _others(own, side):
        if key not in skin.parts:
            continue
        part = own.parts[key]
        place = volumes.seen(part, *volumes.posed(part, shown, heads, scale), scale, points)
        gap = np.maximum(place.gap, 0.0) / height
        gaps = place.gap if skin.bare else np.maximum(place.gap, -_INSIDE * height)
        place = place._replace(gap=size * gaps)
        places[key] = place, gap
    upper, lower, hand = (person.chains[name, side, 0][0] for name in _OWN)
    length = scale * (np.linalg.norm(heads[lower] - heads[upper]) + np.linalg.norm(heads[hand] - heads[lower]))
    return Wanted(places, np.linalg.norm(shown.heads[:, hand] - shown.heads[:, upper], axis=-1) / length)


def _weights(theirs: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much points count with gaps (F, P) on both bodies: out of the skin alone, and in all directions.

    Both bodies count alike, so that the way back is the same, and the smaller gap counts most; but what is far from the
    source's hand does not count. `_CLOSE` is in the gaps.
    """
    gap = 2.0 * theirs * own / (theirs + own)
    weight = _smooth((_NEAR + _CLOSE - theirs) / _NEAR) * ((_FREE + _CLOSE) / gap) ** _STEEP
    firm = (1.0 - _SLIDING) * _smooth((_TOUCHING + _CLOSE - gap) / _TOUCHING) * weight
    return firm, weight - firm


def _smooth(amount: np.ndarray) -> np.ndarray:
    """From 0 to 1 with slopes of 0."""
    amount = np.clip(amount, 0.0, 1.0)
    return amount * amount * (3.0 - 2.0 * amount)


def _missing(
    wanted: Wanted, body: Body, skin: Skin, shown: Shown, arm: Arm, side: str, base: np.ndarray
) -> np.ndarray:
    """How far (F, 3) a hand is from where it is wanted, by least squares: gaps count more than places on the skin.

    So hands that touch both each other and the body may slide on it. Of what is missing between two hands, each goes
    half. base : (F, 3) the place of the wrist by the angles of the arm.
    """
    heads, scale = body.person.armature.heads, body.space.scale
    points = volumes.carried(shown, arm.hand, heads, scale, skin.hands[side])
    wrist, shoulder = shown.heads[:, arm.hand], shown.heads[:, arm.upper]
    length = scale * sum(np.linalg.norm(one) for one in arm.lines)
    stretched = 0.5 * (wanted.stretched + np.linalg.norm(wrist - shoulder, axis=-1) / length)
    away = wrist - shoulder
    far = np.linalg.norm(away, axis=-1)
    along = away / far[:, None]
    longer = np.linalg.norm(base - shoulder, axis=-1) - far
    square = np.minimum(stretched, 1.0) ** 2
    straight = _STRAIGHT * (square / (1.0 - square + _BENT)) ** 2
    weights = np.eye(3) + straight[:, None, None] * np.einsum("fi,fj->fij", along, along)
    total = base - wrist + (straight * longer)[:, None] * along
    for key, (place, their_gap) in wanted.places.items():
        part = skin.parts[key]
        nodes, frames = volumes.posed(part, shown, heads, scale)
        own_gap = volumes.seen(part, nodes, frames, scale, points).gap / (skin.height * scale)
        both = key[0] == "hand"
        firm, loose = (one * (_BOTH if both else 1.0)
                       for one in _weights(their_gap + _CLOSE, np.maximum(own_gap, 0.0) + _CLOSE))  # fmt: skip
        line = volumes.placed(part, nodes, frames, scale, place) - points
        out = volumes.outward(part, frames, place)
        asked = (firm * (out * line).sum(-1))[..., None] * out + loose[..., None] * line
        total = total + (0.5 if both else 1.0) * asked.sum(1)
        weights += np.einsum("fp,fpi,fpj->fij", firm, out, out) + loose.sum(1)[:, None, None] * np.eye(3)
    step = np.linalg.solve(weights, total[..., None])[..., 0]
    out = (step * along).sum(-1)  # what goes aside goes about the shoulder
    turned = away + step - out[:, None] * along
    return (far + out)[:, None] * turned / np.linalg.norm(turned, axis=-1, keepdims=True) - away


def _outward(body: Body, skin: Skin, shown: Shown, arm: Arm, side: str) -> np.ndarray:
    """How far (F, 3) a hand has to go so that no point of it is far below the skin of other parts."""
    heads, scale = body.person.armature.heads, body.space.scale
    points = volumes.carried(shown, arm.hand, heads, scale, skin.hands[side])
    total, rows = np.zeros_like(points[:, 0]), np.arange(len(points))
    for key in _others(skin, side):
        part = skin.parts[key]
        nodes, frames = volumes.posed(part, shown, heads, scale)
        place = volumes.seen(part, nodes, frames, scale, points)
        depth = -_INSIDE * skin.height * scale - place.gap
        deepest = (rows, depth.argmax(-1))
        out = volumes.outward(part, frames, place)[deepest]
        missing = (0.5 if key[0] == "hand" else 1.0) * depth[deepest] - (total * out).sum(-1)
        total += np.maximum(missing, 0.0)[:, None] * out
    return total


def _put(
    body: Body, straight: Shown, arm: Arm, turns: tuple[np.ndarray, np.ndarray], wrist: np.ndarray
) -> None:
    """Bend an arm, from the turns that it has by its angles, so that its wrist is at a place (F, 3)."""
    upper, lower = turns
    axis = quaternion.rotate(quaternion.product(lower, body.person.frames[arm.lower]), _HINGE)
    lines = body.space.scale * arm.lines[0], body.space.scale * arm.lines[1]
    shoulder = straight.heads[:, arm.upper]
    body.turns[arm.upper], body.turns[arm.lower] = two_bones.reach(shoulder, upper, lower, lines, axis, wrist)
