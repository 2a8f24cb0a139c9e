# SPDX-License-Identifier: GPL-3.0-or-later
"""The person of the loops: clothed, lit, with a full body of goals."""

import contextlib
import io
from collections.abc import Callable
from math import cos, radians, sin

import bpy
from clothed_person import ARMS_DOWN
from drawing import lone_person
from mathutils import Matrix, Quaternion
from stage import coat, light


def person(rotation: bool = True) -> tuple[bpy.types.Object, dict[str, bpy.types.Object], bpy.types.Object]:
    """The person with a full body of goals, live; the targets by bone; its skin."""
    ob, body = lone_person()
    light()
    coat(body, ())
    bpy.context.view_layer.objects.active = ob
    quietly(bpy.ops.dqik.setup_full_body, targets="EMPTIES", use_rotation=rotation)
    ob.dqik.live = True
    return ob, {goal.bone: goal.target for goal in ob.dqik.goals}, body


def quietly(operator: Callable[..., set[str]], **words: object) -> None:
    """Press a button; what it prints is not shown."""
    with contextlib.redirect_stdout(io.StringIO()):
        if operator(**words) != {"FINISHED"}:
            raise RuntimeError(f"{operator} did not finish")


def rests(ob: bpy.types.Object, bone: str) -> Matrix:
    """How a bone is turned at rest if its arm is stretched out to the side, the palm down."""
    side = 1.0 if bone.endswith(".L") else -1.0
    return Matrix.Rotation(-side * radians(ARMS_DOWN), 3, "Y") @ ob.data.bones[bone].matrix_local.to_3x3()


def turn(ob: bpy.types.Object, target: bpy.types.Object, turned: Matrix) -> None:
    """Turn a hand in the world, whatever its forearm does. turned : from an arm out to the side, the palm down."""
    index, goal = next((index, goal) for index, goal in enumerate(ob.dqik.goals) if goal.target == target)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.dqik.rotation_space(index=index, space="WORLD")
    target.rotation_quaternion = (turned @ rests(ob, goal.bone)).to_quaternion()


def fingertips(ob: bpy.types.Object) -> None:
    """End the last bones of the fingers at the tips."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in (bone for bone in ob.data.edit_bones if bone.name.startswith("f_") and ".03" in bone.name):
        bone.length = 0.9 * bone.parent.length
    bpy.ops.object.mode_set(mode="OBJECT")


def fist(ob: bpy.types.Object, side: str, bend: float) -> None:
    """Bend the fingers of a hand. bend : of each joint, in radians."""
    sign = 1.0 if side == "L" else -1.0
    for bone in (bone for bone in ob.pose.bones if bone.name.startswith("f_") and bone.name.endswith(side)):
        rest = bone.bone.matrix_local.to_quaternion()
        bent = Quaternion((0.0, 1.0, 0.0), sign * bend)
        if "thumb" in bone.name:
            bent = Quaternion((cos(radians(ARMS_DOWN)), 0.0, -sign * sin(radians(ARMS_DOWN))), 0.5 * bend)
        bone.rotation_quaternion = rest.inverted() @ bent @ rest
