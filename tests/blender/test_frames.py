# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame depends on that frame only: whichever way it is reached, in the viewport and in renders."""

import itertools
import random
from collections.abc import Callable, Sequence
from math import radians, sin

import bpy
import numpy as np
import pytest
import rigs
from films import filmed_arm, picture
from mathutils import Vector

FRAMES = range(1, 17)
KEYS = ("none", "some", "all", "in part")
MIDDLES = [((0.8, -0.2, 1.4), 0.3), ((-0.5, -0.3, 1.3), 0.1), ((0, -0.1, 1.76), 0.03), ((0.15, -0.2, 0.15), 0.1),
           ((-0.15, -0.2, 0.15), 0.1)]  # fmt: skip


def moving_figure(keyed: str = "none") -> bpy.types.Object:
    """The figure with five goals whose targets wander, the left hand's out of its reach at times; its bones without
    keys, some or all with keys."""
    ob = rigs.figure()
    for k, end in enumerate(rigs.FIGURE_ENDS):
        target = rigs.empty((0, 0, 0), f"{end} target")
        middle, wide = MIDDLES[k]
        rigs.key_path(
            target,
            FRAMES,
            [Vector(middle) + wide * Vector((sin(0.5 * f + k), sin(0.3 * f), sin(0.7 * f + 2 * k))) for f in FRAMES],
        )
        target.rotation_quaternion = ob.pose.bones[end].matrix.to_quaternion()
        rigs.goal(ob, end, target, use_rotation=end == "hand.R")
    names = {"some": ("spine", "arm.L", "shin.R"), "all": [bone.name for bone in ob.pose.bones]}.get(keyed, ())
    if keyed == "in part":
        key_in_part(ob)
    for k, name in enumerate(names):
        bone = ob.pose.bones[name]
        for frame in (1, 6, 12, 16):
            bone.rotation_quaternion = rigs.rotation((1, k, 2), 8.0 * sin(frame + k))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return ob


def key_in_part(ob: bpy.types.Object) -> None:
    """Keys that leave some of a bone's channels to us: of one axis, of the location, of another mode, and muted."""
    bones = ob.pose.bones
    for name in ("arm.L", "shin.R", "spine"):
        bones[name].rotation_mode = "XYZ"
    bones["spine"].rotation_euler = (0.1, 0.2, 0.0)
    for frame in (1, 9, 16):
        bones["spine"].rotation_euler[0] = 0.02 * frame
        bones["spine"].keyframe_insert("rotation_euler", index=0, frame=frame)
        bones["chest"].location = (0.0, 0.0, 0.002 * frame)
        bones["chest"].keyframe_insert("location", frame=frame)
        bones["arm.L"].rotation_quaternion = rigs.rotation((0, 0, 1), 5.0 * frame)
        bones["arm.L"].keyframe_insert("rotation_quaternion", frame=frame)
        bones["shin.R"].rotation_euler = (0.03 * frame, 0.0, 0.1)
        bones["shin.R"].keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.fcurves(ob):
        curve.mute = "shin.R" in curve.data_path


def walk(ob: bpy.types.Object, frames: Sequence[float]) -> dict[float, np.ndarray]:
    """The evaluated pose at each frame of a way through time."""
    seen = {}
    for frame in frames:
        rigs.at_frame(frame)
        seen[frame] = rigs.matrices(ob)
    return seen


WAYS: dict[str, Callable[[], list[float]]] = {
    "backwards": lambda: list(reversed(FRAMES)),
    "at random": lambda: random.Random(3).sample(list(FRAMES), len(FRAMES)) * 2,
    "with sub-frames": lambda: [frame + part for frame in FRAMES for part in (0.0, -0.25, 0.25, 0.0)],
    "in jumps": lambda: [1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10, 8, 9],
}


@pytest.mark.parametrize("keyed", KEYS)
def test_a_frame_is_the_same_whichever_way_it_is_reached(keyed: str) -> None:
    """Forwards, backwards, at random, in jumps and by way of sub-frames every bone stands the same within 1e-6 rad."""
    ob = moving_figure(keyed)
    ob.dqik.live = True
    forwards = walk(ob, FRAMES)
    assert rigs.turn(forwards[1], forwards[8]) > 0.05  # it moves
    for name, way in WAYS.items():
        other = walk(ob, way())
        for frame in FRAMES:
            assert rigs.turn(forwards[frame], other[frame]) < 1e-6, f"{name}, frame {frame}"
            assert np.abs(forwards[frame][:, :3, 3] - other[frame][:, :3, 3]).max() < 2e-6, f"{name}, frame {frame}"


def test_previous_starts_afresh_on_every_jump() -> None:
    """With start_from PREVIOUS, a frame reached by a jump is the one that POSE gives."""
    ob = moving_figure()
    ob.dqik.live = True
    afresh = walk(ob, FRAMES)
    ob.dqik.start_from = "PREVIOUS"
    walk(ob, FRAMES)
    for frame in (12, 5, 9, 2):
        rigs.at_frame(frame)
        assert rigs.turn(afresh[frame], rigs.matrices(ob)) < 1e-6


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
@pytest.mark.parametrize("far", [(3.0, -1.0, 1.5), (1.3, 0.0, 1.5)])
def test_a_still_target_out_of_reach_leaves_the_pose_still(far: tuple, start_from: str) -> None:
    """Over 200 frames no bone turns by more than 1e-3 rad a frame after the third."""
    ob = rigs.figure()
    for end in rigs.FIGURE_ENDS:
        rigs.goal(ob, end, rigs.empty(rigs.tail(ob, end), end))
    bpy.data.objects["hand.L"].location = far
    ob.dqik.start_from, ob.dqik.live = start_from, True
    poses = []
    for frame in range(1, 201):
        rigs.at_frame(frame)
        poses.append(rigs.matrices(ob))
    assert max(rigs.turn(before, after) for before, after in itertools.pairwise(poses[3:])) < 1e-3
    assert rigs.turn(poses[3], poses[-1]) < 2e-3


@pytest.mark.parametrize("far", [1.0, 40.0], ids=["within reach", "out of reach"])
def test_previous_frame_goes_on_after_frames_on_which_nothing_moves(far: float) -> None:
    """It shows what a bake of the same frames writes, stands still while the target does, and follows it then."""
    ob = rigs.figure()
    target = rigs.empty((0, 0, 0), "hand")
    places = [Vector((0.45 + 0.02 * step, -0.3, 1.3)) * far for step in (0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4)]
    rigs.key_path(target, range(1, len(places) + 1), places)
    rigs.goal(ob, "hand.L", target)
    ob.dqik.start_from, ob.dqik.live = "PREVIOUS", True
    shown = []
    for frame in range(1, len(places) + 1):
        rigs.at_frame(frame)
        shown.append(rigs.channels(ob))
    assert not (shown[7] - shown[8]).any() and not (shown[11] - shown[12]).any()
    assert np.abs(shown[9] - shown[8]).max() > 1e-4
    assert far > 1.0 or rigs.miss(ob, "hand.L", target) < 1e-3
    bpy.ops.dqik.bake(frame_start=1, frame_end=len(places))
    for frame, before in enumerate(shown, start=1):
        rigs.at_frame(frame)
        np.testing.assert_allclose(rigs.channels(ob), before, atol=2e-6)


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_playing_forward_follows_the_targets(start_from: str) -> None:
    """In playback the hand that is within reach is at its target on every frame, within 1e-3 of the rig's size."""
    ob = moving_figure()
    ob.dqik.start_from, ob.dqik.live = start_from, True
    for frame in FRAMES:
        rigs.at_frame(frame)
        assert rigs.miss(ob, "hand.R", bpy.data.objects["hand.R target"]) < 1e-3 * 1.8


# -- renders ----------------------------------------------------------------------------------------------------------


def bake_ball(ob: bpy.types.Object) -> None:
    """Replace live solving by keys of what the viewport showed, set bone by bone: what the renders must look like."""
    shown = {}
    for step in range(4, 4 * 8 + 1):
        rigs.at_frame(step / 4)
        shown[step / 4] = [rigs.local_rotation(ob, bone.name) for bone in ob.pose.bones]
    ob.dqik.live = False
    for frame, turns in shown.items():
        for bone, q in zip(ob.pose.bones, turns, strict=True):
            bone.rotation_quaternion = q
            bone.keyframe_insert("rotation_quaternion", frame=frame)


@pytest.mark.parametrize("motion_blur", [False, True])
@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_a_render_shows_what_the_viewport_solved(motion_blur: bool, start_from: str, tmp_path) -> None:
    """Frames rendered out of order, with and without motion blur, are the pictures of the poses that the viewport
    showed."""
    ob = filmed_arm()
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = motion_blur, 0.5
    ob.dqik.start_from, ob.dqik.live = start_from, True
    order = (5, 3, 7)
    pictures = {frame: picture(frame, str(tmp_path)) for frame in order}
    ob.dqik.start_from = "POSE"
    bake_ball(ob)
    for frame in order:
        expected = picture(frame, str(tmp_path))
        assert expected.max() > 0.5  # the ball is in it
        assert np.abs(expected - pictures[frame]).max() < 0.02
    assert np.abs(pictures[5] - pictures[7]).max() > 0.5


def test_a_render_leaves_the_pose_as_it_was(tmp_path) -> None:
    """After rendering an animation the viewport is at its frame again, with the pose that it had."""
    ob = filmed_arm()
    scene = bpy.context.scene
    ob.dqik.live = True
    rigs.at_frame(3)
    before = rigs.matrices(ob)
    scene.frame_start, scene.frame_end = 4, 6
    scene.render.filepath = f"{tmp_path}/####"
    scene.render.use_motion_blur = True
    bpy.ops.render.render(animation=True)
    assert scene.frame_current == 3
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-6
    ob.dqik.live = False
    rigs.update()
    for bone in ob.pose.bones:
        assert rigs.local_rotation(ob, bone.name).angle < 1e-6
    assert radians(1.0) < rigs.turn(before, rigs.matrices(ob))
