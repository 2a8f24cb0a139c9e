# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs of a figure at rest by their roles, and where feet touch the ground."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ..blender.armature import Armature
from ..figure import foot
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role

PARTS = ("thigh", "shin", "foot")


class RestLeg(NamedTuple):
    """A leg at rest, in armature space, or an arm, from shoulder to hand: the numbers of its bones, and its foot.

    upper, lower : lines (3,) from hip to knee and to the ankle. heel, ball : (3,), from the ankle to these points; of a
    hand to its start and end. is_paw : whether it stands on toes.
    """

    thigh: int
    shin: int
    foot: int
    upper: np.ndarray
    lower: np.ndarray
    heel: np.ndarray
    ball: np.ndarray
    is_paw: bool = False

    @classmethod
    def of(
        cls, armature: Armature, bones: Sequence[int], heel: np.ndarray, ball: np.ndarray, is_paw: bool = False
    ) -> "RestLeg":
        """With its lines between the heads of its bones."""
        upper, lower = np.diff(armature.heads[list(bones)], axis=0)
        thigh, shin, ankle = bones
        return cls(thigh, shin, ankle, upper, lower, heel, ball, is_paw)

    @property
    def bones(self) -> list[int]:
        """Thigh, shin and foot."""
        return [self.thigh, self.shin, self.foot]

    @property
    def length(self) -> float:
        """From hip to ankle if it is straight."""
        return float(np.linalg.norm(self.upper) + np.linalg.norm(self.lower))

    def marks(self, armature: Armature) -> np.ndarray:
        """Heel and ball (2, 3) in the frame of the foot's bone."""
        return np.array([self.heel, self.ball]) @ armature.rest[self.foot, :3, :3]


def of(ob: bpy.types.Object, character: Character) -> list[RestLeg] | None:
    """The left and the right leg; None if a part of them, or the shape of a foot, is not known."""
    armature, found = character.armature, list[RestLeg]()
    for side in (LEFT, RIGHT):
        own = bones_of(character, PARTS, side)
        if own is None or (shape := foot.of(ob, character, own[2])) is None:
            return None
        ankle = armature.heads[own[2]]
        found.append(RestLeg.of(armature, own, shape.heel - ankle, shape.ball - ankle))
    return found


def bones_of(character: Character, parts: Sequence[str], side: str) -> list[int] | None:
    """The first bones of parts on a side; None if one is not known."""
    bones = {role: bone for bone, role in sorted(character.figure.roles.items(), reverse=True)}
    found = [bones.get(Role(part, side), -1) for part in parts]
    return None if min(found) < 0 else found


def length(ob: bpy.types.Object, legs: Sequence[RestLeg]) -> float:
    """The mean length of legs in the world."""
    return float(np.mean([leg.length for leg in legs])) * max(map(abs, ob.matrix_world.to_scale()))


def marks(
    armature: Armature, legs: Sequence[RestLeg], matrices: Callable[[int], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The places (F, 2, 2, 3) of heel and ball of both feet, and the middle (F, 3) between the hip joints.

    matrices : (F, 4, 4) of a bone in the world.
    """
    hips = np.mean([matrices(leg.thigh)[:, :3, 3] for leg in legs], axis=0)
    feet = [(matrices(leg.foot), leg.marks(armature)) for leg in legs]
    points = [np.einsum("fij,kj->fki", matrix[:, :3, :3], own) + matrix[:, None, :3, 3] for matrix, own in feet]
    return np.stack(points, 1), hips
