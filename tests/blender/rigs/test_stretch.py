# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that stretch: limbs reach further than they are long, by as much as is allowed, and as softly."""

from itertools import pairwise
from math import cos, pi, radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Matrix, Vector
from situations import forget, reopened

FRAMES = range(1, 41)
MISS = 2e-4  # of a reach of 2


def stretchy_arm(most: float, bend: float = 30.0, **bone_settings: object) -> bpy.types.Object:
    """The arm of two bones of length 1, both of which may lengthen by `most`, and their children free of scale."""
    ob = rigs.arm(radians(bend))
    for bone in ob.pose.bones:
        bone.bone.inherit_scale = "NONE"
        rigs.put(bone, dqik_stretch=most, **bone_settings)
    return ob


def lengths(ob: bpy.types.Object) -> np.ndarray:
    """The lengths that Blender shows the bones with."""
    shown = rigs.evaluated(ob)
    return np.array([(bone.tail - bone.head).length for bone in shown.pose.bones])


def elbow(ob: bpy.types.Object) -> float:
    """The angle [degrees] between the two bones as Blender shows them."""
    shown = rigs.evaluated(ob)
    a, b = ((bone.tail - bone.head).normalized() for bone in shown.pose.bones)
    return float(np.degrees(2.0 * np.arctan2((a - b).length, (a + b).length)))


def led_out(ob: bpy.types.Object, first: float, last: float, **goal_settings: object) -> bpy.types.Object:
    """A target that goes along X from one distance to another over the frames."""
    target = rigs.empty((first, 0, 0))
    rigs.key_path(target, FRAMES, [(x, 0.0, 0.0) for x in np.linspace(first, last, len(FRAMES))])
    rigs.interpolate(target, "LINEAR")
    rigs.reach(ob, "b", target, **goal_settings)
    return target


def test_a_scale_that_is_keyed_while_live_is_on_is_shown_at_once() -> None:
    """The bone has stretched and does not stretch any more, but its key says that it is as long."""
    ob = stretchy_arm(0.2)
    target = rigs.empty((2.3, 0, 0))
    rigs.reach(ob, "b", target)
    rigs.update()
    before = lengths(ob)
    assert before[0] > 1.1
    ob.pose.bones["a"].keyframe_insert("scale", frame=1)
    rigs.update()
    np.testing.assert_allclose(lengths(ob), before, atol=1e-4)
    assert rigs.miss(ob, "b", target) < MISS


def test_nothing_stretches_where_the_limb_can_bend() -> None:
    """Up to 0.96 of its reach the limb has its own lengths exactly, and the pose that it has without Stretch."""
    ob = stretchy_arm(0.0)
    target = rigs.empty((1.5, 0.3, 0))
    rigs.reach(ob, "b", target)
    for x in (0.4, 1.0, 1.5, 1.8):
        shown = []
        for most in (0.0, 0.2):
            for bone in ob.pose.bones:
                bone.dqik_stretch = most
            target.location.x = x
            rigs.update()
            shown.append(rigs.matrices(ob))
            assert all(tuple(bone.scale) == (1.0, 1.0, 1.0) for bone in ob.pose.bones)
        np.testing.assert_array_equal(*shown)


def test_an_elbow_neither_snaps_nor_pops_near_full_reach() -> None:
    """Led out by steps of 0.01 the elbow turns no further in a step than the law of cosines asks at the onset."""
    ob, turns = stretchy_arm(0.2), []
    target = rigs.empty((1.7, 0, 0))
    rigs.reach(ob, "b", target)
    for x in np.arange(1.7, 2.45, 0.01):
        target.location.x = x
        rigs.update()
        turns.append(elbow(ob))
    steps = -np.diff(turns)
    most = np.degrees(0.01 / sin(radians(15.0)))  # d(bend) / d(distance) = 1 / sin(bend / 2) where bones are 1 long
    assert steps.max() < 1.05 * most
    assert steps.min() > -0.05
    assert np.abs(np.diff(steps)).max() < 0.5  # a bend by half a degree is 1e-5 of the reach, less than the tolerance


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
@pytest.mark.parametrize("body", [False, True])
def test_no_joint_jumps_while_a_limb_is_led_out_and_back(start_from: str, body: bool) -> None:
    """On an even way from 0.9 to 1.3 of an arm's reach and back, which swings aside for the arm alone."""
    frames, steps = range(1, 112), np.linspace(0.0, 2.0 * pi, 111).tolist()
    ob = rigs.figure() if body else stretchy_arm(0.3, 22.0)
    if body:
        for name in ("arm.L", "forearm.L"):
            ob.pose.bones[name].dqik_stretch = 0.3
            for below in ob.data.bones[name].children:
                below.inherit_scale = "NONE"
        rigs.set_up(ob)
        target, root = rigs.owner_of(ob, "hand.L"), rigs.head(ob, "arm.L")
        reach = sum(ob.data.bones[name].length for name in ("arm.L", "forearm.L"))
        rest, way, aside = ob.data.bones[target.name].matrix_local, rigs.head(ob, "hand.L") - root, Vector()
    else:
        target, root, reach, rest = rigs.empty((1.8, 0, 0)), Vector(), 2.0, Matrix()
        way, aside = Vector((0.85, -0.45, 0.25)), Vector((0.05, 0.25, -0.15))
        rigs.reach(ob, "b", target)
    ways = [(way.normalized() + aside * sin(0.5 * step)).normalized() for step in steps]
    places = [root + (1.1 - 0.2 * cos(step)) * reach * along for step, along in zip(steps, ways, strict=True)]
    rigs.key_path(target, frames, [rest.to_3x3().inverted() @ (place - rest.translation) for place in places])
    ob.dqik.start_from = start_from
    shown = rigs.shown(ob, frames)
    turns = [rigs.local_turns(*pair, rigs.parents(ob)).max() for pair in pairwise(shown)]
    assert np.linalg.norm(shown[:, :, :3, 1], axis=-1).max() > 1.03
    assert np.degrees(max(turns)) < 5.0


def test_a_bake_of_a_whole_shot_shows_what_live_showed() -> None:
    """Frame by frame, scales included."""
    ob = stretchy_arm(0.2, dqik_keep_volume=True)
    ob.dqik.start_from = "SHOT"
    led_out(ob, 1.6, 2.5)
    assert bpy.ops.dqik.solve_shot() == {"FINISHED"}
    rigs.at_frame(FRAMES[-1])
    live = rigs.shown(ob, FRAMES)
    assert bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
    np.testing.assert_allclose(rigs.shown(ob, FRAMES), live, atol=2e-5)
    assert np.linalg.norm(live[:, :, :3, 1], axis=-1).max() > 1.19


def test_a_jump_shows_what_the_frame_shows_by_itself() -> None:
    """With *Previous Frame* too: a frame that follows no other is that of *Pose*, the length of its bones included."""
    ob = rigs.chain([(0, 0, 0), (0.0, 0.2, 0.5), (0.0, 0.5, 1.2), (0.3, 0.5, 1.5), (0.6, 0.4, 1.8)])
    rigs.put(ob.pose.bones["a"], dqik_stretch=1.0, dqik_shortest=1.0)
    ob.data.bones["b"].inherit_scale = "NONE"
    target = rigs.empty((-1.5, -1.3, 1.5))
    rigs.key_path(target, (1, 20), [(-1.5, -1.3, 1.5), (0.1, -0.2, -0.7)])
    rigs.reach(ob, "c", target, use_rotation=False)
    shown = {}
    for start_from in ("POSE", "PREVIOUS"):
        ob.dqik.start_from = start_from
        shown[start_from] = rigs.shown(ob, (20, 1, 14, 7))
    np.testing.assert_allclose(shown["PREVIOUS"], shown["POSE"], atol=1e-6)


def test_live_off_puts_lengths_back(tmp_path: Path) -> None:
    """Channels are as they were before Live, also after a file was saved, which shows the same, and opened."""
    ob = stretchy_arm(0.2)
    target = rigs.empty((2.2, 0, 0))
    before = [tuple(bone.scale) for bone in ob.pose.bones]
    rigs.reach(ob, "b", target)
    assert lengths(ob).min() > 1.05
    rigs.live(ob, False)
    assert [tuple(bone.scale) for bone in ob.pose.bones] == before
    rigs.live(ob)
    ob.dqik.goals[0].mute = True
    rigs.update()
    assert [tuple(bone.scale) for bone in ob.pose.bones] == before
    ob.dqik.goals[0].mute = False
    rigs.update()
    for bone in ob.pose.bones:
        bone.dqik_stretch = 0.0
    rigs.update()
    assert [tuple(bone.scale) for bone in ob.pose.bones] == before
    for bone in ob.pose.bones:
        bone.dqik_stretch = 0.2
    rigs.update()
    shown = rigs.matrices(ob)
    reopened(tmp_path / "stretched.blend")
    ob = bpy.data.objects["Rig"]
    rigs.update()
    np.testing.assert_allclose(rigs.matrices(ob), shown, atol=1e-6)
    rigs.live(ob, False)
    np.testing.assert_allclose([bone.scale for bone in ob.pose.bones], before, atol=1e-6)


def test_a_child_that_would_be_sheared_is_named() -> None:
    """The bone keeps its length, in a new session too, and the panel says why."""
    ob = stretchy_arm(0.2)
    ob.data.bones["b"].inherit_scale = "FULL"
    ob.pose.bones["a"].scale = (0.9, 0.9, 0.9)
    rigs.reach(ob, "b", rigs.empty((2.5, 0, 0)))
    for _ in range(2):
        np.testing.assert_allclose(lengths(ob), [0.9, 0.9 * 1.2], atol=1e-5)
        assert "'b'" in ob.dqik.status.message
        forget()
        rigs.at_frame(2)


def test_an_animated_scale_stays() -> None:
    """Keys of a bone's scale are the animator's: solves and Live off leave them as they are, in a new session too."""
    ob = stretchy_arm(0.2)
    ob.pose.bones["a"].scale.y = 1.5
    ob.pose.bones["a"].keyframe_insert("scale", frame=1)
    target = rigs.empty((2.6, 0, 0))
    rigs.reach(ob, "b", target)
    assert abs(lengths(ob)[0] - 1.5) < 1e-5
    assert rigs.miss(ob, "b", target) < MISS
    for act in (lambda: rigs.at_frame(1), lambda: rigs.live(ob, False)):
        forget()
        act()
        assert abs(lengths(ob)[0] - 1.5) < 1e-5


@settings(max_examples=25, deadline=None)
@given(most=st.lists(st.floats(0.0, 2.0), min_size=2, max_size=2), x=st.floats(0.2, 5.0), angle=st.floats(-3.0, 3.0))
def test_any_limits_of_stretch_hold(most: list[float], x: float, angle: float) -> None:
    """No bone is longer than it may be or shorter than at rest; what can be reached is; else it is straight."""
    rigs.new_file()
    ob = stretchy_arm(0.0)
    for bone, own in zip(ob.pose.bones, most, strict=True):
        bone.dqik_stretch = own
    target = rigs.empty((x * cos(angle), x * sin(angle), 0.0))
    rigs.reach(ob, "b", target)
    found = lengths(ob)
    assert (found >= 1.0 - 1e-5).all()
    assert (found <= 1.0 + np.array(most) + 1e-4).all()
    assert x < 2.0 + sum(most) or elbow(ob) < 0.5
    reach = 2.0 + sum(most)
    assert abs(rigs.miss(ob, "b", target) - max(x - reach, 0.0)) < 1e-3 * reach


def test_blenders_ik_stretch_is_taken_over() -> None:
    """The limb reaches what it reached with Blender's IK, and what hangs on its bones keeps its size."""
    ob, target = rigs.made_active(rigs.arm(radians(30.0))), rigs.empty((3.0, 0.4, 0))
    for bone in ob.pose.bones:
        bone.ik_stretch = 0.1
    rigs.blender_ik(ob, "b", target, chain_count=2)
    assert bpy.ops.dqik.goals_from_constraints() == {"FINISHED"}
    assert ob.data.bones["b"].inherit_scale == "NONE"
    rigs.live(ob)
    assert rigs.miss(ob, "b", target) < MISS


def test_the_panel_mends_what_would_be_sheared() -> None:
    """Its button lets the children of bones that stretch keep their size, and no others."""
    ob = rigs.made_active(rigs.chain([(0, 0, 0), (1, 0, 0), (1.9, -0.4, 0), (2.3, -0.4, 0)]))
    ob.pose.bones["a"].dqik_stretch = 0.2
    target = rigs.empty((2.35, 0, 0))
    rigs.reach(ob, "b", target)
    assert lengths(ob)[0] < 1.0 + 1e-5
    assert bpy.ops.dqik.mend(kind="INHERIT_SCALE") == {"FINISHED"}
    assert [bone.inherit_scale for bone in ob.data.bones] == ["FULL", "NONE", "FULL"]
    rigs.update()
    assert lengths(ob)[0] > 1.1
    np.testing.assert_allclose(lengths(ob)[1:], [np.hypot(0.9, 0.4), 0.4], atol=1e-5)


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_a_body_stretches_only_the_limb_that_must(start_from: str) -> None:
    """A hand led away from a figure stays at its control and as large as it is, and other limbs keep their lengths."""
    ob = rigs.figure()
    for bone in ob.pose.bones:
        if bone.name.startswith(("arm", "forearm", "thigh", "shin")):
            bone.dqik_stretch = 0.25
            for below in bone.children:
                below.bone.inherit_scale = "NONE"
    rigs.set_up(ob)
    ob.dqik.start_from = start_from
    hand, control = ob.pose.bones["hand.L"], rigs.owner_of(ob, "hand.L")
    away = ob.data.bones[control.name].matrix_local.to_3x3().inverted()
    for share in np.linspace(0.0, 1.0, 9).tolist():
        control.location = away @ (share * Vector((0.12, -0.05, 0.08)))
        rigs.update()
        assert (rigs.head(ob, "hand.L") - rigs.world(ob, control.name).translation).length < 2e-4 * 1.8
    assert ob.pose.bones["arm.L"].scale.y > 1.1
    assert ob.pose.bones["arm.R"].scale.y < 1.03
    assert abs(rigs.world(ob, hand.name).to_scale().y - 1.0) < 1e-5


def folding_arm(shortest: float) -> bpy.types.Object:
    """The arm bent by 60 degrees at rest, whose elbow turns by 30 more or less, and whose bones may shorten."""
    ob = stretchy_arm(0.0, 60.0, dqik_shortest=shortest)
    turn = radians(30.0)
    rigs.put(ob.pose.bones["b"], dqik_use_limits=True, dqik_twist_min=0.0, dqik_twist_max=0.0, dqik_swing_x_min=-turn,
             dqik_swing_x_max=turn, dqik_swing_z_min=-turn, dqik_swing_z_max=turn)
    return ob


@pytest.mark.parametrize("shortest", [0.5, 0.9, 1.0])
def test_a_limb_comes_as_near_as_its_bones_may_shorten(shortest: float) -> None:
    """Bent by 90 degrees it is as short as the diagonal of a square: beyond that its bones shorten, and not before."""
    ob, nearest = folding_arm(shortest), 2.0**0.5
    target = rigs.empty((1.8, 0, 0))
    rigs.reach(ob, "b", target)
    for x in (1.8, 1.43, 0.98 * nearest, (shortest + 0.01) * nearest, 0.4 * nearest):
        target.location.x = x
        rigs.update()
        wanted = np.clip(x / nearest, shortest, 1.0)
        np.testing.assert_allclose(lengths(ob), wanted, atol=2e-4)
        assert abs(rigs.miss(ob, "b", target) - max(shortest * nearest - x, 0.0)) < 2 * MISS


@pytest.mark.parametrize(("x", "length"), [(1.9, 1.5), (1.2, 1.2), (0.7, 0.7), (0.2, 0.4)])
def test_a_piston_is_as_long_as_its_target_is_far(x: float, length: float) -> None:
    """A limb of one bone cannot fold at all. It keeps its volume."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0)])
    rigs.put(ob.pose.bones["a"], dqik_shortest=0.4, dqik_stretch=0.5, dqik_keep_volume=True)
    rigs.reach(ob, "a", rigs.empty((x, 0, 0)))
    np.testing.assert_allclose(lengths(ob), length, atol=MISS)
    scale = ob.pose.bones["a"].scale
    assert abs(scale.x * scale.y * scale.z - 1.0) < 1e-5


def test_a_longer_bone_shortens_where_the_shorter_folds_against_it() -> None:
    """Bones of 1 and 0.4 come no nearer than 0.6. Only the one whose end comes nearer by that shortens."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1 + 0.4 * cos(1.0), -0.4 * sin(1.0), 0)])
    ob.data.bones["b"].inherit_scale = "NONE"
    for bone in ob.pose.bones:
        bone.dqik_shortest = 0.5
    target = rigs.empty((0.3, 0, 0))
    rigs.reach(ob, "b", target)
    assert rigs.miss(ob, "b", target) < 2 * MISS
    np.testing.assert_allclose(lengths(ob), [0.7, 0.4], atol=2 * MISS)


def test_lengths_go_on_smoothly_as_a_limb_is_pushed_together() -> None:
    """Led in by steps of 0.01 to less than it can fold: no bone changes faster than the target goes."""
    ob, found = folding_arm(0.4), []
    target = rigs.empty((1.6, 0, 0))
    rigs.reach(ob, "b", target)
    for x in np.arange(1.6, 0.7, -0.01):
        target.location.x = x
        rigs.update()
        found.append([*lengths(ob), rigs.miss(ob, "b", target)])
    found = np.array(found)
    assert np.abs(np.diff(found[:, :2], axis=0)).max() < 1.05 * 0.01 / 2.0**0.5
    assert found[:, 2].max() < 2 * MISS
    assert found[:, :2].min() < 0.55


def test_shortest_and_stretch_are_mirrored_and_keyed() -> None:
    """They go to the other side with the limits, as the other settings do, and each frame's own value counts."""
    ob = rigs.made_active(rigs.figure())
    rigs.put(ob.pose.bones["forearm.L"], dqik_shortest=0.3, dqik_stretch=0.4, dqik_keep_volume=True)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.limits_mirror() == {"FINISHED"}
    other = ob.pose.bones["forearm.R"]
    assert (other.dqik_shortest, other.dqik_stretch) == pytest.approx((0.3, 0.4)) and other.dqik_keep_volume
    ob, target = rigs.chain([(0, 0, 0), (1, 0, 0)], "Piston"), rigs.empty((0, 0, 0))
    rigs.key_path(ob.pose.bones["a"], (1, 11), (1.0, 0.2), "dqik_shortest")
    rigs.key_path(ob.pose.bones["a"], (1, 11), (0.0, 0.5), "dqik_stretch")
    rigs.reach(ob, "a", target)
    for frame, x, length in ((1, 0.3, 1.0), (11, 0.3, 0.3), (1, 0.3, 1.0), (11, 2.0, 1.5), (1, 2.0, 1.0)):
        target.location.x = x
        rigs.at_frame(frame)
        np.testing.assert_allclose(lengths(ob), length, atol=MISS)
