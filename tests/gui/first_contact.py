# SPDX-License-Identifier: GPL-3.0-or-later
"""What the first steps say, in a window, from the zip: to a pose, to a bake, a clip mended and retargeted.

Run by Blender itself (README.md, beside this file). Prints, for each part, the keys and mouse buttons that it took, and
how long DQIK worked.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import rigs
import window
from clothed_person import person
from hands import control, drag, missed, place, rig
from whole_motion import idle, import_clip, walker

FRAMES = 60  # of the first bake
NEAR = 2e-3  # [m] a hand is at its control

seconds: dict[str, float] = {}


def first_contact() -> window.Steps:
    """The parts, one after the other."""
    yield from to_a_pose()
    yield from to_a_bake()
    yield from mended()
    yield from retargeted()
    print("| part | presses | DQIK works |\n|---|---:|---:|")
    for name, number in window.presses.items():
        if name:
            print(f"| {name} | {number} | {seconds.get(name, 0.0):.1f} s |")


def to_a_pose() -> window.Steps:
    """The tab, Set Up Full Body, Live, and a hand that is moved."""
    person()
    with window.in_view():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    window.part("open the tab")
    yield from window.press("N", window.window_middle())
    assert window.view().spaces[0].show_region_ui
    yield 0.5
    window.region("UI").active_panel_category = "DQIK"
    window.count(1)
    yield from window.shot("f01 tab")
    window.part("four steps to a pose")
    yield from window.click_button("dqik.setup_full_body")
    yield from window.click_button("dqik.live")
    before = place("hand.L")
    yield from drag(control("hand.L"), (-0.1, 0.0, 0.25))
    assert (place("hand.L") - before).length > 0.2
    assert missed("hand.L") < NEAR
    yield from window.shot("f02 pose")


def to_a_bake() -> window.Steps:
    """The pose is keyed, then the hand elsewhere; Bake makes keys of it."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    hand = rig().pose.bones[control("hand.L")]
    for frame in (1, FRAMES):
        hand.keyframe_insert("location", frame=frame)
        hand.location += Vector((0.05, 0.0, 0.0))
    window.part("first bake")
    yield from work("dqik.bake", "first bake", lambda: not rig().dqik.live)
    assert len(rigs.keys(rig())) > FRAMES
    yield from window.shot("f03 baked")


def work(button: str, name: str, is_done: Callable[[], bool]) -> window.Steps:
    """Press a button, confirm its dialog, and take the time until the work is done."""
    yield from window.click_button(button)
    yield 0.5
    yield from window.press("RET", window.window_middle())
    began = time.monotonic()
    yield from window.until(lambda: is_done() and idle(), f"{name} is done")
    seconds[name] = time.monotonic() - began


def mended() -> window.Steps:
    """The clip of the examples, imported as it comes: Pose Mode by the button in the panel, then Mend Motion."""
    bpy.ops.object.mode_set(mode="OBJECT")
    import_clip(update_scene_duration=True)
    bpy.ops.ed.undo_push(message="Clip")
    yield 1.0
    yield from window.shot("f04 clip")
    window.part("mend a clip")
    with window.not_counted():
        yield from window.open_panel("dqik.setup_full_body", "posemode_toggle")
    window.count(1)
    yield from window.click_button("posemode_toggle")
    assert bpy.context.mode == "POSE"
    before = rigs.keys(walker())
    yield from work("dqik.mend_motion", "mend a clip", lambda: rigs.keys(walker()) != before)
    yield from window.shot("f05 mended")


def retargeted() -> window.Steps:
    """The mended motion on the person, whose own goals stay."""
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.made_active(rig())
    bpy.ops.ed.undo_push(message="Person")
    yield 1.0
    window.part("retarget a clip")
    yield from window.click_button("posemode_toggle")
    before = rigs.keys(rig())
    yield from work("dqik.retarget", "retarget a clip", lambda: rigs.keys(rig()) != before)
    yield from window.shot("f06 retargeted")


if __name__ == "__main__":
    window.run(first_contact, scale=1.0)
