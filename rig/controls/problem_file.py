# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that shows a fault: a figure with its goals, targets and actions, without meshes and without its own names.

Bones are called by a number and their side, objects and actions by a number. What is stored about roles keeps a figure
recognised without its names. The open file stays as it is.
"""

from pathlib import Path

import bpy

from .. import curves
from ..blender.dependencies import CONTROL_PREFIX, aims_of
from ..figure import bone_names
from ..figure.character import Character
from ..skeleton import renamed
from . import controls


def write(ob: bpy.types.Object, path: Path) -> tuple[int, int]:
    """Write the file; returns how many objects and bones it has."""
    made: list[bpy.types.ID] = []
    try:
        copies = _copies(ob, made)
        for copy in copies.values():
            _lead(copy, copies)
        for number, copy in enumerate(copies.values(), 1):
            _rename(copy, number)
        bpy.data.libraries.write(str(path), set(copies.values()), fake_user=True, compress=True)
        armatures = [copy for copy in copies.values() if copy.type == "ARMATURE"]
        return len(copies), sum(len(copy.data.bones) for copy in armatures)
    finally:
        bpy.data.batch_remove(made)


def _copies(ob: bpy.types.Object, made: list[bpy.types.ID]) -> dict[bpy.types.Object, bpy.types.Object]:
    """Copies of the figure and of what its goals aim at, by the original; empties in the place of meshes and others."""
    copies: dict[bpy.types.Object, bpy.types.Object] = {}
    left = [ob, *(aim for aim, _ in aims_of(ob))]
    while left:
        one = left.pop(0)
        if one in copies:
            continue
        if one.type in ("ARMATURE", "EMPTY"):
            copy = one.copy()
            if copy.data is not None:
                copy.data = copy.data.copy()
                made.append(copy.data)
        else:
            copy = bpy.data.objects.new("Stand-in", None)
            for name in ("location", "rotation_mode", "rotation_euler", "rotation_quaternion", "scale"):
                setattr(copy, name, getattr(one, name))
            copy.parent, copy.matrix_parent_inverse = one.parent, one.matrix_parent_inverse
            if curves.action_of(one) is not None:
                copy.animation_data_create().action = one.animation_data.action
        made.append(copy)
        copies[one] = copy
        _own_action(copy, made)
        left += [one.parent] if one.parent is not None else []
        if one.type == "ARMATURE":
            left += [c.target for bone in one.pose.bones for c in bone.constraints if getattr(c, "target", None)]
    return copies


def _own_action(copy: bpy.types.Object, made: list[bpy.types.ID]) -> None:
    """Let a copy be moved by a copy of its action."""
    data = copy.animation_data
    if curves.action_of(copy) is None:
        return
    slot = data.action_slot.identifier if getattr(data, "action_slot", None) is not None else ""
    data.action = action = data.action.copy()
    made.append(action)
    if slot:
        data.action_slot = action.slots[slot]
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)


def _lead(copy: bpy.types.Object, copies: dict[bpy.types.Object, bpy.types.Object]) -> None:
    """Let a copy follow copies, and drop what is not in the file."""
    copies = {**copies, copy: copy}  # what refers to itself refers to its copy already
    copy.parent = copies.get(copy.parent)
    settings = copy.dqik
    for goal in settings.goals:
        goal.target, goal.pole_target = copies.get(goal.target), copies.get(goal.pole_target)
    settings.avoid.clear()
    settings.floor = None
    for bone in copy.pose.bones if copy.pose is not None else ():
        bone.custom_shape = None
        for constraint in bone.constraints:
            if hasattr(constraint, "target"):
                constraint.target = copies.get(constraint.target)
    for collection in copy.data.collections_all if copy.type == "ARMATURE" else ():
        if not collection.name.startswith(controls.COLLECTION):
            collection.name = "Bones"


def _rename(copy: bpy.types.Object, number: int) -> None:
    """Call an object, its action and its bones by numbers; names in constraints and curves follow by Blender."""
    if copy.type == "ARMATURE":
        for bone, role in Character.of(copy).figure.all_roles.items():
            copy.pose.bones[bone].dqik_role = role.identifier
        renamed.follow(copy)  # gives numbers to the bones that goals name
        for place, bone in enumerate(copy.data.bones):
            side = bone_names.side_of(bone.name)
            own = CONTROL_PREFIX if bone.name.startswith(CONTROL_PREFIX) else "bone "
            bone.name = f"{own}{place}.{side}" if side else f"{own}{place}"
        renamed.forget()
        renamed.follow(copy)
        for goal in copy.dqik.goals:
            goal.name = goal.bone
        copy.data.name = f"Armature {number}"
    copy.name = f"Object {number}"
    if curves.action_of(copy) is not None:
        copy.animation_data.action.name = f"Action {number}"
