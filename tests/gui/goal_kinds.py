# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of goals of each kind, and of couplings: a picture of each, and the figure that it makes.

Run by Blender itself (README.md, beside this file).
"""

import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "characters"))

from conventions import BY_NAME
from window import Steps, click_button, in_view, region, run, shot, view

import build


def goal_kinds() -> Steps:
    """Set a figure up, give it goals of other kinds, couple its spine, and uncouple it."""
    ob = build.native(BY_NAME["mixamo"])
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    view().spaces[0].show_region_ui = True
    yield 1.0
    with in_view():
        bpy.ops.view3d.view_all()
    region("UI").active_panel_category = "DQIK"
    yield 1.0
    yield from click_button("dqik.setup_full_body")
    ob.dqik.live = True
    target = bpy.data.objects.new("Seen", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = ob.matrix_world @ ob.data.bones[0].head_local
    target.location.y -= 2.0 * max(ob.dimensions)
    target.location.x += 0.5 * max(ob.dimensions)
    head = next(number for number, goal in enumerate(ob.dqik.goals) if goal.bone.endswith("Head"))
    ob.dqik.active_goal = head
    goal = ob.dqik.goals[head]
    rest = ob.data.bones[goal.bone].matrix_local.to_3x3()
    ahead = max(("X", "Z", "NEG_X", "NEG_Z"), key=lambda axis: _forward(rest.col["XYZ".index(axis[-1])], axis))
    goal.kind, goal.axis, goal.target, goal.chain_length = "LOOK_AT", ahead, target, 3
    yield 1.0
    assert not goal.missed, ob.dqik.status.message
    yield from shot("k01 look at")
    goal.kind, goal.side, goal.distance = "DISTANCE", "BEYOND", 1.0
    yield from shot("k02 distance")
    goal.kind, goal.side = "BALANCE", "WITHIN"
    yield from shot("k03 balance")
    goal.mute = True
    bpy.ops.object.mode_set(mode="POSE")
    spine = next(bone for bone in ob.data.bones if bone.name.endswith("Spine1"))
    ob.data.bones.active = spine
    bpy.ops.dqik.couple(preset="SPINE")
    assert len(ob.dqik.couplings) > 2
    yield from shot("k04 couplings")
    bpy.ops.dqik.uncouple()


def _forward(direction: Vector, axis: str) -> float:
    """How far an axis points forward, which is -Y."""
    return direction.y if axis.startswith("NEG") else -direction.y


run(goal_kinds, scale=1.0)
