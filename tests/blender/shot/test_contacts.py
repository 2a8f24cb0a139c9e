# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that do not pass through themselves, the floor or objects, measured on Blender's own bones by brute force."""

from collections.abc import Callable
from itertools import pairwise
from math import radians

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector

DEEP = 5e-4  # [m] deepest overlap that counts as none
SIDES = np.linspace(0.0, 1.0, 201)


def segment(ob: bpy.types.Object, bone: str) -> np.ndarray:
    """Points (201, 3) along a bone, in the world."""
    head, tail = (np.array(end) for end in (rigs.head(ob, bone), rigs.tail(ob, bone)))
    return head + SIDES[:, None] * (tail - head)


def gap(ob: bpy.types.Object, bone: str, other: str) -> float:
    """The distance of two bones' axes, by brute force."""
    one, two = segment(ob, bone), segment(ob, other)
    return float(np.linalg.norm(one[:, None] - two, axis=-1).min())


def standing(name: str = "Figure") -> tuple[bpy.types.Object, dict[str, bpy.types.Object]]:
    """A figure whose hands and feet have goals at their rest."""
    ob = rigs.figure(name)
    targets = {}
    for bone in ("hand.L", "hand.R", "foot.L", "foot.R"):
        targets[bone] = rigs.empty(ob.matrix_world @ ob.data.bones[bone].tail_local, f"{name} {bone}")
        rigs.goal(ob, bone, targets[bone])
    return ob, targets


def test_a_hand_does_not_enter_the_chest() -> None:
    ob, targets = standing()
    ob.pose.bones["chest"].dqik_radius, ob.pose.bones["forearm.L"].dqik_radius = 0.14, 0.04
    ob.dqik.live = True
    targets["hand.L"].location = (-0.05, 0.02, 1.42)
    rigs.update()
    assert gap(ob, "forearm.L", "chest") < 0.15, "without contact the arm goes through the chest"
    ob.dqik.avoid_self = True
    rigs.update()
    assert gap(ob, "forearm.L", "chest") > 0.18 - DEEP
    assert ob.dqik.status.overlap == 0.0, "less than the tolerance is none"
    ob.dqik.avoid_self = False
    rigs.update()
    assert gap(ob, "forearm.L", "chest") < 0.15


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_feet_and_hands_stay_above_the_floor(scale: float) -> None:
    ob, targets = standing()
    ob.scale = (scale,) * 3
    for target in targets.values():
        target.location *= scale
    rigs.update()
    ob.dqik.use_floor, ob.dqik.floor_height = True, 0.03 * scale
    ob.dqik.live = True
    targets["foot.L"].location.z = -0.4 * scale
    targets["hand.R"].location = Vector((-0.3, -0.5, -0.5)) * scale
    rigs.update()
    for bone in ("foot.L", "hand.R", "shin.L"):
        assert segment(ob, bone)[:, 2].min() > (0.03 - DEEP) * scale
    floor = rigs.empty((0.0, 0.0, 0.2 * scale), "Floor")
    floor.rotation_quaternion = (0.9990482, 0.0436194, 0.0, 0.0)  # 5 degrees about X
    ob.dqik.floor, ob.dqik.floor_height = floor, 0.0
    rigs.update()
    normal = np.array(floor.matrix_world.to_3x3().col[2])
    for bone in ("foot.L", "hand.R"):
        assert ((segment(ob, bone) - np.array(floor.matrix_world.translation)) @ normal).min() > -DEEP * scale


def box(location: tuple[float, ...], size: tuple[float, ...], name: str = "Box") -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=location)
    made = bpy.context.object
    made.name, made.scale = name, size
    return made


def avoid(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    ob.dqik.avoid.add().object = other


def depth_in_box(ob: bpy.types.Object, bone: str, made: bpy.types.Object) -> float:
    """How deep a bone's axis is in a cube, in the world; below 0 outside."""
    local = np.array([made.matrix_world.inverted() @ Vector(point) for point in segment(ob, bone)])
    return float(((0.5 - np.abs(local)) * np.array(made.matrix_world.to_scale())).min(-1).max())


def test_a_moving_box_pushes_the_hand_away() -> None:
    ob, targets = standing()
    crate = box((0.5, -0.7, 1.2), (0.3, 0.3, 0.3))
    rigs.made_active(ob)
    ob.pose.bones["hand.L"].dqik_radius = 0.03
    targets["hand.L"].location = (0.5, -0.3, 1.2)
    avoid(ob, crate)
    rigs.live(ob)
    met = np.array(ob.pose.bones["hand.L"].matrix)
    ob.dqik.avoid.clear()
    ob.dqik.solver = "PGS"
    rigs.update()
    assert np.array_equal(met, np.array(ob.pose.bones["hand.L"].matrix)), "nothing touches: the pose is as without"
    avoid(ob, crate)
    rigs.key_path(crate, (1, 5), ((0.5, -0.7, 1.2), (0.5, -0.4, 1.2)))
    assert max(depth_in_box(ob, "hand.L", crate) for _ in rigs.visited(range(1, 6))) < DEEP
    assert rigs.miss(ob, "hand.L", targets["hand.L"]) > 0.01


def sphere() -> bpy.types.Object:
    """Of many faces, and uneven in scale."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.25, location=(0.5, -0.4, 1.2))
    bpy.context.object.scale = (1.0, 0.8, 1.2)
    return bpy.context.object


def wedge() -> bpy.types.Object:
    corners = [(-0.2, -0.2, -0.2), (0.2, -0.2, -0.2), (0.2, 0.2, -0.2), (-0.2, 0.2, -0.2), (-0.2, 0, 0.2),
               (0.2, 0, 0.2)]  # fmt: skip
    made = rigs.mesh(corners, [(3, 2, 1, 0), (0, 1, 5, 4), (2, 3, 4, 5), (1, 2, 5), (3, 0, 4)], "Wedge")
    made.location = (0.5, -0.4, 1.2)
    return made


def height_over_faces(ob: bpy.types.Object, bone: str, made: bpy.types.Object) -> float:
    """The least over a bone's axis of how far it is over the highest of an object's faces, in the object's space."""
    local = np.array([made.matrix_world.inverted() @ Vector(point) for point in segment(ob, bone)])
    faces = made.data.polygons
    normals, at = (np.array([getattr(face, name) for face in faces]) for name in ("normal", "center"))
    return float((local @ normals.T - (at * normals).sum(-1)).max(-1).min())


@pytest.mark.parametrize("shape", [sphere, wedge])
def test_a_hand_stays_out_of_the_hull_of_a_mesh(shape: Callable[[], bpy.types.Object]) -> None:
    ob, targets = standing()
    made = shape()
    rigs.made_active(ob)
    ob.pose.bones["hand.L"].dqik_radius = 0.03
    targets["hand.L"].location = (0.45, -0.35, 1.2)
    rigs.live(ob)
    assert height_over_faces(ob, "hand.L", made) < -0.04, "without contact the hand is in it"
    avoid(ob, made)
    rigs.update()
    assert height_over_faces(ob, "hand.L", made) > -DEEP  # the body ends where the bone does
    assert ob.dqik.status.overlap == 0.0, "less than the tolerance is none"


def test_a_hand_reaches_beside_a_wedge_where_its_bounds_are() -> None:
    ob, targets = standing()
    made = wedge()
    rigs.made_active(ob)
    ob.pose.bones["hand.L"].dqik_radius = 0.02
    targets["hand.L"].location = (0.5, -0.24, 1.34)
    avoid(ob, made)
    rigs.live(ob)
    assert rigs.miss(ob, "hand.L", targets["hand.L"]) < 1e-3


@pytest.mark.parametrize("keys", [False, True])
def test_a_smooth_bake_keeps_bodies_apart_without_a_jump(keys: bool) -> None:
    """Of a hand that is led into the chest; also of a body that is keyed, whose correction is smooth."""
    ob, targets = standing()
    ob.pose.bones["chest"].dqik_radius, ob.pose.bones["hand.L"].dqik_radius = 0.26, 0.03
    ways = [(1, (0.45, -0.3, 1.3)), (20, (-0.05, 0.02, 1.42)), (40, (0.45, -0.3, 1.2))]
    rigs.key_path(targets["hand.L"], [frame for frame, _ in ways], [place for _, place in ways])
    if keys:
        keyed(ob)
    rigs.made_active(ob)
    ob.dqik.avoid_self = True
    bpy.ops.dqik.bake(frame_start=1, frame_end=40, smooth=1.0)
    found = [(gap(ob, "hand.L", "chest"), rigs.matrices(ob)) for _ in rigs.visited(range(1, 41))]
    gaps, poses = zip(*found, strict=True)
    assert 0.28 < min(gaps) < 0.32, "without contact it comes to 0.11, keyed to 0.24"
    assert largest_turn(poses) < 15.0


def cylinder(ob: bpy.types.Object, bone: str, radius: float) -> bpy.types.Object:
    """A tube about a bone that follows it."""
    own = ob.data.bones[bone]
    rings = []
    for share in np.linspace(0.05, 0.95, 9):
        for turn in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
            local = Vector((radius * np.cos(turn), share * own.length, radius * np.sin(turn)))
            rings.append(own.matrix_local @ local)
    return rigs.skin(ob, rigs.child(rigs.mesh(rings), ob), bone)


def test_radii_come_from_the_mesh() -> None:
    ob, _ = standing()
    cylinder(ob, "forearm.L", 0.043)
    cylinder(ob, "thigh.R", 0.081)
    rigs.made_active(ob)
    ob.scale = (2.0, 2.0, 2.0)
    rigs.update()
    assert bpy.ops.dqik.fit_capsules() == {"FINISHED"}
    assert ob.pose.bones["forearm.L"].dqik_radius == pytest.approx(0.043, rel=1e-3)
    assert ob.pose.bones["thigh.R"].dqik_radius == pytest.approx(0.081, rel=1e-3)
    assert 0.01 < ob.pose.bones["forearm.R"].dqik_radius < 0.08
    assert ob.pose.bones["collar.L"].dqik_radius == 0.0


def test_an_obstacle_that_follows_a_solved_bone_is_left_out_and_named() -> None:
    ob, targets = standing()
    avoid(ob, rigs.child(box((0.0, 0.1, 0.0), (0.1, 0.1, 0.1), "Cup"), ob, "hand.L"))
    ob.dqik.live = True
    targets["hand.L"].location = (0.4, -0.3, 1.2)
    rigs.update()
    assert "Obstacle 'Cup': it follows bone 'hand.L', which is solved" in ob.dqik.status.message
    assert rigs.miss(ob, "hand.L", targets["hand.L"]) < 1e-3


def test_a_wall_and_a_plate_keep_the_hand_on_their_side() -> None:
    ob, targets = standing()
    wall = rigs.empty((0.0, -0.3, 0.0), "Wall")
    wall.rotation_quaternion = Matrix.Rotation(radians(-90.0), 4, "X").to_quaternion()  # Z points back, to the figure
    rigs.made_active(ob)
    ob.pose.bones["hand.L"].dqik_radius = 0.02
    avoid(ob, wall)
    ob.dqik.live = True
    targets["hand.L"].location = (0.2, -0.5, 1.3)
    rigs.update()
    normal = np.array(wall.matrix_world.to_3x3().col[2])
    assert normal[1] > 0.99
    assert segment(ob, "hand.L")[:, 1].min() > -0.3 - DEEP  # the body ends where the bone does
    bpy.ops.mesh.primitive_plane_add(size=2.0, location=(0.0, -0.3, 1.3), rotation=(radians(-90.0), 0.0, 0.0))
    plate = bpy.context.object
    ob.dqik.avoid[0].object = plate
    targets["hand.L"].location = (0.2, -0.36, 1.3)
    rigs.update()
    assert segment(ob, "hand.L")[:, 1].min() > -0.3 - DEEP


def test_a_figure_without_bodies_is_baked_beside_obstacles() -> None:
    """Very small typed radii leave all bones out, so that the obstacles are in nobody's way."""
    ob, target = rigs.bent_arm(), rigs.empty((1.0, -1.0, 0.3))
    rigs.goal(ob, "b", target)
    for bone in ob.pose.bones:
        bone.dqik_radius = 1e-9
    avoid(ob, box((1.0, -1.0, 0.3), (0.5, 0.5, 0.5)))
    rigs.made_active(ob)
    rigs.live(ob)
    live = rigs.matrices(ob)
    assert rigs.miss(ob, "b", target) < 1e-3
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=2) == {"FINISHED"}
    rigs.at_frame(1)
    assert np.abs(rigs.matrices(ob) - live).max() < 1e-5


def keyed(ob: bpy.types.Object) -> None:
    """Put a key on every bone."""
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
        rigs.key(bone, 1)


def largest_turn(poses: list[np.ndarray]) -> float:
    """The largest turn [degrees] of a bone from one pose (N, 4, 4) to the next."""
    return max(float(np.degrees(rigs.turn(one, other))) for one, other in pairwise(poses))


def test_a_keyed_hand_that_is_led_into_the_belly_does_not_jump() -> None:
    """Nor does the other hand, which is turned from its keys by its target; a frame is the same in any order."""
    ob, targets = standing()
    ob.pose.bones["chest"].dqik_radius = 0.14
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    keyed(ob)
    rigs.key_path(targets["hand.L"], (1, 30), ((0.4, -0.4, 1.3), (-0.1, 0.0, 1.15)))
    rigs.at_frame(1)
    turned = Matrix.Rotation(radians(40.0), 4, "X") @ ob.pose.bones["hand.R"].matrix
    targets["hand.R"].rotation_quaternion = turned.to_quaternion()
    ob.dqik.goals[1].use_rotation = True
    ob.dqik.avoid_self = ob.dqik.live = True
    poses, pushed = [], 0
    for frame in rigs.visited(range(12, 31)):
        poses.append(rigs.matrices(ob))
        pushed += rigs.miss(ob, "hand.L", targets["hand.L"]) > 0.01
        assert ob.dqik.status.overlap < DEEP, frame
    assert 5 < pushed < 15
    assert largest_turn(poses) < 18.0
    rigs.at_frame(20)
    assert np.abs(rigs.matrices(ob) - poses[20 - 12]).max() < 1e-6


def test_lists_of_obstacles() -> None:
    ob, _ = standing()
    crate = box((2.0, 0.0, 0.0), (0.3, 0.3, 0.3))
    rigs.made_active(ob)
    crate.select_set(True)
    assert bpy.ops.dqik.avoid_add() == {"FINISHED"}
    assert [one.object for one in ob.dqik.avoid] == [crate]
    assert bpy.ops.dqik.avoid_remove() == {"FINISHED"}
    assert not ob.dqik.avoid
    assert bpy.ops.dqik.avoid_remove() == {"CANCELLED"}
