# SPDX-License-Identifier: GPL-3.0-or-later
"""Click through DQIK in a real window, as a user would: from an empty file over goals and live solving to a bake.

Run by Blender itself (README.md, beside this file).
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import rigs
import window

NEAR = 1e-3  # of a figure 1.8 high: a goal is met
PANELS = ("body", "bone", "limits", "couplings", "contacts", "rig", "goal", "chain", "pole", "solver", "compare",
          "overlay")  # fmt: skip

FIGURE = {  # bone: (parent, head, tail), facing -Y
    "spine": ("", (0, 0, 1.0), (0, 0, 1.25)),
    "chest": ("spine", (0, 0, 1.25), (0, 0, 1.5)),
    "head": ("chest", (0, 0, 1.55), (0, 0, 1.8)),
    "upper_arm.L": ("chest", (0.2, 0, 1.45), (0.48, 0.01, 1.45)),
    "forearm.L": ("upper_arm.L", (0.48, 0.01, 1.45), (0.73, 0, 1.45)),
    "hand.L": ("forearm.L", (0.73, 0, 1.45), (0.88, 0, 1.45)),
    "upper_arm.R": ("chest", (-0.2, 0, 1.45), (-0.48, 0.01, 1.45)),
    "forearm.R": ("upper_arm.R", (-0.48, 0.01, 1.45), (-0.73, 0, 1.45)),
    "hand.R": ("forearm.R", (-0.73, 0, 1.45), (-0.88, 0, 1.45)),
}


# -- the scene ---------------------------------------------------------------------------------------------------------


def figure() -> bpy.types.Object:
    """A trunk with a head and two arms, seen from the front."""
    joined = {name: bool(parent) and FIGURE[parent][2] == head for name, (parent, head, _) in FIGURE.items()}
    ob = rigs.armature([rigs.Bone(name, head, tail, parent, joined[name])
                        for name, (parent, head, tail) in FIGURE.items()], "Figure")  # fmt: skip
    with window.in_view():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    window.view().spaces[0].show_region_ui = True
    window.view().spaces[0].region_3d.view_perspective = "ORTHO"
    return ob


def rig() -> bpy.types.Object:
    """The figure; looked up anew each time, since undo replaces it."""
    return bpy.data.objects["Figure"]


def miss(bone: str) -> float:
    """Distance of a bone's tail from its goal's target, as Blender evaluates both."""
    return rigs.miss(rig(), bone, rigs.goal_of(rig(), bone).target)


def middle(bone: str) -> window.Point:
    """Where the middle of a bone is in the window."""
    pose_bone = rig().pose.bones[bone]
    return window.on_screen(rig().matrix_world @ ((pose_bone.head + pose_bone.tail) / 2))


# -- the walk ----------------------------------------------------------------------------------------------------------


def walk() -> window.Steps:
    """The steps of a first shot with DQIK, each checked."""
    yield from window.press("SPACE", window.window_middle(), ctrl=True)  # the 3D view fills the window
    figure()
    yield 0.5
    window.region("UI").active_panel_category = "DQIK"
    yield from window.shot("01 armature")

    yield from window.press("TAB", window.on_screen(Vector((0, 0, 1.2))), ctrl=True)
    assert bpy.context.mode == "POSE"
    yield from window.click(middle("hand.L"))
    yield from window.click(middle("hand.R"), shift=True)
    chosen = {bone.name for bone in bpy.context.selected_pose_bones}
    assert chosen == {"hand.L", "hand.R"}, chosen
    yield from window.shot("02 bones selected")

    yield from window.click_button("dqik.goal_add")
    goals = rig().dqik.goals
    assert {goal.bone for goal in goals} == chosen
    assert all(goal.target is not None and miss(goal.bone) < NEAR for goal in goals)
    yield from window.shot("03 goals added")

    yield from window.click_button("dqik.live")
    assert rig().dqik.live
    with window.in_view():  # its button is beside the output settings, where renders start
        bpy.ops.dqik.lock_interface()
    assert bpy.context.scene.render.use_lock_interface
    yield from window.shot("04 live")

    active = goals[rig().dqik.active_goal]
    bone, target = active.bone, active.target.name
    yield from window.click_button("dqik.target_select")
    assert bpy.context.mode == "OBJECT"
    assert [ob.name for ob in bpy.context.selected_objects] == [target] == [bpy.context.object.name]
    before = bpy.data.objects[target].location.copy()
    at = window.on_screen(before)
    toward = window.on_screen(before + Vector((-0.5 * before.x, 0, -0.3)))
    yield from window.lead("G", at, window.between(at, toward))
    moved = (bpy.data.objects[target].location - before).length
    assert moved > 0.3, f"the target moved by {moved}"
    for name in chosen:
        assert miss(name) < NEAR, f"{name} is {miss(name)} away from its target"
    assert rig().dqik.status.converged
    yield from window.shot("05 target moved")

    yield from window.press("Z", at, ctrl=True)
    assert (bpy.data.objects[target].location - before).length < 1e-6
    assert rig().dqik.live
    assert miss(bone) < NEAR, f"after undo {bone} is {miss(bone)} away from its target"
    yield from window.press("Z", at, ctrl=True, shift=True)
    assert (bpy.data.objects[target].location - before).length > 0.3
    assert miss(bone) < NEAR, f"after redo {bone} is {miss(bone)} away from its target"
    yield from window.shot("06 undone and redone")

    scene, ob = bpy.context.scene, bpy.data.objects[target]
    scene.frame_start, scene.frame_end = 1, 12
    ob.keyframe_insert("location", frame=1)
    ob.location = before
    ob.keyframe_insert("location", frame=12)
    bpy.ops.ed.undo_push(message="Key the target")
    assert not rigs.keys(rig())
    yield from window.click_button("dqik.bake")
    yield from window.shot("07 bake dialog")
    assert not rigs.keys(rig()), "the dialog baked before it was confirmed"
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: not rig().dqik.live, "the bake ends")
    baked = rigs.keys(rig())
    assert baked
    assert all(len(points) == 12 for points in baked.values())
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert all(miss(name) < NEAR for name in chosen), f"the bake misses a target at frame {frame}"
    yield from window.shot("08 baked")

    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_end = 20000  # so many that there is time to stop
    action = rig().animation_data.action.name
    yield from window.click_button("dqik.bake")
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: bpy.context.scene.frame_current > 8, "the second bake begins")
    yield from window.shot("09 second bake")
    yield from window.press("ESC", window.window_middle())
    yield from window.until(lambda: bpy.context.scene.frame_current == 5, "Esc goes back to the frame from before")
    assert rig().animation_data.action.name == action
    assert rigs.keys(rig()) == baked, "a stopped bake changed keys"
    assert len(rig().dqik.goals) == 2
    yield from window.shot("10 stopped")

    yield from window.press("Z", window.window_middle(), ctrl=True)
    yield from window.until(lambda: not rigs.keys(rig()), "undo takes the first bake back")
    assert rig().dqik.live
    assert len(rig().dqik.goals) == 2
    yield from window.shot("11 bake undone")

    yield from comparison()
    yield from panels()


def comparison() -> window.Steps:
    """Solvers compared on the figure: their curves are in the picture, which needs a GPU, and in the CSV."""
    solvers = {"PGS": (0.95, 0.45, 0.17), "CCD": (0.99, 0.94, 0.29)}
    with window.in_view():
        result = bpy.ops.dqik.compare_solvers(solvers=set(solvers), frame_start=1, frame_end=12)
    assert result == {"FINISHED"}
    text = bpy.data.texts["DQIK comparison.csv"].as_string()
    assert all(text.count(f",{name},") == 12 for name in solvers)
    image = bpy.data.images["DQIK comparison"]
    pixels = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    for name, color in solvers.items():
        painted = np.abs(pixels.reshape(-1, 4)[:, :3] - color).max(-1) < 0.01
        assert painted.sum() > 500, f"{painted.sum()} pixels have the colour of {name}"
    if window.SHOTS:
        image.save(filepath=str(Path(window.SHOTS).resolve() / "comparison.png"))
    yield from window.shot("12 solvers compared")


def panels() -> window.Steps:
    """Every panel, open, in every situation that it may meet; `shot` says if one could not be drawn."""
    bpy.context.view_layer.objects.active = rig()
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.window_manager.dqik_overlay.show = True
    yield from window.click_button("dqik_use_limits")
    assert bpy.context.active_pose_bone.dqik_use_limits
    yield from window.click_button("limits_clear")
    assert not bpy.context.active_pose_bone.dqik_use_limits
    yield from window.shot("13 all panels")

    goals, target = rig().dqik.goals, rigs.empty((0.5, 0.0, 1.0), "Elsewhere")
    goals[0].bone, goals[1].target = "gone", None
    yield from window.shot("14 goals without bone and target")
    rig().dqik.active_goal = 9
    yield from window.shot("15 no active goal")
    rig().dqik.active_goal, goals[0].target, goals[0].subtarget = 0, rig(), "gone"
    goals[0].pole_target, goals[0].pole_subtarget = rig(), "gone"
    yield from window.shot("16 target bones that are gone")
    bpy.ops.object.mode_set(mode="EDIT")
    yield from window.shot("17 edit mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    yield from window.shot("18 an object that is no target")
    with window.in_view():
        bpy.ops.mesh.primitive_cube_add()
    yield from window.shot("19 a mesh")
    bpy.context.object.modifiers.new("Armature", "ARMATURE").object = rig()
    yield from window.shot("20 a deformed mesh")
    bpy.context.object.vertex_groups.new(name="hand.L")
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    yield from window.shot("21 weight painting")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None
    yield from window.shot("22 nothing")

    bpy.context.view_layer.objects.active = rig()
    rig().dqik.goals.clear()
    constraint = rig().pose.bones["hand.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 3
    yield 0.5
    yield from window.click_button("dqik.goals_from_constraints")
    assert [(goal.bone, goal.target, goal.chain_length) for goal in rig().dqik.goals] == [("hand.L", target, 3)]
    yield from window.click_button("dqik.goal_remove")
    assert not rig().dqik.goals
    yield from window.shot("23 constraints taken over, goal removed")


window.run(walk, scale=0.6, panels=[f"DQIK_PT_{name}" for name in PANELS])
