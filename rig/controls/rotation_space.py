# SPDX-License-Identifier: GPL-3.0-or-later
"""The space of a goal's rotation: carried with the limb above its bone, the world's, or in between.

A limb that has turned by `C` from the armature's rest pose carries a target's rotation `R` to `C^f R`, where `f` is the
goal's `rotation_follows`; see `solvers/model/carry.py`. A control bone counts without the turn `T` that its own parent
has carried it by, to `T^-f R`: where a root bone turns controls and body alike, hands turn once.
"""

import bpy
from mathutils import Matrix, Quaternion

from ..skeleton import foot_roll
from . import controls


def carrying(ob: bpy.types.Object, bone: str, follows: float) -> Quaternion:
    """The rotation `C^f` in the space of an armature object, as its evaluated pose has it."""
    return _turn(ob.pose.bones[bone].parent, follows)


def own_turn(matrix: Matrix, target: bpy.types.Object, bone: str, follows: float) -> Matrix:
    """The world matrix of a target that is a bone of the goal's evaluated armature, without its parent's turn."""
    found = target.pose.bones[bone]
    if found.parent is None or not found.bone.use_inherit_rotation:
        return matrix
    place, turn, scale = found.matrix.decompose()
    return target.matrix_world @ Matrix.LocRotScale(place, _turn(found.parent, follows).inverted() @ turn, scale)


def target_for(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, follows: float, matrix: Matrix, control: str = "",
    rolls: bool = True,
) -> Matrix:  # fmt: skip
    """The target's matrix with which a goal's bone has a matrix, both in the space of an evaluated armature object.

    control : the name of the control bone that becomes the target, if it is not that yet. rolls : whether feet roll as
    they do; else they will not.
    """
    if rolls:
        matrix = foot_roll.rolled(ob, goal, matrix, back=True)
    place, turn, scale = matrix.decompose()
    turn = carrying(ob, goal.bone, follows).inverted() @ turn
    if rolls:
        turn = foot_roll.against(ob, goal, follows).inverted() @ turn
    own = ob.pose.bones.get(control or (goal.subtarget if goal.target == ob.original else ""))
    if own is not None and own.bone.use_inherit_rotation:
        turn = _turn(own.parent, follows) @ turn
    return Matrix.LocRotScale(place, turn, scale)


def rehung(ob: bpy.types.Object, control: str, parent: str) -> Matrix:
    """The matrix of a control with which its goals ask for the same rotation once it hangs on another parent.

    ob : the evaluated armature object. parent : the name of that parent, empty for none.
    """
    own = ob.pose.bones[control]
    follows = max((goal.rotation_follows for goal in ob.original.dqik.goals
                   if goal.target == ob.original and goal.subtarget == control), default=0.0)  # fmt: skip
    if not own.bone.use_inherit_rotation:
        return own.matrix.copy()
    place, turn, scale = own.matrix.decompose()
    turn = _turn(ob.pose.bones.get(parent), follows) @ _turn(own.parent, follows).inverted() @ turn
    return Matrix.LocRotScale(place, turn, scale)


def show_control(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> None:
    """Draw a goal's own control at its bone if its rotation follows, because it is not turned as the bone is."""
    bone = ob.pose.bones.get(goal.subtarget) if goal.target == ob and goal.own_target else None
    if bone is not None and ob.library is None and controls.is_control(bone.bone):
        bone.custom_shape_transform = ob.pose.bones.get(goal.bone) if goal.rotation_follows > 0.0 else None
        if hasattr(bone, "use_transform_at_custom_shape"):  # from Blender 5.0 on
            bone.use_transform_at_custom_shape = bone.custom_shape_transform is not None


def _turn(bone: bpy.types.PoseBone | None, share: float) -> Quaternion:
    """A share of the turn of an evaluated bone from rest, in the space of its armature object."""
    if bone is None or share <= 0.0:
        return Quaternion()
    turn = bone.matrix.to_quaternion() @ bone.bone.matrix_local.to_quaternion().inverted()
    return Quaternion().slerp(turn, share)
