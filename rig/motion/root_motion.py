# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a figure over the ground, and what takes it: the bone that carries it, a root bone, the object, nothing.

The way is where the hips are over the ground and where they face, against the figure at rest, both without the sway of
single steps. A root bone or the object that takes it moves as the figure as a whole does, and the hips sway over it; in
place, the way is left out.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import smooth
from ..blender import rotation
from ..clip import clip
from ..clip.clip import BodyMotion, Space
from ..clip.person_frames import SIDES, Person
from ..notes import Note, Refused
from .retargeted_body import Body

AUTO, BONE, OBJECT, IN_PLACE = "AUTO", "BONE", "OBJECT", "IN_PLACE"
_STEP = 0.5  # seconds: the sway of a step is no way
_FACES = 0.5  # cosine to the ground from which on hips face nowhere
_LEVEL = np.array([1.0, 1.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])


class GroundWay(NamedTuple):
    """How a figure goes (F, 3), and turns (F, 4) about the vertical through its hips at rest, (3,) or (F, 3)."""

    place: np.ndarray
    moved: np.ndarray
    turned: np.ndarray

    def of(self, points: np.ndarray) -> np.ndarray:
        """Where points (F, 3) or (3,) go that go with it."""
        return self.place + self.moved + quaternion.rotate(self.turned, points - self.place)


def way(body: Body, posed: BodyMotion, rate: float) -> GroundWay:
    """The way of a body. rate : frames a second."""
    person, space = body.person, body.space
    legs = person.legs[: len(SIDES)]
    middle = np.mean([person.armature.heads[leg.thigh] for leg in legs], axis=0)
    rest = space.place + space.scale * quaternion.rotate(space.turn, middle)
    goes = _LEVEL * (np.mean([posed.heads[:, leg.thigh] for leg in legs], axis=0) - rest)
    faces = quaternion.rotate(posed.turns[:, person.chains["hips", "", 0][0]], person.forward)
    before = np.broadcast_to(quaternion.rotate(space.turn, person.forward), faces.shape)
    known = np.flatnonzero(np.linalg.norm(faces[:, :2], axis=-1) > _FACES)
    angles = np.zeros(len(faces))
    if len(known):
        own = np.unwrap(np.subtract(*(np.arctan2(one[known, 1], one[known, 0]) for one in (faces, before))))
        angles = np.interp(np.arange(len(faces)), known, own - 2.0 * np.pi * np.round(own[0] / (2.0 * np.pi)))
    moved, angles = (_without_steps(values, rate) for values in (goes, angles[:, None]))
    return GroundWay(rest, moved, quaternion.exp(angles * _UP))


def _without_steps(values: np.ndarray, rate: float) -> np.ndarray:
    """Values (F, K), the mean of half a second about each frame, twice."""
    wide = min(round(0.5 * _STEP * rate), (len(values) - 1) // 2)
    return smooth(smooth(values, wide), wide) if wide > 0 else values


def root(ob: bpy.types.Object, person: Person, mover: int) -> int:
    """The topmost bone above the one that carries a figure. Raises `Refused` if there is none."""
    top = person.armature.tree.paths[mover][0]
    if top == mover:
        raise Refused(Note("{} has no bone above its hips that could take the way: add a root bone, or choose Object",
                           repr(ob.name)))
    return top


def in_place(body: Body, posed: BodyMotion, ground_way: GroundWay, mover: int) -> BodyMotion:
    """The body without its way; it turns as it did."""
    paths = body.person.armature.tree.paths
    carried = np.array([mover in paths[bone] for bone in range(len(paths))])
    return posed._replace(heads=posed.heads - carried[:, None] * ground_way.moved[:, None])


def rooted(body: Body, posed: BodyMotion, ground_way: GroundWay, mover: int, top: int | None) -> BodyMotion:
    """A posed body with the way on a bone, or on the object if that is None. What the bone that carries it does stays.

    The body's space becomes that of the object.
    """
    armature, space = body.person.armature, body.space
    if top is None:
        body.space = Space(ground_way.of(space.place), quaternion.product(ground_way.turned, space.turn), space.scale)
    heads, turns = posed.heads.copy(), posed.turns.copy()
    for bone in body.order:
        above = int(armature.parent[bone])
        if mover in armature.tree.paths[bone]:
            continue
        if above >= 0:
            line = armature.heads[bone] - armature.heads[above]
            turns[:, bone] = turns[:, above] if body.carries(bone) else body.space.turn
            heads[:, bone] = heads[:, above] + space.scale * quaternion.rotate(turns[:, above], line)
        else:
            turns[:, bone] = body.space.turn
            heads[:, bone] = body.space.place + space.scale * quaternion.rotate(body.space.turn, armature.heads[bone])
        if bone == top:
            turns[:, bone] = quaternion.product(ground_way.turned, turns[:, bone])
            heads[:, bone] = ground_way.of(heads[:, bone])
    return BodyMotion(heads, turns)


def check_object(ob: bpy.types.Object) -> None:
    """Raise `Refused` if keys of an object's place and turn would not be seen."""
    data = ob.animation_data
    driven = () if data is None else [curve.data_path for curve in data.drivers if not curve.mute]
    held = any(not one.mute for one in ob.constraints)
    if held or any(path == "location" or path.startswith("rotation") for path in driven):
        raise Refused(Note("Constraints or drivers move {}: remove them, or choose another Root Motion", repr(ob.name)))


def object_channels(ob: bpy.types.Object, space: Space, carried: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """The channels, as of `clip.write`, with which an object is at a place. carried : (F, 4, 4) what carries it."""
    mode = ob.rotation_mode
    more = ob.delta_rotation_quaternion if mode == rotation.QUATERNION else ob.delta_rotation_euler.to_quaternion()
    turns = quaternion.relative(clip.turns_of(carried), space.turn)
    turns = quaternion.relative(np.broadcast_to(np.array(more), turns.shape), turns)
    away = np.linalg.solve(carried[:, :3, :3], (space.place - carried[:, :3, 3])[..., None])[..., 0]
    channels = clip.continuous(mode, turns, np.array(rotation.NO_ROTATION[mode]))
    return {("", "location"): away - np.array(ob.delta_location), ("", rotation.PATHS[mode]): channels}
