# SPDX-License-Identifier: GPL-3.0-or-later
"""Several scenes, view layers, copies and instances: each armature is solved for where it is shown."""

import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from situations import NEAR, STEADY, into_collection, key_turns, pose_at, reaching, turn


def second_scene(*objects: bpy.types.Object) -> bpy.types.Scene:
    scene = bpy.data.scenes.new("Second")
    for ob in objects:
        scene.collection.objects.link(ob)
    return scene


@pytest.mark.parametrize("keyed", [True, False])
def test_scenes_at_different_frames_leave_each_other_alone(keyed: bool) -> None:
    """A frame change in one scene does not pose the armature in another, which stays at its frame."""
    ob, target = reaching()
    if keyed:
        key_turns(ob, "boom", {1: (0.2, 0, 0), 30: (-1.3, 0.9, 0.4)})
    second = second_scene(ob, target)
    ob.dqik.live = True
    here = pose_at(ob, 5)
    second.frame_set(25)
    target.update_tag()
    assert turn(here, rigs.matrices(ob)) < STEADY
    for frame in (26, 27, 28):
        second.frame_set(frame)
    ob.update_tag()
    assert turn(here, rigs.matrices(ob)) < STEADY
    assert turn(here, pose_at(ob, 5)) < STEADY


@pytest.mark.parametrize("before", [6, 25])
def test_a_scene_in_which_keys_switch_live_off_leaves_the_other_alone(before: int) -> None:
    """The bones' keys at the other scene's frame are not where the solve here starts from."""
    ob, target = reaching()
    for bone in ("mast", "boom", "jib"):
        key_turns(ob, bone, {1: (0.2, 0, 0), 30: (-1.3, 0.9, 0.4)})
    rigs.key_path(ob.dqik, (1, 20), (True, False), "live")
    second = second_scene(ob, target)
    rigs.at_frame(before)
    here = pose_at(ob, 5)
    second.frame_set(25)
    ob.update_tag()
    assert turn(here, rigs.matrices(ob)) < STEADY
    assert turn(here, pose_at(ob, 5)) < STEADY


def test_each_scene_shows_its_own_frame() -> None:
    """Switched to, a scene at another frame shows that frame's pose."""
    ob, target = reaching()
    first, second = bpy.context.scene, second_scene(ob, target)
    ob.dqik.live = True
    at_20 = pose_at(ob, 20)
    at_5 = pose_at(ob, 5)
    bpy.context.window.scene = second
    rigs.at_frame(20)
    assert turn(at_20, rigs.matrices(ob)) < STEADY
    bpy.context.window.scene = first
    target.update_tag()
    assert turn(at_5, rigs.matrices(ob)) < STEADY
    bpy.context.window.scene = second
    target.update_tag()
    assert turn(at_20, rigs.matrices(ob)) < STEADY


def test_an_armature_in_the_other_scene_alone_is_solved_there() -> None:
    """It need not be in the scene that is open."""
    ob, target = reaching()
    second = second_scene(ob, target)
    for one in (ob, target):
        bpy.context.scene.collection.objects.unlink(one)
    ob.dqik.live = True
    for frame in (4, 21):
        second.frame_set(frame)
        bpy.context.window.scene = second
        assert rigs.miss(ob, "jib", target) < NEAR
        bpy.context.window.scene = bpy.data.scenes["Scene"]


# -- copies and instances ----------------------------------------------------------------------------------------------


def plain_copy(ob: bpy.types.Object) -> bpy.types.Object:
    made = ob.copy()
    bpy.context.scene.collection.objects.link(made)
    return made


def copy_with_data(ob: bpy.types.Object) -> bpy.types.Object:
    made = plain_copy(ob)
    made.data = ob.data.copy()
    return made


def copy_while_another_goes(ob: bpy.types.Object) -> bpy.types.Object:
    """The number of objects stays as it was."""
    made = plain_copy(ob)
    bpy.data.objects.remove(bpy.data.objects["Spare"])
    return made


def duplicate(ob: bpy.types.Object) -> bpy.types.Object:
    rigs.made_active(ob)
    bpy.ops.object.duplicate()
    return bpy.context.object


def new_object_of_the_same_data(ob: bpy.types.Object) -> bpy.types.Object:
    """Blender has not yet made a pose for it when it is switched on."""
    made = bpy.data.objects.new("New", ob.data)
    bpy.context.scene.collection.objects.link(made)
    rigs.goal(made, "jib", bpy.data.objects["Load"])
    made.dqik.live = True
    return made


def in_the_place_of_the_first(ob: bpy.types.Object) -> bpy.types.Object:
    """A copy that takes over the name of the one that was removed."""
    made = plain_copy(ob)
    name = ob.name
    bpy.data.objects.remove(ob)
    made.name = name
    return made


COPIES = [plain_copy, copy_with_data, copy_while_another_goes, duplicate, new_object_of_the_same_data,
          in_the_place_of_the_first]  # fmt: skip


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_is_solved_like_the_first(copied: Callable) -> None:
    """All live armatures reach their target, and get their own poses back when live goes off."""
    ob, target = reaching()
    rigs.empty((0, 0, 0), "Spare")
    ob.dqik.live = True
    rigs.visit((3, 4))
    made = copied(ob)
    rigs.update()
    for _ in rigs.visited((12, 20, 21)):
        assert rigs.miss(made, "jib", target) < NEAR
    rigs.live(made, False)
    for bone in made.pose.bones:
        assert rigs.local_rotation(made, bone.name).angle < 1e-5
    for other in (one for one in bpy.data.objects if one.type == "ARMATURE" and one != made):
        assert rigs.miss(other, "jib", target) < NEAR


def test_an_armature_that_is_only_instanced_is_solved() -> None:
    """A collection that is in the scene through an instance alone: the instance shows the solved pose."""
    ob, target = reaching()
    collection = bpy.data.collections.new("Set")
    for one in (ob, target):
        collection.objects.link(one)
        bpy.context.scene.collection.objects.unlink(one)
    instance = rigs.empty((0, 0, 0), "Instance")
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    ob.dqik.live = True
    for _ in rigs.visited((3, 20, 21)):
        assert rigs.miss(ob, "jib", target) < NEAR
        assert ob.dqik.status.converged


def test_an_armature_out_of_the_view_layer_comes_back_solved() -> None:
    """Excluded, moved on and included again."""
    ob, target = reaching()
    layer = into_collection(ob)
    rigs.live(ob, at=3)
    layer.exclude = True
    rigs.at_frame(12)
    layer.exclude = False
    rigs.update()
    rigs.at_frame(13)
    assert rigs.miss(ob, "jib", target) < NEAR


def test_keyed_holds_are_those_of_the_frame_in_each_view_layer(tmp_path: Path) -> None:
    """Also in the layer that Blender evaluates first and no window shows, of which originals get no animated values."""
    ob, _ = reaching()
    key_turns(ob, "boom", {1: (0.2, 0, 0), 12: (-1.3, 0.9, 0.4)})
    rigs.key_path(ob.pose.bones["boom"], (1, 12), (0.0, 1.0), "dqik_hold")
    bpy.context.window.view_layer = bpy.context.scene.view_layers.new("Second")
    ob.dqik.live, name = True, ob.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layers.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "layers.blend"))
    ob = bpy.data.objects[name]
    for _ in rigs.visited((2, 7, 11)):
        first, second = (
            np.array([bone.matrix for bone in ob.evaluated_get(layer.depsgraph).pose.bones])
            for layer in bpy.context.scene.view_layers
        )
        assert turn(first, second) < STEADY


def test_a_file_that_a_window_opens_is_solved_once_it_is_evaluated_again(tmp_path: Path, extension: str) -> None:
    """A window evaluates it without calling handlers; the timer's turn comes after that, and makes no edit of it."""
    ob, target = reaching()
    rigs.at_frame(9)
    live, loaded = sys.modules[f"{extension}.live"], bpy.app.handlers.load_post
    own = next(one for one in loaded if one.__module__ == live.__name__)
    ob.dqik["live"] = True  # by a script, past Blender's update: the file is saved unsolved
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crane.blend"))
    loaded.remove(own)
    try:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "crane.blend"))
    finally:
        loaded.append(own)
    live.forget()
    ob, target = bpy.data.objects["Crane"], bpy.data.objects["Load"]
    assert ob.dqik.live
    assert rigs.miss(ob, "jib", target) > 100 * NEAR
    edited = bpy.data.is_dirty
    live._solve_opened()
    bpy.context.view_layer.update()
    assert rigs.miss(ob, "jib", target) < NEAR
    assert bpy.data.is_dirty == edited


# -- armatures that come and go ----------------------------------------------------------------------------------------


def test_an_armature_without_bones_is_no_trouble() -> None:
    """It says that there is nothing to solve; the operators refuse with a sentence."""
    _, target = reaching()
    ob = rigs.armature([], "Boneless")
    rigs.goal(ob, "jib", target)
    rigs.live(ob, at=3)
    assert not ob.dqik.status.converged
    assert ob.dqik.status.message
    rigs.made_active(ob)
    for name in ("solve", "reset_pose", "setup_full_body", "limits_from_ik", "limits_from_action", "limits_clear",
                 "goals_from_constraints", "goal_add"):  # fmt: skip
        rigs.done(getattr(bpy.ops.dqik, name))
    rigs.done(bpy.ops.dqik.bake, frame_start=1, frame_end=3)
    rigs.done(bpy.ops.dqik.compare_solvers, frame_start=1, frame_end=2)


def test_bones_of_another_armature_may_take_the_place_of_these() -> None:
    """The armature's data is exchanged while live: the goal's bone is sought in the new one."""
    ob, target = reaching()
    rigs.live(ob, at=3)
    other = rigs.armature([
        rigs.Bone("base", (0, 0, 0), (0, 0, 0.9)), rigs.Bone("mast", (0, 0, 0.9), (0.4, 0.2, 1.5), "base", True),
        rigs.Bone("jib", (0.4, 0.2, 1.5), (1.1, 0.1, 1.4), "mast", True),
    ], "Other")  # fmt: skip
    ob.data = other.data
    rigs.update()
    for _ in rigs.visited((4, 20)):
        assert ob.dqik.live
        assert rigs.miss(ob, "jib", target) < NEAR or ob.dqik.status.message
        assert np.isfinite(rigs.channels(ob)).all()


def test_previous_frame_follows_in_several_view_layers_as_in_one() -> None:
    """Blender evaluates each view layer at each frame, and calls handlers for each: none of these is a jump."""
    joints = ((0.133, -0.142, -0.042), (0.133, -0.142, 0.174), (-0.128, 0.058, 1.036))
    ob = rigs.armature([rigs.Bone("a", *joints[:2], "", False), rigs.Bone("b", *joints[1:], "a", True)])
    target = rigs.empty((0, 0, 0))
    rigs.key_path(target, (3, 6), ((0.211, 0.336, 1.672), (-0.845, -0.364, 1.445)))  # a little out of reach
    rigs.goal(ob, "b", target)
    ob.pose.bones["b"].dqik_hold = 1.0
    played = {}
    for start_from, layers in (("POSE", 1), ("PREVIOUS", 1), ("PREVIOUS", 2), ("PREVIOUS", 3)):
        ob.dqik.live = False
        while len(bpy.context.scene.view_layers) < layers:
            bpy.context.window.view_layer = bpy.context.scene.view_layers.new(f"Layer {layers}")
        ob.dqik.start_from, ob.dqik.live = start_from, True
        played[start_from, layers] = [pose_at(ob, frame) for frame in range(1, 9)]
    one = played["PREVIOUS", 1]
    assert max(turn(a, b) for a, b in zip(one, played["POSE", 1], strict=True)) > 10 * STEADY
    for layers in (2, 3):
        assert max(turn(a, b) for a, b in zip(one, played["PREVIOUS", layers], strict=True)) < STEADY
