# SPDX-License-Identifier: GPL-3.0-or-later
"""The base pose as it is stored on the bones, so that it survives saving and undo.

Blender's paste, join and duplicate copy these properties too. A stored base pose counts if it has the number of its
object's session of live solving (`owners.py`) and holds numbers; any other is left out.

Blender pastes these properties with a pose, but mirrors the channels only. After a mirrored paste of a whole body, the
mirrored base pose and holds of the copied pose lead to the mirror image of what was copied. The pasted channels alone
would not: where a target was missed, they would be solved to a pose that is nearer to it.
"""

import bpy
import numpy as np

from ....solvers.algebra import quaternion
from ...blender import bulk, rotation
from ...blender.channels import Channels
from ...controls import pasted_settings
from ...skeleton import owners

_MODES = (rotation.QUATERNION, rotation.AXIS_ANGLE, *rotation.EULER_ORDERS)
_HUGE = 1e15  # no channel is as far from 0
_EARLIER = ("dqik_base_rotation", "dqik_base_location", "dqik_base_mode")  # properties of earlier versions
SIZE = 9
"""Numbers in `dqik_base`: rotation and location channels, the mode's number in `_MODES` from 1 with the session of live
solving, and the bone.

Blender copies all properties of all bones at each evaluation, so this is one property. It is all 0 if there is none.
"""


def write(ob: bpy.types.Object, rows: np.ndarray, base: Channels) -> None:
    """Store the base pose of bones (n,) on these bones."""
    modes = owners.packed(np.array([1 + _MODES.index(mode) for mode in base.modes.of_bone]), ob.dqik.work)
    for number in rows.tolist():
        bone = ob.pose.bones[number]
        name = pasted_settings.number(bone.name)
        bone.dqik_base = (*base.rotations[number], *base.locations[number], modes[number], name)


def remove(bone: bpy.types.PoseBone) -> None:
    """Remove the base pose that is stored on a bone. Zeros stay: Blender pastes only to properties that are stored."""
    bone.dqik_base = (0.0,) * SIZE


def own(ob: bpy.types.Object) -> list[int]:
    """The numbers of the bones with a base pose of their object's session of live solving.

    Not of a bone that was copied in Edit Mode: it has the base pose of another bone, which has it too.
    """
    if not ob.dqik.has_base:
        return []
    stored = _stored(ob)
    names = {pasted_settings.number(name): number for number, name in enumerate(ob.pose.bones.keys())}
    good = _sound(stored) & (owners.modes_and_works(stored[:, 7])[1] == ob.dqik.work)
    owner_of = {number: names.get(int(stored[number, 8]), number) for number in np.flatnonzero(good).tolist()}
    return [number for number, owner in owner_of.items() if owner_of.get(owner) != owner or owner == number]


def bone_of(bone: bpy.types.PoseBone) -> int:
    """The number of the bone whose base pose is stored on a bone, as `pasted_settings.number` makes it."""
    return int(bone.dqik_base[8])


def damaged(ob: bpy.types.Object) -> list[str]:
    """The names of bones on which something is stored that is no base pose."""
    stored = _stored(ob)
    return [ob.pose.bones[number].name for number in np.flatnonzero(stored.any(-1) & ~_sound(stored)).tolist()]


def take_over(ob: bpy.types.Object) -> None:
    """Begin a session of live solving with the base pose that an earlier version has stored."""
    owners.renumber(ob)
    for bone in ob.pose.bones:
        if bone.dqik_base_mode in _MODES:
            mode = owners.packed(np.array(1 + _MODES.index(bone.dqik_base_mode)), ob.dqik.work)
            number = pasted_settings.number(bone.name)
            bone.dqik_base = (*bone.dqik_base_rotation, *bone.dqik_base_location, mode, number)
        for name in _EARLIER:
            bone.property_unset(name)


def others(ob: bpy.types.Object) -> list[int]:
    """The numbers of the bones with a base pose that is not their own, or is damaged."""
    return sorted(set(np.flatnonzero(_stored(ob).any(-1)).tolist()).difference(own(ob)))


def read(bone: bpy.types.PoseBone, number: int, base: Channels, mirror: bool = False) -> None:
    """Put the base pose that is stored on a bone into `base`, in the rotation mode there, mirrored as Blender does."""
    numbers = np.array(bone.dqik_base)
    turn, place, mode = numbers[:4], numbers[4:7], base.modes.of_bone[number]
    stored = _MODES[owners.modes_and_works(numbers[7:8])[0][0] - 1]
    if mirror:
        turn *= rotation.MIRRORED[rotation.PATHS[stored]]
        place[0] *= -1.0
    if stored != mode:
        turned = quaternion.normalize(rotation.to_quaternion(stored, turn))
        turn = rotation.from_quaternion(mode, turned, base.rotations[number].astype(float))
    base.rotations[number], base.locations[number] = turn, place


def mirrored(ob: bpy.types.Object, rows: np.ndarray, base: Channels, sure: bool = False) -> Channels | None:
    """The mirrored base pose if all bones (n,) that have a counterpart among them were pasted from it, else None.

    base : the base pose as it is remembered; other bones keep theirs. So do those that were pasted from a bone without
    a base pose, as those of a limb that did not follow its goal: these have the pose that is seen.
    sure : whether the whole body is known to be pasted; needed where each limb is solved on one side only.
    """
    bones = {ob.pose.bones[row].name: ob.pose.bones[row] for row in rows.tolist()}
    of_bones = rows[_stored(ob)[rows, 8] != 0.0].tolist()
    names = [ob.pose.bones[row].name for row in of_bones]
    sided = [bones[name] for name in names if bpy.utils.flip_name(name) in bones.keys() - {name}]
    own_rows = set(own(ob))
    if not (sided or sure) or not own_rows.issuperset(of_bones):
        return None
    if not all(is_mirrored(bone) for bone in sided):
        return None
    found = base.copy()
    for row in own_rows.intersection(rows.tolist()):
        read(ob.pose.bones[row], row, found, mirror=True)
    return found


def is_whole(ob: bpy.types.Object, sure: bool) -> bool:
    """Whether the base poses of all bones with a side have come from their counterparts. sure : as of `mirrored`."""
    names, bones = set(ob.pose.bones.keys()), [ob.pose.bones[number] for number in own(ob)]
    sided = [bone for bone in bones if bpy.utils.flip_name(bone.name) in names - {bone.name}]
    return (bool(sided) or sure) and all(is_mirrored(bone) for bone in sided)


def is_mirrored(bone: bpy.types.PoseBone) -> bool:
    """Whether the base pose that is stored on a bone is that of its counterpart."""
    return pasted_settings.is_counterparts(bone, bone_of(bone))


def _stored(ob: bpy.types.Object) -> np.ndarray:
    """What is stored on all bones, (N, SIZE)."""
    return bulk.read(ob.pose.bones, "dqik_base", SIZE)


def _sound(stored: np.ndarray) -> np.ndarray:
    """Whether (N,) what is stored (N, SIZE) are base poses."""
    modes = owners.modes_and_works(stored[:, 7])[0]
    return (np.abs(stored) < _HUGE).all(-1) & (modes >= 1) & (modes <= len(_MODES))
