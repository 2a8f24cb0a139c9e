# SPDX-License-Identifier: GPL-3.0-or-later
"""The original of a motion that was made from it: its lines are what Blender showed. Reports are of one motion."""

from types import ModuleType

import bpy
import numpy as np
import pytest
import rigs
from shown_words import Drawn
from test_mend_motion import captured

FRAME = 47
NEAR = 1e-4


@pytest.fixture
def original() -> ModuleType:
    return rigs.part("rig.overlay.original")


@pytest.fixture
def last_report() -> ModuleType:
    return rigs.part("rig.clip.last_report")


def bones(ob: bpy.types.Object, frame: float) -> np.ndarray:
    """The lines (B, 2, 3) of the bones that deform, as Blender shows them at a frame."""
    rigs.at_frame(frame)
    names = [bone.name for bone in ob.pose.bones if ob.data.bones[bone.name].use_deform]
    return np.array([(rigs.head(ob, name), rigs.tail(ob, name)) for name in names])


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_the_original_is_where_the_motion_was(original: ModuleType, mode: str) -> None:
    """Also half way between frames, on a figure that is turned, moved and scaled, after mending and fewer keys."""
    ob = captured("QUATERNION" if mode == "AXIS_ANGLE" else mode)
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 0), (0, 0, 0.6), (1.5, 1.5, 1.5)
    if mode == "AXIS_ANGLE":
        ob.pose.bones["Head"].rotation_mode = mode
        rigs.keyed(ob.pose.bones["Head"], 1, rotation_axis_angle=(0.4, 0.0, 1.0, 0.2))
        ob.pose.bones["Head"].bone.use_inherit_rotation = False
    before = bones(ob, FRAME), bones(ob, FRAME + 0.5)
    assert not original.is_known(ob)
    bpy.ops.dqik.mend_motion()
    assert original.is_known(ob)
    for frame, wanted in zip((FRAME, FRAME + 0.5), before, strict=True):
        assert np.abs(bones(ob, frame) - wanted).max() > 0.01
        assert np.abs(original.lines(ob, bpy.context) - wanted).max() < NEAR
    mended = bones(ob, FRAME)
    bpy.ops.dqik.unbake(angle=0.1, distance=0.05)
    assert np.abs(bones(ob, FRAME) - mended).max() > 1e-3
    assert np.abs(original.lines(ob, bpy.context) - mended).max() < NEAR


def source_and_copy() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A captured figure, and a copy beside it, which is active."""
    source = captured()
    bpy.ops.object.mode_set(mode="OBJECT")
    ob = source.copy()
    ob.location = (3, 0, 0)
    bpy.context.scene.collection.objects.link(ob)
    return source, rigs.made_active(ob)


def assert_shown_as_it_is(original: ModuleType, ob: bpy.types.Object) -> None:
    own = bones(ob, FRAME)
    assert np.abs(original.lines(ob, bpy.context) - own).max() < 0.02


def test_a_source_is_shown_as_large_as_the_figure_and_where_it_is(original: ModuleType) -> None:
    """A copy of half the size, elsewhere, has the same pose, so the source's lines are its own."""
    source, ob = source_and_copy()
    ob.animation_data.action, ob.scale = None, (0.5, 0.5, 0.5)
    bpy.ops.dqik.retarget(source=source.name, frame_start=1, frame_end=60)
    assert_shown_as_it_is(original, ob)
    source.name = "Renamed"
    assert not original.is_known(ob)


def test_a_figure_that_had_a_motion_shows_the_source_of_its_new_one(original: ModuleType) -> None:
    """Contacts of the motion before do not count for the new one, and the action before stays."""
    source, ob = source_and_copy()
    ob.animation_data.action = before = source.animation_data.action.copy()
    bpy.ops.dqik.contact_add(bone="LeftFoot", frame_start=3, frame_end=9)
    bpy.ops.dqik.retarget(source=source.name, frame_start=1, frame_end=60)
    assert ob.animation_data.action.dqik_original is None
    assert before.use_fake_user
    assert_shown_as_it_is(original, ob)
    assert not rigs.part("rig.clip.contact_ranges").are_of_motion(ob)
    ob.animation_data.action = before
    assert rigs.part("rig.clip.contact_ranges").are_of_motion(ob)


def test_a_bake_names_its_original(original: ModuleType, last_report: ModuleType, extension: str) -> None:
    """And the first panel says what was done, while Live is off."""
    ob = rigs.arm()
    ob.pose.bones["a"].keyframe_insert("rotation_quaternion", frame=1)
    before = ob.animation_data.action
    bpy.ops.dqik.goal_add(bone="b")
    bpy.ops.dqik.bake(frame_start=1, frame_end=3, smooth=0.5)
    assert ob.animation_data.action.dqik_original == before
    assert original.is_known(ob)
    assert str(last_report.of(ob).notes[0]).startswith("Baked 3 frames")
    drawn, ui = Drawn(extension), rigs.part("ui")
    drawn.tab(tuple(cls for cls in ui.PANELS if cls.__name__ == "DQIK_PT_live"), 300)
    assert not ob.dqik.live
    assert ("DQIK", "Baked {}, {}") in drawn.texts


def test_a_report_is_shown_for_its_motion_only(last_report: ModuleType) -> None:
    """Not after undo, with another action, or once keys were added."""
    ob = captured()
    bpy.ops.ed.undo_push(message="clip")
    bpy.ops.dqik.mend_motion()
    bpy.ops.ed.undo_push(message="mended")
    report = last_report.of(ob)
    assert report.is_fine
    assert "contacts of feet: they slid by" in str(report.notes[0])
    mended = ob.animation_data.action
    ob.animation_data.action = mended.dqik_original
    assert last_report.of(ob) is None
    ob.animation_data.action = mended
    assert last_report.of(ob) == report
    bpy.ops.ed.undo()
    assert last_report.of(bpy.context.object) is None
    bpy.ops.ed.redo()
    assert last_report.of(bpy.context.object) == report
    bpy.context.object.keyframe_insert("location", frame=1)
    assert last_report.of(bpy.context.object) is None


def test_the_time_that_is_left_is_told_once_it_is_known() -> None:
    work = rigs.part("operators.common").Tool()
    assert str(work._state(0.25, 30.0)) == "Working: 25 %, 1:30 left, Esc to cancel"
    assert str(work._state(0.995, 199.0)) == "Working: 100 %, 0:01 left, Esc to cancel"
    assert str(work._state(0.25, 1.0)) == "Working: 25 %, Esc to cancel"
    assert str(work._state(0.0, 30.0)) == "Working: 0 %, Esc to cancel"
