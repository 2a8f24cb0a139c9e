# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: keys that show what live solving showed, and nothing else changed."""

from math import pi, sin

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import moving_arms, sliding_post
from mathutils import Matrix

FRAMES = range(1, 21)
MODES = ("POSE", "PREVIOUS", "FOLLOW", "REST")
SIZE = 4.4


def bake(**settings: object) -> set[str]:
    """Bake all frames, or as said."""
    return bpy.ops.dqik.bake(**{"frame_start": FRAMES[0], "frame_end": FRAMES[-1], **settings})


def unkeyed(ob: bpy.types.Object) -> None:
    """Take all keys away and put all bones to rest."""
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
    rigs.update()


def furthest(before: dict[int, np.ndarray], after: dict[int, np.ndarray]) -> float:
    """The largest turn [rad] of a bone between the same frames, or way of its head in the size of these rigs."""
    ways = [float(np.abs(before[frame] - after[frame])[:, :3, 3].max()) / SIZE for frame in before]
    return max(*ways, *(rigs.turn(before[frame], after[frame]) for frame in before))


# -- bake equals live -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start_from", "live"), [*((mode, True) for mode in MODES), ("POSE", False)])
def test_bake_equals_live_frame_by_frame(start_from: str, live: bool) -> None:
    """Played back, the keys give the poses that live solving gave within 1e-5 rad, whether live was left on or not."""
    ob = moving_arms()
    ob.dqik.start_from, ob.dqik.live = start_from, True
    rigs.at_frame(FRAMES[-1])
    solved = rigs.poses(ob, FRAMES)
    ob.dqik.live = live
    assert bake() == {"FINISHED"}
    assert not ob.dqik.live
    assert furthest(solved, rigs.poses(ob, FRAMES)) < 1e-5
    assert rigs.turn(solved[1], solved[12]) > 0.1


def test_a_frame_that_is_known_amid_frames_that_follow() -> None:
    """Frame 10 has the pose that a bake wrote there, and keeps it; those behind it go on from it, baked and live."""
    ob = moving_arms()
    rigs.live(ob)
    assert bake() == {"FINISHED"}
    rigs.at_frame(10)
    for curve in rigs.fcurves(ob):
        curve.mute = curve.data_path.startswith(f'pose.bones["{ob.dqik.goals[0].bone}"]')
    ob.dqik.start_from, ob.dqik.live = "PREVIOUS", True
    rigs.at_frame(FRAMES[-1])
    solved = rigs.poses(ob, FRAMES)
    assert bake() == {"FINISHED"}
    assert furthest(solved, rigs.poses(ob, FRAMES)) < 1e-5


def test_hips_that_move_are_keyed_in_location() -> None:
    """Only bones that may move get location keys, on every frame."""
    ob = moving_arms()
    sliding_post(ob)
    bake()
    located = {path for path, _ in rigs.keys(ob) if path.endswith("location")}
    assert located == {'pose.bones["post"].location'}
    assert {len(points) for points in rigs.keys(ob).values()} == {len(FRAMES)}


# -- curves -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE"])
def test_curves_have_no_jumps(mode: str) -> None:
    """While a bone turns more than twice round, Euler angles change by less than pi a frame and quaternions never
    change sign."""
    ob = rigs.made_active(rigs.bent_arm())
    rigs.rotate_by(ob, mode)
    target = rigs.empty((0, 0, 0))
    target.rotation_mode = "XYZ"
    for frame in range(1, 62):
        target.location = (1.2, 0.7 * sin(0.1 * frame), 0.3)
        target.rotation_euler = (0.3, 0.25 * frame, 0.1)
        rigs.key(target, frame)
    rigs.goal(ob, "b", target, use_rotation=True, use_position=False, chain_length=1)
    rigs.at_frame(1)
    bake(frame_end=61)
    values = np.array([[value for _, value in points] for points in rigs.keys(ob).values()]).T
    assert values.shape == (61, 3 if "Z" in mode else 4)
    assert np.abs(np.diff(values, axis=0)).max() < (0.5 if mode == "QUATERNION" else pi)
    if mode == "QUATERNION":
        assert ((values[1:] * values[:-1]).sum(-1) > 0.8).all()
    assert np.ptp(values) > {"QUATERNION": 1.0, "AXIS_ANGLE": pi}.get(mode, 4.0 * pi)


def test_the_step_leaves_frames_out() -> None:
    """With step 4 the keys stand on every fourth frame, with the poses that live solving gives there."""
    ob = moving_arms()
    ob.dqik.live = True
    solved = rigs.poses(ob, range(1, 21, 4))
    bake(step=4)
    assert {tuple(frame for frame, _ in points) for points in rigs.keys(ob).values()} == {(1.0, 5.0, 9.0, 13.0, 17.0)}
    assert furthest(solved, rigs.poses(ob, range(1, 21, 4))) < 1e-5


@pytest.mark.parametrize(("options", "first", "last"), [({"frame_start": 5}, 5, 20), ({"frame_end": 8}, 1, 8),
                                                        ({"frame_start": 0, "frame_end": -1}, 1, 20)])  # fmt: skip
def test_an_end_that_is_not_named_is_the_scenes(options: dict[str, int], first: int, last: int) -> None:
    ob = moving_arms()
    bpy.context.scene.frame_end = 20
    assert bpy.ops.dqik.bake(**options) == {"FINISHED"}
    spans = {(points[0][0], points[-1][0]) for points in rigs.keys(ob).values()}
    assert spans == {(float(first), float(last))}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-2, 5e-2])
def test_reduce_keeps_every_baked_frame_within_the_tolerance(tolerance: float) -> None:
    """There are fewer keys, and at every frame each channel is within the tolerance of the solved one."""
    ob = moving_arms()
    sliding_post(ob)
    bake()
    full = rigs.keys(ob)
    unkeyed(ob)
    sliding_post(ob)
    bake(reduce=tolerance)
    curves = {(curve.data_path, curve.array_index): curve for curve in rigs.fcurves(ob)}
    assert curves.keys() == full.keys()
    for channel, points in full.items():
        assert max(abs(curves[channel].evaluate(frame) - value) for frame, value in points) < tolerance * 1.01 + 1e-6
    kept = sum(len(curve.keyframe_points) for curve in curves.values())
    assert kept < (1.0 if tolerance < 2e-3 else 0.85) * sum(len(points) for points in full.values())


def test_only_selected_bones_are_keyed() -> None:
    """Bones that are not selected get no keys and, live being off, stand as they did."""
    ob = moving_arms()
    rest = rigs.matrices(ob)
    rigs.select(ob, *(bone.name for bone in ob.pose.bones if bone.name.endswith(".L")))
    bake(only_selected=True)
    assert {path.split('"')[1] for path, _ in rigs.keys(ob)} == {"upper.L", "lower.L"}
    rigs.at_frame(15)
    names = [bone.name for bone in ob.pose.bones]
    assert rigs.turn(rest[names.index("post")], rigs.matrices(ob)[names.index("post")]) < 1e-6


# -- actions ----------------------------------------------------------------------------------------------------------


def with_action(ob: bpy.types.Object, start: int = -10, end: int = 40) -> bpy.types.Action:
    """Give the armature keys before, in and after the frames that are baked, also of the object itself."""
    for frame in (start, 5, end):
        rigs.keyed(ob.pose.bones["upper.L"], frame, rotation_quaternion=rigs.rotation((0, 0, 1), -0.5 * frame))
        rigs.keyed(ob, frame, location=(0.0, 0.0, 0.001 * frame))
    return ob.animation_data.action


def test_a_new_action_leaves_the_old_one_as_it_was() -> None:
    """NEW keys a copy: the old action has its keys and stays in the file, and keys of other things are in the copy."""
    ob = moving_arms()
    old = with_action(ob)
    before = rigs.keys(ob)
    slot = getattr(ob.animation_data, "action_slot", None)
    assert bake(action="NEW") == {"FINISHED"}
    assert ob.animation_data.action != old
    after = rigs.keys(ob)
    assert after["location", 2] == before["location", 2]
    assert len(after['pose.bones["upper.L"].rotation_quaternion', 0]) == len(FRAMES) + 2
    ob.animation_data.action = old
    if slot is not None:
        ob.animation_data.action_slot = slot
    assert rigs.keys(ob) == before
    assert old.use_fake_user
    rigs.at_frame(3)


def test_the_current_action_keeps_keys_outside_the_range() -> None:
    """CURRENT keys the same action: the frame, and keys around the range, stay; those inside are replaced."""
    ob = moving_arms()
    old = with_action(ob)
    rigs.at_frame(7.25)
    before = rigs.keys(ob)
    assert bake(action="CURRENT") == {"FINISHED"}
    assert bpy.context.scene.frame_current_final == 7.25
    assert ob.animation_data.action == old
    assert len(bpy.data.actions) == 3  # it and those of the two targets
    after = rigs.keys(ob)
    for channel, points in before.items():
        if channel[0] == "location":
            assert after[channel] == points
        else:
            outside = [point for point in points if point[0] not in FRAMES]
            assert [point for point in after[channel] if point[0] not in FRAMES] == outside
            assert [frame for frame, _ in after[channel]] == [-10, *FRAMES, 40]


def test_keys_outside_the_range_keep_their_easing() -> None:
    """Segments before and after the range look as they did."""
    ob = moving_arms()
    with_action(ob)
    bone = ob.pose.bones["upper.L"]
    rigs.key_path(bone, (-10, -3, 25, 40),
                  [rigs.rotation((1, 1, 0), frame) for frame in (-10, -3, 25, 40)], "rotation_quaternion")  # fmt: skip
    curves = [curve for curve in rigs.fcurves(ob) if curve.data_path.startswith('pose.bones["upper.L"].rotation')]
    for point in [point for curve in curves for point in curve.keyframe_points]:
        point.interpolation, point.easing, point.type = "ELASTIC", "EASE_IN", "EXTREME"
        point.amplitude, point.period = 0.5, 6.0
    before = [[curve.evaluate(frame) for frame in (-9, -5.5, 26, 33, 39)] for curve in curves]
    assert bake(action="CURRENT") == {"FINISHED"}
    assert [[curve.evaluate(frame) for frame in (-9, -5.5, 26, 33, 39)] for curve in curves] == before
    outside = [point for curve in curves for point in curve.keyframe_points if point.co.x not in FRAMES]
    assert {point.type for point in outside} == {"EXTREME"}


def test_baking_twice_into_the_current_action_makes_no_second_keys() -> None:
    """The second bake replaces the first one's keys; a part of the range baked again leaves the others as they are."""
    ob = moving_arms()
    bake(action="CURRENT")
    bake(action="CURRENT")
    before = rigs.keys(ob)
    assert {tuple(frame for frame, _ in points) for points in before.values()} == {tuple(FRAMES)}
    bpy.data.objects["Rig L"].animation_data_clear()
    rigs.at_frame(-3.75)
    bake(action="CURRENT", frame_start=8, frame_end=11)
    after = rigs.keys(ob)
    assert bpy.context.scene.frame_current_final == -3.75
    assert after != before
    for channel, points in after.items():
        outside = [point for point in points if not 8 <= point[0] <= 11]
        assert outside == [point for point in before[channel] if not 8 <= point[0] <= 11]
        assert [frame for frame, _ in points] == [*FRAMES]


def test_an_action_with_a_slot_of_another_object_keeps_it() -> None:
    """Where actions have slots, keys of the other object in the same action are not touched."""
    ob = moving_arms()
    other = rigs.empty((0, 0, 0), "Other")
    other.keyframe_insert("location", frame=3)
    shared = other.animation_data.action
    ob.animation_data_create().action = shared
    if bpy.app.version >= (4, 4, 0):
        ob.animation_data.action_slot = None
    before = rigs.keys(other)
    if bpy.app.version < (4, 4, 0):  # without slots both play the whole action, so it is refused
        rigs.refuses(bake, "also moves 'Other'", action="CURRENT")
        assert rigs.keys(other) == before
        return
    assert bake(action="CURRENT") == {"FINISHED"}
    assert ob.animation_data.action == shared
    assert ob.animation_data.action_slot != other.animation_data.action_slot
    assert rigs.keys(other) == before
    solved = rigs.poses(ob, FRAMES)
    assert rigs.turn(solved[1], solved[10]) > 0.1


# -- afterwards -------------------------------------------------------------------------------------------------------


def test_without_a_range_the_scenes_is_baked() -> None:
    """The scene's first and last frame are the first and last keys."""
    ob = moving_arms()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 4, 9
    assert bpy.ops.dqik.bake() == {"FINISHED"}
    assert {tuple(frame for frame, _ in points) for points in rigs.keys(ob).values()} == {(4, 5, 6, 7, 8, 9)}


@pytest.mark.parametrize("clear", [True, False])
def test_goals_are_removed_only_when_asked(clear: bool) -> None:
    """clear_goals removes all goals, not their targets."""
    ob = moving_arms()
    bake(clear_goals=clear)
    assert len(ob.dqik.goals) == (0 if clear else 2)
    assert "Rig L" in bpy.data.objects


def test_a_range_that_ends_before_it_starts_is_an_error() -> None:
    """It is said, with the numbers."""
    moving_arms()
    rigs.refuses(bake, "5.*9", frame_start=9, frame_end=5)
