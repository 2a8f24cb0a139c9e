# SPDX-License-Identifier: GPL-3.0-or-later
"""When the feet of a figure begin and end to stand: there animators look for keys."""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...solvers.motion import find_contacts, runs
from ..figure.character import Character
from . import leg_bones


class Mark(NamedTuple):
    """A point of a bone, in the bone's frame."""

    bone: str
    place: Vector


class Legs(NamedTuple):
    """The bones of two legs, thigh to foot, and three marks of each: where it begins, its heel and its ball."""

    bones: list[list[str]]
    marks: list[Mark]
    length: float


def legs(ob: bpy.types.Object) -> Legs | None:
    """The legs of a figure; None if it has no two legs whose roles are known."""
    character = Character.of(ob)
    both = leg_bones.of(ob, character)
    if both is None:
        return None
    found, marks, lengths = list[list[str]](), list[Mark](), list[float]()
    for own, shape in both:
        names = [ob.pose.bones[bone].name for bone in own]
        found.append(names)
        marks += [Mark(names[0], Vector()), Mark(names[2], Vector(shape.heel)), Mark(names[2], Vector(shape.ball))]
        lengths.append(float(np.linalg.norm(np.diff(character.armature.heads[own], axis=0), axis=-1).sum()))
    return Legs(found, marks, float(np.mean(lengths)) * max(map(abs, ob.matrix_world.to_scale())))


def changes(own: Legs, places: np.ndarray, rate: float) -> list[list[int]]:
    """For each leg, the frames on which its heel or its ball begins or ends to stand.

    places : (F, 6, 3), of the marks. rate : frames a second.
    """
    marks = places.reshape(len(places), 2, 3, 3)
    on_ground = find_contacts(marks[:, :, 1:], marks[:, :, 0].mean(1), rate, own.length)
    return [sorted({frame for point in leg.T for begin, end in runs(point) for frame in (begin, end - 1)})
            for leg in np.moveaxis(on_ground, 1, 0)]  # fmt: skip


def of_bones(names: Sequence[str], ob: bpy.types.Object) -> list[Mark]:
    """The tails of bones."""
    return [Mark(name, Vector((0.0, ob.data.bones[name].length, 0.0))) for name in names]
