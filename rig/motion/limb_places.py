# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs between angles and places: as the source's are turned, or with their ends where its ends are, scaled.

Legs usually go by places, so that feet stand, and arms by angles. A hand on the ground is as high as the source's,
scaled, and there and where it holds on to something it goes no further than the source's: it does not slide.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...solvers.algebra import quaternion
from ...solvers.motion import find_holds, fine_time, settled, two_bones
from ..clip.clip import BodyMotion
from ..clip.person_frames import SIDES, Person
from ..figure.parts import LEFT
from .retargeted_body import Body, ScaledPlaces, Source

ARM, LEG = "arm", "leg"
_HINGE = np.array([0.0, 0.0, 1.0])  # of a knee or an elbow, in the frame of its bones
_ARM = ("arm", "forearm", "hand")
_UP = np.array([0.0, 0.0, 1.0])
_NEAR, _AWAY = 0.15, 0.45  # of the leg: hands that are no higher are on the ground, and those that go by angles
_EASES = 0.2  # seconds in which a hand goes over from its angles to what it holds
_LEVEL, _OVER = 0.0, 0.7  # cosines: how much hips are over shoulders where hands begin to carry a body, and carry it

Bones = tuple[int, int, int]
"""Of a limb: the two that bend, and its end."""


class LimbFit(NamedTuple):
    """How a limb goes.

    places : from 0, by angles, to 1, by places. offset : (3,) [m] of its end, left, forward, up. pole : by how much its
    knee or elbow points further outward, about the line from the limb's first joint to its end [radians].
    """

    places: float
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pole: float = 0.0


class Grip(NamedTuple):
    """A hand of a body over F frames.

    bones : of the arm. scaled : (F, 3) where its wrist is with the palm where the source's is, scaled. palm : (F, 3) of
    the source [leg lengths]. low : (F,) from 0 to 1, how near the ground that is. held : (F,) whether it holds on to
    something that is still: a rung, a table, the ground.
    """

    bones: Bones
    scaled: np.ndarray
    palm: np.ndarray
    low: np.ndarray
    held: np.ndarray

    def share(self, rate: float) -> np.ndarray:
        """How much (F,) it goes by what it holds or stands on, from 0 to 1."""
        return np.maximum(self.low, about(self.held, round(_EASES * rate)))


Limbs = Mapping[tuple[str, str], LimbFit]
"""By part, `ARM` or `LEG`, and side."""
USUAL: Limbs = {(part, side): LimbFit(float(part == LEG)) for part in (ARM, LEG) for side in SIDES}


def away(source: Source, offset: tuple[float, float, float]) -> np.ndarray:
    """An offset (F, 3) in the world, along the directions of the source's hips on the ground."""
    person, turns = source.person, source.motion.turns[:, source.person.chains["hips", "", 0][0]]
    left = quaternion.rotate(turns, np.cross(person.up, person.forward)) * np.array([1.0, 1.0, 0.0])
    left /= np.maximum(np.linalg.norm(left, axis=-1, keepdims=True), 1e-12)
    axes = np.stack([left, np.cross(left, _UP), np.broadcast_to(_UP, left.shape)], -1)
    return axes @ np.array(offset)


def end(body: Body, posed: BodyMotion, bones: Bones, paw: np.ndarray | None = None) -> np.ndarray:
    """Where the end (F, 3) of a limb is by the turns of its bones, with the joint that carries it as it is posed.

    paw : (3,) from the last of them to the point on which it stands, where that is the end.
    """
    lines = zip(bones, _lines(body, bones, paw), strict=paw is not None)
    return posed.heads[:, bones[0]] + sum(quaternion.rotate(body.turns[bone], line) for bone, line in lines)


def bend(
    body: Body, posed: BodyMotion, bones: Bones, target: np.ndarray, pole: float, paw: np.ndarray | None = None
) -> None:  # fmt: skip
    """Turn the bones of a limb so that its end is at a place (F, 3), and about the line to there by a pole.

    paw : as of `end`. The limb has three bones with it, else two.
    """
    upper, lower, _ = bones
    lines = _lines(body, bones, paw)
    turned = bones[: len(lines)]
    turns = [body.turns[bone] for bone in turned]
    axis = quaternion.rotate(quaternion.product(turns[1], body.person.frames[lower]), _HINGE)
    hips = posed.heads[:, upper]
    new = (two_bones.reach(hips, turns[0], turns[1], (lines[0], lines[1]), axis, target) if paw is None
           else two_bones.reach_on_tip(hips, turns, lines, axis, target))  # fmt: skip
    body.turns |= zip(turned, new, strict=True)
    if pole:
        line = end(body, posed, bones, paw) - posed.heads[:, upper]
        line /= np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12)
        turn(body, turned, quaternion.exp(pole * line))


def turn(body: Body, bones: Sequence[int], by: np.ndarray) -> None:
    """Turn bones in the world by (F, 4) more."""
    body.turns |= {bone: quaternion.product(by, body.turns[bone]) for bone in bones}


def outward(part: str, side: str) -> float:
    """The sign of turns about the line from a limb's first joint to its end that take a knee or an elbow outward."""
    return 1.0 if (part == ARM) == (side == LEFT) else -1.0  # knees point forward, elbows backward


def grips(
    places: ScaledPlaces, body: Body, posed: BodyMotion, way: np.ndarray, rate: float
) -> dict[str, Grip]:  # fmt: skip
    """What the hands of a posed body do to the world, by side.

    way : (F, 3) that the body goes further than its places. rate : frames a second.
    """
    found = dict[str, Grip]()
    person, shown, scale, start = places.source
    for side in SIDES:
        if not all((part, side, 0) in one.chains for part in _ARM for one in (person, body.person)):
            continue
        shoulder, hand = (shown.heads[:, person.chains[part, side, 0][0]] for part in ("arm", "hand"))
        palm, leg = _palm(person, shown, scale, side), person.leg * scale
        bones = tuple(body.person.chains[part, side, 0][0] for part in _ARM)
        wrist = posed.heads[:, bones[-1]]
        high = (np.minimum(palm[:, 2], hand[:, 2]) - start[2]) / leg
        holds = find_holds(np.stack([hand, palm], 1)[:, None], shoulder[:, None], rate, leg, float(start[2]))
        low, held = smooth((_AWAY - high) / (_AWAY - _NEAR)), fine_time.on_frames(holds, rate).any((1, 2))
        if person.four:  # its legs in front are placed as legs
            low, held = 0.0 * low, np.zeros_like(held)
        found[side] = Grip(
            bones, places.of(palm) + way - (_palm(body.person, posed, body.space.scale, side) - wrist),
            palm / leg, low, held,
        )  # fmt: skip
    return found


def carrying(
    source: Source, body: Body, posed: BodyMotion, holding: Mapping[str, Grip]
) -> list[two_bones.Support]:  # fmt: skip
    """How much arms with a hand on the ground carry a body, with elbows bent as the source's are.

    The more its hips are over its shoulders, the more they do.
    """
    found = list[two_bones.Support]()
    for side, grip in holding.items():
        spans, lean = [], np.zeros(body.count)
        for one, shown, scale in ((source.person, source.motion, source.scale), (body.person, posed, body.space.scale)):
            shoulder, elbow, hand = (one.chains[part, side, 0][0] for part in _ARM)
            lengths = np.linalg.norm(np.diff(one.armature.heads[[shoulder, elbow, hand]], axis=0), axis=-1)
            wrist = shown.heads[:, hand]
            wrist = wrist if one is source.person else np.append(wrist[:, :2], grip.scaled[:, 2:], axis=1)
            spans.append(two_bones.Span(shown.heads[:, shoulder] - wrist, *map(float, scale * lengths)))
            trunk = shown.heads[:, one.chains["hips", "", 0][0]] - shown.heads[:, shoulder]
            lean = trunk @ _UP / np.linalg.norm(trunk, axis=-1)
        share = grip.low * smooth((lean - _LEVEL) / (_OVER - _LEVEL))
        found.append(two_bones.Support(spans[1], spans[0], share))
    return found


def place_arms(
    places: ScaledPlaces, body: Body, posed: BodyMotion, way: np.ndarray, limbs: Limbs,
    holding: Mapping[str, Grip], rate: float,
) -> None:  # fmt: skip
    """Bend the arms of a posed body for their places, and for what its hands hold; arguments as those of `grips`."""
    source = places.source
    for side, grip in holding.items():
        fit = limbs[ARM, side]
        own, hand = end(body, posed, grip.bones), source.motion.heads[:, source.person.chains["hand", side, 0][0]]
        place = own + fit.places * (places.of(hand) + way - own)
        if grip.low.any() or grip.held.any():
            apart = (place - grip.scaled) * np.stack([np.ones(len(own)), np.ones(len(own)), 1.0 - grip.low], -1)
            place = grip.scaled + settled(apart, grip.palm, rate, grip.held, grip.share(rate))
        if fit != USUAL[ARM, side] or grip.low.any() or grip.held.any():
            bend(body, posed, grip.bones, place + away(source, fit.offset), outward(ARM, side) * fit.pole)


def about(share: np.ndarray, wide: int) -> np.ndarray:
    """A share (F,) that fades over so many frames to both sides of where it is large."""
    return eased(_around(share.astype(float), wide).max(-1), wide)


def eased(share: np.ndarray, wide: int) -> np.ndarray:
    """A share (F,) as it is on average over so many frames to both sides."""
    return _around(share, wide).mean(-1)


def _around(share: np.ndarray, wide: int) -> np.ndarray:
    return sliding_window_view(np.pad(share, wide, "edge"), 2 * wide + 1)


def _palm(person: Person, shown: BodyMotion, scale: float, side: str) -> np.ndarray:
    """The middle (F, 3) of a palm, or the wrist of a hand whose skin is not known."""
    hand = person.chains["hand", side, 0][0]
    if side not in person.skin.hands:
        return shown.heads[:, hand]
    line = person.skin.hands[side].mean(0) - person.armature.heads[hand]
    return shown.heads[:, hand] + scale * quaternion.rotate(shown.turns[:, hand], line)


def _lines(body: Body, bones: Bones, paw: np.ndarray | None) -> list[np.ndarray]:
    """The lines (3,) along the bones of a limb at rest; that of the third one is its paw."""
    lines = [*np.diff(body.person.armature.heads[list(bones)], axis=0), *([] if paw is None else [paw])]
    return [body.space.scale * line for line in lines]


def smooth(amount: np.ndarray) -> np.ndarray:
    """From 0 to 1 with slopes of 0."""
    amount = np.clip(amount, 0.0, 1.0)
    return amount * amount * (3.0 - 2.0 * amount)
