# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a figure's two legs by their roles, and where its feet touch the ground."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import bpy
import numpy as np

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


def length(ob: bpy.types.Object, character: Character, legs: Sequence[LegBones]) -> float:
    """The mean length of legs from hip to ankle, in the world."""
    lines = [np.diff(character.armature.heads[leg.bones], axis=0) for leg in legs]
    return float(np.mean(np.linalg.norm(lines, axis=-1).sum(-1))) * max(map(abs, ob.matrix_world.to_scale()))


def marks(legs: Sequence[LegBones], matrices: Callable[[int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The places (F, 2, 2, 3) of heel and ball of both feet, and the middle (F, 3) between the hip joints.

    matrices : (F, 4, 4) of a bone in the world.
    """
    hips = np.mean([matrices(leg.bones[0])[:, :3, 3] for leg in legs], axis=0)
    feet = [(matrices(leg.bones[2]), np.array([leg.shape.heel, leg.shape.ball])) for leg in legs]
    points = [np.einsum("fij,kj->fki", matrix[:, :3, :3], own) + matrix[:, None, :3, 3] for matrix, own in feet]
    return np.stack(points, 1), hips
