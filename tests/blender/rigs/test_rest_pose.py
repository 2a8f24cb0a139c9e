# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that becomes the rest pose: the motion stays, and a figure whose rest pose was folded up is known again."""

from math import radians

import bpy
import numpy as np
import pytest
import rigs
from conventions import BY_NAME
from mathutils import Euler, Quaternion, Vector
from situations import named, share_action

import build

FRAMES = range(1, 12)
STANDS, FOLDED = 1, 40
SEEN = (*FRAMES, 20, 33, FOLDED)
TALL = 180.0  # the rig is in centimetres
LYING = {"Hips": (90, 0, 0), "LeftUpLeg": (-150, 0, 0), "RightUpLeg": (-150, 0, 0), "LeftLeg": (140, 0, 0),
         "RightLeg": (140, 0, 0), "Spine": (30, 0, 0)}  # fmt: skip


def moving(modes: tuple[str, ...] = rigs.ROTATION_MODES, seed: int = 0, most: float = 0.3) -> bpy.types.Object:
    """A character that stands and moves in `FRAMES`, and lies folded up later; bones turn in several modes.

    most : by which bones turn about their axes [rad].
    """
    ob = rigs.made_active(build.native(BY_NAME["mixamo"]))
    generator = np.random.default_rng(seed)
    for number, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = modes[number % len(modes)]
        bone.bone.use_local_location = number % 3 != 0
        bone.bone.use_inherit_rotation = number % 7 != 5
        for frame in FRAMES:
            turn = Euler(generator.uniform(-most, most, 3)).to_quaternion()
            key(bone, frame, turn, Vector(generator.uniform(-0.02, 0.02, 3) * TALL))
        angles = LYING.get(bone.name.rpartition(":")[2], (0, 0, 0))
        key(bone, FOLDED, Euler([radians(part) for part in angles]).to_quaternion(), Vector((0, 0, 0)))
    return ob


def key(bone: bpy.types.PoseBone, frame: int, turn: Quaternion, place: Vector) -> None:
    rigs.posed(bone, turn)
    bone.location = place
    rigs.key(bone, frame)


def away(matrices: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How far two sets of matrices are from each other; places in heights."""
    return np.abs(matrices - others) / np.array([1.0, 1.0, 1.0, TALL])


@pytest.mark.parametrize("frame", [1, 6, 20, FOLDED])
def test_every_frame_of_the_motion_stays(frame: int) -> None:
    """Whatever rotation modes, unlocal locations and rotations that are not inherited the bones have."""
    ob = moving(seed=frame)
    before = rigs.shown(ob, SEEN)
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.dqik.pose_to_rest() == {"FINISHED"}
    assert bpy.context.object.mode != "EDIT"
    assert np.abs(away(rigs.shown(ob, SEEN), before)).max() < 2e-5
    bpy.context.scene.frame_set(frame)
    for bone in ob.pose.bones:
        assert away(np.array(bone.matrix), np.array(bone.bone.matrix_local)).max() < 1e-5


def limited(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """How all bones with limits are turned (F, 4) from where these count from, in `FRAMES`."""
    limit_frame = rigs.part("rig.blender.limit_frame")
    bones = [bone for bone in ob.pose.bones if bone.dqik_use_limits]
    shown = [[bone.matrix_basis.to_quaternion()[:] for bone in bones] for _ in rigs.visited(FRAMES)]
    zeros = [limit_frame.of(bone).zero for bone in bones]
    return {bone.name: limit_frame.motions(turns, zero, np.array([1.0, 0.0, 0.0, 0.0]))
            for bone, zero, turns in zip(bones, zeros, np.swapaxes(shown, 0, 1), strict=True)}  # fmt: skip


def test_a_figure_folded_at_rest_is_known_after_it() -> None:
    """Set Up says so and the press mends it. Human Limits are about the pose in which it stands, before and after."""
    ob = moving(most=0.05)
    bpy.context.scene.frame_set(FOLDED)
    assert bpy.ops.dqik.pose_to_rest() == {"FINISHED"}
    figures = rigs.part("rig.figure.character").Character
    figure = figures.of(ob).figure
    assert figure.not_human
    assert not figure.folded  # in this frame nothing stands
    bpy.context.scene.frame_set(STANDS)
    assert figures.of(ob).figure.folded
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    before = limited(ob)
    assert bpy.ops.dqik.limits_clear() == {"FINISHED"}
    bpy.context.scene.frame_set(STANDS)
    assert bpy.ops.dqik.pose_to_rest() == {"FINISHED"}
    assert not figures.of(ob).figure.not_human
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    after = limited(ob)
    assert before.keys() == after.keys()
    for name, motions in after.items():
        apart = np.degrees(2.0 * np.arccos(np.clip(np.abs((before[name] * motions).sum(-1)), 0.0, 1.0)))
        assert apart.max() < 15.0, name
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert bpy.ops.dqik.pose_to_rest.poll() is False


def test_a_dog_is_not_taken_for_a_folded_person() -> None:
    figures = rigs.part("rig.figure.character").Character
    for name in ("dog", "bird"):
        if name in BY_NAME:
            assert not figures.of(build.native(BY_NAME[name])).figure.folded


def spoilt(ob: bpy.types.Object) -> None:
    rigs.fcurves(ob)[40].keyframe_points[2].co.y = float("nan")


def resting(ob: bpy.types.Object) -> None:
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        bone.matrix_basis.identity()


@pytest.mark.parametrize("hinder", named(
    spoilt, resting, scaled=lambda ob: rigs.put(ob.pose.bones[3], scale=(1, 2, 1)),
    constrained=lambda ob: rigs.constrain(ob.pose.bones[3], "COPY_ROTATION"),
    limited=lambda ob: rigs.put(ob.pose.bones[3], dqik_use_limits=True),
    skinned=lambda ob: rigs.skin(ob, rigs.mesh()), driven=lambda ob: ob.pose.bones[3].driver_add("location", 0),
    shared=lambda ob: bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", ob.data)),
    played=lambda ob: share_action(ob, rigs.empty((0, 0, 0), "Other")),
    stripped=lambda ob: ob.animation_data.nla_tracks.new().strips.new("Strip", 1, ob.animation_data.action),
))  # fmt: skip
def test_what_would_lose_something_is_refused(hinder) -> None:
    """The sentence names the thing, and nothing changes."""
    rest_pose = rigs.part("rig.controls.rest_pose")
    ob = moving(("QUATERNION",))
    hinder(ob)
    rigs.update()
    rest = np.array([bone.matrix_local for bone in ob.data.bones])
    before = rigs.shown(ob, SEEN)
    assert rest_pose.hindrance(ob)
    assert bpy.ops.dqik.pose_to_rest() == {"CANCELLED"}
    assert (np.array([bone.matrix_local for bone in ob.data.bones]) == rest).all()
    assert np.array_equal(rigs.shown(ob, SEEN), before, equal_nan=True)


def test_keys_between_frames_keep_their_motion() -> None:
    """A bone shows on its own keys what it showed before, also where these lie between two frames."""
    ob = rigs.bent_arm()
    ob.pose.bones["b"].rotation_mode = "QUATERNION"
    times = (1.4, 4.7, 9.3)
    for time, angle in zip(times, (10.0, 80.0, -40.0), strict=True):
        rigs.keyed(ob.pose.bones["b"], time, rotation_quaternion=rigs.rotation((1, 0, 1), angle))
    shown = {time: rigs.matrices(ob) for time in rigs.visited(times)}
    rigs.at_frame(6.2)
    assert bpy.ops.dqik.pose_to_rest() == {"FINISHED"}
    for time, before in shown.items():
        rigs.at_frame(time)
        assert rigs.turn(before, rigs.matrices(ob)) < 1e-4
