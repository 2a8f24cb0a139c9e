# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget keeps touches: hands on another body's mesh, and hands on hands, as far as Blender shows meshes apart."""

from itertools import pairwise
from math import sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector
from test_retarget import retarget

FRAMES = range(1, 13)
HEIGHT = 1.8
NEAR = 0.01 * HEIGHT


def posed(name: str = "Source", frames: range = FRAMES) -> bpy.types.Object:
    """A figure whose left hand lies before its belly, and whose right hand hangs; the trunk sways a little."""
    ob = rigs.figure(name)
    lines = {"arm.L": (0.35, -0.2, -0.9), "forearm.L": (-0.8, -0.55, 0.25), "hand.L": (-1.0, -0.1, 0.0),
             "arm.R": (-0.2, 0.0, -1.0), "forearm.R": (-0.2, -0.1, -1.0), "hand.R": (-0.2, -0.1, -1.0)}  # fmt: skip
    for frame in rigs.visited(frames):
        hips = ob.pose.bones["hips"]
        hips.rotation_mode = "XYZ"
        rigs.keyed(hips, frame, rotation_euler=(0.05 * sin(0.5 * frame), 0.0, 0.0))
        for bone, line in lines.items():
            rigs.update()
            own = ob.pose.bones[bone]
            turn = own.matrix.col[1].xyz.rotation_difference(Vector(line))
            place = Matrix.Translation(own.head)
            own.matrix = place @ turn.to_matrix().to_4x4() @ place.inverted() @ own.matrix
            rigs.update()
            own.rotation_mode = "QUATERNION"
            own.keyframe_insert("rotation_quaternion", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    return ob


def tube(ob: bpy.types.Object, bone: str, start: tuple, end: tuple, radius: float) -> bpy.types.Object:
    """A closed tube that a bone carries."""
    start, end = Vector(start), Vector(end)
    turn, corners = (end - start).to_track_quat("Z", "Y"), []
    for share in np.linspace(0.0, 1.0, 6):
        for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
            around = turn @ Vector((np.cos(angle), np.sin(angle), 0.0))
            corners.append(tuple(start.lerp(end, share) + radius * around))
    sides = [(24 * row + k, 24 * row + (k + 1) % 24, 24 * row + 24 + (k + 1) % 24, 24 * row + 24 + k)
             for row in range(5) for k in range(24)]  # fmt: skip
    body = rigs.mesh(corners, [*sides, tuple(range(23, -1, -1)), tuple(range(120, 144))], "Tube")
    return rigs.skin(ob, rigs.child(body, ob), bone)


def hands(ob: bpy.types.Object) -> None:
    for side, sign in (("L", 1), ("R", -1)):
        tube(ob, f"hand.{side}", (sign * 0.78, 0, 1.45), (sign * 0.9, 0, 1.45), 0.02)


def points(body: bpy.types.Object) -> np.ndarray:
    """The vertices of a mesh in the world as Blender shows them."""
    shown = rigs.evaluated(body)
    return np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])


def from_spine(ob: bpy.types.Object, hand: bpy.types.Object) -> float:
    """How far the nearest vertex of a hand is from the line of the trunk's bone."""
    shown = rigs.evaluated(ob)
    bone = (shown.matrix_world @ shown.pose.bones["spine"].matrix).inverted()
    seen = np.array([tuple(bone @ Vector(point)) for point in points(hand)])
    return float(np.hypot(seen[:, 0], seen[:, 2]).min())


def from_trunk(ob: bpy.types.Object, hand: bpy.types.Object) -> np.ndarray:
    """As `from_spine` (F,) over all frames."""
    return np.array([from_spine(ob, hand) for _ in rigs.visited(FRAMES)])


def apart(one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
    """The distance (F,) of the nearest vertices of two meshes."""
    found = [np.linalg.norm(points(one)[:, None] - points(other)[None], axis=-1).min() for _ in rigs.visited(FRAMES)]
    return np.array(found)


def shortened(ob: bpy.types.Object, share: float) -> None:
    """Arms of a share of their length, with hands as large as before."""
    with rigs.edit_mode(ob) as bones:
        for side in "LR":
            arm, forearm, hand = (bones[f"{part}.{side}"] for part in ("arm", "forearm", "hand"))
            line = hand.tail - hand.head
            elbow, wrist = (arm.head.lerp(joint, share) for joint in (forearm.head.copy(), hand.head.copy()))
            for bone, head, tail in ((arm, arm.head, elbow), (forearm, elbow, wrist), (hand, wrist, wrist + line)):
                bone.use_connect, bone.head, bone.tail = False, head, tail


def meshes_of(ob: bpy.types.Object) -> dict[str, bpy.types.Object]:
    return {body.vertex_groups[0].name: body for body in bpy.data.objects if body.parent == ob}


@pytest.mark.parametrize("radius", [0.12, 0.26])
def test_a_hand_on_the_belly_lies_on_another_belly(radius: float) -> None:
    source, ob = posed(), rigs.figure("Other")
    hands(source), hands(ob)
    belly = float(from_trunk(source, meshes_of(source)["hand.L"]).mean())
    tube(source, "spine", (0, 0, 1.0), (0, 0, 1.4), belly)
    tube(ob, "spine", (0, 0, 1.0), (0, 0, 1.4), radius)
    gap = from_trunk(source, meshes_of(source)["hand.L"]) - belly
    assert np.abs(gap).max() < NEAR and abs(belly - radius) > 2.0 * NEAR
    retarget(source, ob)
    assert np.abs(from_trunk(ob, meshes_of(ob)["hand.L"]) - radius - np.maximum(gap, 0.0)).max() < NEAR


def test_a_free_hand_stays_where_its_arm_puts_it() -> None:
    """The hanging hand is far from a belly that is not wider than its own."""
    source, ob = posed(), rigs.figure("Other")
    for one in (source, ob):
        hands(one), tube(one, "spine", (0, 0, 1.0), (0, 0, 1.4), 0.1)
    retarget(source, ob)
    for _ in rigs.visited(FRAMES):
        one, other = (rigs.evaluated(each).pose.bones["hand.R"].head for each in (source, ob))
        assert (one - other).length < 2e-3


def arms(ob: bpy.types.Object) -> np.ndarray:
    """The lines (F, 4, 3) of upper arms and forearms in the world."""
    found = []
    for _ in rigs.visited(FRAMES):
        bones = rigs.evaluated(ob).pose.bones
        found.append([(bone.tail - bone.head).normalized() for bone in (bones[f"{part}.{side}"]
                      for part in ("arm", "forearm") for side in "LR")])  # fmt: skip
    return np.array(found)


@pytest.mark.parametrize("typed", [False, True])
def test_the_body_of_a_figure_without_a_mesh_is_touched_if_it_has_typed_radii(typed: bool) -> None:
    source, ob = posed(), rigs.figure("Bare")
    hands(source), tube(source, "spine", (0, 0, 1.0), (0, 0, 1.4), 0.15)
    before = arms(source)
    if typed:
        ob.pose.bones["spine"].dqik_radius = 0.3
    retarget(source, ob)
    turned = np.degrees(np.arccos(np.clip((arms(ob) * before).sum(-1), -1.0, 1.0))).max()
    assert turned > 5.0 if typed else turned < 0.5


def test_hands_do_not_sink_into_a_wider_body() -> None:
    source, ob = posed(), rigs.figure("Wide")
    hands(source), hands(ob)
    tube(ob, "spine", (0, 0, 1.0), (0, 0, 1.4), 0.25)
    tube(source, "spine", (0, 0, 1.0), (0, 0, 1.4), 0.05)
    retarget(source, ob)
    for side in "LR":
        assert from_trunk(ob, meshes_of(ob)[f"hand.{side}"]).min() > 0.25 - 0.01


@pytest.mark.parametrize("length", [1.0, 0.01])
def test_folded_hands_stay_together_on_wider_shoulders(length: float) -> None:
    """Also where the bones of the source's hands are as short as captured figures have them."""
    source, ob = posed(), rigs.figure("Wide")
    with rigs.edit_mode(source) as bones:
        for bone in (bones[f"hand.{side}"] for side in "LR"):
            bone.length *= length
    arms = ("arm", "forearm", "hand")
    rigs.reshape(ob, lambda bone, at: at + Vector((np.sign(at.x) * 0.12 * bone.startswith(arms), 0, 0)))
    hands(source)
    for side, sign in (("L", 1), ("R", -1)):
        tube(ob, f"hand.{side}", (sign * 0.9, 0, 1.45), (sign * 1.02, 0, 1.45), 0.02)
    for frame in FRAMES:  # the right arm as the left one in a mirror, so that the hands meet
        rigs.at_frame(frame)
        for part in ("arm", "forearm", "hand"):
            one, other = source.pose.bones[f"{part}.L"], source.pose.bones[f"{part}.R"]
            turn = one.rotation_quaternion
            rigs.keyed(other, frame, rotation_quaternion=(turn.w, turn.x, -turn.y, -turn.z))
    before = apart(*(meshes_of(source)[f"hand.{side}"] for side in "LR"))
    assert before.max() < NEAR, "the hands of the source touch"
    retarget(source, ob)
    assert np.abs(apart(*(meshes_of(ob)[f"hand.{side}"] for side in "LR")) - before).max() < NEAR


def test_trunk_and_shoulders_help_an_arm_that_is_too_short() -> None:
    source, ob = posed(), rigs.figure("Short")
    shortened(ob, 0.3)
    wrist = ob.data.bones["hand.L"].head_local.x
    hands(source), tube(ob, "hand.L", (wrist + 0.02, 0, 1.45), (wrist + 0.14, 0, 1.45), 0.02)
    belly = float(from_trunk(source, meshes_of(source)["hand.L"]).mean())
    for one in (source, ob):
        tube(one, "spine", (0, 0, 1.0), (0, 0, 1.4), belly)
    retarget(source, ob)
    assert np.abs(from_trunk(ob, meshes_of(ob)["hand.L"]) - belly).max() < NEAR
    turned = [rigs.evaluated(ob).pose.bones["chest"].matrix.to_quaternion() for _ in rigs.visited(FRAMES)]
    assert max(one.rotation_difference(other).angle for one, other in pairwise(turned)) < 0.05


def test_forearms_do_not_sink_into_a_wider_body() -> None:
    """The right arm hangs, its elbow beside the belly and its hand below."""
    source, ob = posed(), rigs.figure("Wide")
    hands(source), hands(ob)
    tube(ob, "forearm.R", (-0.5, 0, 1.45), (-0.72, 0, 1.45), 0.02)
    tube(ob, "spine", (0, 0, 1.0), (0, 0, 1.15), 0.26)
    tube(source, "spine", (0, 0, 1.0), (0, 0, 1.15), 0.1)
    retarget(source, ob)
    assert from_trunk(ob, meshes_of(ob)["forearm.R"]).min() > 0.26 - 0.01


def test_thick_arms_that_are_in_the_body_wherever_they_hang_are_not_spread() -> None:
    source, ob = posed(), rigs.figure("Thick")
    hands(source), hands(ob)
    for bone, start, end in (("arm.R", -0.2, -0.48), ("forearm.R", -0.5, -0.72)):
        tube(ob, bone, (start, 0, 1.45), (end, 0, 1.45), 0.13)
    tube(ob, "spine", (0, 0, 1.0), (0, 0, 1.4), 0.26)
    retarget(source, ob)
    turned = np.degrees(np.arccos(np.clip((arms(ob) * arms(source)).sum(-1), -1.0, 1.0)))[:, [1, 3]]
    assert turned.max() < 30.0


def test_the_frame_from_which_a_range_starts_does_not_matter() -> None:
    source, ob = posed(frames=range(1, 41)), rigs.figure("Other")
    hands(source), hands(ob)
    for one, radius in ((source, 0.12), (ob, 0.2)):
        tube(one, "spine", (0, 0, 1.0), (0, 0, 1.4), radius)
    found = []
    for start in (1, 11):
        retarget(source, ob, frame_start=start, frame_end=40)
        rigs.at_frame(36)
        found.append(np.array([rigs.evaluated(ob).pose.bones[f"hand.{side}"].head for side in "LR"]))
    assert np.abs(found[1] - found[0]).max() < 1e-3


def test_motions_longer_than_what_is_solved_at_once_are_carried_over_too() -> None:
    """The last pose is held for long."""
    source, ob = posed(), rigs.figure("Other")
    retarget(source, ob, frame_start=1, frame_end=490)
    for _ in rigs.visited((60, 399, 401, 490)):
        for bone in ("forearm.L", "hand.L", "hand.R"):
            one, other = (rigs.evaluated(each).pose.bones[bone].head for each in (source, ob))
            assert (one - other).length < 2e-3
