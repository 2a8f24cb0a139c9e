# SPDX-License-Identifier: GPL-3.0-or-later
"""The base pose as it is stored on the bones, so that it survives saving and undo.

Blender pastes these properties with a pose, but mirrors the channels only. After a mirrored paste of a whole body, the
mirrored base pose and holds of the copied pose lead to the mirror image of what was copied. The pasted channels alone
would not: where a target was missed, they would be solved to a pose that is nearer to it.
"""

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import rotation
from ..blender.channels import Channels
from ..setup import pasted

_MODES = (rotation.QUATERNION, rotation.AXIS_ANGLE, *rotation.EULER_ORDERS)
SIZE = 9
"""Numbers in `dqik_base`: rotation and location channels, the mode's number in `_MODES` from 1, and whose they are.

Blender copies all properties of all bones at each evaluation, so this is one property. It is all 0 if there is none.
"""


def write(ob: bpy.types.Object, number: int, base: Channels) -> None:
    """Store a bone's base pose on the bone."""
    bone = ob.pose.bones[number]
    mode = 1 + _MODES.index(base.modes.of_bone[number])
    bone.dqik_base = (*base.rotations[number], *base.locations[number], mode, pasted.number(bone.name))


def remove(bone: bpy.types.PoseBone) -> None:
    """Remove the base pose that is stored on a bone."""
    bone.property_unset("dqik_base")


def has_one(bone: bpy.types.PoseBone) -> bool:
    """Whether a base pose is stored on a bone."""
    return bone.dqik_base[7] > 0.0


def read(bone: bpy.types.PoseBone, number: int, base: Channels, mirror: bool = False) -> None:
    """Put the base pose that is stored on a bone into `base`, in the rotation mode there, mirrored as Blender does."""
    numbers = np.array(bone.dqik_base)
    turn, place, stored, mode = numbers[:4], numbers[4:7], _MODES[int(numbers[7]) - 1], base.modes.of_bone[number]
    if mirror:
        turn *= rotation.MIRRORED[rotation.PATHS[stored]]
        place[0] *= -1.0
    if stored != mode:
        turned = quaternion.normalize(rotation.to_quaternion(stored, turn))
        turn = rotation.from_quaternion(mode, turned, base.rotations[number].astype(float))
    base.rotations[number], base.locations[number] = turn, place


def mirrored(ob: bpy.types.Object, rows: np.ndarray, base: Channels) -> Channels | None:
    """The mirrored base pose if all bones (n,) that have a counterpart among them were pasted from it, else None.

    base : the base pose as it is remembered; other bones keep theirs.
    """
    bones = {ob.pose.bones[row].name: ob.pose.bones[row] for row in rows.tolist()}
    sided = [bone for name, bone in bones.items() if bpy.utils.flip_name(name) in bones.keys() - {name}]
    if not sided or not all(has_one(bone) for bone in bones.values()):
        return None
    if not all(pasted.is_counterparts(bone, int(bone.dqik_base[8])) for bone in sided):
        return None
    found = base.copy()
    for row, bone in zip(rows.tolist(), bones.values(), strict=True):
        read(bone, row, found, mirror=True)
    return found
