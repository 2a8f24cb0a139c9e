# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that roll by a number of their control: about the ball with the heel up, about the heel with the toes up.

The answers are worked out on paper from the figure's measures, and compared with Blender's own evaluation.
"""

from math import degrees, pi, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion, Vector
from test_more_controls import at_ease, figure

MM = 1e-3
STILL = 0.01 * MM
ANKLE, BALL, TIP = Vector((0.1, 0.0, 0.08)), Vector((0.1, -0.18, 0.02)), Vector((0.1, -0.26, 0.02))  # of the left foot
HEEL = Vector((0.1, 0.063, 0.02))  # 0.35 of the way from the ankle to the ball behind it, on the ground
BEND = 45.0  # degrees by which toes bend before the foot turns about their tip


def body(targets: str = "BONES", toes: bool = True, controls: set[str] | None = None) -> bpy.types.Object:
    """A live figure with bent knees, set up; its hips low enough that rolled feet stay in reach."""
    ob = at_ease(figure() if toes else rigs.figure())
    assert bpy.ops.dqik.setup_full_body(targets=targets, controls=controls or set()) == {"FINISHED"}
    ob.dqik.tolerance, ob.dqik.rotation_tolerance = 1e-6, 1e-6
    ob.dqik.live = True
    stand(ob)
    rigs.update()
    return ob


def stand(ob: bpy.types.Object) -> None:
    """Put both feet flat on the ground where they rest, and lower the hips."""
    for goal in ob.dqik.goals:
        if goal.bone in ("foot.L", "foot.R"):
            put(ob, goal, ob.matrix_world @ ob.data.bones[goal.bone].matrix_local)
        elif goal.bone == "hips":
            rest = ob.data.bones["hips"].matrix_local
            put(ob, goal, ob.matrix_world @ Matrix.Translation((0, 0, -0.12 * rest.translation.z)) @ rest)


def put(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, world: Matrix) -> None:
    """Move a goal's target, a bone or an object."""
    if goal.target == ob:
        ob.pose.bones[goal.subtarget].matrix = ob.matrix_world.inverted() @ world
    else:
        goal.target.matrix_world = world
    rigs.update()


def foot_goal(ob: bpy.types.Object, side: str = "L") -> bpy.types.PropertyGroup:
    return next(goal for goal in ob.dqik.goals if goal.bone == f"foot.{side}")


def control(ob: bpy.types.Object, side: str = "L") -> bpy.types.PoseBone | bpy.types.Object:
    """What has the roll of a foot."""
    goal = foot_goal(ob, side)
    return ob.pose.bones[goal.subtarget] if goal.target == ob else goal.target


def roll(ob: bpy.types.Object, angle: float, side: str = "L") -> None:
    control(ob, side).dqik_roll = radians(angle)
    rigs.update()


def carried(ob: bpy.types.Object, bone: str, rest: Vector) -> Vector:
    """Where a point of a bone, given at rest, is now, in armature space."""
    return rigs.evaluated(ob).pose.bones[bone].matrix @ (ob.data.bones[bone].matrix_local.inverted() @ rest)


def turned(ob: bpy.types.Object, bone: str) -> Matrix:
    """The turn of a bone from rest, in armature space."""
    q = rigs.evaluated(ob).pose.bones[bone].matrix.to_quaternion()
    return q @ ob.data.bones[bone].matrix_local.to_quaternion().inverted()


def off(one: Quaternion, other: Quaternion) -> float:
    """Degrees between two rotations."""
    angle = one.rotation_difference(other).angle
    return degrees(min(angle, 2.0 * pi - angle))


def about_x(angle: float) -> Quaternion:
    return Quaternion((1.0, 0.0, 0.0), radians(angle))


def around(pivot: Vector, angle: float, point: Vector) -> Vector:
    return pivot + about_x(angle) @ (point - pivot)


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("controls", [set(), {"TOES"}])
@pytest.mark.parametrize("toes", [True, False])
def test_a_heel_rises_over_the_ball(targets: str, controls: set[str], toes: bool) -> None:
    if controls and (targets == "EMPTIES" or not toes):
        pytest.skip("no such controls")
    ob = body(targets, toes, controls)
    roll(ob, 30.0)
    assert ob.dqik.status.converged
    assert (carried(ob, "foot.L", BALL) - BALL).length < STILL
    lever = HEEL - BALL
    assert abs(carried(ob, "foot.L", HEEL).z - HEEL.z - lever.y * sin(radians(30.0))) < STILL
    assert (carried(ob, "foot.L", ANKLE) - around(BALL, 30.0, ANKLE)).length < STILL
    assert off(turned(ob, "foot.L"), about_x(30.0)) < 0.01
    if toes:
        assert off(turned(ob, "toes.L"), Quaternion()) < 0.01
        assert (carried(ob, "toes.L", TIP) - TIP).length < STILL
    assert (carried(ob, "foot.R", Vector((-0.1, 0.0, 0.08))) - Vector((-0.1, 0.0, 0.08))).length < STILL


@pytest.mark.parametrize("controls", [set(), {"TOES"}])
def test_toes_rise_over_the_heel(controls: set[str]) -> None:
    ob = body(controls=controls)
    roll(ob, -20.0)
    assert (carried(ob, "foot.L", HEEL) - HEEL).length < STILL
    assert (carried(ob, "foot.L", BALL) - around(HEEL, -20.0, BALL)).length < STILL
    assert (carried(ob, "toes.L", TIP) - around(HEEL, -20.0, TIP)).length < STILL
    assert carried(ob, "toes.L", TIP).z > TIP.z + 0.1


@pytest.mark.parametrize("controls", [set(), {"TOES"}])
def test_a_foot_goes_on_over_the_tip_of_its_toes(controls: set[str]) -> None:
    ob = body(controls=controls)
    roll(ob, 60.0)
    assert off(turned(ob, "foot.L"), about_x(60.0)) < 0.01
    assert off(turned(ob, "toes.L"), about_x(60.0 - BEND)) < 0.01
    assert (carried(ob, "toes.L", TIP) - TIP).length < STILL
    assert (carried(ob, "toes.L", BALL) - around(TIP, 60.0 - BEND, BALL)).length < STILL


@pytest.mark.parametrize("natural_pose", [0.0, 1.0])
def test_knees_stay_in_their_plane_over_a_sweep(natural_pose: float) -> None:
    """From toes up to the tip of the toes, nothing jumps. The natural pose leans knees a little as feet turn."""
    ob = body()
    ob.dqik.natural_pose = natural_pose
    shown = []
    for angle in np.arange(-30.0, 60.5, 1.5):
        roll(ob, float(angle))
        pose = rigs.evaluated(ob).pose.bones
        shown.append([pose[name].head[:] for name in ("thigh.L", "shin.L", "foot.L", "toes.L")])
        assert off(turned(ob, "foot.L"), about_x(float(angle))) < 0.02
    places = np.array(shown)
    assert np.abs(places[:, :, 0] - 0.1).max() < (20.0 * MM if natural_pose else 2.0 * MM)
    assert np.linalg.norm(np.diff(places, axis=0), axis=-1).max() < 12.0 * MM
    assert np.abs(np.diff(places[:, :2], n=2, axis=0)).max() < 6.0 * MM


@pytest.mark.parametrize("place", [
    Matrix.Scale(1.7, 4), Matrix.Scale(0.01, 4), Matrix.Rotation(0.9, 4, "Z") @ Matrix.Scale(0.5, 4),
    Matrix.Translation((3, -2, 1)) @ Matrix.Rotation(radians(25.0), 4, (1, 0.5, 0)),
])  # fmt: skip
@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_a_figure_of_another_size_in_another_place_rolls_alike(place: Matrix, targets: str) -> None:
    ob = body(targets)
    if targets == "EMPTIES":
        ob.dqik.targets_follow = True
    ob.matrix_world = place
    rigs.update()
    stand(ob)
    roll(ob, 30.0)
    assert (carried(ob, "foot.L", BALL) - BALL).length < 2 * STILL
    assert off(turned(ob, "foot.L"), about_x(30.0)) < 0.01
    assert off(turned(ob, "toes.L"), Quaternion()) < 0.01
    roll(ob, -20.0)
    assert (carried(ob, "foot.L", HEEL) - HEEL).length < 2 * STILL


def test_a_figure_in_centimetres_rolls_alike() -> None:
    """As files of other programs are imported: bones a hundred times as long, in an object a hundredth as large."""
    ob = at_ease(figure())
    ob.data.transform(Matrix.Scale(100.0, 4))
    ob.scale = (0.01,) * 3
    rigs.update()
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    ob.dqik.live, ob.dqik.tolerance = True, 1e-6
    stand(ob)
    roll(ob, 30.0)
    assert (carried(ob, "foot.L", 100.0 * BALL) - 100.0 * BALL).length < 100.0 * STILL
    assert off(turned(ob, "toes.L"), Quaternion()) < 0.01


@pytest.mark.parametrize("controls", [set(), {"TOES"}])
@pytest.mark.parametrize("turn", [Matrix.Rotation(radians(45.0), 4, "Z"), Matrix.Rotation(radians(20.0), 4, "X"),
                                  Matrix.Rotation(radians(-15.0), 4, (1, 0.4, 0.2))])  # fmt: skip
def test_a_foot_that_stands_otherwise_rolls_about_its_own_ball(turn: Matrix, controls: set[str]) -> None:
    """Turned out on the ground, or on a slope: all is as on level ground, seen from the control."""
    ob = body(controls=controls)
    standing = Matrix.Translation((0.05, -0.1, 0.03)) @ Matrix.Translation(BALL) @ turn @ Matrix.Translation(-BALL)
    put(ob, foot_goal(ob), standing @ ob.data.bones["foot.L"].matrix_local)
    flat = turned(ob, "toes.L")
    roll(ob, 30.0)
    axis = standing.to_quaternion() @ Vector((1, 0, 0))
    assert (carried(ob, "foot.L", BALL) - standing @ BALL).length < 2 * STILL
    wanted = Quaternion(axis, radians(30.0)) @ standing.to_quaternion()
    assert off(turned(ob, "foot.L"), wanted) < 0.01
    assert off(turned(ob, "toes.L"), flat) < 0.02
    assert (carried(ob, "toes.L", TIP) - standing @ TIP).length < 2 * STILL
    roll(ob, -20.0)
    assert (carried(ob, "foot.L", HEEL) - standing @ HEEL).length < 2 * STILL
