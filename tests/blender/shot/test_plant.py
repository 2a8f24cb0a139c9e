# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet and hands that stand where they are over a range of frames."""

from math import cos, radians

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector

BALL, HEEL = Vector((0.1, -0.18, 0.02)), Vector((0.1, 0.063, 0.02))  # of the figure's left foot, on the ground
STANCE = range(10, 31)
PITCH = {10: -20.0, 11: -15.0, 12: -10.0, 13: -5.0, 26: 6.0, 27: 12.0, 28: 18.0, 29: 24.0, 30: 30.0}
FADE = 3


def led(bone: str, live: bool = False) -> tuple[bpy.types.Object, bpy.types.PoseBone]:
    """A figure in Pose Mode, and the control of one of its bones."""
    ob = rigs.pose_mode(rigs.set_up(rigs.figure(), live))
    return ob, rigs.owner_of(ob, bone)


def walker() -> tuple[bpy.types.Object, bpy.types.PoseBone]:
    """A figure whose left foot lands on its heel, slides forward by 2 mm a frame, and leaves over its ball."""
    ob, control = led("foot.L", live=True)
    rest = ob.data.bones["foot.L"].matrix_local
    for frame in range(1, 42):
        swing = min(abs(frame - STANCE[0]), abs(frame - STANCE[-1])) if frame not in STANCE else 0
        way = Vector((0.0, -0.002 * frame - 0.02 * (max(frame - 30, 0) + min(frame - 10, 0)), 0.01 * swing))
        usual = 30.0 if frame > 30 else -20.0 if frame < 10 else 0.0
        turn = Quaternion((1.0, 0.0, 0.0), radians(PITCH.get(frame, usual)))
        pivot = BALL if frame > 20 else HEEL
        matrix = Matrix.Translation(way + pivot) @ turn.to_matrix().to_4x4() @ Matrix.Translation(-pivot) @ rest
        control.matrix = matrix
        rigs.key(control, frame)
    rigs.select(ob, control.name)
    return ob, control


def matrices(ob: bpy.types.Object, bone: str, frames: object) -> dict[float, Matrix]:
    """The world matrices of a bone on some frames."""
    return {frame: rigs.world(ob, bone) for frame in rigs.visited(frames)}


def ways_of(points: Vector, ob: bpy.types.Object, found: dict[float, Matrix]) -> dict[float, Vector]:
    """Where a point of the foot at rest is in these matrices."""
    local = ob.data.bones["foot.L"].matrix_local.inverted() @ points
    return {frame: matrix @ local for frame, matrix in found.items()}


def spread(points: list[Vector]) -> float:
    """The largest distance from the first."""
    return max((point - points[0]).length for point in points)


@pytest.mark.parametrize("lift", [-0.04, 0.05])
def test_a_planted_foot_that_its_leg_does_not_reach_is_said(lift: float, capfd: pytest.CaptureFixture[str]) -> None:
    ob, _ = walker()
    hips, rigs.goal_of(ob, "hips").priority = rigs.owner_of(ob, "hips"), 1
    rigs.key_path(hips, (1, 22, 26, 41), [Vector((0.0, 0.0, height)) for height in (-0.04, -0.04, lift, lift)])
    rigs.at_frame(20)
    capfd.readouterr()
    assert bpy.ops.dqik.plant(frame_start=10, frame_end=30) == {"FINISHED"}
    said = capfd.readouterr().out
    missed = {frame: rigs.goal_of(ob, "foot.L").error for frame in rigs.visited(STANCE)}
    worst = max(missed, key=missed.get)
    assert (f"Not met at frame {worst}: Left Foot" in said) == (missed[worst] > 5e-3) == (lift > 0.0)


def test_a_foot_stands_on_its_heel_its_sole_and_its_ball_in_turn() -> None:
    """By one press on a frame on which it stands: nothing slides, and what is beyond the fade is as before.

    The control stands still, and how the foot rolls is in its number.
    """
    ob, control = walker()
    before, keys = matrices(ob, "foot.L", range(1, 42)), rigs.keys(ob)
    rigs.at_frame(20)
    assert bpy.ops.dqik.plant() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 20
    after = matrices(ob, "foot.L", range(1, 42))
    heel, ball = ways_of(HEEL, ob, after), ways_of(BALL, ob, after)
    assert spread([heel[frame] for frame in range(11, 26)]) < 1e-4
    assert spread([ball[frame] for frame in range(14, 30)]) < 1e-4
    assert spread([after[frame].translation for frame in range(14, 26)]) < 1e-4
    standing = np.array(list(matrices(ob, control.name, STANCE).values()))
    assert np.abs(standing - standing[0]).max() < 1e-5
    turned = [abs(after[frame].to_quaternion().dot(before[frame].to_quaternion())) for frame in STANCE]
    assert min(turned) > cos(radians(2.25))  # it rolls as it did, but for what counts as flat
    span = [frame for frame in range(1, 42) if (after[frame].translation - before[frame].translation).length > 1e-6]
    assert STANCE[0] - FADE <= span[0] and span[-1] <= STANCE[-1] + FADE
    for channel, points in keys.items():
        kept = [point for point in rigs.keys(ob)[channel] if not span[0] - 1 <= point[0] <= span[-1] + 1]
        assert kept == [point for point in points if point in kept] and len(kept) > 10
    ways = np.array([after[frame].translation[:] for frame in range(1, 42)])
    was = np.array([before[frame].translation[:] for frame in range(1, 42)])
    assert np.abs(np.diff(ways, 2, axis=0)).max() < np.abs(np.diff(was, 2, axis=0)).max() + 0.01


def test_a_foot_that_has_rolled_on_the_present_frame_stands_flat_where_it_was_flat() -> None:
    """In a blocked step the foot rolls from one key to the next; planted anywhere between, it rolls about its ball."""
    ob = blocked_step()
    flat = matrices(ob, "foot.L", (1,))[1]
    rigs.at_frame(7)
    assert bpy.ops.dqik.plant() == {"FINISHED"}
    after = matrices(ob, "foot.L", range(1, 14))
    balls, heels = ways_of(BALL, ob, after), ways_of(HEEL, ob, after)
    assert spread(list(balls.values())) < 1e-4
    assert spread([flat.translation, after[1].translation]) < 1e-5
    assert heels[13].z > 0.09  # it has rolled by nearly 28 degrees


def blocked_step() -> bpy.types.Object:
    """A figure whose left foot is flat at frame 1, and has its heel up at frame 13."""
    ob, control = led("foot.L", live=True)
    rest = ob.data.bones["foot.L"].matrix_local
    for frame, pitch in ((1, 0.0), (13, 28.0)):
        turn = Matrix.Rotation(radians(pitch), 4, "X")
        control.matrix = Matrix.Translation(BALL) @ turn @ Matrix.Translation(-BALL) @ rest
        rigs.key(control, frame)
    bpy.context.scene.frame_end = 13
    rigs.select(ob, control.name)
    return ob


def test_a_foot_that_moves_is_planted_over_a_given_range_only() -> None:
    ob, control = walker()
    rigs.at_frame(4)
    rigs.refuses(bpy.ops.dqik.plant, "moves on this frame")
    assert bpy.ops.dqik.plant(frame_start=3, frame_end=5, roll=False) == {"FINISHED"}
    after = matrices(ob, control.name, (3, 3.5, 4, 5))
    assert spread([matrix.translation for matrix in after.values()]) < 1e-6


def test_a_foot_that_stands_to_the_end_of_the_scene_is_planted_to_its_end() -> None:
    ob, control = walker()
    bpy.context.scene.frame_end = 22
    rigs.at_frame(20)
    assert bpy.ops.dqik.plant() == {"FINISHED"}
    after = matrices(ob, control.name, range(14, 23))
    assert spread([matrix.translation for matrix in after.values()]) < 1e-5


def test_few_keys_stay_few() -> None:
    """A control with a key before and one after gets four more, and does not move between the middle two."""
    ob, control = led("hand.L")
    rigs.key_path(control, (1, 20, 40), [(0, 0, 0), (0.2, 0.1, 0), (0.3, 0, 0.2)])
    rigs.select(ob, control.name, at=15)
    there = matrices(ob, control.name, (15,))[15]
    rigs.at_frame(15)
    assert bpy.ops.dqik.plant(frame_start=10, frame_end=25) == {"FINISHED"}
    times = {point[0] for points in rigs.keys(ob).values() for point in points}
    assert times == {1, 7, 10, 25, 28, 40}
    held = matrices(ob, control.name, (10, 12.5, 18, 24.75, 25))
    assert max((matrix.translation - there.translation).length for matrix in held.values()) < 1e-6


def test_a_foot_that_is_held_still_in_the_air_is_not_planted() -> None:
    """It stops on its way for some frames, as high as a knee; on the ground it stands before and after."""
    ob, control = led("foot.L")
    rest = control.matrix.copy()
    for frame, height in ((1, 0.0), (8, 0.0), (14, 0.3), (24, 0.3), (30, 0.0), (40, 0.0)):
        control.matrix = Matrix.Translation((0.0, -0.01 * height, height)) @ rest
        control.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 40
    rigs.select(ob, control.name)
    keys = rigs.keys(ob)
    rigs.at_frame(19)
    rigs.refuses(bpy.ops.dqik.plant, "moves on this frame")
    assert rigs.keys(ob) == keys


def test_a_curve_that_goes_straight_on_behind_its_last_key_goes_on_so() -> None:
    """Its last two keys are around the range, and behind them it goes on by the line from the one to the other."""
    ob, control = led("hand.L")
    rigs.key_path(control, (1, 20, 40), [(0, 0, 0), (0.1, 0.1, 0), (0.3, 0, 0.2)])
    for curve in rigs.fcurves(ob):
        curve.extrapolation = "LINEAR"
        curve.keyframe_points[-1].interpolation = "LINEAR"
        curve.update()
    outside = [*range(-5, 26), *range(35, 61)]
    before = matrices(ob, control.name, outside)
    rigs.select(ob, control.name, at=30)
    assert bpy.ops.dqik.plant(frame_start=28, frame_end=32, fade=2) == {"FINISHED"}
    after = matrices(ob, control.name, outside)
    assert max((after[frame].translation - before[frame].translation).length for frame in outside) < 1e-5


def test_the_targets_of_an_armature_that_moves_stand_in_the_world() -> None:
    """Empties, chosen in Object Mode; the armature object is scaled and walks away from them."""
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    target = rigs.goal_of(ob, "foot.R").target
    ob.scale = (2, 2, 2)
    rigs.key_path(ob, (1, 40), [(0, 0, 0), (0, -1.5, 0)])
    rigs.key_path(target, (1, 40), [target.location, target.location])
    target.parent = ob
    rigs.at_frame(10)
    rigs.made_active(target)
    assert bpy.ops.dqik.plant(frame_start=8, frame_end=14) == {"FINISHED"}
    places = [rigs.place(target).copy() for _ in rigs.visited(range(8, 15))]
    assert spread(places) < 1e-5


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("how", ["parented", "attached"])
def test_a_control_that_a_platform_carries_stands_in_the_world(how: str, turns: bool) -> None:
    """The figure is parented to a platform that travels, or turns too, or its foot's control is attached to that."""
    ob, platform = rigs.figure(), rigs.empty((0, 0, 0), "Platform")
    rigs.made_active(ob)
    bpy.ops.dqik.setup_full_body()
    ob.parent = platform if how == "parented" else None
    bpy.ops.object.mode_set(mode="POSE")
    control = ob.pose.bones[next(goal.subtarget for goal in ob.dqik.goals if goal.bone == "foot.L")]
    rigs.key_path(control, (1, 40), [(0, 0, 0), (0, 0, 0)])
    rigs.select(ob, control.name, at=1)
    if how == "attached":
        assert bpy.ops.dqik.attach(object="Platform") == {"FINISHED"}
    rigs.key_path(platform, (1, 40), [(0, 0, 0), (0, -1.5, 0)])
    if turns:
        about = [Quaternion((0.0, 0.0, 1.0), radians(angle)) for angle in (0.0, 90.0)]
        rigs.key_path(platform, (1, 40), about, "rotation_quaternion")
    rigs.at_frame(10)
    there = matrices(ob, control.name, (10,))[10]
    rigs.at_frame(10)
    assert bpy.ops.dqik.plant(frame_start=8, frame_end=14, roll=False) == {"FINISHED"}
    held = matrices(ob, control.name, range(8, 15))
    assert max((matrix.translation - there.translation).length for matrix in held.values()) < 1e-5


def test_a_press_without_a_control_says_what_to_select() -> None:
    ob = rigs.set_up(rigs.figure(), False)
    rigs.select(ob, "spine")
    rigs.refuses(bpy.ops.dqik.plant, "controls of the feet or hands")


@pytest.mark.parametrize("interpolation", ["BEZIER", "SINE", "LINEAR"])
@pytest.mark.parametrize("handles", ["AUTO_CLAMPED", "AUTO", "FREE"])
def test_few_keys_stay_as_they_are_outside_of_the_range_and_its_fade(handles: str, interpolation: str) -> None:
    """On frames and between them; its rotation, which is keyed at other frames, too."""
    ob, control = led("foot.L")
    rigs.key_path(control, (1, 15, 40, 60), [(0, 0, 0), (0, 0.1, 0.1), (0, -0.2, 0), (0.1, 0.3, 0.2)])
    about = [Quaternion((1.0, 0.2, 0.0), radians(angle)) for angle in (10.0, -25.0, 30.0)]
    rigs.key_path(control, (3, 33, 50), about, "rotation_quaternion")
    for curve in rigs.fcurves(ob):
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = handles
            point.interpolation = interpolation
        curve.update()
    outside = [*np.arange(-3.0, 14.01, 0.25), *np.arange(26.0, 65.0, 0.25)]
    before = matrices(ob, control.name, outside)
    rigs.select(ob, control.name, at=20)
    assert bpy.ops.dqik.plant(frame_start=16, frame_end=24, fade=2) == {"FINISHED"}
    after = matrices(ob, control.name, outside)
    assert max(np.abs(np.array(after[frame]) - np.array(before[frame])).max() for frame in outside) < 1e-5
    held = matrices(ob, control.name, np.arange(16.0, 24.01, 0.25))
    assert spread([matrix.translation for matrix in held.values()]) < 1e-5
