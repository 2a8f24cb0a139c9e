# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame is edited and its neighbours follow: exact here, untouched beyond the radius, standing feet stand."""

from collections.abc import Sequence
from math import sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from captured import clip
from mathutils import Euler, Matrix, Quaternion, Vector
from situations import tweaked

END = 60
BALL = Vector((0.1, -0.18, 0.02))  # of the figure's left foot, on the ground


def moved(mode: str = "QUATERNION", every: int = 1) -> bpy.types.PoseBone:
    """A control that goes about and turns, with keys on every few frames."""
    ob = rigs.armature([rigs.Bone("control", (0, 0, 0), (0, 0.3, 0.1), roll=0.3)])
    bone = ob.pose.bones["control"]
    bone.rotation_mode = mode
    for frame in range(1, END + 1, every):
        bone.location = (0.1 * frame, sin(0.3 * frame), 0.2 * sin(0.1 * frame))
        rigs.posed(bone, Euler((0.4 * sin(0.2 * frame), 0.02 * frame, 0.3)).to_quaternion())
        rigs.key(bone, frame)
    rigs.select(ob, "control")
    return bone


def film(ob: bpy.types.Object, name: str, frames: np.ndarray) -> np.ndarray:
    return np.array([rigs.evaluated(ob).pose.bones[name].matrix.copy() for _ in rigs.visited(frames.tolist())])


@pytest.mark.parametrize("mode", ["QUATERNION", "YZX", "AXIS_ANGLE"])
@pytest.mark.parametrize("every", [1, 7])
def test_exact_here_and_nothing_beyond_the_radius(mode: str, every: int) -> None:
    bone = moved(mode, every)
    ob, halves = bone.id_data, np.arange(1.0, END, 0.5)
    before = film(ob, "control", halves)
    rigs.at_frame(30)
    wanted = bone.matrix.copy()
    wanted.translation += Vector((0.2, -0.1, 0.4))
    wanted = wanted @ Quaternion((1, 1, 0), 0.5).to_matrix().to_4x4()
    bone.matrix = wanted
    assert bpy.ops.dqik.edit_range(radius=10) == {"FINISHED"}
    assert np.abs(np.array(rigs.evaluated(ob).pose.bones["control"].matrix) - np.array(wanted)).max() < 1e-5
    after = film(ob, "control", halves)
    outside = np.abs(halves - 30.0) >= 10.0
    assert np.abs(after - before)[outside].max() < (1e-6 if every == 1 else 2e-5)
    off = np.linalg.norm(after[:, :3, 3] - before[:, :3, 3], axis=-1)
    rising = off[(halves >= 20) & (halves <= 30)]
    assert off[halves == 30.0] == pytest.approx(np.sqrt(0.21), abs=1e-4)
    if every == 1:  # it fades without a corner
        assert (np.diff(rising) > -1e-4).all()
        assert np.abs(np.diff(off, 2)).max() < 0.02


@pytest.mark.parametrize("mode", ["QUATERNION", "YZX"])
@pytest.mark.parametrize("every", [1, 7])
def test_on_all_frames_the_whole_motion_is_moved_and_turned_alike(mode: str, every: int) -> None:
    bone = moved(mode, every)
    ob, frames = bone.id_data, np.arange(1.0, END + 9.0)
    keyed = (frames - 1.0) % every == 0.0
    before = film(ob, "control", frames)
    rigs.at_frame(30)
    wanted = bone.matrix.copy()
    wanted.translation += Vector((0.2, -0.1, 0.4))
    wanted = wanted @ Quaternion((1, 1, 0), 0.5).to_matrix().to_4x4()
    turn = np.array(wanted)[:3, :3] @ np.array(bone.matrix)[:3, :3].T
    bone.matrix = wanted
    assert bpy.ops.dqik.edit_range(all_frames=True) == {"FINISHED"}
    after = film(ob, "control", frames)
    assert np.abs(after[:, :3, 3] - before[:, :3, 3] - (0.2, -0.1, 0.4)).max() < 1e-4
    assert np.abs(after[:, :3, :3] - turn @ before[:, :3, :3])[keyed & (frames <= END)].max() < 1e-4


def test_beyond_the_radius_not_a_bit_of_a_dense_motion_changes() -> None:
    bone = moved()
    curves = {(curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
              for curve in rigs.fcurves(bone.id_data)}  # fmt: skip
    rigs.at_frame(30)
    bone.location.z += 0.3
    bpy.ops.dqik.edit_range(radius=10)
    for curve in rigs.fcurves(bone.id_data):
        now = [tuple(key.co) for key in curve.keyframe_points]
        old = curves[curve.data_path, curve.array_index]
        assert [one for one in now if abs(one[0] - 30) >= 10] == [one for one in old if abs(one[0] - 30) >= 10]
        assert len(now) == len(old)


def test_after_auto_keying_the_key_is_compared_with_its_neighbours() -> None:
    bone = moved()
    before = film(bone.id_data, "control", np.arange(1.0, END))
    rigs.at_frame(30)
    bone.location.z += 0.9
    bone.keyframe_insert("location", frame=30)
    assert bpy.ops.dqik.edit_range(radius=10) == {"FINISHED"}
    off = film(bone.id_data, "control", np.arange(1.0, END))[:, :3, 3] - before[:, :3, 3]
    assert np.linalg.norm(off[29]) == pytest.approx(0.9, abs=1e-2)
    assert np.linalg.norm(off[24]) == pytest.approx(0.45, abs=0.02)


def footed(start: Sequence[Vector], turns: Sequence[float] = ()) -> tuple[bpy.types.Object, bpy.types.PoseBone]:
    """A figure whose left foot has a key on every frame: how far it is from its rest, and turned about its ball."""
    ob = rigs.pose_mode(rigs.set_up(rigs.figure()))
    control = rigs.owner_of(ob, "foot.L")
    rest, ball = ob.data.bones["foot.L"].matrix_local, Matrix.Translation(BALL)
    for frame, (way, turn) in enumerate(zip(start, turns or [0.0] * len(start), strict=True), 1):
        control.matrix = Matrix.Translation(way) @ ball @ Matrix.Rotation(turn, 4, "X") @ ball.inverted() @ rest
        rigs.key(control, frame)
    rigs.select(ob, control.name)
    return ob, control


def test_a_standing_foot_is_moved_over_its_whole_stand_and_the_others_stay() -> None:
    ways = [Vector((0.02 * (min(frame - 10, 0) + max(frame - 25, 0)), 0, 0)) for frame in range(1, 41)]
    ob, control = footed(ways)  # it stands from 10 to 25
    rigs.at_frame(20)
    other = film(ob, "foot.R", np.arange(1.0, 41.0))
    before = film(ob, "foot.L", np.arange(1.0, 41.0))[:, :3, 3]
    rigs.at_frame(20)
    control.location.y += 0.05
    assert bpy.ops.dqik.edit_range(radius=5) == {"FINISHED"}
    after = film(ob, "foot.L", np.arange(1.0, 41.0))[:, :3, 3]
    stand = after[9:25]
    assert np.linalg.norm(stand - stand[0], axis=-1).max() < 1e-3
    assert np.linalg.norm(stand[10] - before[19]) == pytest.approx(0.05, abs=1e-3)
    assert np.abs(after[:4] - before[:4]).max() < 1e-4 and np.abs(after[30:] - before[30:]).max() < 1e-4
    assert np.linalg.norm(film(ob, "foot.R", np.arange(1.0, 41.0))[:, :3, 3] - other[:, :3, 3], axis=-1).max() < 1e-3


def test_a_captured_foot_stands_while_hips_are_moved_and_not_a_bit_changes_beyond_the_radius(tmp_path: Path) -> None:
    ob = clip(tmp_path, range(100, 160))
    rigs.set_up(ob, from_animation=True)
    times, frames = np.arange(1.0, 60.25, 0.25), np.arange(1.0, 60.5)
    feet = ("LeftFoot", "RightFoot")

    def values() -> dict[tuple[str, int], np.ndarray]:
        return {(curve.data_path, curve.array_index): np.array([curve.evaluate(time) for time in times.tolist()])
                for curve in rigs.fcurves(ob)}  # fmt: skip

    stood, before, hips = [film(ob, name, frames) for name in feet], values(), film(ob, "Hips", frames)
    rigs.at_frame(40)
    goals = {goal.bone: goal.subtarget for goal in ob.dqik.goals}
    control = ob.pose.bones[goals["Hips"]]
    lower = control.matrix.copy()
    lower.translation += Vector((0.02, 0.0, -0.05))
    control.matrix = lower
    rigs.select(ob, control.name)
    assert bpy.ops.dqik.edit_range(radius=12) == {"FINISHED"}
    after = values()
    assert after.keys() == before.keys()
    for key, value in after.items():
        outside = np.abs(times - 40.0) >= 12.0 if f'"{control.name}"' in key[0] else np.ones(len(times), dtype=bool)
        assert (value[outside] == before[key][outside]).all(), key
    for name, own in zip(feet, stood, strict=True):
        assert np.linalg.norm(film(ob, name, frames)[:, :3, 3] - own[:, :3, 3], axis=-1).max() < 1e-3
    moved_by = np.linalg.norm(film(ob, "Hips", frames)[:, :3, 3] - hips[:, :3, 3], axis=-1)
    assert moved_by[frames == 40.0] == pytest.approx(np.hypot(0.02, 0.05), abs=1e-3)
    assert moved_by[np.abs(frames - 40.0) >= 12.0].max() < 1e-5


def test_a_foot_that_never_moves_is_changed_within_the_radius_only() -> None:
    """It stands from the first frame to the last one: no step of it would be moved, but the whole shot."""
    ob, control = footed([Vector()] * END)
    frames = np.arange(1.0, END + 1.0)
    before = film(ob, control.name, frames)
    rigs.at_frame(30)
    control.location.y += 0.05
    assert bpy.ops.dqik.edit_range(radius=8) == {"FINISHED"}
    off = np.linalg.norm((film(ob, control.name, frames) - before)[:, :3, 3], axis=-1)
    assert off[29] == pytest.approx(0.05, abs=1e-4)
    assert off[np.abs(frames - 30.0) >= 8.0].max() < 1e-5


def test_a_foot_that_rolls_about_its_ball_is_moved_with_its_whole_stand() -> None:
    """The ball stays where it is from 10 to 30 while the heel rises; all of that is one stand."""
    ways = [Vector((0.0, -0.02 * (min(frame - 10, 0) + max(frame - 30, 0)), 0.0)) for frame in range(1, 46)]
    ob, control = footed(ways, [0.02 * min(max(frame - 15, 0), 15) for frame in range(1, 46)])
    frames = np.arange(1.0, 46.0)
    local = ob.data.bones["foot.L"].matrix_local.inverted() @ BALL

    def balls() -> np.ndarray:
        return film(ob, control.name, frames)[:, :3] @ (*local, 1.0)

    before = balls()
    rigs.at_frame(20)
    control.matrix = Matrix.Translation((0.05, 0.0, 0.0)) @ control.matrix
    assert bpy.ops.dqik.edit_range(radius=5) == {"FINISHED"}
    off = balls() - before
    stand = (frames >= 10.0) & (frames <= 30.0)
    assert off[stand] == pytest.approx(np.tile((0.05, 0.0, 0.0), (21, 1)), abs=1e-3)
    assert np.abs(off[(frames <= 5.0) | (frames >= 35.0)]).max() < 1e-5


@pytest.mark.parametrize("first", [29, 30, 31, 32])
def test_auto_keying_is_noticed_where_quaternions_change_their_sign(first: int) -> None:
    """A turn that Auto Keying has keyed stands out beside keys of the other sign too; what was not moved does not."""
    found = []
    for flipped in (False, True):
        for angle in (0.9, 0.0):
            bone = moved()
            for curve in rigs.fcurves(bone.id_data) if flipped else ():
                if "quaternion" in curve.data_path:
                    for key in curve.keyframe_points:
                        key.co[1] *= -1.0 if key.co[0] >= first else 1.0
                    curve.update()
            rigs.at_frame(30)
            rigs.keyed(bone, 30, rotation_quaternion=Quaternion((1, 0, 0), angle) @ bone.rotation_quaternion)
            if angle:
                assert bpy.ops.dqik.edit_range(radius=10) == {"FINISHED"}
                found.append(film(bone.id_data, "control", np.arange(1.0, END)))
            else:
                rigs.refuses(bpy.ops.dqik.edit_range, "move it first", radius=10)
            bpy.ops.object.mode_set(mode="OBJECT")
    assert rigs.turn(*found) < 0.02


def test_what_was_not_moved_says_what_to_do() -> None:
    bone = moved()
    rigs.at_frame(12)
    rigs.refuses(bpy.ops.dqik.edit_range, "move it first")
    rigs.select(bone.id_data, "control")
    assert [len(curve.keyframe_points) for curve in rigs.fcurves(bone.id_data)] == [END] * 7


def points(ob: bpy.types.Object, channel: str) -> dict[tuple[str, int], list[tuple[float, ...]]]:
    """The keys and handles of the curves of a channel."""
    return {(curve.data_path, curve.array_index): [(*key.co, *key.handle_left, *key.handle_right)
                                                   for key in curve.keyframe_points]
            for curve in rigs.fcurves(ob) if curve.data_path.endswith(channel)}  # fmt: skip


def test_what_only_moved_keeps_its_rotation_to_the_last_bit_with_few_keys_and_some_channels_alone() -> None:
    bone = moved("XYZ", 9)
    ob = bone.id_data
    depth = next(curve for curve in rigs.fcurves(ob) if curve.data_path.endswith("location") and curve.array_index == 2)
    data, action = ob.animation_data, ob.animation_data.action
    owner = action if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbag(data.action_slot)
    owner.fcurves.remove(depth)
    before = points(ob, "rotation_euler")
    rigs.at_frame(30)
    place = bone.location.copy()
    bone.location = place + Vector((0.1, 0.3, 0.0))
    assert bpy.ops.dqik.edit_range(radius=12) == {"FINISHED"}
    assert points(ob, "rotation_euler") == before
    assert (bone.location - place).xy.to_tuple(5) == (0.1, 0.3)
    assert len(points(ob, "location")) == 2


@pytest.mark.parametrize("kind", ["CYCLES", "NOISE", "lock", "tweak"])
def test_what_would_reach_other_frames_is_refused_and_keeps_its_keys(kind: str) -> None:
    bone = moved()
    ob, said = bone.id_data, {"lock": "locked", "tweak": "tweak mode"}.get(kind, "modifiers")
    curves = [curve for curve in rigs.fcurves(ob) if curve.data_path.endswith("location")]
    if kind == "lock":
        curves[0].lock = True
    elif kind != "tweak":
        curves[0].modifiers.new(kind)
    else:
        tweaked(ob, 11)
        assert ob.animation_data.use_tweak_mode
    before = points(ob, "location")
    rigs.at_frame(30)
    bone.location.z += 0.3
    rigs.refuses(bpy.ops.dqik.edit_range, said, radius=10)
    assert points(ob, "location") == before
