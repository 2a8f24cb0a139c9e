# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured figure that is folded up at rest: the panel says so, one press mends it, and the figure is set up.

Run by Blender itself (README.md, beside this file).
"""

import sys
from math import radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "characters"))

from conventions import BY_NAME
from window import Steps, click_button, in_view, press, region, run, shot, until, view, window_middle

import build

FOLDED = {"Hips": 90, "Spine": 30, "LeftUpLeg": -150, "RightUpLeg": -150, "LeftLeg": 140, "RightLeg": 140}
STANDS, LIES = 1, 30


def captured() -> bpy.types.Object:
    """A figure that lies folded up at rest, and stands in the first frame of its motion."""
    ob = build.native(BY_NAME["mixamo"])
    bpy.context.view_layer.objects.active = ob
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
        for frame, angle in ((STANDS, 0), (LIES, FOLDED.get(bone.name.rpartition(":")[2], 0))):
            bone.rotation_quaternion = Euler((radians(angle), 0, 0)).to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(LIES)
    bpy.ops.dqik.pose_to_rest()
    bpy.context.scene.frame_set(STANDS)
    return ob


def stand_up() -> Steps:
    """See the hint, press the button, undo and redo it, and set the figure up."""
    ob = captured()
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    bpy.ops.ed.undo_push(message="Captured")
    view().spaces[0].show_region_ui = True
    yield 1.0
    with in_view():
        bpy.ops.view3d.view_all()
    region("UI").active_panel_category = "DQIK"
    yield 1.0
    yield from shot("r01 folded at rest")
    before = poses()
    yield from click_button("dqik.pose_to_rest")
    assert np.abs(poses() - before).max() < 1e-3 * np.abs(before).max()
    after = shape()
    yield from press("Z", window_middle(), ctrl=True)
    assert np.abs(shape() - after).max() > 0.1 * np.abs(after).max(), "undo kept the new rest pose"
    yield from press("Z", window_middle(), ctrl=True, shift=True)
    assert np.abs(shape() - after).max() < 1e-4 * np.abs(after).max(), "redo did not bring the new rest pose back"
    yield from shot("r02 used as rest")
    yield from click_button("dqik.setup_full_body")  # the figure moves, so it asks for the frames
    yield from press("RET", window_middle())
    yield from until(lambda: len(figure().dqik.goals) == 6, "the figure is set up")
    yield from shot("r03 set up")


def figure() -> bpy.types.Object:
    """The armature; looked up anew each time, since undo replaces it."""
    return bpy.data.objects["mixamo"]


def poses() -> np.ndarray:
    """The places of all bones that are there from the start, posed."""
    return np.array([bone.head for bone in figure().pose.bones if not bone.name.startswith("DQIK")])


def shape() -> np.ndarray:
    """The same at rest."""
    return np.array([bone.head_local for bone in figure().data.bones if not bone.name.startswith("DQIK")])


run(stand_up, scale=1.0)
