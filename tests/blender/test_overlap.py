# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through of a tail in Blender: what is keyed is what plays, it closes loops, and limits hold."""

from math import pi, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Quaternion

TAIL = ("tail.1", "tail.2", "tail.3")


def _dog(mode: str = "QUATERNION") -> bpy.types.Object:
    """A body with a tail of three bones, of which the body is turned to and fro in 24 frames, and closes."""
    bones = [rigs.Bone("body", (0, 0, 1), (0, -1, 1))]
    for number, name in enumerate(TAIL):
        bones.append(rigs.Bone(name, (0, 0.3 * number, 1), (0, 0.3 * number + 0.3, 1), "body" if not number else
                               TAIL[number - 1], bool(number), roll=0.4))  # fmt: skip
    ob = rigs.armature(bones)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 25
    scene.render.fps, scene.render.fps_base = 24, 1.0
    body = ob.pose.bones["body"]
    body.rotation_mode = "XYZ"
    for frame in range(1, 26):
        body.rotation_euler = (0.0, 0.1, 0.6 * sin(2.0 * pi * (frame - 1) / 24.0))
        body.location = (0.2 * sin(4.0 * pi * (frame - 1) / 24.0), 0, 0)
        body.keyframe_insert("rotation_euler", frame=frame)
        body.keyframe_insert("location", frame=frame)
    for name in TAIL:
        ob.pose.bones[name].rotation_mode = mode
    bpy.ops.object.mode_set(mode="POSE")
    _select(ob, *TAIL)
    return ob


def _select(ob: bpy.types.Object, *names: str) -> None:
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    ob.data.bones.active = ob.data.bones[names[0]]


def _tips(ob: bpy.types.Object, frames: range, name: str = "tail.3") -> np.ndarray:
    places = []
    for frame in frames:
        rigs.at_frame(frame)
        places.append(rigs.tail(ob, name)[:])
    return np.array(places)


@pytest.mark.parametrize("mode", rigs.ROTATION_MODES)
def test_a_tail_follows_and_its_loop_closes(mode: str) -> None:
    """In every rotation mode alike: Blender plays the same tips, in any order of frames."""
    ob = _dog(mode)
    before, body = _tips(ob, range(1, 26)), _tips(ob, range(1, 26), "body")
    assert bpy.ops.dqik.overlap(frequency=1.5) == {"FINISHED"}
    after = _tips(ob, range(1, 26))
    assert np.abs(after - before).max() > 0.1
    assert after[0] == pytest.approx(after[-1], abs=1e-5)
    assert _tips(ob, range(25, 0, -1))[::-1] == pytest.approx(after, abs=1e-6)
    assert np.abs(_tips(ob, range(1, 26), "body") - body).max() < 1e-6
    steps = np.linalg.norm(np.diff(np.concatenate([after, after[1:3]]), 2, axis=0), axis=-1)
    assert steps.max() < 0.15  # no jump, over the seam of the loop too
    bpy.ops.object.mode_set(mode="OBJECT")
    reference = _dog()
    bpy.ops.dqik.overlap(frequency=1.5)
    assert _tips(reference, range(1, 26)) == pytest.approx(after, abs=1e-4)


def test_the_whole_is_one_undo_step_and_nothing_else_is_keyed() -> None:
    ob = _dog()
    rigs.at_frame(7)
    bpy.ops.ed.undo_push(message="dog")
    before = rigs.matrices(ob)
    bpy.ops.dqik.overlap()
    assert bpy.context.scene.frame_current == 7
    curves = ob.animation_data.action.fcurves if not hasattr(ob.animation_data.action, "layers") else \
        ob.animation_data.action.layers[0].strips[0].channelbags[0].fcurves  # fmt: skip
    assert {curve.data_path.split('"')[1] for curve in curves} == {"body", *TAIL}
    assert rigs.turn(before, rigs.matrices(ob)) > 0.02
    bpy.ops.ed.undo_push(message="overlap")
    bpy.ops.ed.undo()
    ob = bpy.context.object
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-6


def test_limits_hold_on_every_frame() -> None:
    ob = _dog()
    for name in TAIL:
        bone = ob.pose.bones[name]
        bone.dqik_use_limits = True
        bone.dqik_swing_x_min, bone.dqik_swing_x_max = -0.1, 0.1
        bone.dqik_swing_z_min, bone.dqik_swing_z_max = -0.1, 0.1
        bone.dqik_twist_min, bone.dqik_twist_max = -0.05, 0.05
    bpy.ops.dqik.overlap(frequency=1.0)
    angles = []
    for frame in range(1, 26):
        rigs.at_frame(frame)
        angles += [Quaternion(ob.pose.bones[name].rotation_quaternion).angle for name in TAIL]
    assert radians(3) < max(angles) < 0.12


def test_a_bone_that_hangs_on_an_unselected_one_and_does_not_inherit_rotation() -> None:
    """It keeps its direction in the world but for the way of its head."""
    ob = _dog()
    ob.data.bones["tail.2"].use_inherit_rotation = False
    ob.rotation_euler, ob.scale = Euler((0.3, 0.2, 1.0)), (2.0, 2.0, 2.0)
    _select(ob, "tail.2", "tail.3")
    assert bpy.ops.dqik.overlap(loop="OFF") == {"FINISHED"}
    assert np.isfinite(_tips(ob, range(1, 26))).all()


def test_what_goals_move_is_refused_by_name() -> None:
    ob = _dog()
    _select(ob, "tail.3")
    bpy.ops.dqik.goal_add()
    ob.dqik.live = True
    rigs.at_frame(2)
    _select(ob, "tail.3", "tail.2")
    with pytest.raises(RuntimeError, match=r"'tail\.\d' is moved by a goal: mute the goal"):
        bpy.ops.dqik.overlap()
