# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a target's rotation that are turned into another rotation space, so that the bone stays as it is turned."""

import bpy
from mathutils import Matrix

from ..blender import rotation
from ..blender.dependencies import Bone
from ..blender.places import owner_of, world_matrix
from ..controls import goals, rotation_space
from ..keys import keying
from . import rekey

_ROUNDS = 3  # the limb may turn a little in the new space, and would carry the bone along


def times(goal: bpy.types.PropertyGroup) -> list[float]:
    """The times of the keys of the rotation of a goal's target."""
    path = rotation.PATHS[owner_of(goal.target, goal.subtarget).rotation_mode]
    found = (curve for curve in rekey.own_curves((goal.target, goal.subtarget)) if curve.data_path.endswith(path))
    return sorted({round(key.co[0], 3) for curve in found for key in curve.keyframe_points})


def switch(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, follows: float, context: bpy.types.Context) -> None:
    """Let the rotation of a goal's target follow by another share, and turn the target at its keys."""
    owner = (goal.target, goal.subtarget)
    by_time = {time: [owner] for time in times(goal)}

    def end(_: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
        del time
        return goals.end_of(ob.evaluated_get(depsgraph), goal.bone, goal.use_tail)

    ends = rekey.visited(by_time, end, context)

    def place(_: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
        shown = ob.evaluated_get(depsgraph)
        found = shown.matrix_world @ rotation_space.target_for(shown, goal, follows, ends[time][owner])
        found.translation = world_matrix(*owner, depsgraph).translation
        return found

    for _ in range(_ROUNDS):
        turned = rekey.visited(by_time, place, context)
        goal.rotation_follows = follows
        rekey.rekey(turned, context, _key_rotation)


def _key_rotation(owner: Bone, time: float) -> None:
    held = owner_of(*owner)
    keying.key_path(held, rotation.PATHS[held.rotation_mode], time, owner[1] or "Object Transforms")
