# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: within the bounds at frames and half frames by Blender's own evaluation, and the old action stays."""

from collections.abc import Sequence
from math import radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from captured import clip
from live_rigs import frames_of
from mathutils import Euler, Quaternion, Vector
from situations import curves_of

FRAMES = range(1, 41)
HALVES = np.arange(1.0, 40.25, 0.5).tolist()
SWAYS = {"spine": 0.1, "chest": 0.15, "head": 0.3, "arm.L": 0.4, "arm.R": 0.4, "forearm.L": 0.5, "forearm.R": 0.5,
         "thigh.L": 0.3, "thigh.R": 0.3, "shin.L": 0.3, "shin.R": 0.3}  # fmt: skip


def dancer(mode: str = "QUATERNION", scale: float = 1.0) -> bpy.types.Object:
    """A figure with a key on every frame of 60, as captured ones have: each bone sways in its own time."""
    ob = rigs.figure()
    ob.scale = (scale, scale, scale)
    rigs.rotate_by(ob, mode)
    for frame in FRAMES:
        hips = ob.pose.bones["hips"]
        rigs.keyed(hips, frame, location=(0.1 * sin(0.1 * frame), 0.05 * sin(0.21 * frame) - 0.1, 0.01 * frame))
        for number, (name, size) in enumerate(SWAYS.items()):
            angles = [size * sin(0.13 * frame + number), 0.3 * size * sin(0.2 * frame), 0.5 * size * sin(0.17 * frame)]
            if name.startswith(("forearm", "shin")):
                angles[2 if name.startswith("f") else 0] += -0.8 if name.endswith("arm.R") else 0.8
            rigs.posed(ob.pose.bones[name], Euler(angles).to_quaternion(), frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def film(ob: bpy.types.Object, frames: Sequence[float] = HALVES) -> np.ndarray:
    """World matrices (F, N, 4, 4) of the body's bones."""
    return frames_of(ob, frames)


def joints_turned(ob: bpy.types.Object, one: np.ndarray, other: np.ndarray) -> float:
    """The largest angle [rad] between the joints of two films, each measured against its parent."""
    bones = [bone for bone in ob.pose.bones if not bone.name.startswith("DQIK")]
    above = [bones.index(bone.parent) if bone.parent in bones else -1 for bone in bones]
    return max(float(rigs.local_turns(*pair, above).max()) for pair in zip(one, other, strict=True))


def way(ob: bpy.types.Object, one: np.ndarray, other: np.ndarray, ends: Sequence[str]) -> float:
    """How far the tails of some bones are from each other in two films, at most."""
    names = [bone.name for bone in ob.pose.bones if not bone.name.startswith("DQIK")]
    worst = 0.0
    for name in ends:
        tail = np.array([0.0, ob.data.bones[name].length, 0.0, 1.0])
        places = [motion[:, names.index(name)] @ tail for motion in (one, other)]
        worst = max(worst, float(np.linalg.norm(places[0] - places[1], axis=-1).max()))
    return worst


def keyed_frames(ob: bpy.types.Object, bone: str) -> list[set[float]]:
    """The frames on which each channel of a bone has keys."""
    return [{key.co[0] for key in curve.keyframe_points} for curve in curves_of(ob, bone)]


def keys_of(ob: bpy.types.Object) -> int:
    return sum(len(curve.keyframe_points) for curve in rigs.fcurves(ob))


@pytest.mark.parametrize(("mode", "scale"), [("QUATERNION", 1.0), ("ZXY", 100.0), ("AXIS_ANGLE", 1.0)])
def test_bones_alone_keep_their_joints_and_their_ends(mode: str, scale: float) -> None:
    ob = dancer(mode, scale)
    old, before, dense = ob.animation_data.action, film(ob), keys_of(ob)
    assert bpy.ops.dqik.unbake(angle=radians(0.5), distance=0.002) == {"FINISHED"}
    after = film(ob)
    assert keys_of(ob) * 4 < dense
    assert joints_turned(ob, before, after) < radians(0.5) + 1e-4
    assert way(ob, before, after, rigs.FIGURE_ENDS) < 0.002 * 1.84 * scale * 1.001
    frames = {frame for points in rigs.keys(ob).values() for frame, _ in points}
    assert ob.animation_data.action != old and old.use_fake_user
    ob.animation_data.action = old
    assert np.abs(film(ob) - before).max() == 0.0
    assert all(frame == round(frame) for frame in frames)


def test_controls_get_few_keys_and_the_solved_body_keeps_its_motion() -> None:
    """Set up from its motion: bones and control bones are reduced together, and what is seen is what counts."""
    ob = dancer()
    rigs.set_up(ob, from_animation=True)
    before, dense = film(ob), keys_of(ob)
    assert bpy.ops.dqik.unbake() == {"FINISHED"}
    assert not any(bone.dqik_hold for bone in ob.pose.bones)  # nothing is taken for posed by hand
    after = film(ob)
    assert keys_of(ob) * 4 < dense
    assert joints_turned(ob, before, after) < radians(0.5) + 1e-4
    ends = [goal.bone for goal in ob.dqik.goals]
    assert way(ob, before, after, ends) < 0.002 * 1.84 * 1.001
    control = rigs.owner_of(ob, "hand.L")
    own, arm = (keyed_frames(ob, name) for name in (control.name, "forearm.L"))
    assert own and max(map(len, own)) <= 20
    assert max(own, key=len) == max(arm, key=len)  # a control is keyed with its limb; what does not move has two keys


def test_a_limb_has_its_keys_on_the_same_frames_or_each_channel_its_own() -> None:
    """Bones of an arm together; of another limb on other frames. Without whole limbs there are fewer keys."""
    found = []
    for whole in (True, False):
        ob = dancer()
        assert bpy.ops.dqik.unbake(whole=whole) == {"FINISHED"}
        found.append({bone: keyed_frames(ob, bone) for bone in ("arm.L", "forearm.L", "shin.R")})
        bpy.ops.object.mode_set(mode="OBJECT")
    together, alone = found
    arm = together["arm.L"] + together["forearm.L"]
    assert all(frames == arm[0] for frames in arm) and len(arm) == 8
    assert together["shin.R"][0] != arm[0]
    assert len(set(map(frozenset, alone["arm.L"]))) > 1
    assert sum(map(len, alone["arm.L"])) < 0.8 * sum(map(len, together["arm.L"]))


def test_an_edit_of_a_key_stays_between_its_neighbours() -> None:
    """A bone that is turned by 30 degrees on one of its frames, and keyed there."""
    ob = dancer()
    assert bpy.ops.dqik.unbake() == {"FINISHED"}
    before = film(ob)
    frames = sorted(keyed_frames(ob, "arm.L")[0])
    middle = len(frames) // 2
    first, at, last = frames[middle - 1 : middle + 2]
    rigs.at_frame(int(at))
    bone = ob.pose.bones["arm.L"]
    rigs.keyed(bone, at, rotation_quaternion=bone.rotation_quaternion @ Quaternion((1.0, 0.0, 0.0), radians(30.0)))
    after, times = film(ob), np.array(HALVES)
    outside = (times <= first) | (times >= last)
    assert joints_turned(ob, before[times == at], after[times == at]) == pytest.approx(radians(30.0), abs=1e-3)
    assert joints_turned(ob, before[outside], after[outside]) < 1e-3


@pytest.mark.parametrize(("whole", "fewer"), [(False, 6), (True, 3)])
def test_captured_figures_get_keys_where_feet_begin_and_end_to_stand(whole: bool, fewer: int, tmp_path: Path) -> None:
    ob = clip(tmp_path, range(100, 160))
    halves = np.arange(1.0, bpy.context.scene.frame_end + 0.25, 0.5).tolist()
    before, dense = film(ob, halves), keys_of(ob)
    assert bpy.ops.dqik.unbake(whole=whole) == {"FINISHED"}
    after = film(ob, halves)
    assert keys_of(ob) * fewer < dense
    assert joints_turned(ob, before, after) < radians(0.5) + 1e-4
    ends = [bone.name for bone in ob.pose.bones if not bone.children]
    span = [bone.tail_local.x for bone in ob.data.bones]  # from hand to hand: its largest side
    assert way(ob, before, after, ends) < 0.002 * (max(span) - min(span)) * 1.001
    row = [bone.name for bone in ob.pose.bones].index("LeftFoot")
    way_of = np.linalg.norm(np.diff(before[::2, row, :3, 3], axis=0), axis=-1)
    lifted = np.flatnonzero(way_of > 0.02)
    whole = np.array(sorted(set.intersection(*keyed_frames(ob, "LeftFoot"))))
    for frame in (lifted[0] + 1, lifted[-1] + 2):
        assert np.abs(whole - frame).min() <= 2.0


def test_other_bones_and_other_frames_keep_their_keys() -> None:
    ob = dancer()
    def points(name: str) -> list[tuple[float, float]]:
        return [tuple(key.co) for curve in curves_of(ob, name) for key in curve.keyframe_points]

    other, own = points("arm.R"), points("arm.L")
    rigs.select(ob, "arm.L")
    assert bpy.ops.dqik.unbake(frame_start=10, frame_end=30, only_selected=True) == {"FINISHED"}
    assert points("arm.R") == other
    assert [one for one in points("arm.L") if not 10 <= one[0] <= 30] == [one for one in own if not 10 <= one[0] <= 30]
    assert len([one for one in points("arm.L") if 10 <= one[0] <= 30]) < 0.4 * 4 * 21


def test_a_long_motion_is_reduced_in_stretches_that_meet_in_one_key() -> None:
    """Its ends, and where stretches meet, stay where they were; bounds hold there too."""
    ob, count = rigs.figure(), 320
    bone = ob.pose.bones["arm.L"]
    bone.rotation_mode = "XYZ"
    for frame in range(1, count + 1):
        bone.rotation_euler = (0.5 * sin(0.2 * frame), 0.2 * sin(0.31 * frame), 0.4 * sin(0.13 * frame))
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, count
    bpy.ops.object.mode_set(mode="POSE")
    curves = list(rigs.fcurves(ob))
    times = np.arange(1.0, count + 0.25, 0.5)
    before = np.array([[curve.evaluate(time) for time in times] for curve in curves])
    assert bpy.ops.dqik.unbake() == {"FINISHED"}
    curves = list(rigs.fcurves(ob))
    after = np.array([[curve.evaluate(time) for time in times] for curve in curves])
    assert keys_of(ob) * 5 < 3 * count
    turned = [[Euler(angles).to_quaternion() for angles in motion.T] for motion in (before, after)]
    off = [one.rotation_difference(other).angle for one, other in zip(*turned, strict=True)]
    assert radians(0.2) < max(off) < radians(0.5) + 1e-4
    assert after[:, [0, -1]] == pytest.approx(before[:, [0, -1]], abs=1e-6)
    frames = [[round(key.co[0]) for key in curve.keyframe_points] for curve in curves]
    assert all(len(set(own)) == len(own) for own in frames)
    same = np.abs(after - before).max(0)[::2] < 1e-6
    assert same[100:220].any()  # at a frame in the middle, which all channels have a key on
    assert set.intersection(*map(set, frames)) & set((np.flatnonzero(same) + 1).tolist()) - {1, count}


def test_a_target_object_gets_few_keys_too() -> None:
    ob = dancer()
    bpy.ops.object.mode_set(mode="OBJECT")
    empty = rigs.empty((0, 0, 0), "Aim")
    rigs.goal(ob, "hand.L", empty)
    for frame in FRAMES:
        rigs.keyed(empty, frame, location=Vector((0.5 + 0.1 * sin(0.1 * frame), -0.2 + 0.05 * sin(0.15 * frame), 1.2)))
    ob.dqik.live = True
    before = film(ob)
    assert bpy.ops.dqik.unbake() == {"FINISHED"}
    assert max(len(curve.keyframe_points) for curve in rigs.fcurves(empty)) < 20
    assert way(ob, before, film(ob), ["hand.L"]) < 0.002 * 1.84 * 1.001


def live_body(keys: Sequence[float], interpolation: str = "BEZIER") -> bpy.types.Object:
    """A body whose controls alone are keyed, live."""
    ob = rigs.set_up(rigs.figure(), False)
    for goal in ob.dqik.goals:
        control = ob.pose.bones[goal.subtarget]
        for frame in keys:
            control.location = (-0.1 if goal.bone == "hand.L" else 0.0, 0.1 * sin(0.2 * frame), -0.05 - 0.002 * frame)
            control.keyframe_insert("location", frame=frame)
    rigs.interpolate(ob, interpolation)
    ob.dqik.live = True
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def test_a_live_body_whose_only_goal_moves_nothing_gets_few_keys_too() -> None:
    """Such as one whose target is the bone that it moves."""
    ob = dancer()
    rigs.goal(ob, "hand.L", ob, subtarget="hand.L")
    ob.dqik.live = True
    before = film(ob, FRAMES)
    assert bpy.ops.dqik.unbake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
    assert joints_turned(ob, before, film(ob, FRAMES)) < radians(0.6)


@pytest.mark.parametrize(("words", "keys", "interpolation", "size"), [
    ("'Figure' has no size at this frame: scale it up", range(1, 41), "BEZIER", 0.0),
    ("dense keys", range(1, 41, 8), "CONSTANT", 1.0), ("Nothing of 'Figure' has dense keys", (1,), "BEZIER", 1.0),
])  # fmt: skip
def test_what_cannot_have_fewer_keys_is_refused(words: str, keys: Sequence, interpolation: str, size: float) -> None:
    """A share of no size is no bound; steps would need many keys with handles; a few keys are no motion."""
    ob = live_body(keys, interpolation)
    ob.scale = (size,) * 3
    rigs.update()
    action, before = ob.animation_data.action, rigs.keys(ob)
    rigs.refuses(bpy.ops.dqik.unbake, words, frame_start=1, frame_end=40)
    assert ob.animation_data.action == action and len(bpy.data.actions) == 1
    assert rigs.keys(ob) == before


@pytest.mark.parametrize(("flips", "interpolation", "first", "last"), [
    ((20,), "BEZIER", 10, 30), ((12, 13, 27), "BEZIER", FRAMES[0], FRAMES[-1]), ((5, 15, 20, 25, 35), "LINEAR", 10, 30),
])  # fmt: skip
def test_quaternions_of_either_sign_are_one_rotation(flips: tuple, interpolation: str, first: int, last: int) -> None:
    """Where keys change their sign, a bone spins between them; afterwards it does not, and spins nowhere else."""
    ob = dancer()
    rigs.interpolate(ob, interpolation)
    clean, dense = film(ob), keys_of(ob)
    for curve in rigs.fcurves(ob):
        if curve.data_path == 'pose.bones["arm.L"].rotation_quaternion':
            for key in curve.keyframe_points:
                key.co[1] *= (-1.0) ** sum(key.co[0] >= frame for frame in flips)
            curve.update()
    spun, old = film(ob), ob.animation_data.action
    assert bpy.ops.dqik.unbake(frame_start=first, frame_end=last) == {"FINISHED"}
    inside = (np.array(HALVES) >= first) & (np.array(HALVES) <= last)
    after = film(ob)
    assert joints_turned(ob, clean[inside], after[inside]) < radians(0.6)
    if inside.all():
        assert keys_of(ob) * 4 < dense
    else:
        assert joints_turned(ob, spun[~inside], after[~inside]) < radians(0.3)
    ob.animation_data.action = old
    assert np.abs(film(ob) - spun).max() == 0.0


@pytest.mark.parametrize("until", [22.0, 40.0])
def test_a_bone_that_spins_over_several_frames_goes_on_spinning(until: float) -> None:
    """Between keys of opposite signs that are three frames apart, frames show the way round: it is the motion.

    So it is where the sign changes again on the next frame, which nobody sees.
    """
    ob = dancer()
    for curve in rigs.fcurves(ob):
        if curve.data_path == 'pose.bones["arm.L"].rotation_quaternion':
            for key in [key for key in curve.keyframe_points if key.co[0] in (20.0, 21.0)][::-1]:
                curve.keyframe_points.remove(key)
            for key in curve.keyframe_points:
                key.co[1] *= -1.0 if 21.0 < key.co[0] <= until else 1.0
            curve.update()
    spun, seen = film(ob), np.array(HALVES) != until + 0.5
    assert bpy.ops.dqik.unbake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
    assert joints_turned(ob, spun[seen], film(ob)[seen]) < radians(0.6)


def test_few_keys_beside_the_range_keep_their_ways() -> None:
    """The range has dense keys; before and behind it the curves go a long way from key to key."""
    ob = dancer()
    for curve in rigs.fcurves(ob):
        for key in [key for key in curve.keyframe_points if key.co[0] not in (1.0, 40.0, *range(11, 30))][::-1]:
            curve.keyframe_points.remove(key)
        curve.update()
    times = [1.0, 4.0, 6.5, 9.0, 31.0, 34.5, 38.0, 40.0]
    before = film(ob, times)
    assert bpy.ops.dqik.unbake(frame_start=11, frame_end=29) == {"FINISHED"}
    assert np.abs(film(ob, times) - before).max() < 1e-4


@pytest.mark.parametrize("keyed", ["hand.L", "hand.R"])
def test_a_goal_whose_mute_is_keyed_takes_part(keyed: str) -> None:
    """Not all frames have the goals of the present one, at which the bones are chosen whose ways are kept."""
    ob = dancer()
    for name in ("hand.L", "hand.R"):
        rigs.goal(ob, name, rigs.empty(rigs.head(ob, name), f"Target {name}"))
    rigs.key_path(rigs.goal_of(ob, keyed), (FRAMES[0], 20, FRAMES[-1]), (True, False, True), "mute")
    rigs.live(ob, at=FRAMES[-1])
    assert bpy.ops.dqik.unbake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
