# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals whose bone stays parallel to its target, by Blender's own matrices: live, eased, mirrored, saved."""

from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler, Matrix, Vector
from situations import reopened

AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "NEG_X": (-1, 0, 0), "NEG_Y": (0, -1, 0), "NEG_Z": (0, 0, -1)}


def chain() -> bpy.types.Object:
    """Four bones along Z, a little bent."""
    return rigs.armature([
        rigs.Bone(f"bone {k}", (0.02 * k * k, 0, 0.5 * k), (0.02 * (k + 1) ** 2, 0, 0.5 * (k + 1)),
                  f"bone {k - 1}" if k else "", k > 0) for k in range(4)
    ])  # fmt: skip


def goal_of(ob: bpy.types.Object, bone: str, target: bpy.types.Object, **settings: object) -> bpy.types.PropertyGroup:
    """A goal of an armature that is live."""
    goal = rigs.goal(ob, bone, target, kind="PARALLEL", **settings)
    ob.dqik.live = True
    rigs.update()
    return goal


def world(ob: bpy.types.Object, bone: str) -> Matrix:
    shown = rigs.evaluated(ob)
    return shown.matrix_world @ shown.pose.bones[bone].matrix


def angle(one: Matrix, axis: str, two: Matrix, other: str) -> float:
    """Between an axis of a matrix and one of another."""
    a, b = (m.to_quaternion() @ Vector(AXES[name]) for m, name in ((one, axis), (two, other)))
    return a.angle(b)


@pytest.mark.parametrize(("axis", "other"), [("X", "Z"), ("Y", "NEG_X"), ("NEG_Z", "Y"), ("NEG_Y", "NEG_Z")])
def test_an_axis_of_a_bone_stays_parallel_to_one_of_an_object(axis: str, other: str) -> None:
    ob, target = chain(), rigs.empty((3, -2, 2))
    ob.rotation_euler, ob.scale = (0.2, 0.1, 0.4), (0.5, 0.5, 0.5)
    goal_of(ob, "bone 3", target, axis=axis, target_axis=other)
    for turn in ((0.1, 0.2, 0.3), (1.5, -0.4, 0.2)):
        target.rotation_quaternion = Euler(turn).to_quaternion()
        rigs.update()
        assert angle(world(ob, "bone 3"), axis, target.matrix_world, other) < radians(0.1)
        assert ob.dqik.status.converged


@pytest.mark.parametrize("limited", [False, True])
def test_an_axis_stays_parallel_to_one_of_a_bone_that_is_solved(limited: bool) -> None:
    """A hand is led; the other hand lies along it, whatever frames the limits of the bones have."""
    ob = rigs.figure()
    if limited:
        rigs.made_active(ob)
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
        bpy.ops.object.mode_set(mode="OBJECT")
    led = rigs.empty((0.4, -0.4, 1.2), "Led")
    rigs.goal(ob, "hand.L", led)
    kept = rigs.goal(ob, "hand.R", ob, subtarget="hand.L", kind="PARALLEL", axis="Y", target_axis="Z", use_tail=False)
    ob.dqik.live = True
    for place in ((0.4, -0.4, 1.2), (0.2, -0.5, 1.3)):
        led.location = place
        rigs.update()
        assert not ob.dqik.status.message
        assert rigs.miss(ob, "hand.L", led) < 1e-3
        if not limited:
            assert angle(world(ob, "hand.R"), "Y", world(ob, "hand.L"), "Z") < radians(0.1)
        off = angle(world(ob, "hand.R"), "Y", world(ob, "hand.L"), "Z")
        assert kept.rotation_error == pytest.approx(off, abs=2e-3)  # the panel's number is Blender's angle
    shown = rigs.matrices(ob)
    kept.influence = 0.0
    rigs.update()
    assert np.abs(rigs.matrices(ob) - shown).max() > 0.01


def test_half_the_influence_is_half_the_turn() -> None:
    ob, target = chain(), rigs.empty((0, 0, 1))
    before = angle(world(ob, "bone 3"), "X", target.matrix_world, "Z")
    goal = goal_of(ob, "bone 3", target, axis="X", target_axis="Z")
    goal.influence = 0.5
    rigs.update()
    assert angle(world(ob, "bone 3"), "X", target.matrix_world, "Z") == pytest.approx(before / 2, abs=1e-2)


def test_the_mirror_image_is_parallel_to_the_mirrored_bone(tmp_path: Path) -> None:
    ob = rigs.figure()
    rigs.goal(ob, "hand.L", ob, subtarget="thigh.L", kind="PARALLEL", axis="X", target_axis="NEG_X")
    rigs.made_active(ob)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.goals_mirror() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    other = ob.dqik.goals[1]
    assert (other.kind, other.bone, other.subtarget) == ("PARALLEL", "hand.R", "thigh.R")
    image = Matrix.Diagonal((-1, 1, 1))
    for axis, bone, own in ((other.axis, "hand", "X"), (other.target_axis, "thigh", "NEG_X")):
        left, right = (ob.data.bones[f"{bone}.{side}"].matrix_local.to_3x3() for side in "LR")
        wanted = image @ (left @ Vector(AXES[own]))
        assert max(AXES, key=lambda name: wanted @ (right @ Vector(AXES[name]))) == axis
    reopened(tmp_path / "parallel.blend")
    assert bpy.data.objects["Figure"].dqik.goals[0].target_axis == "NEG_X"
