# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects and bones are in the world."""

import bpy
from mathutils import Matrix

Owner = bpy.types.Object | bpy.types.PoseBone
"""What has transform channels."""


def world_matrix(ob: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Matrix | None:
    """The world matrix of an object, or of a bone of an armature object, as a depsgraph evaluates it.

    ob : original, or evaluated by that depsgraph. bone : "" for the object; what is no armature has no bones. Returns
    None if the armature has no bone of that name. Do not write to it: it may be the object's own.
    """
    evaluated = ob if ob.is_evaluated else ob.evaluated_get(depsgraph)
    if not bone or evaluated.type != "ARMATURE":
        return evaluated.matrix_world
    found = evaluated.pose.bones.get(bone) if evaluated.pose is not None else None
    return None if found is None else evaluated.matrix_world @ found.matrix


def owner_of(ob: bpy.types.Object, bone: str) -> Owner | None:
    """What has the channels of an object, or of a bone of an armature object; None if it has no such bone."""
    return ob.pose.bones.get(bone) if bone and ob.type == "ARMATURE" else ob
