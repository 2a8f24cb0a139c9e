# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget on other bodies: the way back, figures that turn over, animals, and objects that move or are scaled."""

from math import pi, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector
from test_retarget import FRAMES, HEIGHT, LEG, apart, assert_alike, film, retarget, walker, with_other_legs


@pytest.mark.parametrize("thighs", [0.5, 1.5])
def test_the_way_back_leads_back(thighs: float) -> None:
    """Also from legs of other proportions, which are turned and bent otherwise."""
    source, ob = walker(), rigs.figure("Other")
    with_other_legs(ob, thighs)
    before = film(source)
    retarget(source, ob)
    retarget(ob, source)
    place, angle = apart(before, film(source))
    assert place < 2e-3 * HEIGHT and angle < 0.5


def test_hips_stay_on_their_way_while_a_figure_turns_over() -> None:
    """While legs are level, or above the hips, they do not tell how high hips are."""
    source, ob = rigs.figure("Roller"), rigs.figure("Other")
    with_other_legs(ob, 1.5, 0.7)
    for side, bend in (("L", 0.5), ("R", 0.3)):
        rigs.posed(source.pose.bones[f"thigh.{side}"], Quaternion((1, 0, 0), -bend))
        rigs.posed(source.pose.bones[f"shin.{side}"], Quaternion((1, 0, 0), 2.0 * bend))
    for frame in FRAMES:
        turn = Matrix.Rotation(2.0 * pi * (frame - 1) / (len(FRAMES) - 1), 4, "X")
        rest = source.data.bones["hips"].matrix_local
        source.pose.bones["hips"].matrix = (Matrix.Translation((0, 0, 1.2)) @ turn
                                            @ Matrix.Translation(-rest.translation) @ rest)  # fmt: skip
        rigs.key(source.pose.bones["hips"], frame)
    retarget(source, ob, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    ways = []
    for one, leg in ((source, LEG), (ob, 0.6)):
        shown = film(one)
        ways.append(0.5 * (shown["thigh.L"][:, 2, 3] + shown["thigh.R"][:, 2, 3]) / leg)
    assert np.abs(np.diff(ways[1] - ways[0])).max() < 0.15


@pytest.mark.parametrize(("swing", "sway", "knee", "prone"),
                         [(0.5, 0.3, 0.75, True), (0.0, 0.0, 0.0, True), (1.0, 1.2, 0.6, False)],
                         ids=["crawl", "straight legs that lie", "kick over the head"])  # fmt: skip
def test_knees_bend_alike_whatever_the_length_of_feet(swing: float, sway: float, knee: float, prone: bool) -> None:
    """Feet go on from shins that lie or swing: a long one whose ball is where the source's is would bend the knee."""
    source, ob = rigs.figure("Source"), rigs.figure("Long Feet")
    with rigs.edit_mode(ob) as bones:
        for foot in (bones["foot.L"], bones["foot.R"]):
            foot.tail = foot.head + Vector((0.0, -0.35, foot.tail.z - foot.head.z))
    rest = source.data.bones["hips"].matrix_local
    for frame in FRAMES:
        for side, more in (("L", sway * sin(0.2 * frame)), ("R", -sway * sin(0.2 * frame) if prone else -swing)):
            for part, angle in (("thigh", -swing - more), ("shin", knee + prone * more), ("foot", 1.0 * prone)):
                rigs.posed(source.pose.bones[f"{part}.{side}"], Quaternion((1, 0, 0), angle))
                rigs.key(source.pose.bones[f"{part}.{side}"], frame)
        if prone:
            lies = Matrix.Translation((0, -0.01 * frame, 0.3)) @ Matrix.Rotation(0.5 * pi, 4, "X")
            source.pose.bones["hips"].matrix = lies @ Matrix.Translation(-rest.translation) @ rest
        rigs.key(source.pose.bones["hips"], frame)
    retarget(source, ob, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    bends = []
    for one in (source, ob):
        shown = film(one)
        lines = np.diff([shown[f"{part}.L"][:, :3, 3] for part in ("thigh", "shin", "foot")], axis=0)
        lines /= np.linalg.norm(lines, axis=-1, keepdims=True)
        bends.append(np.degrees(np.arccos(np.clip((lines[0] * lines[1]).sum(-1), -1.0, 1.0))))
    assert np.abs(bends[1] - bends[0]).max() < 7.0


def animal(name: str, scale: float, long: float) -> bpy.types.Object:
    """A four-legged figure that looks along -Y, with a trunk of some length."""
    bones = [
        rigs.Bone("hips", (0, 0, 0.6), (0, -0.1, 0.6)),
        rigs.Bone("spine", (0, -0.1, 0.6), (0, -0.1 - 0.5 * long, 0.6), "hips"),
        rigs.Bone("chest", (0, -0.1 - 0.5 * long, 0.6), (0, -0.1 - long, 0.6), "spine"),
        rigs.Bone("neck", (0, -0.1 - long, 0.6), (0, -0.2 - long, 0.75), "chest"),
        rigs.Bone("head", (0, -0.2 - long, 0.75), (0, -0.35 - long, 0.72), "neck"),
        rigs.Bone("tail", (0, 0.05, 0.6), (0, 0.3, 0.55), "hips"),
    ]
    for side, x in (("L", 0.08), ("R", -0.08)):
        y = -0.1 - 0.9 * long
        bones += [
            rigs.Bone(f"thigh.{side}", (x, 0, 0.58), (x, -0.1, 0.38), "hips"),
            rigs.Bone(f"shin.{side}", (x, -0.1, 0.38), (x, 0.08, 0.18), f"thigh.{side}"),
            rigs.Bone(f"foot.{side}", (x, 0.08, 0.18), (x, 0.04, 0.03), f"shin.{side}"),
            rigs.Bone(f"toe.{side}", (x, 0.04, 0.03), (x, -0.04, 0.0), f"foot.{side}"),
            rigs.Bone(f"shoulder.{side}", (x, y, 0.6), (x, y - 0.05, 0.5), "chest"),
            rigs.Bone(f"front_thigh.{side}", (x, y - 0.05, 0.5), (x, y + 0.04, 0.34), f"shoulder.{side}"),
            rigs.Bone(f"front_shin.{side}", (x, y + 0.04, 0.34), (x, y, 0.12), f"front_thigh.{side}"),
            rigs.Bone(f"front_foot.{side}", (x, y, 0.12), (x, y - 0.02, 0.02), f"front_shin.{side}"),
            rigs.Bone(f"front_toe.{side}", (x, y - 0.02, 0.02), (x, y - 0.08, 0.0), f"front_foot.{side}"),
        ]
    ob = rigs.armature(bones, name)
    ob.scale = (scale,) * 3
    rigs.update()
    return ob


def sway(ob: bpy.types.Object) -> None:
    """Let a four-legged figure sway and turn its head on four feet that stand, by Blender's IK."""
    for side in "LR":
        for lower, foot in (("shin", "foot"), ("front_shin", "front_foot")):
            ob.data.bones[f"{foot}.{side}"].use_inherit_rotation = False
            target = rigs.empty(ob.matrix_world @ ob.data.bones[f"{foot}.{side}"].head_local, f"{foot}.{side}")
            rigs.blender_ik(ob, f"{lower}.{side}", target, chain_count=2)
    for frame in FRAMES:
        hips, neck = ob.pose.bones["hips"], ob.pose.bones["neck"]
        hips.location = (0.02 * sin(0.5 * frame), 0.03 * sin(0.3 * frame), -0.05 + 0.02 * sin(0.4 * frame))
        rigs.posed(neck, Quaternion((0, 0, 1), 0.4 * sin(0.3 * frame)))
        hips.keyframe_insert("location", frame=frame)
        neck.keyframe_insert("rotation_quaternion", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]


@pytest.mark.parametrize("neck", [0.15, 1.5])
def test_animals_stand_on_four_feet(neck: float) -> None:
    """Also one whose head is far above its trunk."""
    source, ob = animal("Wolf", 1.0, 0.5), animal("Horse", 2.0, 0.7)
    with rigs.edit_mode(ob) as bones:
        bones["neck"].tail.z = bones["head"].head.z = bones["head"].tail.z = 0.6 + neck
    sway(source)
    retarget(source, ob)
    shown = film(ob)
    for toes in ("toe", "front_toe"):
        for side in "LR":
            assert np.ptp(shown[f"{toes}.{side}"][:, :3, 3], axis=0).max() < 2e-3
    assert np.ptp(shown["hips"][:, 1, 3]) > 0.08, "it sways"
    across, ahead = shown["head"][:, :3, 1], np.array([0.0, -1.0, 0.0])
    assert (across @ ahead > 0.3).all(), "it looks ahead"


def test_a_paw_of_one_toe_takes_the_same_toe_of_several_on_both_sides() -> None:
    source, ob = animal("Wolf", 1.0, 0.5), animal("Horse", 2.0, 0.7)
    with rigs.edit_mode(source) as bones:
        for side, x in (("L", 0.03), ("R", -0.03)):
            for number in (1, 2) if side == "L" else (2, 1):
                toe, own = bones.new(f"front_toe{number}.{side}"), bones[f"front_toe.{side}"]
                toe.head, toe.tail, toe.roll, toe.parent = own.head, own.tail, own.roll, own.parent
                toe.head.x += x if number == 1 else -x
                toe.tail.x += x if number == 1 else -x
    sway(source)
    turns = [Quaternion((1, 0, 0), 0.5 * sin(0.3 * frame)) for frame in FRAMES]
    for side in "LR":
        rigs.key_path(source.pose.bones[f"front_toe1.{side}"], FRAMES, turns, "rotation_quaternion")
    retarget(source, ob)
    shown = film(ob)
    moved = []
    for side in "LR":
        paw, toe = (shown[f"{part}.{side}"][:, :3, :3] for part in ("front_foot", "front_toe"))
        turns = np.swapaxes(paw, 1, 2) @ toe
        moved.append(float(np.linalg.norm(turns - turns[0], axis=(1, 2)).max()))
    assert moved[0] == pytest.approx(moved[1], rel=0.05)
    assert moved[0] > 1.0


def test_two_legs_and_four_are_refused_and_so_are_uneven_scales() -> None:
    source, ob = walker(), animal("Wolf", 1.0, 0.5)
    rigs.made_active(ob)
    rigs.refuses(bpy.ops.dqik.retarget, "'Wolf' goes on four legs and 'Walker' on two", source=source.name)
    ob = rigs.figure("Copy")
    for scale in ((1.0, 1.0, 1.3), (-1.0, 1.0, 1.0)):
        ob.scale = scale
        rigs.made_active(ob)
        rigs.update()
        with pytest.raises(RuntimeError, match="'Copy' is mirrored or scaled unevenly: apply its scale"):
            bpy.ops.dqik.retarget(source=source.name)


def test_a_figure_on_a_moving_parent_goes_as_the_source_does() -> None:
    source, ob = walker(), rigs.figure("Copy")
    ob.parent = rigs.empty((0.0, 0.0, 0.0), "Carriage")
    rigs.key_path(ob.parent, (FRAMES[0], FRAMES[-1]), ((0.0, 0.0, 0.0), (2.0, 1.0, 0.0)))
    retarget(source, ob)
    assert_alike(source, ob)


def test_bones_that_scale_the_source_count_as_its_size() -> None:
    source, ob = walker(), rigs.figure("Copy")
    retarget(source, ob)
    before = film(ob)
    hips = source.pose.bones["hips"]
    hips.scale = (0.5,) * 3
    again = rigs.figure("Again")
    retarget(source, again)
    after = film(again)
    steps = [np.diff(shown["foot.R"][:, :3, 3], axis=0) for shown in (before, after)]
    assert np.abs(steps[0] - steps[1]).max() < 0.2 * HEIGHT
    joints = [np.einsum("fji,fjk->fik", shown["thigh.R"][:, :3, :3], shown["shin.R"][:, :3, :3])
              for shown in (before, after)]  # fmt: skip
    assert np.abs(joints[0] - joints[1]).max() < 0.02
