# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a figure's two legs by their roles, and where its feet touch the ground."""

from typing import NamedTuple

import bpy

from ..figure import foot
from ..figure.character import Character
from ..figure.foot import Foot
from ..figure.parts import LEFT, RIGHT, Role

PARTS = ("thigh", "shin", "foot")


class LegBones(NamedTuple):
    """The numbers of thigh, shin and foot, and the foot's shape in the frame of its bone."""

    bones: list[int]
    shape: Foot


def of(ob: bpy.types.Object, character: Character) -> list[LegBones] | None:
    """The left and the right leg; None if a part of them, or the shape of a foot, is not known."""
    armature = character.armature
    bones = {role: bone for bone, role in sorted(character.figure.roles.items(), reverse=True)}
    found = list[LegBones]()
    for side in (LEFT, RIGHT):
        own = [bones[role] for role in (Role(part, side) for part in PARTS) if role in bones]
        shape = foot.of(ob, character, own[2]) if len(own) == len(PARTS) else None
        if shape is None:
            return None
        found.append(LegBones(own, shape.seen_from(armature.rest[own[2], :3, :3], armature.heads[own[2]])))
    return found
