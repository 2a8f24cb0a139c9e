# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact and couplings as a stranger meets them: panels clicked, a hand that stops at the chest, at a crate, a floor.

Run by Blender itself (README.md, beside this file).
"""

import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))

from person import person
from window import Steps, click, click_button, find, in_view, open_panel, region, run, scroll, shot, view

DEEP = 2e-3  # [m] deepest overlap that counts as none


def contact() -> Steps:
    """Set the person up, switch contact on and off by the panel, and couple, mirror and uncouple bones."""
    ob, _ = person()
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    view().spaces[0].show_region_ui = True
    view().spaces[0].shading.color_type = "MATERIAL"
    yield 1.0
    with in_view():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    region("UI").active_panel_category = "DQIK"
    yield 1.0
    yield from click_button("dqik.setup_full_body")
    ob.dqik.live = True
    yield from _hand(ob, (-0.05, 0.02, 1.25))
    yield from shot("c01 hand in the chest")
    yield from open_panel("use_support", "dqik.avoid_self")
    yield from click_button("dqik.avoid_self")
    assert ob.dqik.avoid_self
    yield 1.0
    assert ob.dqik.status.overlap < DEEP, ob.dqik.status.overlap
    assert not ob.dqik.status.message, ob.dqik.status.message
    yield from shot("c02 hand at the chest")
    yield from click_button("dqik.use_floor")
    assert ob.dqik.use_floor
    ob.dqik.floor_height = 0.1
    yield 1.0
    assert ob.dqik.status.overlap < DEEP, ob.dqik.status.overlap
    yield from shot("c03 raised floor")
    bpy.ops.ed.undo_push(message="floor")
    ob.dqik.use_floor = False
    yield from _hand(ob, (0.45, -0.35, 1.1))
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.45, -0.4, 1.05))
    crate = bpy.context.object
    crate.name = "Crate"
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    yield 0.5
    yield from click_button("dqik.avoid_add")
    assert [one.object for one in ob.dqik.avoid] == [crate]
    yield 1.0
    assert ob.dqik.status.overlap < DEEP, ob.dqik.status.overlap
    yield from shot("c04 hand at a crate")
    crate.location.z -= 0.25
    yield 1.0
    yield from shot("c05 crate moved")
    yield from click_button("dqik.avoid_remove")
    assert not ob.dqik.avoid
    yield from click_button("dqik.fit_capsules")
    assert any(bone.dqik_radius > 0.0 for bone in ob.pose.bones)
    yield from shot("c06 capsules fitted")
    yield from couple(ob)


def couple(ob: bpy.types.Object) -> Steps:
    """Couple the left fingers by hand, mirror them, and uncouple all, in Pose Mode."""
    ob.dqik.avoid_self = False
    bpy.ops.object.mode_set(mode="POSE")
    ob.data.bones.active = ob.data.bones["f_index.01.L"]
    yield 0.5
    assert bpy.ops.dqik.couple(preset="FINGERS") == {"FINISHED"}
    count = len(ob.dqik.couplings)
    for number in reversed(range(count)):
        if ob.dqik.couplings[number].bone.endswith(".R"):
            ob.dqik.couplings.remove(number)
    ob.data.bones.active = ob.data.bones["f_index.02.L"]
    yield 0.5
    yield from scroll("WHEELDOWNMOUSE", (region("UI").x + 50, region("UI").y + 300), 8)
    at = yield from find("dqik.couplings_mirror")
    if at is None:
        yield from open_panel("dqik.swap_sides", "dqik.couplings_mirror")
        at = yield from find("dqik.couplings_mirror")
    yield from click(at)
    assert len(ob.dqik.couplings) == count
    yield from shot("c07 couplings")
    bpy.ops.pose.select_all(action="DESELECT")
    yield from click_button("dqik.uncouple")
    assert not ob.dqik.couplings
    yield from shot("c08 uncoupled")


def _hand(ob: bpy.types.Object, place: tuple[float, float, float]) -> Steps:
    """Put the left hand's control somewhere."""
    goal = next(goal for goal in ob.dqik.goals if goal.bone == "hand.L")
    control = ob.pose.bones[goal.subtarget]
    shown = ob.matrix_world.inverted() @ Vector(place)
    matrix = control.matrix.copy()
    matrix.translation = shown
    control.matrix = matrix
    yield 1.0


run(contact, scale=0.7)
