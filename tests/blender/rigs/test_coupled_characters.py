# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings by roles on rigs as people have them, whose bones lie along or across their limbs: axes in the world."""

import contextlib
import io

import bpy
import numpy as np
import pytest
import rigs
from conventions import BY_NAME
from mathutils import Matrix

import build

FINGERED = ("mixamo", "vroid", "unreal", "auto-rig pro", "advanced skeleton", "valve")
HUMAN = ("mixamo", "vroid", "unreal", "arms down", "smpl", "sleepwalker")


def made(name: str) -> bpy.types.Object:
    """A character, as built."""
    with contextlib.redirect_stdout(io.StringIO()):
        return rigs.made_active(build.native(BY_NAME[name]))


def axis_of(ob: bpy.types.Object, bone: str, axis: str) -> np.ndarray:
    """An axis of a bone at rest, in armature space."""
    return np.array(ob.data.bones[bone].matrix_local)[:3, "XYZ".index(axis)]


def about(ob: bpy.types.Object, bone: str, axis: str) -> float:
    """The component of a bone's rotation vector from rest along one of its axes [rad]."""
    turned, angle = rigs.local_rotation(ob, bone).to_axis_angle()
    return float(turned["XYZ".index(axis)]) * angle


def finger_line(ob: bpy.types.Object, bone: str) -> np.ndarray:
    """The direction from a finger's joint to the next one, or from the one before."""
    own = ob.data.bones[bone]
    below = [child for child in own.children if child.name in build.truth(BY_NAME[ob.name.split(".")[0]])]
    line = below[0].head_local - own.head_local if below else own.head_local - own.parent.head_local
    return np.array(line.normalized())


@pytest.mark.parametrize("name", FINGERED)
def test_a_finger_curls_about_axes_across_it(name: str) -> None:
    """Both bones of each exact coupling turn about axes that point the same way, at right angles to the finger.

    Fingers other than the thumb curl about the line of the knuckles: the axes that are coupled make it up.
    """
    ob = made(name)
    assert bpy.ops.dqik.couple(preset="FINGERS") == {"FINISHED"}
    exact = [one for one in ob.dqik.couplings if one.stiffness == 1.0]
    pairs = {(one.bone, one.leader) for one in exact}
    assert len(pairs) == 20
    for one in exact:
        own, leader = axis_of(ob, one.bone, one.axis), axis_of(ob, one.leader, one.leader_axis)
        assert own @ leader * np.sign(one.factor) > 0.8
        assert abs(own @ finger_line(ob, one.bone)) < 0.5, (one.bone, one.axis)
        assert abs(leader @ finger_line(ob, one.leader)) < 0.5
    joints = {line.name: (line.joint, line.side) for line in build.lines(BY_NAME[name])}
    bones = {place: bone for bone, place in joints.items()}
    for bone, _ in pairs:
        joint, side = joints[bone]
        if joint.startswith("thumb"):
            continue
        line = finger_line(ob, bone)
        ring, index = (np.array(ob.data.bones[bones[finger, side]].head_local) for finger in ("ring1", "index1"))
        knuckles = (index - ring) - ((index - ring) @ line) * line
        knuckles /= np.linalg.norm(knuckles)
        made_up = [knuckles @ axis_of(ob, bone, one.axis) for one in exact if one.bone == bone]
        assert np.linalg.norm(made_up) > 0.85, (bone, made_up)


@pytest.mark.parametrize("name", HUMAN)
def test_a_coupled_figure_with_human_limits_stays_as_it_rests(name: str) -> None:
    """Limits that read zero elsewhere than at rest move no coupled bone from there."""
    ob = made(name)
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    bpy.ops.dqik.limits_preset()
    ob.dqik.natural_pose = 0.0
    for preset in ("SPINE", "SHOULDERS"):
        assert bpy.ops.dqik.couple(preset=preset) == {"FINISHED"}
    before = rigs.matrices(ob)
    rigs.live(ob)
    assert not ob.dqik.status.message
    assert rigs.turn(before, rigs.matrices(ob)) < 2e-3


@pytest.mark.parametrize("name", ["mixamo", "vroid", "unreal"])
def test_a_curled_finger_turns_its_tip_by_two_thirds(name: str) -> None:
    """Of the bone above, each about its own axis in Blender's evaluation."""
    ob = made(name)
    assert bpy.ops.dqik.couple(preset="FINGERS") == {"FINISHED"}
    tip = next(one for one in ob.dqik.couplings if "ndex" in one.bone and abs(one.factor) == pytest.approx(0.67))
    base = next(one for one in ob.dqik.couplings if one.bone == tip.leader and one.stiffness == 1.0).leader
    end, start = (ob.data.bones[bone].head_local for bone in (tip.bone, base))
    turn = Matrix.Rotation(0.7, 3, axis_of(ob, tip.leader, tip.leader_axis))
    target = rigs.empty(ob.matrix_world @ (start + 0.9 * (turn @ (end - start))))
    rigs.goal(ob, tip.bone, target, chain_length=2, use_tail=False)
    ob.dqik.natural_pose = 0.0
    rigs.live(ob)
    assert not ob.dqik.status.message
    leader = about(ob, tip.leader, tip.leader_axis)
    assert abs(leader) > 0.2
    assert about(ob, tip.bone, tip.axis) == pytest.approx(tip.factor * leader, rel=0.1)  # other axes bend too


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("name", ["mixamo", "vroid", "unreal"])
def test_a_spine_bends_alike_with_and_without_human_limits(name: str, limits: bool) -> None:
    """Limits have axes of their own where bones lie across the spine; what is coupled are the bones' axes."""
    ob = made(name)
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    assert bpy.ops.dqik.couple(preset="SPINE") == {"FINISHED"}
    if limits:
        bpy.ops.dqik.limits_preset()
    ob.dqik.live = True
    head = next(goal.target for goal in ob.dqik.goals if "head" in goal.bone.lower())
    size = max(ob.dimensions)
    head.location.x += 0.1 * size
    head.location.z -= 0.06 * size
    rigs.update()
    assert not ob.dqik.status.message
    turns = []
    for one in ob.dqik.couplings:
        turns.append(about(ob, one.leader, one.leader_axis))
        assert about(ob, one.bone, one.axis) == pytest.approx(one.factor * turns[-1], abs=0.01)
    assert max(map(abs, turns)) > 0.03
