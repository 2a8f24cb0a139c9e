# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback sees on the next frame whatever was changed between two, and shows what it solves on the same frame."""

from collections.abc import Callable
from math import sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector

LAST = 6  # frames played before something is changed, for playback to find its stride


def playing_figure(start_from: str) -> bpy.types.Object:
    """The figure, live, its hips keyed, its hands after targets that move; played for some frames."""
    ob = rigs.figure()
    frames = range(1, 13)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        target = rigs.empty((0, 0, 0), f"{side} target")
        rigs.key_path(
            target, frames, [Vector((sign * (0.5 + 0.05 * sin(f)), -0.4, 1.3 + 0.05 * sin(2 * f))) for f in frames]
        )
        rigs.goal(ob, f"hand.{side}", target, chain_length=6)
    for frame in (1, 12):
        ob.pose.bones["hips"].location = (0.0, 0.0, 0.01 * frame)
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)
    ob.dqik.start_from, ob.dqik.live = start_from, True
    return ob


def play(first: int, last: int) -> None:
    """Step through frames, as a script does: without an update of its own in between."""
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def turn_mode(ob: bpy.types.Object) -> None:
    ob.pose.bones["forearm.L"].rotation_mode = "XYZ"


def move(ob: bpy.types.Object) -> None:
    ob.pose.bones["collar.L"].location = (0.0, 0.05, 0.0)


def scale(ob: bpy.types.Object) -> None:
    ob.pose.bones["arm.L"].scale = (1.2, 1.2, 1.2)


def key_scale(ob: bpy.types.Object) -> None:
    for frame, size in ((1, 1.0), (12, 1.5)):
        ob.pose.bones["arm.L"].scale = (size, size, size)
        ob.pose.bones["arm.L"].keyframe_insert("scale", frame=frame)


def key_rotation(ob: bpy.types.Object) -> None:
    for frame in (1, 12):
        ob.pose.bones["arm.L"].rotation_quaternion = rigs.rotation((1, 0, 0), 3.0 * frame)
        ob.pose.bones["arm.L"].keyframe_insert("rotation_quaternion", frame=frame)


def pose(ob: bpy.types.Object) -> None:
    ob.pose.bones["arm.L"].rotation_quaternion = rigs.rotation((1, 2, 0), 40.0)


def pose_in_bulk(ob: bpy.types.Object) -> None:
    """Without Blender being told."""
    turns = np.empty(4 * len(ob.pose.bones), dtype=np.float32)
    ob.pose.bones.foreach_get("rotation_quaternion", turns)
    bone = ob.pose.bones.find("arm.L")
    turns[4 * bone : 4 * bone + 4] = rigs.rotation((1, 2, 0), 40.0)
    ob.pose.bones.foreach_set("rotation_quaternion", turns)


def change_rest(ob: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["forearm.L"].tail.z += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


def key_influence(ob: bpy.types.Object) -> None:
    for frame, influence in ((1, 1.0), (12, 0.0)):
        ob.dqik.goals[1].influence = influence
        ob.dqik.goals[1].keyframe_insert("influence", frame=frame)


def drive_influence(ob: bpy.types.Object) -> None:
    ob.dqik.goals[0].driver_add("influence").driver.expression = "0.3"


def swap_action(ob: bpy.types.Object) -> None:
    ob.animation_data.action = ob.animation_data.action.copy()
    key_influence(ob)


def remove_target(ob: bpy.types.Object) -> None:
    bpy.data.objects.remove(ob.dqik.goals[0].target)


EDITS: list[Callable[[bpy.types.Object], None]] = [
    turn_mode, move, scale, key_scale, key_rotation, pose, pose_in_bulk, change_rest, key_influence, drive_influence,
    swap_action, remove_target,
]  # fmt: skip


@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_the_next_frames_see_an_edit(edit: Callable[[bpy.types.Object], None], updated: bool) -> None:
    """After an edit in mid-play frames are as they are when everything is prepared anew, and not as without it."""
    ob = playing_figure("POSE")
    play(1, LAST + 3)
    without = rigs.matrices(ob)
    play(1, LAST)
    edit(ob)
    if updated:
        bpy.context.view_layer.update()
    play(LAST + 1, LAST + 3)
    seen = rigs.matrices(ob)
    ob.dqik.solver = "DLS"
    ob.dqik.solver = "PGS"  # whatever is set is prepared anew
    play(LAST + 3, LAST + 3)
    assert rigs.turn(seen, rigs.matrices(ob)) < 1e-4
    assert np.abs(seen - rigs.matrices(ob)).max() < 1e-4
    assert edit is turn_mode or np.abs(seen - without).max() > 1e-3


@pytest.mark.parametrize("what", ["location", "influence"])
def test_keys_that_begin_to_count_are_seen(what: str) -> None:
    """Muted keys of a bone's place, or of a setting, do their work as soon as they are not muted any more."""
    ob = playing_figure("POSE")
    collar, goal = ob.pose.bones["collar.L"], ob.dqik.goals[0]
    for frame in (1, 12):
        collar.location, goal.influence = (0.0, 0.01 * frame, 0.0), 1.0 / frame
        (collar if what == "location" else goal).keyframe_insert(what, frame=frame)
    collar.location, goal.influence = (0.0, 0.0, 0.0), 1.0
    curves = [curve for curve in rigs.fcurves(ob) if "hips" not in curve.data_path]
    for curve in curves:
        curve.mute = True
    play(1, LAST + 3)
    without = rigs.matrices(ob)
    play(1, LAST)
    for curve in curves:
        curve.mute = False
    play(LAST + 1, LAST + 3)
    seen = rigs.matrices(ob)
    ob.dqik.solver = "DLS"
    ob.dqik.solver = "PGS"
    play(LAST + 3, LAST + 3)
    assert np.abs(seen - rigs.matrices(ob)).max() < 1e-4
    assert np.abs(seen - without).max() > 1e-3


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_what_hangs_on_the_bones_goes_along_on_the_same_frame(start_from: str) -> None:
    """A skinned mesh, a child of a bone and an object constrained to one are where the solved pose puts them."""
    ob = playing_figure(start_from)
    bone = ob.pose.bones["hand.L"]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([bone.tail], [], [])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.vertex_groups.new(name="hand.L").add([0], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    child, copy = rigs.empty((0, 0, 0), "Child"), rigs.empty((0, 0, 0), "Copy")
    child.parent, child.parent_type, child.parent_bone = ob, "BONE", "hand.L"
    constraint = copy.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget, constraint.head_tail = ob, "hand.L", 1.0
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        wanted = rigs.place(bpy.data.objects["L target"])
        assert (rigs.tail(ob, "hand.L") - wanted).length < 1e-3
        point = rigs.evaluated(skin).data.vertices[0].co
        assert (point - wanted).length < 1e-3
        assert (rigs.place(child) - wanted).length < 1e-3
        assert (rigs.place(copy) - wanted).length < 1e-3


def test_a_moved_bone_below_a_still_one_is_solved_alike_on_all_frames() -> None:
    """Its location counts on the second frame as it does on the first."""
    ob = rigs.armature([
        rigs.Bone("base", (0, 0, 0), (0, 0, 1)),
        rigs.Bone("a", (0, 0, 1), (0.5, -0.1, 1.5), "base"),
        rigs.Bone("b", (0.5, -0.1, 1.5), (1, 0, 1.2), "a", True),
    ])  # fmt: skip
    target = rigs.empty((0.3, 0.6, 1.4))
    rigs.goal(ob, "b", target, chain_length=2)
    ob.pose.bones["a"].location = (-0.2, 0.4, 0.1)
    ob.dqik.live = True
    for frame in (2, 3, 9):
        rigs.at_frame(frame)
        assert rigs.miss(ob, "b", target) < 1e-3
