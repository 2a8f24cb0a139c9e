# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Follow*: bones follow their targets with a lag, by the law of a proportional controller."""

import math
from collections.abc import Callable, Iterable
from math import radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import filmed_arm, picture
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Vector

LAST = 30


def following(ob: bpy.types.Object, gain: float = 5.0, fps: float = 24.0) -> bpy.types.Object:
    """The armature live, following with a gain at a frame rate."""
    render = bpy.context.scene.render
    render.fps, render.fps_base = math.ceil(fps), math.ceil(fps) / fps
    ob.dqik.start_from, ob.dqik.gain, ob.dqik.live = "FOLLOW", gain, True
    return rigs.made_active(ob)


def cart(places: Iterable[tuple], **settings: float) -> bpy.types.Object:
    """A bone that slides, its head after a target with a place for each frame from 1 on."""
    rigs.new_file()
    ob = rigs.armature([rigs.Bone("cart", (0, 0, 0), (0, 1, 0))])
    ob.pose.bones["cart"].dqik_translate = True
    target, places = rigs.empty((0, 0, 0)), list(places)
    rigs.key_path(target, range(1, len(places) + 1), places)
    rigs.goal(ob, "cart", target, use_tail=False)
    ob.dqik.tolerance = 1e-6
    return following(ob, **settings)


def distances(ob: bpy.types.Object, frames: Iterable[int]) -> list[float]:
    """How far the head of the cart is from its target, as Blender shows them in frames played in order."""
    return [(rigs.head(ob, "cart") - rigs.place(bpy.data.objects["Target"])).length for _ in rigs.visited(frames)]


def moving_arm() -> bpy.types.Object:
    """An arm of three bones, its hand after a target that wanders, out of reach at times."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1.9, 0.3, 0), (2.5, 0.3, 0.2)])
    target = rigs.empty((0, 0, 0))
    rigs.key_path(target, range(1, LAST + 1), [
        Vector((1.2 + 0.9 * sin(0.5 * f), 1.1 * sin(0.3 * f + 1), 0.9 * sin(0.4 * f))) for f in range(1, LAST + 1)
    ])  # fmt: skip
    rigs.goal(ob, "c", target)
    return ob


# -- the law ----------------------------------------------------------------------------------------------------------


@given(st.floats(0.5, 25.0), st.sampled_from([12.0, 24.0, 30.0 / 1.001, 60.0]))
def test_a_distance_is_made_good_at_the_rate_of_the_gain(gain: float, fps: float) -> None:
    """The target moves by 1 from frame 1 to 2 and stands then: `e' = v - k e`, and `e' = -k e` afterwards."""
    ob = cart([(0, 0, 0)] + 11 * [(1, 0, 0)], gain=gain, fps=fps)
    dt = 1.0 / fps
    first = (1.0 - math.exp(-gain * dt)) / (gain * dt)
    expected = [0.0, *(first * math.exp(-gain * dt * count) for count in range(11))]
    np.testing.assert_allclose(distances(ob, range(1, 13)), expected, atol=5e-6)


def test_between_frames_less_time_passes() -> None:
    """Half a frame is half the time, and Time Stretching makes a frame of another length."""
    ob = cart([(0, 0, 0)] + LAST * [(1, 0, 0)], gain=4.0)
    whole = distances(ob, range(1, 11))
    halves = distances(ob, [1, *np.arange(2, 10.5, 0.5)])
    del halves[2::2]  # the law is exact for the still target from frame 2 on
    np.testing.assert_allclose(halves, whole, atol=5e-6)


# -- bake, jumps, edits -----------------------------------------------------------------------------------------------


def keyed_weights(ob: bpy.types.Object) -> None:
    """Its settings, and with them the prepared solve, change on every frame."""
    goal = ob.dqik.goals[0]
    rigs.key_path(goal, (1, LAST), (1.0, 0.2), "position_weight")


def stretched(ob: bpy.types.Object) -> None:
    """A bone grows."""
    rigs.key_path(ob.pose.bones["b"], (1, LAST), [(1.0, size, 1.0) for size in (1.0, 1.4)], "scale")


def keyed_root(ob: bpy.types.Object) -> None:
    """The first bone has keys, and the goal moves the others."""
    ob.dqik.goals[0].chain_length = 2
    rigs.key_path(ob.pose.bones["a"], (1, LAST),
                  [rigs.rotation((0, 1, 1), angle) for angle in (0.0, 90.0)], "rotation_quaternion")  # fmt: skip


def stretched_time(ob: bpy.types.Object) -> None:
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 150


def plain(ob: bpy.types.Object) -> None:
    """Leave all as it is."""


CHANGES = [plain, keyed_weights, stretched, keyed_root, stretched_time]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_bake_is_playback_from_the_first_frame_of_its_range(change: Callable[[bpy.types.Object], None]) -> None:
    """Also of a range that begins in the middle: its first frame goes to the target, as after a jump."""
    ob = moving_arm()
    change(ob)
    following(ob, gain=3.0)
    first = 7
    rigs.at_frame(1)
    seen = rigs.shown(ob, range(first, LAST + 1))
    assert bpy.ops.dqik.bake(frame_start=first, frame_end=LAST) == {"FINISHED"}
    baked = rigs.shown(ob, range(first, LAST + 1))
    assert rigs.turn(seen, baked) < 1e-5
    assert np.abs(seen - baked)[..., :3, 3].max() < 1e-5


def test_a_bake_that_leaves_frames_out_is_refused() -> None:
    """Its frames would not follow each other, and would not lag."""
    ob = following(moving_arm())
    rigs.refuses(bpy.ops.dqik.bake, "bake with Step 1", frame_start=1, frame_end=LAST, step=2)
    assert ob.dqik.live and not rigs.keys(ob)


def test_weights_with_keys_do_not_end_the_lag() -> None:
    """With keys that change nothing else, the poses are nearly those without."""
    ob = moving_arm()
    following(ob, gain=3.0)
    without = rigs.shown(ob, range(1, LAST + 1))
    keyed_weights(ob)
    with_keys = rigs.shown(ob, range(1, LAST + 1))
    at_once = rigs.turn(without[-1], rigs.shown(ob, [1, LAST])[-1])
    assert max(rigs.turn(one, other) for one, other in zip(without, with_keys, strict=True)) < 0.3 * at_once


def test_a_jump_goes_to_the_target_at_once_as_from_the_pose() -> None:
    """The rule of Previous Frame: only the next frame follows."""
    ob = moving_arm()
    ob.dqik.live = True
    afresh = dict(enumerate(rigs.shown(ob, range(1, LAST + 1)), start=1))
    following(ob, gain=2.0)
    lagging = dict(enumerate(rigs.shown(ob, range(1, LAST + 1)), start=1))
    assert min(rigs.turn(afresh[frame], lagging[frame]) for frame in range(5, 20)) > 0.02
    for frame in rigs.visited((12, 5, 9, 8, 20, 18)):
        assert rigs.turn(afresh[frame], rigs.matrices(ob)) < 1e-6


def test_an_edit_between_frames_shows_what_playback_shows() -> None:
    """A target moved while a frame stands still moves the bones as far as this frame would have moved them."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1.9, 0.3, 0)])
    target = rigs.empty((1.5, 0.5, 0))
    rigs.goal(ob, "b", target)
    following(ob, gain=3.0)
    rigs.shown(ob, [1, 2, 3])
    target.location = (1.0, 1.0, 0.5)
    (expected,) = rigs.shown(ob, [4])
    target.location = (1.5, 0.5, 0)
    rigs.shown(ob, [1, 2, 3, 4])
    for place in ((0.3, 0.2, 1.0), (1.0, 1.0, 0.5)):
        target.location = place
        rigs.update()
    assert rigs.turn(rigs.matrices(ob), expected) < 1e-5
    for _ in range(3):
        rigs.update()
        bpy.context.evaluated_depsgraph_get().update()
    assert rigs.turn(rigs.matrices(ob), expected) < 1e-5


def test_undo_leaves_the_lag_as_it_was() -> None:
    """A moved target goes back, and the bones to where playback has brought them; the next frames go on from there."""
    ob = moving_arm()
    following(ob, gain=3.0)
    expected = rigs.shown(ob, range(1, 13))
    rigs.shown(ob, range(1, 10))
    bpy.ops.ed.undo_push(message="played")
    bpy.data.objects["Target"].location = (0.5, 0.5, 0.5)
    assert rigs.turn(rigs.matrices(ob), expected[8]) > 0.01
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    ob = bpy.data.objects["Rig"]
    assert rigs.turn(rigs.matrices(ob), expected[8]) < 1e-5
    assert rigs.turn(expected[9:], rigs.shown(ob, range(10, 13))) < 1e-5


def test_following_begins_where_previous_frame_was() -> None:
    """Switched over between frames, the bones do not jump."""
    ob = moving_arm()
    ob.dqik.start_from, ob.dqik.live = "PREVIOUS", True
    before = rigs.shown(ob, range(1, 11))[-1]
    ob.dqik.start_from, ob.dqik.gain = "FOLLOW", 1e-3
    rigs.at_frame(11)
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-3


def test_a_render_shows_the_target_reached_and_leaves_the_lag_as_it_was(tmp_path: Path) -> None:
    """It depends on its frame alone; what is seen afterwards, and the frames that follow, are as without it."""
    ob = filmed_arm()
    ob.dqik.live = True
    reached = picture(5, str(tmp_path))
    following(ob, gain=1.5)
    expected = rigs.shown(ob, range(1, 9))
    rigs.shown(ob, range(1, 6))
    assert np.abs(picture(5, str(tmp_path)) - reached).max() < 0.02
    assert rigs.turn(rigs.matrices(ob), expected[4]) < 1e-5
    assert rigs.turn(expected[5:], rigs.shown(ob, range(6, 9))) < 1e-5
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=8) == {"FINISHED"}
    assert np.abs(picture(5, str(tmp_path)) - reached).max() > 0.5


def test_a_collection_of_keys_on_all_bones_is_followed_only_without_keep_keyed_poses() -> None:
    """As with Previous Frame, keys on all bones say where each frame starts, unless they are not to be kept."""
    ob = moving_arm()
    for bone in ob.pose.bones:
        for frame in (1, LAST):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    following(ob, gain=2.0)
    rigs.shown(ob, range(1, 9))
    reached = rigs.miss(ob, "c", bpy.data.objects["Target"])
    ob.dqik.hold_keyed = False
    rigs.shown(ob, range(1, 9))
    assert reached < 1e-3 < 0.05 < rigs.miss(ob, "c", bpy.data.objects["Target"])


# -- what is said, and what is stored ---------------------------------------------------------------------------------


def test_a_lag_is_no_miss() -> None:
    """The report and the overlay say that the bones lag, no frame is marked, and once they are there goals are met.

    Renders of what lags are advised against.
    """
    scene, render = rigs.part("rig.overlay.scene"), rigs.part("ui.render")
    ob = cart([(0, 0, 0)] + LAST * [(1, 0, 0)], gain=4.0)
    status, goal = ob.dqik.status, ob.dqik.goals[0]

    def drawn() -> set[str]:
        shown = scene.OverlayParts(limits=False, at_limit=False)
        drawing = scene.draw(scene.read(ob, bpy.context.evaluated_depsgraph_get(), (), shown))
        return {"lag", "miss"} & {*drawing.lines, *(kind for *_, kind in drawing.misses)}

    rigs.at_frame(1)
    assert status.converged and not status.lags and not goal.missed and not drawn()
    rigs.at_frame(2)
    assert status.lags and not status.converged and not goal.missed and drawn() == {"lag"}
    assert "'Rig'" in str(render.unbaked_lag(bpy.context))
    assert status.error == pytest.approx(goal.error) and status.error > 0.5
    ob.dqik.tolerance = 0.1
    distances(ob, range(2, LAST))
    assert status.converged and not status.lags
    ob.dqik.tolerance = 1e-5
    assert bpy.ops.dqik.check_range(frame_start=1, frame_end=8) == {"FINISHED"}
    assert not len(ob.dqik.missed_frames)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=8) == {"FINISHED"}
    assert not len(ob.dqik.missed_frames)
    rigs.at_frame(2)
    assert drawn() == {"miss"} and render.unbaked_lag(bpy.context) is None


def test_a_target_out_of_reach_is_missed_where_the_bones_are_sent_at_once() -> None:
    """On the first frame of playback or of a bake nothing lags."""
    ob = moving_arm()
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location = (9, 0, 0)
    following(ob)
    rigs.at_frame(5)
    assert ob.dqik.goals[0].missed and not ob.dqik.status.lags
    bpy.ops.dqik.bake(frame_start=5, frame_end=9)
    assert [entry.frame for entry in ob.dqik.missed_frames] == [5]


def test_a_figure_follows_calmly() -> None:
    """Hands and feet move and stop: no bone turns by more than 20 degrees a frame, and all goals are met at the end."""
    ob = rigs.figure()
    ends = [end for end in rigs.FIGURE_ENDS if end != "head"]
    for k, end in enumerate(ends):
        start = rigs.tail(ob, end)
        target = rigs.empty(start, f"{end} target")
        away = Vector((0.15 * sin(k), -0.2, 0.1 * (end[-1] == "L")))
        rigs.key_path(target, (1, 2, 60), (start, start + away, start + away))
        rigs.goal(ob, end, target)
    following(ob, gain=6.0)
    poses = rigs.shown(ob, range(1, 61))
    assert max(rigs.turn(before, after) for before, after in zip(poses, poses[1:], strict=False)) < radians(20.0)
    assert ob.dqik.status.converged
    assert max(rigs.miss(ob, end, bpy.data.objects[f"{end} target"]) for end in ends) < 2e-3


def test_an_armature_that_carries_the_cart_is_lagged_behind_too() -> None:
    """The armature object moves on and the target stands: the same distances as with a target that moves away."""
    ob = cart([(0, 0, 0)] * 12, gain=4.0)
    rigs.key_path(ob, range(1, 13), [(-0.05 * frame, 0, 0) for frame in range(12)])
    time = np.arange(12) / 24.0
    expected = 0.05 * 24.0 / 4.0 * (1.0 - np.exp(-4.0 * time))
    np.testing.assert_allclose(distances(ob, range(1, 13)), expected, atol=1e-5)
