# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators from a script in background mode: what they make, and what they say."""

from math import degrees, radians

import bpy
import numpy as np
import pytest
import rigs
from cases import each_once
from mathutils import Vector

# -- goals ------------------------------------------------------------------------------------------------------------


def test_goal_add_makes_a_target_at_the_bones_tail() -> None:
    """The goal is named after the bone, its target stands at the evaluated tail, turned as the bone, and solving with
    it changes nothing."""
    ob = rigs.made_active(rigs.bent_arm())
    ob.matrix_world = rigs.facing(3)
    ob.pose.bones["a"].rotation_quaternion = rigs.rotation((1, 0, 1), 35.0)
    before, tail = rigs.matrices(ob), rigs.tail(ob, "b")
    assert bpy.ops.dqik.goal_add(bone="b", use_rotation=True) == {"FINISHED"}
    goal = ob.dqik.goals[0]
    assert (goal.bone, goal.name, goal.use_rotation, ob.dqik.active_goal) == ("b", "b", True, 0)
    assert (rigs.place(goal.target) - tail).length < 1e-5
    turned = (rigs.evaluated(ob).matrix_world @ rigs.evaluated(ob).pose.bones["b"].matrix).to_quaternion()
    assert goal.target.matrix_world.to_quaternion().rotation_difference(turned).angle < 1e-5
    rigs.live(ob)
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-3


def test_goal_add_takes_the_selected_bones() -> None:
    """In Pose Mode each selected bone gets a goal and a target of its own."""
    ob = rigs.made_active(rigs.figure())
    rigs.select(ob, "hand.L", "foot.R")
    assert bpy.ops.dqik.goal_add(chain_length=3) == {"FINISHED"}
    assert {goal.bone for goal in ob.dqik.goals} == {"hand.L", "foot.R"}
    assert len({goal.target.name for goal in ob.dqik.goals}) == 2
    assert {goal.chain_length for goal in ob.dqik.goals} == {3}


def test_goal_add_takes_a_target_that_is_there() -> None:
    """An object and a bone of another armature may be named, and no empty is made."""
    other = rigs.arm(name="Other")
    ob = rigs.made_active(rigs.bent_arm())
    count = len(bpy.data.objects)
    assert bpy.ops.dqik.goal_add(bone="b", target="Other", subtarget="b") == {"FINISHED"}
    assert (ob.dqik.goals[0].target, ob.dqik.goals[0].subtarget) == (other, "b")
    assert len(bpy.data.objects) == count


@pytest.mark.parametrize("settings", [
    {"bone": "elbow"}, {"bone": "b", "target": "nothing"}, {"bone": "b", "subtarget": "hand"},
    {"bone": "b", "target": "Rig", "subtarget": "hand"},
])  # fmt: skip
def test_goal_add_says_what_is_missing(settings: dict) -> None:
    """A name that is not there is in the error, and no goal is made."""
    ob = rigs.made_active(rigs.bent_arm())
    rigs.refuses(bpy.ops.dqik.goal_add, list(settings.values())[-1], **settings)
    assert len(ob.dqik.goals) == 0


def test_operators_need_an_armature() -> None:
    """Without one the operators cannot be called, and say so."""
    rigs.made_active(rigs.empty((0, 0, 0)))
    for name in ("goal_add", "goals_from_constraints", "reset_pose", "limits_from_ik", "solve", "bake"):
        operator = getattr(bpy.ops.dqik, name)
        assert not operator.poll()
        rigs.refuses(operator, "armature")


@pytest.mark.parametrize("live", [True, False])
def test_goal_remove_takes_one_goal_away(live: bool) -> None:
    """The named goal goes, its target stays; live, its bones return to the base pose and the others stay solved."""
    ob = rigs.made_active(rigs.figure())
    rest = rigs.matrices(ob)
    for end, at in (("hand.L", (0.5, -0.4, 1.3)), ("hand.R", (-0.5, -0.4, 1.3)), ("foot.L", (0.2, -0.4, 0.3))):
        rigs.goal(ob, end, rigs.empty(at, end), chain_length=3)
    ob.dqik.live = live
    solved = rigs.matrices(ob)
    assert bpy.ops.dqik.goal_remove(index=1) == {"FINISHED"}
    assert [goal.bone for goal in ob.dqik.goals] == ["hand.L", "foot.L"]
    assert "hand.R" in bpy.data.objects
    rigs.update()
    names = [bone.name for bone in ob.pose.bones]
    assert rigs.turn(rest[names.index("arm.R")], rigs.matrices(ob)[names.index("arm.R")]) < 1e-5
    assert rigs.turn(solved[names.index("arm.L")], rigs.matrices(ob)[names.index("arm.L")]) < 1e-5


def test_goal_remove_keeps_a_target_that_was_chosen_later() -> None:
    """An object, and a bone of the same armature that the goal would move, which the panel also says."""
    ob = rigs.made_active(rigs.bent_arm())
    bpy.ops.dqik.goal_add(bone="b")
    bpy.ops.dqik.goal_add(bone="b")
    mine, bones = rigs.empty((0, 0, 0), "Mine"), [bone.name for bone in ob.data.bones]
    ob.dqik.goals[0].target = mine
    ob.dqik.goals[1].target, ob.dqik.goals[1].subtarget = ob, "a"
    rigs.live(ob)
    assert "follows bone 'a'" in ob.dqik.status.message
    for _ in range(2):
        assert bpy.ops.dqik.goal_remove() == {"FINISHED"}
    assert bpy.data.objects.get("Mine") == mine
    assert [bone.name for bone in ob.data.bones] == bones


def test_goal_remove_keeps_an_active_goal() -> None:
    """Without a number the active goal goes, and the active one is always one of those left."""
    ob = rigs.made_active(rigs.figure())
    for end in rigs.FIGURE_ENDS:
        rigs.goal(ob, end, rigs.empty((0, 0, 0), end))
    ob.dqik.active_goal = 4
    while len(ob.dqik.goals):
        assert bpy.ops.dqik.goal_remove() == {"FINISHED"}
        assert 0 <= ob.dqik.active_goal < max(len(ob.dqik.goals), 1)
    assert not bpy.ops.dqik.goal_remove.poll()


# -- solve and reset --------------------------------------------------------------------------------------------------


def test_solve_solves_this_frame_once() -> None:
    """The tail is at the target, live stays off, and moving the target afterwards moves nothing."""
    ob, target = rigs.made_active(rigs.bent_arm()), rigs.empty((0.9, -1.0, 0.5))
    rigs.goal(ob, "b", target)
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    assert rigs.miss(ob, "b", target) < 1e-3
    assert not ob.dqik.live
    solved = rigs.matrices(ob)
    target.location.z = -0.5
    assert rigs.turn(solved, rigs.matrices(ob)) < 1e-6


def test_solve_starts_from_the_pose_as_it_stands() -> None:
    """A hand whose target is where it stands is left there, and a second solve changes nothing."""
    ob = rigs.made_active(rigs.bent_arm())
    for bone in ob.pose.bones:
        bone.rotation_quaternion = rigs.rotation((0, 0, 1), -25.0)
    before = rigs.matrices(ob)
    rigs.goal(ob, "b", rigs.empty(rigs.tail(ob, "b")))
    for _ in range(2):
        bpy.ops.dqik.solve()
        assert rigs.turn(before, rigs.matrices(ob)) < 1e-3


@pytest.mark.parametrize("live", [True, False])
def test_reset_pose_puts_the_goals_bones_to_rest(live: bool) -> None:
    """Bones of the chains go to rest, others stay; live, the pose is then solved from rest and that is the new base."""
    ob = rigs.made_active(rigs.figure())
    hips = ob.pose.bones["hips"]
    hips.location = (0.1, 0.0, 0.0)
    for name in ("arm.L", "forearm.L", "arm.R"):
        ob.pose.bones[name].rotation_mode = "XYZ"
        ob.pose.bones[name].rotation_euler = (0.4, 0.5, 0.6)
    rigs.update()
    rigs.goal(ob, "hand.L", rigs.empty((0.5, -0.4, 1.3)), chain_length=3)
    rigs.live(ob, live)
    assert bpy.ops.dqik.reset_pose() == {"FINISHED"}
    rigs.update()
    if live:
        assert rigs.miss(ob, "hand.L", bpy.data.objects["Target"]) < 1e-3
        rigs.live(ob, False)
    assert rigs.local_rotation(ob, "arm.L").angle < 1e-6
    assert rigs.local_rotation(ob, "forearm.L").angle < 1e-6
    assert rigs.local_rotation(ob, "arm.R").angle > 0.5
    assert abs(hips.location.x - 0.1) < 1e-6


# -- from Blender's IK ------------------------------------------------------------------------------------------------

PLANES = [Vector((0, -1, 0)), Vector((0, -1, 1)), Vector((0, 1, 1)), Vector((0, 0.3, -1))]


def assert_elbows_alike(
    ob: bpy.types.Object, pole: bpy.types.Object, target: bpy.types.Object, pole_angle: float
) -> None:
    """Our elbow is within 2 degrees of Blender's about the line, once its constraint is taken over."""
    rigs.blender_ik(ob, "b", target, chain_count=2, pole_target=pole, pole_angle=pole_angle)
    rigs.made_active(ob)
    theirs = rigs.head(ob, "b")
    assert rigs.miss(ob, "b", target) < 1e-3
    assert bpy.ops.dqik.goals_from_constraints() == {"FINISHED"}
    assert (rigs.head(ob, "b") - theirs).length > 1e-3  # the constraint is muted
    rigs.live(ob)
    assert abs(rigs.elbow_angle(ob, "a", "b", theirs)) < 2.0
    assert rigs.miss(ob, "b", target) < 1e-3


@each_once(pole_angle=range(-180, 180, 45), rolls=[(0.0, 0.0), (0.6, 0.6), (-2.0, 1.0), (3.0, 3.0)])
def test_a_pole_taken_over_bends_the_arm_as_blender_does(pole_angle: float, rolls: tuple) -> None:
    """For a bent arm of any roll, and any pole angle, our elbow is where Blender's is within 2 degrees."""
    for plane in PLANES:
        rigs.new_file()
        ob = rigs.arm(radians(30.0), rolls=rolls)
        ob.matrix_world = rigs.facing(3)
        at = ob.matrix_world
        target = rigs.empty(at @ Vector((1.0, -0.6, 0.4)))
        pole = rigs.empty(at @ (Vector((0.6, 0, 0)) + 3 * plane), "Pole")
        assert_elbows_alike(ob, pole, target, radians(pole_angle))


@pytest.mark.parametrize("pole_angle", [-90, 0, 90, 160])
def test_a_pole_of_a_straight_arm_is_taken_over(pole_angle: float) -> None:
    """A straight arm's elbow is where Blender's is too."""
    ob = rigs.arm()
    target, pole = rigs.empty((1.1, -0.6, 0.4)), rigs.empty((0.6, -3.0, 1.0), "Pole")
    rigs.posed(ob.pose.bones["b"], rigs.rotation((0, 0, 1), -8.0))
    assert_elbows_alike(ob, pole, target, radians(pole_angle))


def test_a_constraint_without_a_pole_is_taken_over() -> None:
    """Bone, target, chain length, tail, weights and influence are Blender's, and the arm reaches as Blender's does."""
    ob, target = rigs.chain([(0, 0, 0), (1, 0, 0), (1.8, -0.4, 0), (2.3, -0.9, 0)]), rigs.empty((1.5, -1.0, 0.3))
    made = rigs.blender_ik(ob, "c", target, chain_count=2, use_tail=False, use_rotation=True, influence=0.75)
    made.weight, made.orient_weight = 0.5, 0.3
    rigs.made_active(ob)
    assert bpy.ops.dqik.goals_from_constraints() == {"FINISHED"}
    goal = ob.dqik.goals[0]
    assert (goal.bone, goal.target, goal.chain_length) == ("c", target, 2)
    assert (goal.use_tail, goal.use_position, goal.use_rotation) == (False, True, True)
    for name, value in (("position_weight", 0.5), ("rotation_weight", 0.3), ("influence", 0.75)):
        assert abs(getattr(goal, name) - value) < 1e-6
    assert made.mute


def test_muted_constraints_and_those_without_target_are_left() -> None:
    """They make no goals and stay as they are; with nothing to take over the operator says so."""
    ob = rigs.made_active(rigs.bent_arm())
    rigs.blender_ik(ob, "b", rigs.empty((1, 0, 0))).mute = True
    lonely = ob.pose.bones["a"].constraints.new("IK")
    assert bpy.ops.dqik.goals_from_constraints() == {"CANCELLED"}
    assert len(ob.dqik.goals) == 0
    assert not lonely.mute


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_limit_taken_over_stops_on_the_side_where_blenders_stops(axis: str, side: float) -> None:
    """A bone that may turn about one axis from -20 to 40 degrees is stopped by both solvers at the same angle."""
    angles = []
    for which in ("blender", "dqik"):
        rigs.new_file()
        ob = rigs.made_active(rigs.chain([(0, 0, 0), (0, 1, 0), (0.6, 1.6, 0.5)]))
        bone, last = ob.pose.bones["a"], ob.pose.bones["b"]
        for other in "xyz":
            setattr(bone, f"lock_ik_{other}", other != axis)
            setattr(last, f"lock_ik_{other}", True)
        rigs.put(bone, **{f"use_ik_limit_{axis}": True, f"ik_min_{axis}": radians(-20), f"ik_max_{axis}": radians(40)})
        # where the tip is when the bone is turned by 75 degrees to one side
        rigs.posed(bone, rigs.rotation({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis], 75.0 * side))
        target = rigs.empty(rigs.tail(ob, "b"))
        bone.rotation_quaternion = (1, 0, 0, 0)
        rigs.blender_ik(ob, "b", target, chain_count=2)
        if which == "dqik":
            assert bpy.ops.dqik.goals_from_constraints() == {"FINISHED"}
            ob.dqik.live = True
        twist, swing_x, swing_z = rigs.twist_and_swing(rigs.local_rotation(ob, "a"))
        angles.append({"x": swing_x, "y": twist, "z": swing_z}[axis])
        assert sum(abs(angle) for angle in (twist, swing_x, swing_z)) - abs(angles[-1]) < 0.1
    expected = 40.0 if side > 0.0 else -20.0
    assert abs(angles[1] - expected) < 0.1
    assert abs(angles[0] - expected) < 1.0


def test_limits_from_ik_leaves_bones_without_limits_alone() -> None:
    """Only bones with an IK limit, lock or stiffness are changed, and the operator says so where there are none."""
    ob = rigs.made_active(rigs.figure())
    assert bpy.ops.dqik.limits_from_ik() == {"CANCELLED"}
    knee = ob.pose.bones["shin.L"]
    knee.use_ik_limit_x, knee.ik_min_x, knee.ik_max_x = True, 0.0, radians(140.0)
    knee.lock_ik_y = knee.lock_ik_z = True
    knee.ik_stiffness_x = 0.4
    assert bpy.ops.dqik.limits_from_ik() == {"FINISHED"}
    assert [bone.name for bone in ob.pose.bones if bone.dqik_use_limits] == ["shin.L"]
    assert (knee.dqik_twist_min, knee.dqik_twist_max, knee.dqik_swing_z_min, knee.dqik_swing_z_max) == (0, 0, 0, 0)
    assert abs(degrees(knee.dqik_swing_x_max) - 140.0) < 1e-3
    assert knee.dqik_swing_x_min == 0.0
    assert abs(knee.dqik_stiffness - 0.4) < 1e-6


def test_limits_from_an_action_hold_what_the_action_does() -> None:
    """The keyed turns lie inside the new limits, a little more does not, and bones without keys get none."""
    ob = rigs.made_active(rigs.bent_arm())
    bone = ob.pose.bones["b"]
    rigs.key_path(bone, (1, 20), [rigs.rotation((0, 0, 1), turn) for turn in (-10.0, 70.0)], "rotation_quaternion")
    assert bpy.ops.dqik.limits_from_action(margin=radians(5.0)) == {"FINISHED"}
    assert bone.dqik_use_limits
    assert not ob.pose.bones["a"].dqik_use_limits
    assert abs(degrees(bone.dqik_swing_z_max) - 75.0) < 0.1
    assert abs(degrees(bone.dqik_swing_z_min) + 15.0) < 0.1
    assert abs(degrees(bone.dqik_twist_max) - 5.0) < 0.1


def test_live_keeps_the_motion_that_limits_are_taken_from() -> None:
    """Where a bone is at both ends of its swings at once, too. Controls, which nothing solves, get no limits."""
    ob = rigs.pose_mode(rigs.figure())
    bone, ends = ob.pose.bones["arm.L"], ((50, 40), (-20, 40), (50, -30), (-20, -30), (10, 5))
    turns = [rigs.rotation((1, 0, 0), x) @ rigs.rotation((0, 0, 1), z) for x, z in ends]
    rigs.key_path(bone, range(1, 6), turns, "rotation_quaternion")
    assert bpy.ops.dqik.setup_full_body(frame_start=1, frame_end=5) == {"FINISHED"}
    rigs.live(ob)
    before = rigs.shown(ob, range(1, 6))
    assert bpy.ops.dqik.limits_from_action(margin=0.01) == {"FINISHED"}
    assert bone.dqik_use_limits and not ob.pose.bones["DQIK hand.L"].dqik_use_limits
    assert np.abs(rigs.shown(ob, range(1, 6)) - before).max() < 1e-4


def test_limits_clear_forgets_limits() -> None:
    """Afterwards the bone is free, and the values are the defaults."""
    ob = rigs.made_active(rigs.bent_arm())
    rigs.limit(ob.pose.bones["b"], (-5, 5), (-5, 5), (-5, 5))
    target = rigs.empty((0.5, -0.5, 0.5))
    rigs.reach(ob, "b", target)
    assert rigs.miss(ob, "b", target) > 0.1
    assert bpy.ops.dqik.limits_clear() == {"FINISHED"}
    assert rigs.miss(ob, "b", target) < 1e-3
    assert not ob.pose.bones["b"].dqik_use_limits
    assert abs(degrees(ob.pose.bones["b"].dqik_swing_x_max) - 180.0) < 1e-3
