# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Shot* in a real window: a person's shot is solved while nothing is pressed, and again after each edit.

Run by Blender itself (README.md, beside this file).
"""

import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import rigs
from clothed_person import person
from hands import control, drag, look, open_tab, place, rig
from window import Steps, press, run, shot, until, window_middle

LAST = 120
HAND = "hand.R"


def is_solved() -> bool:
    """Whether the whole shot is."""
    return rig().dqik.status.shot == 1.0


def one_motion() -> Steps:
    """Make a shot, drag, key, undo, scrub and play."""
    person()
    scene = bpy.context.scene
    scene.frame_end = LAST
    yield from open_tab()
    bpy.ops.dqik.setup_full_body()
    bpy.ops.object.mode_set(mode="POSE")
    rig().dqik.live = True
    yield from look((8.0, -28.0), (0.0, 0.0, 0.88), 2.5)
    bone = rig().pose.bones[control(HAND)]
    begun = bone.location.copy()
    for frame, way in ((1, (0.0, 0.0, 0.0)), (40, (0.15, -0.1, 0.25)), (80, (0.2, -0.1, 0.1)), (LAST, (0.0, 0.0, 0.0))):
        bone.location = begun + Vector(way)
        bone.keyframe_insert("location", frame=frame)
    scene.frame_set(30)
    rig().dqik.start_from = "SHOT"
    yield from until(is_solved, "the shot is solved")
    yield from shot("solved")
    assert scene.frame_current == 30

    rigs.select(rig(), control(HAND))
    yield 0.5
    before = place(HAND)
    yield from drag(control(HAND), (0.0, 0.0, 0.12))
    yield from shot("dragged")
    assert (place(HAND) - before).length > 0.05
    yield from until(is_solved, "solved without the edit that has no key")
    bpy.ops.ed.undo_push(message="Before the key")
    rig().pose.bones[control(HAND)].keyframe_insert("location", frame=30)
    bpy.ops.ed.undo_push(message="Key")
    yield from until(lambda: not is_solved(), "a key is an edit")
    yield from until(is_solved, "solved again after a key")
    yield from shot("keyed")

    yield from press("Z", window_middle(), ctrl=True)
    yield from until(is_solved, "solved again after undo")
    yield from shot("undone")

    yield from press("SPACE", window_middle())
    yield 4.0
    yield from press("SPACE", window_middle())
    yield from shot("played")
    yield from until(is_solved, "solved after playing")
    for frame in (100, 10, 60):
        bpy.context.scene.frame_set(frame)  # undo has replaced the scene
        yield 0.3
        assert is_solved()
    yield from shot("scrubbed")


run(one_motion, 0.8)
