# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame depends on that frame only: whichever way it is reached, in the viewport and in renders."""

import itertools
from math import radians

import bpy
import numpy as np
import pytest
import rigs
from films import filmed_arm, picture
from live_rigs import film, moving_figure
from mathutils import Vector

FRAMES = range(1, 17)

def test_previous_starts_afresh_on_every_jump() -> None:
    """With start_from PREVIOUS, a frame reached by a jump is the one that POSE gives."""
    ob = moving_figure()
    ob.dqik.live = True
    afresh = film(ob, FRAMES)
    ob.dqik.start_from = "PREVIOUS"
    film(ob, FRAMES)
    for frame, pose in film(ob, (12, 5, 9, 2)).items():
        assert rigs.turn(afresh[frame], pose) < 1e-6


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
@pytest.mark.parametrize("far", [(3.0, -1.0, 1.5), (1.3, 0.0, 1.5)])
def test_a_still_target_out_of_reach_leaves_the_pose_still(far: tuple, start_from: str) -> None:
    """Over 60 frames no bone turns by more than 1e-3 rad a frame after the third."""
    ob = rigs.figure()
    for end in rigs.FIGURE_ENDS:
        rigs.goal(ob, end, rigs.empty(rigs.tail(ob, end), end))
    bpy.data.objects["hand.L"].location = far
    ob.dqik.start_from, ob.dqik.live = start_from, True
    poses = []
    for frame in range(1, 61):
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
