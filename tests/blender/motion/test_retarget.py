# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget: what Blender shows of the other body, against the source's motion, worked out from places of joints."""

from itertools import pairwise
from math import degrees, pi, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Matrix, Quaternion, Vector

FRAMES = range(1, 25)
LIMBS = (("arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))
HEIGHT, LEG = 1.8, 0.87


def walker(name: str = "Walker", mode: str = "QUATERNION", scale: float = 1.0) -> bpy.types.Object:
    """A figure that goes forward, one foot standing."""
    ob = rigs.figure(name)
    ob.scale = (scale, scale, scale)
    rigs.rotate_by(ob, mode)
    posed = {"spine": (0.1, 0.1, 0.0), "neck": (0.1, 0.2, 0.1), "arm.L": (0.3, 0.2, -0.9), "arm.R": (0.3, 0.1, 0.8),
             "forearm.L": (0.0, 0.0, 0.7), "forearm.R": (0.0, 0.1, -0.6), "hand.L": (0.2, 0.1, 0.0),
             "thigh.R": (-0.5, 0.0, 0.1), "shin.R": (0.8, 0.0, 0.0), "foot.R": (0.2, 0.1, 0.0)}  # fmt: skip
    keyed = []
    for frame in FRAMES:
        hips = ob.pose.bones["hips"]
        hips.location = (0.02 * sin(0.3 * frame), -0.06 + 0.01 * sin(0.4 * frame), 0.006 * frame)
        for number, (bone, angles) in enumerate(posed.items()):
            rigs.posed(ob.pose.bones[bone], Euler(
                [angle * (0.6 + 0.5 * sin(0.2 * frame + number)) for angle in angles]).to_quaternion())  # fmt: skip
        rigs.posed(hips, Euler((0.03 * sin(0.2 * frame), 0.2 * sin(0.15 * frame), 0.0)).to_quaternion())
        shown = rigs.evaluated(ob)
        matrices = {bone.name: bone.matrix.copy() for bone in shown.pose.bones}
        stand(ob, matrices)
        keyed.append((hips.location.copy(), matrices))
    for frame, (location, matrices) in zip(FRAMES, keyed, strict=True):
        for bone in ob.pose.bones:
            own, above = bone.bone, bone.parent
            kinds = {} if above is None else {"parent_matrix": matrices[above.name],
                                              "parent_matrix_local": above.bone.matrix_local}  # fmt: skip
            basis = own.convert_local_to_pose(matrices[bone.name], own.matrix_local, invert=True, **kinds)
            rigs.posed(bone, basis.to_quaternion(), frame)
        rigs.keyed(ob.pose.bones["hips"], frame, location=location)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    return ob


def assert_alike(source: bpy.types.Object, ob: bpy.types.Object) -> None:
    """Both show the same motion."""
    place, angle = apart(film(source), film(ob))
    assert place < 1e-3 * HEIGHT and angle < 0.5


def stand(ob: bpy.types.Object, matrices: dict[str, Matrix]) -> None:
    """Put the left foot where it rests, with its knee forward, by the sides of the triangle."""
    thigh, shin, foot = (ob.data.bones[f"{part}.L"] for part in ("thigh", "shin", "foot"))
    hip, ankle = matrices["thigh.L"].translation, foot.head_local
    line = ankle - hip
    along = (thigh.length**2 - shin.length**2 + line.length**2) / (2.0 * line.length)
    ahead = (Vector((0, -1, 0)) - line.normalized() * line.normalized().y * -1.0).normalized()
    knee = hip + line.normalized() * along + ahead * (thigh.length**2 - along**2) ** 0.5
    for bone, head, tail in ((thigh, hip, knee), (shin, knee, ankle)):
        turn = bone.matrix_local.col[1].xyz.rotation_difference(tail - head)
        matrices[bone.name] = Matrix.Translation(head) @ (turn.to_matrix() @ bone.matrix_local.to_3x3()).to_4x4()
    matrices["foot.L"] = foot.matrix_local.copy()


def turned(ob: bpy.types.Object, bones: dict[str, Matrix]) -> None:
    """Rest the figure in another pose: each bone and those below it are turned about its head."""
    with rigs.edit_mode(ob) as edited:
        for name, turn in bones.items():
            top = edited[name]
            about = Matrix.Translation(top.head) @ turn.to_4x4() @ Matrix.Translation(-top.head)
            for bone in (top, *top.children_recursive):
                bone.use_connect = False
                bone.matrix = about @ bone.matrix


def with_other_legs(ob: bpy.types.Object, thighs: float, feet: float = 1.5) -> None:
    """Shorten its legs, with thighs of some length in shins, wider hips, and feet of some length in what they had."""
    def way(bone: str, at: Vector) -> tuple[float, float, float]:
        if not bone.startswith(("thigh", "shin", "foot")):
            return at.x, at.y, at.z - 0.23
        heights = (0.02, 0.12, 0.12 + 0.6 / (1.0 + thighs), 0.72)
        return 1.4 * at.x, feet * at.y, np.interp(at.z, (0.02, 0.08, 0.5, 0.95), heights)

    rigs.reshape(ob, way)


def retarget(source: bpy.types.Object, ob: bpy.types.Object, **settings: object) -> None:
    rigs.made_active(ob)
    assert bpy.ops.dqik.retarget(source=source.name, **settings) == {"FINISHED"}


def film(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """World matrices (F, 4, 4) of each bone."""
    found = {bone.name: [] for bone in ob.pose.bones}
    for _ in rigs.visited(FRAMES):
        shown = rigs.evaluated(ob)
        for name, matrices in found.items():
            matrices.append(shown.matrix_world @ shown.pose.bones[name].matrix)
    return {name: np.array(matrices) for name, matrices in found.items()}


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> tuple[float, float]:
    """The largest distance of heads, and the largest angle [degrees] of bones."""
    place = max(np.linalg.norm(one[name][:, :3, 3] - other[name][:, :3, 3], axis=-1).max() for name in one)
    worst = 0.0
    for name in one:
        a, b = (film[name][:, :3, :3] / np.cbrt(np.linalg.det(film[name][:, :3, :3]))[:, None, None]
                for film in (one, other))  # fmt: skip
        worst = max(worst, np.arccos(np.clip((np.einsum("fij,fij->f", a, b) - 1.0) / 2.0, -1.0, 1.0)).max())
    return float(place), degrees(worst)


def limbs_apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest angle [degrees] between the world directions of limbs."""
    worst = 0.0
    for upper, lower in LIMBS:
        for side in "LR":
            a, b = (film[f"{lower}.{side}"][:, :3, 3] - film[f"{upper}.{side}"][:, :3, 3] for film in (one, other))
            cosine = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
            worst = max(worst, float(np.arccos(np.clip(cosine, -1.0, 1.0)).max()))
    return degrees(worst)


@pytest.mark.parametrize(
    ("mode", "other"), [("QUATERNION", "ZXY"), ("XYZ", "AXIS_ANGLE"), ("AXIS_ANGLE", "QUATERNION")]
)
def test_a_copy_moves_as_the_source_does(mode: str, other: str) -> None:
    """In any modes, and also where bones do not inherit rotation."""
    source, ob = walker(mode=mode), rigs.figure("Copy")
    rigs.rotate_by(ob, other)
    for name in ("forearm.L", "hand.R", "head", "thigh.R", "foot.L"):
        ob.data.bones[name].use_inherit_rotation = mode != "XYZ"
    retarget(source, ob)
    assert_alike(source, ob)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_what_goes_round_does_not_spin_between_keys(mode: str) -> None:
    """A head that turns by more than a whole turn: the channels of the other body go on from frame to frame."""
    source, ob = walker(), rigs.figure("Copy")
    head = source.pose.bones["head"]
    turns = [Quaternion((0.0, 1.0, 0.0), 2.5 * pi * (frame - 1) / len(FRAMES)) for frame in FRAMES]
    rigs.key_path(head, FRAMES, turns, "rotation_quaternion")
    rigs.rotate_by(ob, mode)
    retarget(source, ob)
    shown = [np.array(rigs.evaluated(ob).pose.bones["head"].matrix)
             for _ in rigs.visited(np.arange(FRAMES[0], FRAMES[-1] + 0.25, 0.5))]  # fmt: skip
    assert 0.05 < max(rigs.turn(one, other) for one, other in pairwise(shown)) < 0.5


def test_a_body_stands_where_its_object_is_and_keeps_the_worlds_directions() -> None:
    source, ob = walker(scale=0.1), rigs.figure("Lying")
    ob.rotation_euler, ob.location = (0.0, 0.0, 1.0), (3.0, 1.0, 0.2)
    retarget(source, ob)
    before, after = film(source), film(ob)
    assert limbs_apart(before, after) < 0.1
    assert np.allclose(after["foot.L"][:, :3, 3], 10.0 * before["foot.L"][:, :3, 3] + (3.0, 1.0, 0.2), atol=2e-3)


def test_another_rest_pose_and_other_rolls_give_the_same_limbs() -> None:
    source, ob = walker(), rigs.figure("A-pose")
    turned(ob, {"arm.L": Matrix.Rotation(radians(45.0), 3, "Y"), "arm.R": Matrix.Rotation(radians(-45.0), 3, "Y")})
    with rigs.edit_mode(ob) as bones:
        for number, bone in enumerate(bones):
            bone.roll += 0.7 * number
    retarget(source, ob)
    before, after = film(source), film(ob)
    assert limbs_apart(before, after) < 0.2
    again = bpy.data.objects.new("Again", source.data)
    bpy.context.scene.collection.objects.link(again)
    rigs.update()
    retarget(ob, again)
    assert apart(before, film(again))[1] < 0.5


@pytest.mark.parametrize("thighs", [0.6, 1.5])
def test_feet_that_stand_stand_on_another_body(thighs: float) -> None:
    """Other shares of thigh and shin, larger feet and wider hips."""
    source, ob = walker(), rigs.figure("Other")
    with_other_legs(ob, thighs)
    retarget(source, ob)
    before, after = film(source), film(ob)
    assert np.ptp(before["foot.L"][:, :3, 3], axis=0).max() < 2e-3 * LEG, "the foot of the source stands"
    assert np.ptp(after["foot.L"][:, :3, 3], axis=0).max() < 2e-3 * 0.6
    assert abs(after["foot.L"][0, 2, 3] - 0.12) < 2e-3
    for side in "LR":
        hip, knee, ankle = (after[f"{part}.{side}"][:, :3, 3] for part in ("thigh", "shin", "foot"))
        across = after["thigh.L"][:, :3, 3] - after["thigh.R"][:, :3, 3]
        assert ((np.cross(knee - hip, ankle - knee) * across).sum(-1) > -1e-4).all(), "knees bend backward"


def test_a_foot_rolls_about_ball_and_heel_on_another_foot() -> None:
    """Its ball is where the joint of its toes is, however long it is for its leg."""
    source, ob = rigs.figure("Roller"), rigs.figure("Long feet")
    with rigs.edit_mode(ob) as bones:
        for side in "LR":
            long = bones[f"foot.{side}"]
            long.tail.y -= 0.12
            toes = bones.new(f"toes.{side}")
            toes.head, toes.tail, toes.parent = long.tail, long.tail + Vector((0.0, -0.08, 0.0)), long
    foot, low = source.pose.bones["foot.L"], Vector((0.1, -0.18, 0.02))
    for frame in FRAMES:  # the whole figure rises about the ball of its left foot
        turn = Matrix.Rotation(0.02 * (frame - 1), 4, "X")
        source.pose.bones["hips"].matrix = (Matrix.Translation(low) @ turn @ Matrix.Translation(-low)
                                            @ source.data.bones["hips"].matrix_local)  # fmt: skip
        rigs.key(source.pose.bones["hips"], frame)
    retarget(source, ob, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    for one, length in ((source, foot.length), (ob, ob.data.bones["foot.L"].length)):
        ball = film(one)["foot.L"] @ np.array([0.0, length, 0.0, 1.0])
        assert np.ptp(ball[:, :3], axis=0).max() < 2e-3 * LEG


def test_the_pose_of_a_frame_does_not_depend_on_the_range() -> None:
    source, ob = walker(), rigs.figure("Other")
    ob.scale = (0.7, 0.7, 0.7)
    retarget(source, ob)
    whole = film(ob)
    retarget(source, ob, frame_start=9, frame_end=20)
    part = film(ob)
    inside = slice(FRAMES.index(9), FRAMES.index(20) + 1)
    place, angle = apart(*({name: own[inside] for name, own in one.items()} for one in (whole, part)))
    assert place < 1e-5 and angle < 0.05


def test_the_old_action_is_kept_and_live_is_off() -> None:
    source, ob = walker(), walker("Other", scale=1.3)
    old, before = ob.animation_data.action, film(ob)
    keys = [tuple(key.co) for curve in rigs.fcurves(ob) for key in curve.keyframe_points]
    ob.pose.bones["head"].location, ob.pose.bones["head"].scale = (1, 1, 1), (2, 2, 2)
    ob.dqik.live = True
    retarget(source, ob)
    new = ob.animation_data.action
    assert new not in (old, source.animation_data.action) and old.use_fake_user and not ob.dqik.live
    assert tuple(ob.pose.bones["head"].scale) == (1, 1, 1)
    ob.animation_data.action = old
    if hasattr(ob.animation_data, "action_slot"):
        ob.animation_data.action_slot = old.slots[0]
    assert [tuple(key.co) for curve in rigs.fcurves(ob) for key in curve.keyframe_points] == keys
    place, angle = apart(before, film(ob))
    assert place < 1e-6 and angle < 0.05


def test_refusals_say_what_to_do_and_change_nothing() -> None:
    source, ob = walker(), rigs.figure("Copy")
    still, chain = rigs.figure("Still"), rigs.chain([(0, 0, 0), (1, 0, 0), (2, 0, 0)], "Chain")
    rigs.made_active(ob)
    for name, words in (("Copy", "is this armature itself"), ("", "Choose as Source"), ("Nobody", "no object 'Nobody'"),
                        (still.name, "does not move"), (chain.name, "has no hips")):  # fmt: skip
        rigs.refuses(bpy.ops.dqik.retarget, words, source=name)
    rigs.made_active(chain)
    rigs.refuses(bpy.ops.dqik.retarget, "'Chain' has no hips", source=source.name)
    assert all(one.animation_data is None or one.animation_data.action is None for one in (ob, still, chain))
    assert len(bpy.data.actions) == 1


def test_a_root_bone_and_a_longer_spine_move_as_one() -> None:
    """The other figure has a root above its hips, and a spine of one bone more, which bends as much."""
    source, ob = walker(), rigs.with_root(rigs.figure("Rooted"), (0, 0.3, 0))
    rigs.add(ob, rigs.Bone("spine2", (0, 0, 1.35), (0, 0, 1.45), "spine"))
    with rigs.edit_mode(ob) as bones:
        rigs.put(bones["chest"], use_connect=False, parent=bones["spine2"], head=(0, 0, 1.45))
    retarget(source, ob)
    before, after = film(source), film(ob)
    after.pop("root")
    assert limbs_apart(before, after) < 0.1
    assert apart(*({name: one[name] for name in ("hips", "chest", "foot.L")} for one in (before, after)))[1] < 0.5
    assert np.abs(before["foot.L"] - after["foot.L"]).max() < 1e-3 * HEIGHT
