# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs as people build them: rotation modes, scaled and turned objects, offsets, detached and constrained bones."""

import itertools
from collections.abc import Callable
from math import cos, radians

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector


def reach_figure(ob: bpy.types.Object, prepare: Callable = lambda ob: None) -> np.ndarray:
    """The evaluated pose of the figure with five goals within reach."""
    prepare(ob)
    for end, at in {
        "hand.L": (0.5, -0.4, 1.3), "hand.R": (-0.4, -0.3, 1.6), "head": (0.05, -0.1, 1.76),
        "foot.L": (0.15, -0.3, 0.1), "foot.R": (-0.2, 0.1, 0.2),
    }.items():  # fmt: skip
        rigs.goal(ob, end, rigs.empty(at, f"{end} target"))
    rigs.live(ob)
    return rigs.matrices(ob)


# -- rotation modes ---------------------------------------------------------------------------------------------------


def test_the_rotation_mode_does_not_matter() -> None:
    """Bones in modes of their own, all that there are, take the pose of quaternions; other channels are left alone."""

    def pose(*modes: str) -> Callable:
        def prepare(ob: bpy.types.Object) -> None:
            for k, bone in enumerate(ob.pose.bones):
                bone.rotation_mode = modes[k % len(modes)]
                if bone.rotation_mode != "QUATERNION":
                    bone.rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
                rigs.posed(bone, rigs.rotation((1, k, 2), 10.0))

        return prepare

    expected = reach_figure(rigs.figure(), pose("QUATERNION"))
    rigs.new_file()
    ob = rigs.figure()
    assert rigs.turn(expected, reach_figure(ob, pose(*rigs.ROTATION_MODES))) < 2e-4
    for end in rigs.FIGURE_ENDS:
        assert rigs.miss(ob, end, bpy.data.objects[f"{end} target"]) < 1e-3
    for bone, mode in zip(ob.pose.bones, itertools.cycle(rigs.ROTATION_MODES)):
        assert bone.rotation_mode == mode
        assert mode == "QUATERNION" or np.allclose(bone.rotation_quaternion, (0.6, 0.0, 0.8, 0.0), atol=1e-7)


# -- the armature object ----------------------------------------------------------------------------------------------

PLACES = {
    "moved": Matrix.Translation((5, -3, 2)),
    "turned": rigs.facing(3),
    "small": Matrix.Scale(0.01, 4),
    "large": Matrix.Scale(250.0, 4),
    "everything": Matrix.Translation((1, 2, 3)) @ rigs.facing(3) @ Matrix.Scale(0.3, 4),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("parented", [False, True])
def test_the_objects_place_and_size_do_not_matter(name: str, parented: bool) -> None:
    """A moved, turned, scaled or parented armature with its targets moved alike takes the same pose."""
    expected = reach_figure(rigs.figure())
    rigs.new_file()
    ob, holder = rigs.figure(), rigs.empty((0, 0, 0), "Holder")
    ob.parent = holder if parented else None
    (holder if parented else ob).matrix_world = PLACES[name]
    rigs.update()
    reach_figure(ob)
    for end in rigs.FIGURE_ENDS:
        target = bpy.data.objects[f"{end} target"]
        target.location = PLACES[name] @ target.location
    rigs.update()
    size = PLACES[name].to_scale().x
    assert rigs.turn(expected, rigs.matrices(ob)) < 1e-3
    for end in rigs.FIGURE_ENDS:
        assert rigs.miss(ob, end, bpy.data.objects[f"{end} target"]) < 1e-3 * size


def test_moving_the_armature_object_keeps_the_bones_at_their_targets() -> None:
    """Targets stay where they are while the object is moved, by hand and by keys."""
    ob, target = rigs.bent_arm(), rigs.empty((1.2, -0.6, 0.2))
    rigs.goal(ob, "b", target)
    ob.dqik.live = True
    ob.location.z = 0.4
    assert rigs.miss(ob, "b", target) < 1e-3
    rigs.key_path(ob, (1, 9), [(0, 0, 0), (0.5, -0.5, 0.5)])
    for _ in rigs.visited((9, 1, 4)):
        assert rigs.miss(ob, "b", target) < 1e-3


@pytest.mark.parametrize("scale", [(1.5, 1.0, 0.7), (-1.0, 1.0, 1.0)])
def test_an_unevenly_scaled_or_mirrored_object_still_reaches(scale: tuple) -> None:
    """The tail is at the target in the world, whatever the object's scale."""
    ob, target = rigs.bent_arm(), rigs.empty((1.1 * scale[0], -0.6, 0.3))
    ob.scale = scale
    rigs.reach(ob, "b", target)
    assert rigs.miss(ob, "b", target) < 2e-3


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_the_size_of_the_bones_does_not_matter(size: float) -> None:
    """A rig modelled in millimetres or in kilometres takes the same pose."""
    poses = []
    for factor in (1.0, size):
        rigs.new_file()
        ob = rigs.chain([(0, 0, 0), (factor, 0, 0), (1.8 * factor, -0.5 * factor, 0)])
        target = rigs.empty(Vector((1.0, -0.8, 0.4)) * factor)
        rigs.reach(ob, "b", target)
        assert rigs.miss(ob, "b", target) < 1e-3 * factor
        poses.append(rigs.matrices(ob))
    assert rigs.turn(*poses) < 1e-3


# -- bones ------------------------------------------------------------------------------------------------------------


def free_chain() -> bpy.types.Object:
    """Three bones of which only the last is connected."""
    return rigs.armature([
        rigs.Bone("a", (0, 0, 0), (0.8, 0, 0)),
        rigs.Bone("b", (1.0, -0.1, 0.1), (1.9, -0.3, 0.1), "a"),
        rigs.Bone("c", (1.9, -0.3, 0.1), (2.6, -0.3, 0.3), "b", True),
    ])  # fmt: skip


def posed(ob: bpy.types.Object, angle: float) -> None:
    for bone in ob.pose.bones:
        rigs.posed(bone, rigs.rotation((0, 0, 1), angle))


def change(bones: bpy.types.bpy_prop_collection, **of_bones: dict[str, object]) -> None:
    for name, values in of_bones.items():
        rigs.put(bones[name], **values)


BUILDS = {
    "as built": ({}, {}),
    "moved by their location": ({"a": {"location": (0.2, -0.1, 0.3)}, "b": {"location": (-0.1, 0.3, 0.2)}}, {}),
    "larger and smaller": ({"a": {"scale": (1.4, 1.4, 1.4)}, "b": {"scale": (0.6, 0.6, 0.6)}}, {}),
    "drawn out along their lengths": (
        {"a": {"scale": (1.0, 1.4, 1.0)}}, {"b": {"inherit_scale": "ALIGNED"}, "c": {"inherit_scale": "ALIGNED"}}),
    "a longer tip": ({"c": {"scale": (1.0, 1.5, 1.0)}}, {}),
    "one that does not turn with its parent": ({}, {"b": {"use_inherit_rotation": False}}),
    "one that does not take its parent's scale": (
        {"a": {"scale": (1.3, 1.3, 1.3)}}, {"b": {"inherit_scale": "NONE"}}),
    "one that moves along the armature's axes": (
        {"b": {"location": (0.1, -0.2, 0.2)}}, {"b": {"use_local_location": False}}),
    "posed, and one that does not turn with its parent": ({}, {"b": {"use_inherit_rotation": False}}),
}  # fmt: skip
"""What is set of pose bones, and of bones."""


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("target_at", [(1.6, -1.2, 0.6), (1.0, 0.9, -0.8)])
def test_bones_that_are_not_as_at_rest_reach_their_targets(build: str, target_at: tuple) -> None:
    """The evaluated tail is at the target, locations and scales are as before, and all frames are the same."""
    ob, target = free_chain(), rigs.empty(target_at)
    change(ob.pose.bones, **BUILDS[build][0])
    change(ob.data.bones, **BUILDS[build][1])
    posed(ob, -20.0 if "posed" in build else 0.0)
    rigs.update()
    before = [(tuple(bone.location), tuple(bone.scale)) for bone in ob.pose.bones]
    rigs.reach(ob, "c", target)
    assert rigs.miss(ob, "c", target) < 1e-3
    assert [(tuple(bone.location), tuple(bone.scale)) for bone in ob.pose.bones] == before
    first = rigs.matrices(ob)
    for _ in rigs.visited((2, 3, 4)):
        assert rigs.miss(ob, "c", target) < 1e-3
    assert rigs.turn(first, rigs.matrices(ob)) < 1e-5


@pytest.mark.parametrize("where", [0, 1, 2, 3])
def test_a_bone_of_almost_no_length_is_no_trouble(where: int) -> None:
    """With a bone of 1e-6 anywhere in the chain, at its end too, the target is reached and every number is finite."""
    points, length = [Vector((0, 0, 0))], 2e-6 if where == 3 else 1e-6  # Blender drops bones that round to less
    for k in range(4):
        points.append(points[-1] + (Vector((length, 0, 0)) if k == where else Vector((0.8, -0.3 * k, 0))))
    ob, target = rigs.chain(points), rigs.empty((1.2, -0.9, 0.5))
    rigs.reach(ob, "d", target)
    assert rigs.miss(ob, "d", target) < 1e-3
    assert np.isfinite(rigs.matrices(ob)).all()
    assert rigs.message(ob) == ""


# -- hips -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_hips_that_may_move_bring_the_arms_to_targets_beyond_their_reach(local: bool, scale: float) -> None:
    """With dqik_translate both hands reach targets 2 m to the front, and without it they do not."""
    misses = {}
    for translate in (False, True):
        rigs.new_file()
        ob = rigs.figure()
        ob.scale = (scale, scale, scale)
        ob.data.bones["hips"].use_local_location = local
        ob.pose.bones["hips"].dqik_translate = translate
        for side, sign in (("L", 1), ("R", -1)):
            target = rigs.empty(Vector((sign * 0.3, -2.0, 1.6)) * scale, side)
            rigs.goal(ob, f"hand.{side}", target)
        rigs.live(ob)
        misses[translate] = max(rigs.miss(ob, f"hand.{side}", bpy.data.objects[side]) for side in "LR") / scale
        if translate:
            assert ob.pose.bones["hips"].location.length > 0.5
            before = rigs.matrices(ob)
            rigs.at_frame(5)
            rigs.at_frame(2)
            assert rigs.turn(before, rigs.matrices(ob)) < 1e-5
            assert np.abs(before - rigs.matrices(ob)).max() < 1e-4
            ob.dqik.live = False
            assert ob.pose.bones["hips"].location.length == 0.0
    assert misses[True] < 2e-3
    assert misses[False] > 0.3


def test_hips_with_a_place_of_their_own_start_from_it() -> None:
    """Hips that are moved before live goes on, and whose goals are met there, stay where they are."""
    ob = rigs.figure()
    hips = ob.pose.bones["hips"]
    hips.location, hips.dqik_translate = (0.3, 0.2, -0.1), True
    rigs.update()
    for end in ("hand.L", "foot.R"):
        rigs.goal(ob, end, rigs.empty(rigs.tail(ob, end), end))
    rigs.live(ob, at=3)
    assert (hips.location - Vector((0.3, 0.2, -0.1))).length < 0.05


@pytest.mark.parametrize("start_from", ["POSE", "REST", "PREVIOUS"])
@pytest.mark.parametrize("locked", [(True, False, True), (False, True, False), (True, True, True)])
@pytest.mark.parametrize("local", [True, False])
def test_locked_axes_of_a_location_stay(start_from: str, locked: tuple, local: bool) -> None:
    """A carriage on a rail, locked while Live is on: only its free axes move, in Live and in bakes of both kinds."""
    bones = [
        rigs.Bone("base", (0, 0, -0.3), (0, 0, 0)),
        rigs.Bone("carriage", (0, 0, 0), (0.1, 0.2, 0.3), "base", roll=1),
        rigs.Bone("rod", (0, 0, 0), (1, 0, 1), "carriage"),
    ]
    ob = rigs.armature(bones)
    carriage = ob.pose.bones["carriage"]
    carriage.bone.use_local_location = local
    carriage.location, carriage.dqik_translate = (0.1, -0.2, 0.3), True
    target = rigs.empty((1, 0, 1))
    rigs.key_path(target, (1, 5, 10), [(1, 0, 1), (0.6, 0.5, 1.5), (-0.3, 0.2, 1.2)])
    rigs.goal(ob, "rod", target, chain_length=2)
    ob.dqik.start_from, ob.dqik.live = start_from, True
    rigs.at_frame(1)
    carriage.lock_location = locked
    begun = np.array((0.1, -0.2, 0.3))
    free = ~np.array(locked)
    for number, frames in enumerate(([2, 5, 8], [2, 5, 8], [2, 5, 8])):
        moved = [np.array(rigs.evaluated(ob).pose.bones["carriage"].location) - begun for _ in rigs.visited(frames)]
        assert np.abs(moved)[:, ~free].max(initial=0.0) < 1e-6
        assert not free.any() or np.abs(moved)[:, free].max() > 0.1
        assert ("cannot move" in ob.dqik.status.message) == (not free.any() and not number)
        if number == 0:
            ob.dqik.live = False
            assert np.allclose(carriage.location, begun, atol=1e-6)
        if start_from == "REST":
            break
        bpy.ops.dqik.bake(frame_start=1, frame_end=10, smooth=0.3 * number, clear_goals=False)


def test_a_child_bone_that_may_move_reaches_by_sliding() -> None:
    """A free bone in the middle of a locked chain slides its tip to the target, in its parent's turned frame."""
    ob, target = free_chain(), rigs.empty((1.2, 1.4, 0.7))
    rigs.posed(ob.pose.bones["a"], rigs.rotation((1, 0, 1), 70.0))
    ob.pose.bones["a"].dqik_lock = ob.pose.bones["c"].dqik_lock = True
    rigs.limit(ob.pose.bones["b"], (0, 0), (0, 0), (0, 0))
    ob.pose.bones["b"].dqik_translate = True
    rigs.reach(ob, "c", target)
    assert rigs.miss(ob, "c", target) < 2e-3
    assert ob.pose.bones["b"].location.length > 0.1
    assert rigs.local_rotation(ob, "b").angle < 1e-4


# -- goals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["dqik", "blender"])
def test_use_tail_off_brings_the_head_to_the_target(which: str) -> None:
    """The bone's head is at the target and the bone itself keeps its own rotation, as with Blender's IK."""
    ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0), (2.3, -0.4, 0)])
    target = rigs.empty((1.0, -1.0, 0.4))
    if which == "dqik":
        rigs.goal(ob, "c", target, use_tail=False)
        ob.dqik.live = True
    else:
        rigs.blender_ik(ob, "c", target, use_tail=False)
    assert (rigs.head(ob, "c") - rigs.place(target)).length < 1e-3
    assert rigs.local_rotation(ob, "c").angle < 1e-5


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("use_tail", [True, False])
def test_chain_length_counts_as_blenders(length: int, use_tail: bool) -> None:
    """The bones that move are those that Blender's IK of the same chain length moves."""
    moved = []
    for which in ("dqik", "blender"):
        rigs.new_file()
        ob = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0), (2.3, -0.9, 0), (2.5, -1.5, 0)])
        target = rigs.empty(rigs.tail(ob, "d") + Vector((-0.1, 0.3, 0.3)))
        if which == "dqik":
            rigs.goal(ob, "d", target, chain_length=length, use_tail=use_tail)
            ob.dqik.live = True
        else:
            rigs.blender_ik(ob, "d", target, chain_count=length, use_tail=use_tail)
        rigs.update()
        moved.append([bone.name for bone in ob.pose.bones if rigs.local_rotation(ob, bone.name).angle > 1e-3])
    assert moved[0] == moved[1]
    assert moved[0]


@pytest.mark.parametrize("place", [True, False])
def test_a_rotation_goal_turns_the_bone_as_its_target(place: bool) -> None:
    """The hand's evaluated rotation is the target's, within 2e-3 rad; its tail is there unless only the turn counts."""
    ob, target = rigs.figure(), rigs.empty((0.45, -0.3, 1.3) if place else (50, 60, 70))
    ob.matrix_world = rigs.facing(1)
    target.location = rigs.facing(1) @ target.location
    target.rotation_quaternion = rigs.rotation((1, 2, 0.5), 100.0)
    rigs.reach(ob, "hand.L", target, use_rotation=True, use_position=place)
    turned = rigs.world(ob, "hand.L").to_quaternion()
    assert turned.rotation_difference(target.rotation_quaternion).angle < 2e-3
    assert not place or rigs.miss(ob, "hand.L", target) < 1e-3


def test_influence_goes_from_the_base_pose_to_the_target() -> None:
    """At 0 the pose is the base pose, at 1 the tail is at the target, at 0.5 half-way; its keys are followed."""
    ob, target = rigs.bent_arm(), rigs.empty((0.9, -1.0, 0.5))
    rest, start = rigs.matrices(ob), rigs.tail(ob, "b")
    goal = rigs.goal(ob, "b", target)
    ob.dqik.live = True
    way = Vector(target.location) - start
    for influence in (1.0, 0.5, 0.0, 0.25, 1.0):
        goal.influence = influence
        assert (rigs.tail(ob, "b") - (start + influence * way)).length < 1e-3
    goal.influence = 0.0
    assert rigs.turn(rest, rigs.matrices(ob)) < 1e-5
    rigs.key_path(goal, (1, 11), (0.0, 1.0), "influence")
    for frame in rigs.visited((11, 1, 6, 3)):
        share = rigs.evaluated(ob).dqik.goals[0].influence
        assert (rigs.tail(ob, "b") - (start + share * way)).length < 1e-3, f"frame {frame}"


def test_a_muted_goal_has_no_effect() -> None:
    """The bones of a goal that is muted while live go back to the base pose; those of the other stay solved."""
    ob = rigs.figure()
    rest = rigs.matrices(ob)
    left = rigs.goal(ob, "hand.L", rigs.empty((0.5, -0.4, 1.3), "L"), chain_length=3)
    rigs.reach(ob, "hand.R", rigs.empty((-0.5, -0.4, 1.3), "R"), chain_length=3)
    both = rigs.matrices(ob)
    left.mute = True
    rigs.update()
    names = [bone.name for bone in ob.pose.bones]
    for name in ("arm", "forearm", "hand"):
        k, other = names.index(f"{name}.L"), names.index(f"{name}.R")
        assert rigs.turn(rest[k], rigs.matrices(ob)[k]) < 1e-5
        assert rigs.turn(both[other], rigs.matrices(ob)[other]) < 1e-5
    left.mute = False
    assert rigs.turn(both, rigs.matrices(ob)) < 1e-5


def test_a_locked_bone_does_not_move() -> None:
    """Its local rotation is exactly the posed one, and the others reach without it."""
    ob, target = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0), (2.3, -0.9, 0)]), rigs.empty((1.1, -1.0, 0.4))
    locked = ob.pose.bones["b"]
    locked.rotation_quaternion, locked.dqik_lock = rigs.rotation((1, 0, 1), 15.0), True
    channels = tuple(locked.rotation_quaternion)
    rigs.reach(ob, "c", target)
    assert tuple(locked.rotation_quaternion) == channels
    assert abs(rigs.local_rotation(ob, "b").angle - radians(15.0)) < 1e-5
    assert rigs.miss(ob, "c", target) < 1e-3


@pytest.mark.parametrize("kind", ["COPY_ROTATION", "DAMPED_TRACK"])
def test_a_constrained_bone_is_left_to_its_constraint(kind: str) -> None:
    """Its channels are untouched, it stands as Blender's constraint says, it is named, and the others reach."""
    ob, target = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0), (2.4, -0.9, 0)]), rigs.empty((1.3, -1.2, 0.4))
    source = rigs.empty((1.5, -3.0, 0.5), "Source")
    source.rotation_quaternion = rigs.rotation((0.2, 0, 1), -140.0)
    rigs.constrain(ob.pose.bones["b"], kind, source)
    rigs.reach(ob, "c", target)
    rigs.visit(range(2, 8))
    assert tuple(ob.pose.bones["b"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert "'b'" in rigs.message(ob)
    if kind == "COPY_ROTATION":
        turned = rigs.evaluated(ob).pose.bones["b"].matrix.to_quaternion()
        assert turned.rotation_difference(source.rotation_quaternion).angle < 1e-3
        assert rigs.miss(ob, "c", target) < 1e-3
    else:
        aim = (rigs.place(source) - rigs.head(ob, "b")).normalized()
        assert (rigs.tail(ob, "b") - rigs.head(ob, "b")).normalized().dot(aim) > cos(1e-3)


def test_a_muted_constraint_holds_nothing() -> None:
    """A bone whose constraint is muted is solved like any other, also when it is muted while live."""
    ob, target = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0)]), rigs.empty((0.8, -1.0, 0.4))
    made = rigs.constrain(ob.pose.bones["a"], "COPY_ROTATION", rigs.empty((0, 0, 0), "Source"))
    rigs.reach(ob, "b", target)
    assert rigs.miss(ob, "b", target) > 0.05
    made.mute = True
    rigs.update()
    rigs.at_frame(2)
    assert rigs.message(ob) == ""
    assert rigs.miss(ob, "b", target) < 1e-3
