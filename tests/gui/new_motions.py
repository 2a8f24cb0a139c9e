# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that are made anew, in a real window: in-betweens of blocked poses, and two figures that keep touching.

Run by Blender itself (README.md, beside this file). Each press is done, undone by one step and redone.
"""

import sys
from pathlib import Path

import bpy

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import rigs
from clothed_person import person
from whole_motion import open_file, press_and_confirm, state, walker
from window import Steps, in_view, press, run, shot, window_middle

STEP, LAST = 12, 49  # frames between two poses, and the last one


def new_motions() -> Steps:
    """The presses, one after the other."""
    yield from open_file()
    for one in (in_betweens, two_people, touching):
        yield from one()


def in_betweens() -> Steps:
    """Of the walk poses are left on every twelfth frame; the feet stand between them, and the poses stay."""
    blocked = set(range(1, LAST + 1, STEP))
    for curve in rigs.fcurves(walker()):
        kept = [tuple(key.co) for key in curve.keyframe_points if round(key.co[0]) in blocked]
        curve.keyframe_points.clear()
        for frame, value in kept:
            curve.keyframe_points.insert(frame, value)
    bpy.ops.ed.undo_push(message="Blocked")
    before = state()[0][walker().name]
    yield from press_and_confirm("dqik.in_betweens")
    after = state()[0][walker().name]
    for path, points in before.items():
        found = dict(after.get(path, points))
        assert all(abs(found[frame] - value) < 1e-3 or path[0].endswith("quaternion") for frame, value in points), path
    assert max(map(len, after.values())) == LAST
    yield from shot("n01 in-betweens")
    yield from press("Z", window_middle(), ctrl=True)


def two_people() -> Steps:
    """Another captured figure beside the first one, and two people; the first person has the first motion."""
    bpy.ops.object.mode_set(mode="OBJECT")
    second = walker().copy()
    second.data, second.name, second.location = second.data.copy(), "second", (0.45, 0.1, 0.0)
    bpy.context.scene.collection.objects.link(second)
    for name, x in (("Ann", 1.5), ("Bob", 2.5)):
        ob, _ = person()
        ob.name, ob.location = name, (x, 0.0, 0.0)
    with in_view():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    yield 1.0
    yield from begin("Ann", walker().name)
    yield from press_and_confirm("dqik.retarget")


def begin(name: str, *others: str) -> Steps:
    """Select objects, and go into the Pose Mode of the first one."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in (name, *others))
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Select")
    yield 0.5


def touching() -> Steps:
    """Source and partner are proposed, since they are selected; one step of undo brings both figures back."""
    yield from begin("Bob", "Ann", "second")
    first, second = state()[0]["Ann"], state()[0]["Bob"]
    yield from press_and_confirm("dqik.retarget")
    assert state()[0]["Ann"] != first, "with Both Give the partner gives too"
    assert state()[0]["Bob"] != second
    yield from shot("n02 both")


if __name__ == "__main__":
    run(new_motions, scale=1.0, panels=("DQIK_PT_motion",))
