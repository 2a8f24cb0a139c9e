# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that roll by a number of their control: about the ball with the heel up, about the heel with the toes up.

The answers are worked out on paper from the figure's measures, and compared with Blender's own evaluation.
"""

from math import degrees, pi, radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from cases import each_once
from live_rigs import film_here, frames_of
from mathutils import Matrix, Quaternion, Vector
from situations import overridden, override, reopened
from test_more_controls import at_ease, figure

MM = 1e-3
STILL = 0.01 * MM
ANKLE, BALL, TIP = Vector((0.1, 0.0, 0.08)), Vector((0.1, -0.18, 0.02)), Vector((0.1, -0.26, 0.02))  # of the left foot
HEEL = Vector((0.1, 0.063, 0.02))  # 0.35 of the way from the ankle to the ball behind it, on the ground
BEND = 45.0  # degrees by which toes bend before the foot turns about their tip


def body(targets: str = "BONES", toes: bool = True, controls: set[str] | None = None) -> bpy.types.Object:
    """A live figure with bent knees, set up; its hips low enough that rolled feet stay in reach."""
    ob = rigs.set_up(at_ease(figure() if toes else rigs.figure()), False, targets=targets, controls=controls or set())
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
    return rigs.goal_of(ob, f"foot.{side}")


def control(ob: bpy.types.Object, side: str = "L") -> bpy.types.PoseBone | bpy.types.Object:
    """What has the roll of a foot."""
    return rigs.owner_of(ob, f"foot.{side}")


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


@pytest.mark.parametrize(("targets", "toes", "controls"), [
    ("BONES", True, set()), ("BONES", True, {"TOES"}), ("BONES", False, set()), ("EMPTIES", True, set()),
    ("EMPTIES", False, set()),
])  # fmt: skip
def test_a_heel_rises_over_the_ball(targets: str, toes: bool, controls: set[str]) -> None:
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
    ob.dqik.natural_pose, ob.dqik.iterations = natural_pose, 300
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


@each_once(targets=["BONES", "EMPTIES"], place=[
    Matrix.Scale(1.7, 4), Matrix.Scale(0.01, 4), Matrix.Rotation(0.9, 4, "Z") @ Matrix.Scale(0.5, 4),
    Matrix.Translation((3, -2, 1)) @ Matrix.Rotation(radians(25.0), 4, (1, 0.5, 0)),
])  # fmt: skip
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


# -- in time -----------------------------------------------------------------------------------------------------------

FRAMES = range(1, 13)
ROLLS = {1: -20.0, 4: 0.0, 7: 0.0, 10: 40.0, 12: 65.0}


def keyed(targets: str = "BONES", controls: set[str] | None = None) -> bpy.types.Object:
    """A body whose left foot rolls from its heel over its ball, while the control stands."""
    ob = body(targets, controls=controls)
    rigs.key_path(control(ob), ROLLS, [radians(angle) for angle in ROLLS.values()], "dqik_roll")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    return ob


@pytest.mark.parametrize(("targets", "controls"), [("BONES", set()), ("BONES", {"TOES"}), ("EMPTIES", set())])
def test_a_keyed_roll_plays(targets: str, controls: set[str]) -> None:
    ob = keyed(targets, controls)
    angles = {}
    for frame in rigs.visited((*FRAMES, 8.5)):
        angles[frame] = degrees(foot_goal(rigs.evaluated(ob)).roll)
        assert off(turned(ob, "foot.L"), about_x(angles[frame])) < 0.02
    assert abs(angles[1] + 20.0) < 1e-3
    assert abs(angles[12] - 65.0) < 1e-3
    assert 0.0 < angles[8.5] < 40.0


@pytest.mark.parametrize("toes", [True, False])
def test_a_roll_of_0_changes_nothing(toes: bool) -> None:
    """Also after another one: toes that the roll has bent go back to where they were posed."""
    ob = body(toes=toes)
    if toes:
        rigs.pose(ob, "toes.L", about_x(10.0))
    before = rigs.channels(ob)
    roll(ob, 35.0)
    assert np.abs(rigs.channels(ob) - before).max() > 0.1
    roll(ob, 0.0)
    np.testing.assert_array_equal(rigs.channels(ob), before)


def test_posed_toes_bend_on_from_their_pose() -> None:
    """And toes that are posed by hand while their foot is rolled stay as they are posed."""
    ob = body()
    rigs.pose(ob, "toes.L", about_x(12.0))
    raised = turned(ob, "toes.L")
    roll(ob, 30.0)
    assert off(turned(ob, "toes.L"), raised) < 0.01
    rigs.posed(ob.pose.bones["toes.L"], about_x(-10.0))
    own = rigs.local_rotation(ob, "toes.L")
    assert off(own, about_x(-10.0)) < 0.01
    assert off(rigs.local_rotation(ob, "toes.L"), own) < 0.01
    flat = turned(ob, "toes.L")
    roll(ob, 20.0)
    assert off(turned(ob, "toes.L"), flat) < 0.01


# -- with other tools --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("targets", "controls"), [("BONES", set()), ("BONES", {"TOES"}), ("EMPTIES", set())])
@pytest.mark.parametrize("angle", [55.0, -20.0])
def test_targets_to_pose_keeps_the_roll_and_the_pose(targets: str, controls: set[str], angle: float) -> None:
    """The pose without goals, as after limb_to_fk, is another than that of the controls."""
    ob = body(targets, controls=controls)
    ob.dqik.natural_pose = 0.0
    roll(ob, angle)
    rigs.at_frame(1)
    before, owner = film_here(ob), control(ob)
    place = owner.matrix_basis.copy()
    owner.location.z += 0.05
    ob.dqik.live = False
    bones = [bone for bone in ob.pose.bones if not bone.name.startswith("DQIK")]
    for bone, matrix in zip(bones, before, strict=True):
        bone.matrix = Matrix(matrix.tolist())
        rigs.update()
    rigs.select(ob, "foot.L", "toes.L")
    assert bpy.ops.dqik.targets_to_pose() == {"FINISHED"}
    rigs.update()
    assert owner.dqik_roll == pytest.approx(radians(angle))
    assert np.abs(np.array(owner.matrix_basis) - np.array(place)).max() < 1e-4


def test_all_controls_are_keyed_with_rolls_in_use() -> None:
    ob = body()
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    assert not [path for path, _ in rigs.keys(ob) if path.endswith("dqik_roll")]
    roll(ob, 15.0)
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    path = control(ob).path_from_id("dqik_roll")
    assert [own for own, _ in rigs.keys(ob) if own.endswith("dqik_roll")] == [path]
    assert rigs.keys(ob)[path, 0] == [(1.0, pytest.approx(radians(15.0)))]


def test_rolls_are_mirrored() -> None:
    """With the goals, and with the pose that Blender pastes flipped."""
    ob = body()
    roll(ob, 25.0, "L")
    roll(ob, -10.0, "R")
    rigs.select(ob, "DQIK foot.L", "DQIK foot.R")
    bpy.ops.pose.copy()
    bpy.ops.pose.paste(flipped=True)
    rigs.update()
    assert degrees(control(ob, "L").dqik_roll) == pytest.approx(-10.0)
    assert degrees(control(ob, "R").dqik_roll) == pytest.approx(25.0)
    assert off(turned(ob, "foot.R"), about_x(25.0)) < 0.05
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.dqik.goals_mirror() == {"FINISHED"}
    assert control(ob, "R").dqik_roll == control(ob, "L").dqik_roll
    assert foot_goal(ob, "R").roll == foot_goal(ob, "L").roll


def test_a_planted_control_rolls_on() -> None:
    """Plant keeps the control where it stands; what is keyed of the roll is on top, and counts once."""
    ob = keyed()
    standing = control(ob)
    for frame in FRAMES:
        standing.location.x = 0.002 * sin(frame)
        standing.keyframe_insert("location", frame=frame)
    rigs.select(ob, standing.name)
    assert bpy.ops.dqik.plant(frame_start=1, frame_end=12) == {"FINISHED"}
    balls = []
    for _ in rigs.visited((7, 8, 9, 10)):
        angle = degrees(foot_goal(rigs.evaluated(ob)).roll)
        balls.append(carried(ob, "foot.L", BALL))
        assert off(turned(ob, "foot.L"), about_x(angle)) < 0.05
    assert angle == pytest.approx(40.0)
    assert max((ball - balls[0]).length for ball in balls) < 2 * STILL


@pytest.mark.parametrize("controls", [set(), {"TOES"}])
@pytest.mark.parametrize("to_ik", [False, True])
def test_a_rolled_limb_is_switched_without_a_jump(controls: set[str], to_ik: bool) -> None:
    ob = keyed(controls=controls)
    rigs.select(ob, control(ob).name)
    played = frames_of(ob, FRAMES)
    rigs.at_frame(9)
    assert bpy.ops.dqik.limb_to_fk(frame_start=9, frame_end=11) == {"FINISHED"}
    assert np.abs(frames_of(ob, FRAMES) - played).max() < 4e-4
    if to_ik:
        rigs.at_frame(9)
        assert bpy.ops.dqik.limb_to_ik(frame_start=9, frame_end=11) == {"FINISHED"}
        assert np.abs(frames_of(ob, FRAMES) - played).max() < 1e-3
        rigs.at_frame(10)
        assert foot_goal(rigs.evaluated(ob)).influence == 1.0


def test_scripts_find_the_roll_at_the_goal() -> None:
    """The goal's own `roll` is that of its control; a goal without a target has none."""
    ob = body()
    goal = foot_goal(ob)
    goal.roll = radians(20.0)
    rigs.update()
    assert off(turned(ob, "foot.L"), about_x(20.0)) < 0.01
    lone = ob.dqik.goals.add()
    lone.roll = 1.0
    assert lone.roll == 0.0


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_a_roll_can_be_set_in_a_library_override(targets: str, tmp_path: Path) -> None:
    ob = body(targets)
    for empty in {goal.target for goal in ob.dqik.goals} - {ob}:
        bpy.context.scene.collection.objects.link(empty)
    overridden(tmp_path / "library.blend")
    roll(override(), 30.0)
    reopened(tmp_path / "shot.blend")
    rigs.update()
    assert control(override()).dqik_roll == pytest.approx(radians(30.0))
    assert off(turned(override(), "foot.L"), about_x(30.0)) < 0.01
    assert off(turned(override(), "toes.L"), Quaternion()) < 0.01
