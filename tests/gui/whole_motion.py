# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions in a real window: contacts are found, added and dragged in the timeline, and a captured walk is mended.

Run by Blender itself (README.md, beside this file). The clip is that of examples/, with the way of its hips scaled, so
that its feet slide. Every press of the panel is done, undone and redone.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import addon_utils
import bpy
import numpy as np

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import rigs
import window
from clothed_person import person

LAST, CLIP = 120, 360  # the last frame of the scene, and of the clip
FOOT = "LeftFoot"
Contact = tuple[str, str, int, int]


def whole_motion() -> window.Steps:
    """The presses of the panel Motion, one after the other."""
    for one in (
        open_file, find_contacts, low_timeline, drag_contacts, hold_hands, stop, mend, compare, edit, overlap,
        remove_shakes, fewer_keys, retarget,
    ):  # fmt: skip
        yield from one()


# -- the scene ---------------------------------------------------------------------------------------------------------


def walker() -> bpy.types.Object:
    """The captured figure; looked up anew each time, since undo replaces it."""
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.name.startswith("cmu"))


def contacts() -> list[Contact]:
    """The contacts of the list."""
    return [(one.bone, one.part, one.frame_start, one.frame_end) for one in walker().dqik.contacts]


def slide() -> float:
    """How far the left ball moves from frame to frame in the mean, where the list has it on the ground."""
    scene, places = bpy.context.scene, []
    now = scene.frame_current
    for frame in range(1, CLIP + 1):
        scene.frame_set(frame)
        ob = walker().evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append(ob.matrix_world @ ob.pose.bones["LeftToeBase"].head)
    scene.frame_set(now)
    steps = np.linalg.norm(np.diff(np.array(places), axis=0)[:, :2], axis=-1)
    stands = [steps[first - 1 : last - 1] for bone, part, first, last in contacts() if (bone, part) == (FOOT, "BALL")]
    return float(np.concatenate(stands).mean())


def import_clip(**options: object) -> bpy.types.Object:
    """The clip of the examples."""
    addon_utils.enable("io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(window.ROOT / "examples" / "cmu_01_01.bvh"), global_scale=0.056444,
                            update_scene_fps=True, **options)  # fmt: skip
    return bpy.context.object


def open_file() -> window.Steps:
    """The clip in a window, in Pose Mode, with the tab open."""
    ob, scene = import_clip(rotate_mode="QUATERNION"), bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    for curve in rigs.fcurves(ob):
        if curve.data_path == 'pose.bones["Hips"].location' and curve.array_index != 1:
            first = curve.keyframe_points[0].co[1]
            for key in curve.keyframe_points:
                key.co[1] = first + 1.1 * (key.co[1] - first)
            curve.update()
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Clip")
    bpy.context.preferences.system.viewport_aa = "OFF"
    window.view().spaces[0].show_region_ui = True
    yield 1.0
    with window.in_view():
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_all()
    window.region("UI").active_panel_category = "DQIK"
    timeline().spaces[0].show_region_channels = False
    yield 1.0
    with window.in_region(timeline(), timeline_region()):
        bpy.ops.action.view_all()
    yield from window.shot("m01 clip opened")


def timeline() -> bpy.types.Area:
    """The timeline at the lower edge of the window."""
    return next(area for area in window.window().screen.areas if area.type == "DOPESHEET_EDITOR")


def timeline_region() -> bpy.types.Region:
    """Its main region."""
    return next(part for part in timeline().regions if part.type == "WINDOW")


def state() -> tuple[dict[str, dict], list[Contact]]:
    """The keys of all armatures, and the contacts."""
    return {ob.name: rigs.keys(ob) for ob in bpy.data.objects if ob.type == "ARMATURE"}, contacts()


def idle() -> bool:
    """Whether no operator runs on."""
    return not window.window().modal_operators


def press_and_confirm(operator: str) -> window.Steps:
    """Press a button and confirm its dialog, if it has one; wait for the work to be done; then undo and redo it."""
    before = state()
    yield from window.click_button(operator)
    yield 0.5
    yield from window.shot(f"dialog of {operator}")
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: state() != before and idle(), f"{operator} has done its work")
    after = state()
    yield from window.press("Z", window.window_middle(), ctrl=True)
    assert state() == before, f"undo of {operator} does not bring back what was"
    yield from window.press("Z", window.window_middle(), ctrl=True, shift=True)
    assert state() == after, f"redo of {operator} does not bring back what it did"


# -- the presses -------------------------------------------------------------------------------------------------------


def find_contacts() -> window.Steps:
    """Contacts of the whole clip are found and listed, although the scene is shorter, and are bars in the timeline."""
    yield from press_and_confirm("dqik.contacts_find")
    assert len(contacts()) > 8
    assert max(one[3] for one in contacts()) > LAST
    yield from window.shot("m03 contacts found")


def low_timeline() -> window.Steps:
    """The timeline of a new window has room for a lane or two: that of the chosen contact, which can be dragged."""
    number = next(n for n, one in enumerate(contacts()) if one[1] == "BALL" and one[2] > 5 and one[3] < LAST - 5)
    walker().dqik.active_contact = number
    yield 0.3
    before = contacts()[number]
    yield from drag_bar(number, before[3] + 0.3, before[3] + 2.3)
    assert contacts()[number] == (*before[:3], before[3] + 2), contacts()[number]
    yield from window.press("Z", window.window_middle(), ctrl=True)
    assert contacts()[number] == before
    edge = timeline().x + timeline().width // 3, timeline().y + timeline().height
    yield from window.drag_to(edge, (edge[0], edge[1] + 140))
    yield from window.shot("m03 timeline higher")


def at_bar(number: int, frame: float) -> window.Point:
    """Where a frame of a contact's bar is in the window: half way up its lane, as the timeline draws it."""
    main = timeline_region()
    with window.in_region(timeline(), main):
        bars = rigs.part("rig.overlay.contact_bars").in_region(walker(), bpy.context)
    bar = next(one for one in bars if one.number == number)
    x, _ = main.view2d.view_to_region(frame, 0.0, clip=False)
    return int(main.x + x), int(main.y + 0.5 * (bar.bottom + bar.top))


def drag_bar(number: int, start: float, end: float, let_go: bool = True) -> window.Steps:
    """Drag a bar from a frame to another with the mouse."""
    yield from window.drag_to(at_bar(number, start), at_bar(number, end), let_go)


def drag_contacts() -> window.Steps:
    """Both ends and the middle; Esc takes a drag back; a click beside the bars is Blender's own."""
    number = next(n for n, one in enumerate(contacts()) if one[1] == "BALL" and one[3] - one[2] > 8 and one[2] > 5)
    _, _, first, last = before = contacts()[number]
    yield from drag_bar(number, last + 0.3, last + 3.3)
    assert contacts()[number] == (*before[:3], last + 3), contacts()[number]
    yield from drag_bar(number, first - 0.3, first + 1.7)
    assert contacts()[number] == (*before[:2], first + 2, last + 3), contacts()[number]
    yield from window.shot("m04 ends dragged")
    middle = 0.5 * (first + last)
    yield from drag_bar(number, middle, middle - 2.0)
    assert contacts()[number] == (*before[:2], first, last + 1), contacts()[number]
    yield from drag_bar(number, middle, middle + 2.0, let_go=False)
    assert contacts()[number] == (*before[:2], first + 2, last + 3), contacts()[number]
    yield from window.shot("m05 dragging")
    yield from window.press("ESC", at_bar(number, middle + 2.0))
    assert contacts()[number] == (*before[:2], first, last + 1), contacts()[number]
    window.event("LEFTMOUSE", "RELEASE", at_bar(number, middle + 2.0))
    yield 0.4
    for wanted in ((first + 2, last + 3), (first, last + 3), (first, last)):
        yield from window.press("Z", window.window_middle(), ctrl=True)
        assert contacts()[number][2:] == wanted, (contacts()[number], wanted)
    count = len(contacts())
    yield from window.click_button("dqik.contact_remove")
    assert len(contacts()) == count - 1
    yield from window.shot("m06 contact removed")
    yield from window.press("Z", window.window_middle(), ctrl=True)
    assert contacts()[number] == before


def hold_hands() -> window.Steps:
    """A contact is added for the selected hand, then for a foot that is selected later; both at the present frame."""
    before = contacts()
    for bone, part, frame in (("LeftHand", "KNUCKLES", 50), ("RightHand", "KNUCKLES", 70)):
        select(bone)
        bpy.context.scene.frame_set(frame)
        yield from window.click_button("dqik.contact_add")
        assert contacts()[-1] == (bone, part, frame, frame + 9), contacts()[-1]
    yield from window.shot("m06 hands added")
    for _ in range(4):  # two adds, and two selections
        yield from window.press("Z", window.window_middle(), ctrl=True)
    assert contacts() == before


def stop() -> window.Steps:
    """Esc while the whole clip is mended changes nothing."""
    before, count = state(), len(bpy.data.actions)
    yield from window.click_button("dqik.mend_motion")
    yield 0.5
    yield from window.move(window.window_middle())
    window.event("RET", "PRESS", window.window_middle())
    for _ in range(200):
        yield 0.01
        if not idle():
            break
    assert not idle(), "mending does not begin, or is done before it could be stopped"
    window.event("ESC", "PRESS", window.window_middle())
    window.event("ESC", "RELEASE", window.window_middle())
    yield from window.until(idle, "mending stops")
    assert state() == before
    assert len(bpy.data.actions) == count


def mend() -> window.Steps:
    """The feet are planted, and the report says so."""
    before = slide()
    yield from press_and_confirm("dqik.mend_motion")
    assert slide() < 0.1 * before
    yield from window.shot("m07 mended")


def compare() -> window.Steps:
    """The original over the figure and beside it, at frames on which it slid."""
    bpy.context.scene.frame_set(60)
    yield from window.click_button("show_original")
    assert walker().dqik.show_original
    yield from window.shot("m08 original over it")
    walker().dqik.original_beside = 0.4
    yield from window.shot("m09 original beside it")
    walker().dqik.original_beside = 0.0


def select(*names: str) -> None:
    """Select bones of the active armature, as clicks on them would."""
    rigs.select(bpy.context.object, *names)
    bpy.ops.ed.undo_push(message="Select")


def edit() -> window.Steps:
    """The spine is turned at a frame; the frames around follow."""
    select("Spine")
    yield from window.press("R", window.window_middle())
    yield from window.type_text("20", window.window_middle())
    yield from window.press("RET", window.window_middle())
    before = rigs.keys(walker())
    yield from window.click_button("dqik.edit_range")
    yield 0.5
    assert rigs.keys(walker()) != before
    yield from window.shot("m10 range edited")


def overlap() -> window.Steps:
    """The head lags behind, and other numbers are tried in the panel of the last operation while it plays."""
    select("Neck1", "Head")
    yield from press_and_confirm("dqik.overlap")
    yield from window.press("Z", window.window_middle(), ctrl=True)
    before = rigs.keys(walker())
    yield from window.click_button("dqik.overlap")
    yield 0.5
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: rigs.keys(walker()) != before and idle(), "the head lags behind")
    yield from change_while_it_plays(lambda: bpy.context.window_manager.operators[-1].properties.frequency, 0.725)
    assert window.window().screen.is_animation_playing, "playback has stopped"
    yield from window.shot("m11 overlap")
    bpy.ops.screen.animation_cancel(restore_frame=True)


def change_while_it_plays(value: Callable[[], float], height: float) -> window.Steps:
    """Turn the wheel over a number of the panel of the last operation, at a share of its height, while it plays."""
    yield 1.0  # it slides into place
    panel, before = window.region("HUD"), (value(), rigs.keys(walker()))
    if panel.height < 50:  # it is closed
        yield from window.click((panel.x + 30, panel.y + panel.height - 10))
        yield from window.until(lambda: window.region("HUD").height > 250, "the panel of the last operation opens")
    with window.in_view():
        bpy.ops.screen.animation_play()
    panel = window.region("HUD")
    at = panel.x + int(0.7 * panel.width), panel.y + int(height * panel.height)
    yield from window.move(at)
    yield 1.0  # until what is under the pointer is active, while it plays
    window.event("WHEELUPMOUSE", "PRESS", at, ctrl=True)
    later = lambda: value() != before[0] and rigs.keys(walker()) != before[1]  # noqa: E731
    yield from window.until(later, "the number changes the keys")
    played = bpy.context.scene.frame_current
    yield from window.until(lambda: bpy.context.scene.frame_current != played, "playback goes on")


def remove_shakes() -> window.Steps:
    """What trembles is quiet; the report says by how much it trembled."""
    yield from press_and_confirm("dqik.remove_shakes")
    yield from window.shot("m11 shakes removed")


def fewer_keys() -> window.Steps:
    """Few keys are left."""
    before = sum(map(len, rigs.keys(walker()).values()))
    yield from press_and_confirm("dqik.unbake")
    assert sum(map(len, rigs.keys(walker()).values())) < before - 5000
    yield from window.shot("m12 fewer keys")


def retarget() -> window.Steps:
    """A person with no motion gets that of the clip, which a preview shows before."""
    bpy.ops.object.mode_set(mode="OBJECT")
    ob, _ = person()
    ob.location = (1.0, 0.0, 0.0)
    rigs.pose_mode(ob)
    bpy.ops.ed.undo_push(message="Person")
    with window.in_view():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    yield 1.0
    before = state()
    with window.in_view():
        bpy.ops.dqik.retarget(source=walker().name, frame_start=1, frame_end=CLIP, preview=True)
    assert state() == before
    yield from window.shot("m13 preview")
    yield from window.click_button("dqik.preview_hide")
    yield from window.shot("m13 preview hidden")
    yield from press_and_confirm("dqik.retarget")
    yield from window.shot("m13 retargeted")
    yield from window.click_button("show_original")
    yield from window.shot("m14 source over it")


if __name__ == "__main__":
    window.run(whole_motion, scale=1.0, panels=("DQIK_PT_motion", "DQIK_PT_motion_contacts"))
