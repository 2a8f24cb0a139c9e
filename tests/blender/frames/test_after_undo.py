# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel says after undo and redo: the active goal, and reports of what was done and undone."""

from pathlib import Path

import bpy
import captured
import numpy as np
import pytest
import rigs
from mathutils import Quaternion
from situations import reaching


def body() -> bpy.types.Object:
    ob = rigs.made_active(rigs.figure())
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.setup_full_body(controls={"ELBOWS"}) == {"FINISHED"}
    return ob


def active() -> str:
    ob = bpy.data.objects["Figure"]
    return ob.dqik.goals[ob.dqik.active_goal].bone


def control(ob: bpy.types.Object, bone: str, name: str = "subtarget") -> str:
    return getattr(rigs.goal_of(ob, bone), name)


def push(words: str) -> None:
    bpy.ops.ed.undo_push(message=words)


@pytest.mark.parametrize("live", [True, False])
def test_the_active_goal_is_that_of_the_selected_control_after_undo_and_redo(live: bool) -> None:
    ob = body()
    ob.dqik.live = live
    names = {bone: control(ob, bone) for bone in ("hand.L", "foot.R", "head")}
    push("set up")
    for bone, name in names.items():
        rigs.select(ob, name)
        push(f"select {bone}")  # Blender's own step comes before the list follows
        rigs.update()
        assert active() == bone
        ob.pose.bones[name].location.x += 0.02
        rigs.update()
        push(f"move {bone}")
    expected = ["head", "foot.R", "foot.R", "hand.L", "hand.L"]
    for bone in expected:
        bpy.ops.ed.undo()
        assert bpy.data.objects["Figure"].data.bones.active.name == names[bone]
        assert active() == bone
    for bone in [*reversed(expected[:-1]), "head"]:
        bpy.ops.ed.redo()
        assert active() == bone
        rigs.update()
        assert active() == bone


def test_a_pole_that_is_selected_shows_its_goal() -> None:
    ob = body()
    rigs.select(ob, control(ob, "hand.L"))
    rigs.update()
    rigs.select(ob, control(ob, "hand.R", "pole_subtarget"))
    rigs.update()
    assert active() == "hand.R"


def report_of(ob: bpy.types.Object):
    return rigs.part("rig.clip.last_report").of(ob)


def edit(name: str, radius: int) -> None:
    """Turn the head and carry that to the frames around: the motion has as many keys as before."""
    ob = bpy.data.objects[name]
    rigs.select(ob, "Head", at=40)
    rigs.update()
    ob.pose.bones["Head"].rotation_quaternion.rotate(Quaternion((1.0, 0.0, 0.0), 0.3))
    rigs.update()
    assert bpy.ops.dqik.edit_range(radius=radius) == {"FINISHED"}
    push("edited")


def test_the_report_of_an_undone_operation_goes_and_redo_brings_it_back(tmp_path: Path) -> None:
    name = captured.clip(tmp_path, range(120)).name
    push("clip")
    edit(name, 8)
    first = report_of(bpy.data.objects[name])
    assert first is not None
    edit(name, 12)
    second = report_of(bpy.data.objects[name])
    assert second not in (None, first)
    for step, expected in ((bpy.ops.ed.undo, first), (bpy.ops.ed.undo, None), (bpy.ops.ed.redo, first),
                           (bpy.ops.ed.redo, second), (bpy.ops.ed.undo, first)):  # fmt: skip
        step()
        assert report_of(bpy.data.objects[name]) == expected
    edit(name, 5)
    assert report_of(bpy.data.objects[name]) not in (None, first, second)


def test_the_report_of_a_solve_goes_with_its_pose() -> None:
    """Without Live nothing is solved again after undo."""
    ob, _ = reaching()
    rigs.made_active(ob)
    rigs.at_frame(9)
    push("rest")
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    push("solved")
    assert ob.dqik.status.converged
    bpy.context.scene.frame_end = 77
    push("something else")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Crane"].dqik.status.converged  # the pose is still the solved one
    bpy.ops.ed.undo()
    status = bpy.data.objects["Crane"].dqik.status
    assert not status.converged
    assert status.milliseconds == 0.0


def test_the_base_pose_stays_where_a_bone_that_nothing_moves_has_that_of_its_counterpart() -> None:
    """A mirrored paste leaves it there, and undo has the bones read again."""
    ob = rigs.made_active(rigs.figure())
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    goals = {goal.bone: goal for goal in ob.dqik.goals}
    ob.dqik.live = True
    rigs.update()
    goals["hand.R"].kind = "DISTANCE"  # the hand itself is led no longer
    goals["hand.L"].target.location.z += 0.4
    rigs.update()
    rigs.paste_mirrored(ob)
    rigs.at_frame(11)
    shown = rigs.matrices(ob)
    push("posed")
    bpy.context.scene.frame_end = 77
    push("something else")
    bpy.ops.ed.undo()
    rigs.at_frame(11)
    assert np.allclose(rigs.matrices(bpy.data.objects["Figure"]), shown, atol=1e-6)
