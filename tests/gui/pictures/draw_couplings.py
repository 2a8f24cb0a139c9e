# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws what the presets of couplings do to a person: without them above, with them below.

    python tests/gui/pictures/draw_couplings.py docs/images/couplings.png [panel ...]

Needs a Python with the bpy package. The person is that of the window tests, with twist bones in the forearms.
"""

import sys
from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
from drawing import View, draw, lone_person
from mathutils import Matrix, Quaternion, Vector

STRIPES = 10  # about a forearm, so that its twist shows
STRIPE = (0.75, 0.78, 0.74)


def main() -> None:
    """Draw all panels."""
    draw(
        sys.argv[2:] or PANELS, lambda name, coupled: PANELS[name](fresh(), name if coupled else ""), Path(sys.argv[1])
    )


def fresh() -> bpy.types.Object:
    """The person in an empty scene, with twist bones in the forearms and stripes along the sleeves."""
    ob, body = lone_person()
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        lower = ob.data.edit_bones[f"forearm.{side}"]
        for number in (1, 2):
            made = ob.data.edit_bones.new(f"forearm_twist.{number}.{side}")
            made.head = lower.head.lerp(lower.tail, number / 3)
            made.tail = lower.head.lerp(lower.tail, (number + 1) / 3)
            made.parent, made.roll = lower, lower.roll
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        for number in (1, 2):
            ob.pose.bones[f"forearm_twist.{number}.{side}"].dqik_role = f"TWIST_{side}"
        _share(ob, body, side)
        _stripe(ob, body, side)
    ob.dqik.natural_pose = 0.0
    return ob


def _along(ob: bpy.types.Object, side: str, point: Vector) -> float:
    """How far along a forearm a point is, 0 at the elbow and 1 at the wrist."""
    lower = ob.data.bones[f"forearm.{side}"]
    return (point - lower.head_local).dot(lower.tail_local - lower.head_local) / lower.length**2


def _share(ob: bpy.types.Object, body: bpy.types.Object, side: str) -> None:
    """Share what a forearm pulls among it and its twist bones, by the places of the vertices."""
    own = body.vertex_groups[f"forearm.{side}"]
    twists = [body.vertex_groups.new(name=f"forearm_twist.{number}.{side}") for number in (1, 2)]
    for vertex in body.data.vertices:
        pull = next((part.weight for part in vertex.groups if part.group == own.index), 0.0)
        if pull:
            place = float(np.clip(3.0 * _along(ob, side, vertex.co) - 0.5, 0.0, 2.0))
            for group, at in ((own, 0), (twists[0], 1), (twists[1], 2)):
                group.add([vertex.index], pull * max(1.0 - abs(place - at), 0.0), "REPLACE")


def _stripe(ob: bpy.types.Object, body: bpy.types.Object, side: str) -> None:
    """Paint stripes along a sleeve."""
    material = bpy.data.materials.new("Stripe")
    material.diffuse_color = (*STRIPE, 1.0)
    body.data.materials.append(material)
    rest = ob.data.bones[f"forearm.{side}"].matrix_local.inverted()
    for face in body.data.polygons:
        local = rest @ face.center
        near = abs(local.x) + abs(local.z) < 0.1 and 0.02 < _along(ob, side, face.center) < 1.0
        if face.material_index == 0 and near and int(STRIPES * np.arctan2(local.z, local.x) / np.pi) % 2:
            face.material_index = len(body.data.materials) - 1


# -- panels ------------------------------------------------------------------------------------------------------------


def fingers(ob: bpy.types.Object, preset: str) -> View:
    """One finger is bent toward the palm; fingers do not twist."""
    for bone in ob.pose.bones:
        if bone.name.startswith("f_"):
            bone.dqik_use_limits, bone.dqik_twist_min, bone.dqik_twist_max = True, 0.0, 0.0
    _couple(ob, preset)
    base, end = ob.data.bones["f_index.01.L"].head_local, ob.data.bones["f_index.03.L"].tail_local
    across = (ob.data.bones["f_little.01.L"].head_local - base).normalized()
    ob.dqik.live = True
    for degrees, share in ((20.0, 0.97), (40.0, 0.85), (60.0, 0.7)):  # a straight finger bends either way
        target = base + Matrix.Rotation(radians(degrees), 3, across) @ (share * (end - base))
        _goal(ob, "f_index.03.L", target, 3)
    return ob.data.bones["f_middle.01.L"].head_local + Vector((0.0, 0.0, -0.005)), 0.24, -15.0, -12.0


def spine(ob: bpy.types.Object, preset: str) -> View:
    """The head goes forward; the hips stay."""
    _couple(ob, preset)
    _goal(ob, "head", Vector((0.0, -0.5, 1.52)), 5)
    return Vector((0.0, -0.15, 1.25)), 1.05, 75.0, 5.0


def shoulders(ob: bpy.types.Object, preset: str) -> View:
    """A hand goes up."""
    _couple(ob, preset)
    _goal(ob, "hand.L", Vector((0.3, -0.05, 2.0)), 3)
    return Vector((0.16, 0.0, 1.52)), 0.62, 0.0, 8.0


def forearms(ob: bpy.types.Object, preset: str) -> View:
    """A hand turns about its length."""
    _couple(ob, preset)
    hand = ob.data.bones["hand.L"]
    turn = Quaternion((hand.tail_local - hand.head_local).normalized(), radians(-100.0))
    goal = _goal(ob, hand.name, hand.tail_local, 1)
    goal.use_position, goal.use_rotation = False, True
    goal.target.rotation_quaternion = turn @ hand.matrix_local.to_quaternion()
    return ob.data.bones["forearm.L"].tail_local + Vector((-0.02, 0.0, 0.02)), 0.42, 20.0, 5.0


PANELS: dict[str, Callable[[bpy.types.Object, str], View]] = {
    "FINGERS": fingers, "SPINE": spine, "SHOULDERS": shoulders, "FOREARMS": forearms,
}  # fmt: skip


def _couple(ob: bpy.types.Object, preset: str) -> None:
    if preset:
        assert bpy.ops.dqik.couple(preset=preset) == {"FINISHED"}


def _goal(ob: bpy.types.Object, bone: str, place: Vector, chain: int) -> bpy.types.PropertyGroup:
    """A goal, live; where the bone has one, its target moves."""
    goal = next((goal for goal in ob.dqik.goals if goal.bone == bone), None)
    if goal is None:
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        goal = ob.dqik.goals.add()
        goal.name = goal.bone = bone
        goal.target, goal.chain_length = target, chain
    goal.target.location, goal.target.rotation_mode = place, "QUATERNION"
    ob.dqik.live = True
    bpy.context.view_layer.update()
    return goal


if __name__ == "__main__":
    main()
