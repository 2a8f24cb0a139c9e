# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that follow each other or themselves, in all ways that Blender has: each frame depends on itself alone."""

from collections.abc import Callable

import bpy
import pytest
import rigs
from cases import each_once
from live_rigs import curve_object, two_that_follow_each_other
from situations import NEAR, STEADY, crane, forget, history, load, pose_at, reaching, turn

FRAMES = (3, 20, 11, 7)


def skinned(ob: bpy.types.Object, bone: str) -> bpy.types.Object:
    """A triangle that an armature modifier moves with a bone."""
    end = ob.data.bones[bone].tail_local
    skin = rigs.mesh([end, (end.x, end.y + 0.1, end.z), (end.x, end.y, end.z + 0.1)], [(0, 1, 2)], "Skin")
    return rigs.skin(ob, skin, bone)


def by_driver(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    for index, axis in enumerate("XYZ"):
        rigs.drive_by(hook, "location", index, leader, "jib", f"LOC_{axis}")


def by_vertices(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    hook.parent, hook.parent_type, hook.parent_vertices = skinned(leader, "jib"), "VERTEX_3", (0, 1, 2)


def by_armature_constraint(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    rigs.put(hook.constraints.new("ARMATURE").targets.new(), target=leader, subtarget="jib")


def by_two_constraints(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """Half of the way to the leader's bone, and no higher than a ceiling."""
    rigs.constrain(hook, "COPY_LOCATION", leader, subtarget="jib", influence=0.5)
    rigs.constrain(hook, "LIMIT_LOCATION", use_max_z=True, max_z=1.2)


def by_curve(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """A place on a curve that hangs from the leader's bone."""
    path = rigs.child(curve_object("POLY"), leader, "jib")
    path.data.use_path, path.scale = True, (0.2,) * 3
    rigs.constrain(hook, "FOLLOW_PATH", path, use_fixed_location=True, offset_factor=0.5)


def by_bone_of_a_third(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """The hook is on a bone of an armature without goals, whose constraint follows the leader."""
    third = rigs.armature([rigs.Bone("link", (0, 0, 0), (0, 0, 0.2))], "Third")
    rigs.constrain(third.pose.bones["link"], "COPY_TRANSFORMS", leader, subtarget="jib")
    rigs.child(hook, third, "link")


def drive_by_property(owner: bpy.types.bpy_struct, path: str, index: int, read: bpy.types.ID, name: str) -> None:
    """Drive a channel by a property of an object or another ID."""
    driver = owner.driver_add(path, index).driver
    target = driver.variables.new().targets[0]
    driver.type, target.id_type = "AVERAGE", read.id_type
    target.id, target.data_path = read, name


def by_property_of_a_third(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """The hook's driver reads a property that another driver sets from the leader's bone."""
    third = rigs.empty((0, 0, 0), "Third")
    third["height"] = 0.0
    rigs.drive_by(third, '["height"]', -1, leader, "jib", "LOC_Z")
    drive_by_property(hook, "location", 2, third, '["height"]')
    hook.location = (0.9, 0.4, 0.0)


def by_property_of_the_armature(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """As above, with a property of the leader's armature data."""
    leader.data["height"] = 0.0
    rigs.drive_by(leader.data, '["height"]', -1, leader, "jib", "LOC_Z")
    drive_by_property(hook, "location", 2, leader.data, '["height"]')
    hook.location = (0.9, 0.4, 0.0)


def by_shape_key(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    """The hook is on vertices that a shape key moves, whose value the leader's bone drives."""
    shape = rigs.mesh([(0.9, 0.4, 0.6), (1.0, 0.4, 0.6), (0.9, 0.5, 0.6)], [(0, 1, 2)], "Shape")
    shape.shape_key_add(name="Basis")
    up = shape.shape_key_add(name="Up")
    up.slider_max = 3.0
    for point in up.data:
        point.co.z += 0.3
    rigs.drive_by(shape.data.shape_keys, 'key_blocks["Up"].value', -1, leader, "jib", "LOC_Z")
    hook.parent, hook.parent_type, hook.parent_vertices = shape, "VERTEX_3", (0, 1, 2)


def by_parent(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    rigs.child(hook, leader, "jib")


def by_grandparent(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    hook.parent = rigs.empty((0.1, 0.0, 0.0), "Between")
    by_parent(leader, hook.parent)


def by_constraint(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
    rigs.constrain(hook, "COPY_LOCATION", leader, subtarget="jib")


WAYS = [
    by_parent, by_grandparent, by_constraint, by_driver, by_vertices, by_armature_constraint, by_two_constraints,
    by_curve, by_bone_of_a_third, by_property_of_a_third, by_property_of_the_armature, by_shape_key,
]  # fmt: skip


def leader_and_follower(
    way: Callable, order: tuple[str, str] = ("First", "Second")
) -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A crane with a moving load, and another one that reaches for a hook, which follows the first in some way.

    order : names of the leader and the follower, in whose order Blender has them.
    """
    leader, follower = (crane(name) for name in order)
    rigs.goal(leader, "jib", load())
    follower.location = (0.2, 0.5, 0.0)
    hook = rigs.empty((0.0, 0.0, 0.0), "Hook")
    way(leader, hook)
    rigs.goal(follower, "jib", hook)
    leader.dqik.live = follower.dqik.live = True
    return leader, follower, hook


@each_once(way=WAYS, order=[("First", "Second"), ("Second", "First")])
def test_a_target_that_follows_another_armature_is_met_on_the_same_frame(way: Callable, order: tuple) -> None:
    """Whatever the target follows its leader by, and after an edit as after a change of frame."""
    leader, follower, hook = leader_and_follower(way, order)
    for frame in rigs.visited(FRAMES):
        assert rigs.miss(follower, "jib", hook) < NEAR, f"frame {frame}"
        assert follower.dqik.status.converged
    assert history(follower) < STEADY
    moved = leader.dqik.goals[0].target
    moved.animation_data_clear()
    for place in ((0.9, 0.4, 1.2), (1.1, -0.2, 0.9)):
        moved.location = place
        assert rigs.miss(follower, "jib", hook) < NEAR


@pytest.mark.parametrize(("owner", "setting"), [(None, "dqik.goals[0].influence"), ("mast", "dqik_stiffness")])
def test_a_setting_that_another_armature_drives_is_that_of_the_same_frame(owner: str | None, setting: str) -> None:
    """The leader's bone drives an influence or a stiffness of the follower; the hook itself follows nothing."""
    leader, follower, hook = leader_and_follower(lambda leader, hook: None)
    hook.location = (0.9, 0.8, 1.2)
    rigs.drive_by(follower if owner is None else follower.pose.bones[owner], setting, -1, leader, "jib", "LOC_Y")
    leader.dqik.live = follower.dqik.live = True
    assert history(follower, FRAMES) < STEADY


def test_a_ring_of_drivers_is_no_trouble() -> None:
    """Two properties drive each other, and one of them the hook."""

    def ring(leader: bpy.types.Object, hook: bpy.types.Object) -> None:
        hook["one"] = hook["other"] = 0.5
        drive_by_property(hook, '["one"]', -1, hook, '["other"]')
        drive_by_property(hook, '["other"]', -1, hook, '["one"]')
        drive_by_property(hook, "location", 2, hook, '["one"]')

    leader, follower, _ = leader_and_follower(ring)
    rigs.at_frame(5)
    assert leader.dqik.live
    assert follower.dqik.live


def test_in_a_cycle_of_armatures_one_goal_is_left_out_and_said() -> None:
    """The first armature does not wait for the second, which follows it; its other goals are met."""
    one, other = two_that_follow_each_other()
    for _ in rigs.visited(FRAMES):
        assert "a cycle" in one.dqik.status.message
        assert not other.dqik.status.message
        assert rigs.miss(one, "jib", bpy.data.objects["Load"]) < NEAR
    assert history(one) < STEADY
    assert history(other) < STEADY


def test_a_goal_that_a_script_removes_from_a_cycle_ends_it_on_the_next_frame() -> None:
    """Blender reports no update when an item of a collection is removed."""
    one, other = two_that_follow_each_other()
    rigs.at_frame(FRAMES[0])
    assert "a cycle" in one.dqik.status.message
    other.dqik.goals.remove(0)
    rigs.at_frame(FRAMES[1])
    assert "a cycle" not in one.dqik.status.message


@pytest.mark.parametrize("keyed", [0, 1])
def test_an_armature_that_is_not_live_on_a_frame_is_in_no_cycle(keyed: int) -> None:
    """Live is keyed on one of two that follow each other: the other's pose depends on the frame alone."""
    both = two_that_follow_each_other()
    rigs.key_path(both[keyed].dqik, (1, 7, 8, 9, 12), (True, False, True, False, True), "live")
    fresh = {}
    for frame in (7, 10):
        forget()
        rigs.at_frame(frame)
        fresh[frame] = rigs.matrices(both[1 - keyed])
    for frame in rigs.visited((8, 7, 12, 10)):
        if frame in fresh:
            assert turn(fresh[frame], rigs.matrices(both[1 - keyed])) < STEADY


# -- an armature that follows itself -----------------------------------------------------------------------------------


def constrained_to_the_flag(ob: bpy.types.Object) -> None:
    rigs.constrain(ob.pose.bones["boom"], "COPY_ROTATION", ob, subtarget="flag", influence=0.5, owner_space="LOCAL",
                   target_space="LOCAL")  # fmt: skip


def driven_by_the_flag(ob: bpy.types.Object) -> None:
    ob.pose.bones["boom"].rotation_mode = "XYZ"
    rigs.drive_by(ob.pose.bones["boom"], "rotation_euler", 2, ob, "flag", "ROT_X")


def copied_and_aimed(ob: bpy.types.Object) -> None:
    aim = rigs.empty((0.4, 0.9, 0.3), "Aim")
    rigs.key_path(aim, (1, 30), [(0.4, 0.9, 0.3), (-0.8, 0.1, 0.9)])
    rigs.constrain(ob.pose.bones["jib"], "COPY_ROTATION", aim)
    rigs.constrain(ob.pose.bones["jib"], "DAMPED_TRACK", aim)


@pytest.mark.parametrize("bind", [constrained_to_the_flag, driven_by_the_flag, copied_and_aimed])
def test_a_bone_of_a_chain_that_follows_a_solved_bone_carries_nothing_from_frame_to_frame(bind: Callable) -> None:
    """The boom follows the flag, which a goal of its own turns. Frames and a bake are the same in any order."""
    ob, _ = reaching()
    wind = rigs.empty((0, 0, 0), "Wind")
    rigs.key_path(wind, (1, 10, 20, 30), [(0.4, 0.5, 1.5), (-0.3, 0.2, 1.4), (0.2, -0.4, 1.2), (0.3, 0.4, 1.8)])
    rigs.goal(ob, "flag", wind, chain_length=1)
    bind(ob)
    ob.dqik.live = True
    assert history(ob) < STEADY
    shown = {frame: pose_at(ob, frame) for frame in range(1, 13)}
    rigs.made_active(ob)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=12) == {"FINISHED"}
    assert max(turn(pose, pose_at(ob, frame)) for frame, pose in shown.items()) < STEADY


def driven_target(ob: bpy.types.Object, target: bpy.types.Object) -> None:
    rigs.drive_by(target, "location", 2, ob, "jib", "LOC_Y")


def target_on_skin(ob: bpy.types.Object, target: bpy.types.Object) -> None:
    target.parent, target.parent_type, target.parent_vertices = skinned(ob, "boom"), "VERTEX_3", (0, 1, 2)


@pytest.mark.parametrize("bind", [driven_target, target_on_skin])
def test_a_target_that_follows_its_own_goals_bones_is_said(bind: Callable) -> None:
    """By a driver, or by the vertices of a mesh that the bones deform."""
    ob, target = reaching()
    bind(ob, target)
    rigs.live(ob, at=5)
    assert "which is solved" in ob.dqik.status.message
    assert history(ob) < STEADY


def test_a_constraint_without_its_target_holds_nothing() -> None:
    """Blender calls it valid, but it has no effect."""
    ob, target = reaching()
    guide = rigs.empty((0.3, 0.8, 0.4), "Guide")
    rigs.constrain(ob.pose.bones["boom"], "COPY_ROTATION", guide)
    rigs.live(ob, at=3)
    bpy.data.objects.remove(guide)
    for _ in rigs.visited(FRAMES):
        assert rigs.miss(ob, "jib", target) < NEAR
    assert not ob.dqik.status.message
    assert history(ob) < STEADY
