# SPDX-License-Identifier: GPL-3.0-or-later
"""The base pose: taken when live solving goes on, kept through edits, saving and undo, given back when it goes off."""

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from situations import named, reopened


def posed_figure(**modes: str) -> bpy.types.Object:
    """A figure in a pose of its own with two goals, some bones in other rotation modes."""
    ob = rigs.figure()
    for k, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = modes.get(bone.name.split(".")[0], "QUATERNION")
        rigs.posed(bone, rigs.rotation((1, 2 * k, 3), 3.0 * k))
    rigs.update()
    for end in ("hand.L", "foot.R"):
        rigs.goal(ob, end, rigs.empty(0.8 * rigs.tail(ob, end), end))
    return ob


MODES = {"arm": "XYZ", "thigh": "ZXY", "spine": "AXIS_ANGLE"}


def test_live_off_gives_back_exactly_the_pose_from_before() -> None:
    """Every channel of every bone is bit for bit what it was, each time, though the bones had moved."""
    ob = posed_figure(**MODES)
    before = rigs.channels(ob)
    for frames in ((5, 6, 7, 2), (2,), (9,)):
        ob.dqik.live = True
        rigs.visit(frames)
        assert np.abs(rigs.channels(ob) - before).max() > 0.05
        ob.dqik.live = True  # once more changes nothing
        ob.dqik.live = False
        np.testing.assert_array_equal(rigs.channels(ob), before)
        rigs.update()
        np.testing.assert_array_equal(rigs.channels(ob), before)


@pytest.mark.parametrize(("name", "channel", "value", "row"), [
    ("spine", "rotation_quaternion", rigs.rotation((1, 0, 0), 33.0), slice(3, 7)),
    ("collar.L", "location", (0.01, 0.0, 0.02), slice(3)),
])  # fmt: skip
def test_posing_a_solved_bone_by_hand_moves_the_base_pose(name: str, channel: str, value: tuple, row: slice) -> None:
    """It is part of the pose that comes back; of a bone that was only moved, the rotation is its own."""
    ob = posed_figure()
    before = rigs.channels(ob)
    rigs.live(ob)
    setattr(ob.pose.bones[name], channel, value)
    rigs.update()
    rigs.visit((3, 4))
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3
    ob.dqik.live = False
    after, number = rigs.channels(ob), ob.pose.bones.find(name)
    np.testing.assert_allclose(after[number, row], value, atol=1e-6)
    before[number, row] = after[number, row]
    np.testing.assert_array_equal(after, before)


def test_posing_by_hand_steers_the_solve() -> None:
    """A free bone turned while live changes the solved pose, as it would have had it been so from the start."""
    ob = posed_figure()
    rigs.live(ob)
    ob.pose.bones["spine"].rotation_quaternion = rigs.rotation((0, 1, 0), 40.0)
    steered = rigs.matrices(ob)
    rigs.live(ob, False)
    rigs.live(ob)
    assert rigs.turn(steered, rigs.matrices(ob)) < 1e-5


def test_a_changed_rotation_mode_keeps_the_base_pose() -> None:
    """A bone whose rotation mode the user changes while live comes back turned as before, in the new mode."""
    ob = posed_figure()
    turned = rigs.matrices(ob)
    rigs.live(ob)
    for bone in ob.pose.bones:
        bone.rotation_mode = "YZX" if bone.name.startswith(("arm", "spine")) else "QUATERNION"
    rigs.update()
    rigs.at_frame(4)
    ob.dqik.live = False
    assert rigs.turn(turned, rigs.matrices(ob)) < 1e-5


def test_undo_and_redo_of_live_keep_the_base_pose() -> None:
    """Undoing live gives the pose from before; redoing it and switching it off does too."""
    ob = posed_figure()
    before = rigs.channels(ob)
    bpy.ops.ed.undo_push(message="Figure")
    rigs.live(ob)
    bpy.ops.ed.undo_push(message="Live")
    bpy.data.objects["hand.L"].location.x -= 0.2
    rigs.update()
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    ob = bpy.data.objects["Figure"]
    assert not ob.dqik.live
    np.testing.assert_array_equal(rigs.channels(ob), before)
    rigs.update()
    np.testing.assert_array_equal(rigs.channels(ob), before)
    bpy.ops.ed.redo()
    ob = bpy.data.objects["Figure"]
    assert ob.dqik.live
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3
    ob.dqik.live = False
    np.testing.assert_array_equal(rigs.channels(ob), before)


def test_a_keyed_live_switch_solves_only_where_it_is_on() -> None:
    """With `live` keyed, frames where it is off show the base pose and frames where it is on the solved one."""
    ob = posed_figure()
    base = rigs.matrices(ob)
    rigs.key_path(ob.dqik, (1, 10, 20), (False, True, False), "live")
    for frame in rigs.visited((3, 12, 25, 15, 4)):
        if 10 <= frame < 20:
            assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3
        else:
            assert rigs.turn(base, rigs.matrices(ob)) < 1e-5, f"frame {frame}"


def test_a_bone_leaves_a_chain_after_its_keys_were_muted() -> None:
    """It is put back to its base pose, and the bones below it are solved from there, not from its old keys."""
    ob = rigs.chain([(0, 0, 0), (0, 1, 0), (0, 1, 0.5), (0.2, 1.5, 1), (0.2, 1, 1.8)])
    rigs.goal(ob, "a", rigs.empty((0.2, 0.9, 0.1), "Elbow"), chain_length=1)
    target = rigs.empty((0.9, 1.6, 0.8))
    reaching = rigs.goal(ob, "d", target, chain_length=3)
    rigs.live(ob, at=12)
    rigs.keyed(ob.pose.bones["b"], 1, rotation_quaternion=rigs.rotation((1, 0, 0), 80))
    rigs.update()
    for curve in rigs.fcurves(ob):
        curve.mute = True
    rigs.update()
    reaching.chain_length = 2
    rigs.update()
    target.location = (0.8, 1.5, 0.9)
    assert rigs.miss(ob, "d", target) < 1e-3


def test_a_bone_leaves_a_chain_when_it_gets_a_driver() -> None:
    """A target that moves afterwards is met at once, with the bone where its driver has it."""
    ob = rigs.chain([(0, 0, 0), (0, 1, 0), (0, 1.5, 0.9), (0.2, 1.5, 1.7)])
    target = rigs.empty((0.6, 1.3, 0.9))
    rigs.goal(ob, "c", target, chain_length=3)
    ob.pose.bones["c"].rotation_mode = "XYZ"
    rigs.live(ob, at=2)
    ob.pose.bones["c"].driver_add("rotation_euler", 0).driver.expression = "0.1 * frame + 0.2"
    rigs.update()
    rigs.visit((2, 5))
    assert rigs.miss(ob, "c", target) < 1e-3
    target.location = (0.5, 1.2, 1.0)
    rigs.update()
    here = rigs.channels(ob)
    assert rigs.miss(ob, "c", target) < 1e-3
    rigs.at_frame(5)
    np.testing.assert_allclose(rigs.channels(ob), here, atol=1e-5)


def test_disabling_the_extension_gives_the_base_pose_back(extension: str) -> None:
    """A rig that was live is left in the pose from before."""
    import addon_utils

    ob = posed_figure()
    before = rigs.channels(ob)
    rigs.live(ob)
    assert np.abs(rigs.channels(ob) - before).max() > 0.05
    addon_utils.disable(extension, default_set=True)
    np.testing.assert_array_equal(rigs.channels(ob), before)


@pytest.mark.parametrize("edit", named(
    added=lambda bones: rigs.put(bones.new("finger"), head=bones["hand.L"].tail, tail=bones["hand.L"].tail * 1.1,
                                 parent=bones["hand.L"]),
    removed=lambda bones: bones.remove(bones["neck"]),
    reordered=lambda bones: rigs.put(bones["thigh.L"], parent=bones["foot.R"]),
))  # fmt: skip
def test_editing_the_armature_while_live(edit: Callable) -> None:
    """After changes of bones in Edit Mode live solving goes on, and live off leaves none solved, each as it was."""
    ob = posed_figure()
    turned = {bone.name: bone.rotation_quaternion.copy() for bone in ob.pose.bones}
    rigs.live(ob)
    with rigs.edit_mode(ob) as bones:
        edit(bones)
    bpy.ops.object.mode_set(mode="POSE")
    rigs.update()
    bpy.data.objects["hand.L"].location.z -= 0.1
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3
    rigs.at_frame(5)
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3
    ob.dqik.live = False
    for bone in ob.pose.bones:
        was = turned.get(bone.name)
        assert was is None or bone.rotation_quaternion.rotation_difference(was).angle < 1e-5, bone.name


def test_undo_keeps_keyed_bones_as_they_were_posed_by_hand() -> None:
    """Without a key, as Blender does. At another frame and back the keys count again, also after an undo."""
    ob = posed_figure()
    for name in ("arm.L", "spine"):
        for frame, degrees in ((1, 10.0), (11, 50.0)):
            rigs.keyed(ob.pose.bones[name], frame, rotation_quaternion=rigs.rotation((1, 0, 0), degrees))
    ob.dqik.live = True
    rigs.visit((5, 6))
    for name, degrees in (("arm.L", 40.0), ("spine", -20.0)):
        ob.pose.bones[name].rotation_quaternion = rigs.rotation((0, 0, 1), degrees)
        rigs.update()
        bpy.ops.ed.undo_push(message="Posed")
    expected = rigs.matrices(ob)

    def move_and_undo() -> np.ndarray:
        bpy.data.objects["hand.L"].location.z += 0.1
        rigs.update()
        bpy.ops.ed.undo_push(message="Moved")
        bpy.ops.ed.undo()
        bpy.data.objects["hand.L"].update_tag()
        return rigs.matrices(bpy.data.objects["Figure"])

    assert rigs.turn(expected, move_and_undo()) < 1e-3
    rigs.visit((7, 6))
    keyed = rigs.matrices(bpy.data.objects["Figure"])
    assert rigs.turn(expected, keyed) > 0.05
    bpy.ops.ed.undo_push(message="Visited")
    assert rigs.turn(keyed, move_and_undo()) < 1e-3


def test_a_keyed_bone_posed_before_live_goes_on_is_not_forgotten() -> None:
    """It was turned without a key. After Live on, a tiny move of a target moves the bones little."""
    ob = posed_figure()
    arm = ob.pose.bones["arm.L"]
    rigs.key_path(arm, (1, 11), [rigs.rotation((1, 0, 0), degrees) for degrees in (10.0, 50.0)], "rotation_quaternion")
    rigs.at_frame(6)
    arm.rotation_quaternion = rigs.rotation((0, 0, 1), 40.0)
    rigs.update()
    rigs.live(ob)
    seen = rigs.matrices(ob)
    bpy.data.objects["hand.L"].location.z += 1e-4
    assert rigs.turn(seen, rigs.matrices(ob)) < radians(0.2)


def test_rest_position_shows_the_rest_pose() -> None:
    """With the armature in Rest Position nothing is solved; in Pose Position it is again."""
    ob = posed_figure()
    ob.dqik.live = True
    ob.data.pose_position = "REST"
    rigs.at_frame(3)
    assert max(rigs.local_rotation(ob, bone.name).angle for bone in ob.pose.bones) < 1e-6
    ob.data.pose_position = "POSE"
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L"]) < 1e-3


# -- between frames, and bones that goals leave ------------------------------------------------------------------------


def keyed_figure() -> bpy.types.Object:
    """A posed figure whose upper left arm is keyed, and a moving goal for its hand."""
    ob = posed_figure()
    arm = ob.pose.bones["arm.L"]
    rigs.key_path(arm, (1, 11), [rigs.rotation((1, 2, 0), degrees) for degrees in (0.0, 80.0)], "rotation_quaternion")
    rigs.at_frame(1)
    return ob


@pytest.mark.parametrize("frame", [6.5, 3.25, 8.0])
def test_live_off_between_frames_gives_the_keyed_pose_of_there(frame: float) -> None:
    """Keyed bones stand as their keys say at this part of a frame, at once; no key was touched."""
    ob = keyed_figure()
    keys = rigs.keys(ob)
    rigs.at_frame(frame)
    keyed = rigs.channels(ob)
    rigs.live(ob, at=2)
    rigs.at_frame(frame)
    assert np.abs(rigs.channels(ob) - keyed).max() > 0.05
    ob.dqik.live = False
    np.testing.assert_allclose(rigs.channels(ob), keyed, atol=1e-6)
    assert rigs.keys(ob) == keys


def test_frames_that_pass_in_rest_position_count() -> None:
    """Keyed bones start from the present frame's keys once the armature is shown in Pose Position again."""
    ob = keyed_figure()
    rigs.live(ob, at=9)
    expected = rigs.matrices(ob)
    rigs.at_frame(2)
    before = rigs.matrices(ob)
    ob.data.pose_position = "REST"
    rigs.update()
    rigs.at_frame(9)
    ob.data.pose_position = "POSE"
    rigs.update()
    assert rigs.turn(before, expected) > 0.1
    assert rigs.turn(expected, rigs.matrices(ob)) < 1e-5


def test_a_bone_that_goals_leave_is_the_users_after_loading(tmp_path: Path) -> None:
    """Bones of a goal that was muted can be posed, and stay so when the file is opened again."""
    ob = posed_figure()
    rigs.live(ob)
    ob.dqik.goals["hand.L"].mute = True
    rigs.update()
    rigs.posed(ob.pose.bones["forearm.L"], rigs.rotation((1, 0, 0), 50.0))
    before = rigs.matrices(ob)
    reopened(tmp_path / "muted.blend")
    ob = bpy.data.objects["Figure"]
    for _ in rigs.visited((1, 4)):
        assert rigs.turn(before, rigs.matrices(ob)) < 1e-5
