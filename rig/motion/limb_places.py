# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs between angles and places: as the source's are turned, or with their ends where its ends are, scaled.

Legs usually go by places, so that feet stand, and arms by angles. An arm that holds on to something in the world, as in
climbing, carrying and pushing, goes by places.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import two_bones
from ..clip.clip import BodyMotion
from ..clip.person_frames import SIDES
from .retargeted_body import Body, Source

ARM, LEG = "arm", "leg"
_HINGE = np.array([0.0, 0.0, 1.0])  # of a knee or an elbow, in the frame of its bones
_ARM = ("arm", "forearm", "hand")
_UP = np.array([0.0, 0.0, 1.0])

Bones = tuple[int, int, int]
"""Of a limb: the two that bend, and its end."""


class LimbFit(NamedTuple):
    """How a limb goes. places : from 0, by angles, to 1, by places. offset : (3,) [m] of its end, left, forward, up."""

    places: float
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


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


def end(body: Body, posed: BodyMotion, bones: Bones) -> np.ndarray:
    """Where the end (F, 3) of a limb is by the turns of its bones, with the joint that carries it as it is posed."""
    lines = zip(bones, _lines(body, bones), strict=False)
    return posed.heads[:, bones[0]] + sum(quaternion.rotate(body.turns[bone], line) for bone, line in lines)


def bend(body: Body, posed: BodyMotion, bones: Bones, target: np.ndarray) -> None:
    """Turn the two bones of a limb so that its end is at a place (F, 3)."""
    upper, lower, _ = bones
    turns = body.turns[upper], body.turns[lower]
    axis = quaternion.rotate(quaternion.product(turns[1], body.person.frames[lower]), _HINGE)
    lines = _lines(body, bones)
    body.turns[upper], body.turns[lower] = two_bones.reach(posed.heads[:, upper], *turns, lines, axis, target)


def place_arms(source: Source, body: Body, posed: BodyMotion, size: float, ground: np.ndarray, limbs: Limbs) -> None:
    """Bend the arms of a posed body for their places.

    size : of the body, against the source. ground : (3,) from which its places are measured.
    """
    for side in SIDES:
        fit, keys = limbs[ARM, side], [(part, side, 0) for part in _ARM]
        known = all(key in person.chains for key in keys for person in (source.person, body.person))
        if fit == USUAL[ARM, side] or not known:
            continue
        hand = source.motion.heads[:, source.person.chains[keys[-1]][0]]
        upper, lower, last = (body.person.chains[key][0] for key in keys)
        own = end(body, posed, (upper, lower, last))
        place = ground + size * (hand - source.start)
        bend(body, posed, (upper, lower, last), own + fit.places * (place - own) + away(source, fit.offset))


def _lines(body: Body, bones: Bones) -> tuple[np.ndarray, np.ndarray]:
    """The lines (3,) along the two bones of a limb at rest."""
    first, second = body.space.scale * np.diff(body.person.armature.heads[list(bones)], axis=0)
    return first, second
