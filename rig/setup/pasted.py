# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of bones that Blender's mirrored paste has copied from the other side.

Blender pastes custom properties with the pose, and mirrors only the pose. So each bone stores whose role, limits and
preferred bend it has; if they are the counterpart's, they are replaced by their mirror images.
"""

from zlib import crc32

import bpy
import numpy as np

from ..blender import bulk
from ..figure import roles
from . import mirror


def number(name: str) -> int:
    """A positive number for the name of a bone, to be stored as the owner of settings, also in single precision."""
    return crc32(name.encode()) % 0xFFFFFF + 1


def owners(ob: bpy.types.Object) -> bytes:
    """The owners of the settings of all bones."""
    return bulk.read(ob.pose.bones, "dqik_owner", kind=np.int32).tobytes()


def mend(ob: bpy.types.Object) -> None:
    """Mirror the settings of bones that come from their counterparts."""
    bones = [bone for bone in ob.pose.bones if is_counterparts(bone, bone.dqik_owner)]
    for bone in bones:
        bone.dqik_role = roles.mirrored(bone.dqik_role)
    mirror.mirror_pasted(ob, bones)


def is_counterparts(bone: bpy.types.PoseBone, owner: int) -> bool:
    """Whether the owner of a bone's settings is its counterpart, which exists."""
    if owner in (0, number(bone.name)):
        return False
    other = bpy.utils.flip_name(bone.name)
    return other in bone.id_data.pose.bones and owner == number(other)
