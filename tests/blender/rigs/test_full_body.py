# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for a whole figure by one press."""

import re

import bpy
import pytest
import rigs
from mathutils import Vector

ENDS = ("hand.L", "hand.R", "foot.L", "foot.R", "head", "hips")


def test_hands_feet_and_head_get_targets_where_they_are() -> None:
    """Targets stand at wrists, ankles and neck, turned as the bones, in a collection; solving changes nothing."""
    ob = rigs.figure()
    ob.matrix_world = rigs.facing(3)
    rest = rigs.matrices(ob)
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    rigs.update()
    assert sorted(goal.bone for goal in ob.dqik.goals) == sorted(ENDS)
    assert [bone.name for bone in ob.pose.bones if bone.dqik_translate] == ["hips"]
    targets = bpy.data.collections["Figure targets"].objects
    assert {goal.target for goal in ob.dqik.goals} == set(targets)
    for goal in ob.dqik.goals:
        assert (rigs.place(goal.target) - rigs.head(ob, goal.bone)).length < 1e-5
        turned = (rigs.evaluated(ob).matrix_world @ rigs.evaluated(ob).pose.bones[goal.bone].matrix).to_quaternion()
        assert goal.target.matrix_world.to_quaternion().rotation_difference(turned).angle < 1e-4
        assert (goal.use_rotation, goal.use_tail, goal.chain_length) == (True, False, 0)
    rigs.live(ob)
    assert rigs.turn(rest, rigs.matrices(ob)) < 0.05
    assert ob.dqik.status.converged


def test_bones_above_the_hips_are_not_moved() -> None:
    """A root on the ground stays where it is: chains end at the hips."""
    ob = rigs.with_root(rigs.figure())
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    assert not ob.pose.bones["root"].dqik_translate
    ob.dqik.live = True
    for goal in ob.dqik.goals:
        goal.target.location += Vector((0.3, -0.2, -0.1))
    assert rigs.local_rotation(ob, "root").angle < 1e-6
    assert (rigs.head(ob, "hips") - Vector((0, 0, 1))).length > 0.1
    assert ob.dqik.status.error < 2e-3


@pytest.mark.parametrize(("connected", "said"), [
    (True, "Warning: .*'hips' cannot slide while connected: disconnect"), (False, "Info: .*'hips' may move"),
])  # fmt: skip
def test_hips_that_are_connected_are_not_said_to_move(
    connected: bool, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As those of animals whose tail is the root."""
    ob = rigs.with_root(rigs.figure(), (0, 0, 1))
    with rigs.edit_mode(ob) as bones:
        bones["hips"].use_connect = connected
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert re.search(said, capfd.readouterr().out)


@pytest.mark.parametrize("use_rotation", [True, False])
def test_a_second_press_keeps_what_is_there(use_rotation: bool) -> None:
    """Goals that were there stay as they are; the first press fills up what is missing."""
    ob = rigs.figure()
    mine = rigs.goal(ob, "hand.L", rigs.empty((1, 0, 1)), chain_length=3).target
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES", use_rotation=use_rotation) == {"FINISHED"}
    assert sorted(goal.bone for goal in ob.dqik.goals) == sorted(ENDS)
    assert (ob.dqik.goals[0].target, ob.dqik.goals[0].chain_length) == (mine, 3)
    assert {goal.use_tail for goal in ob.dqik.goals[1:] if goal.bone != "hips"} == {not use_rotation}
    rigs.update()
    for goal in ob.dqik.goals[1:]:
        at = rigs.tail(ob, goal.bone) if goal.use_tail else rigs.head(ob, goal.bone)
        assert (rigs.place(goal.target) - at).length < 1e-5
    objects = len(bpy.data.objects)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert (len(ob.dqik.goals), len(bpy.data.objects)) == (6, objects)


def test_without_a_figure_nothing_is_made() -> None:
    """On an armature with other names there is a sentence, and no goal, target or collection."""
    ob = rigs.arm()
    objects, collections = len(bpy.data.objects), len(bpy.data.collections)
    assert bpy.ops.dqik.setup_full_body() == {"CANCELLED"}
    assert (len(ob.dqik.goals), len(bpy.data.objects), len(bpy.data.collections)) == (0, objects, collections)


def test_ankles_and_toes_get_limits_that_go_with_the_goals() -> None:
    """Without Human Limits a crouch would fold feet to the shin; the limits go when the last goal does."""
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    feet = [ob.pose.bones[f"foot.{side}"] for side in "LR"]
    assert all(foot.dqik_use_limits for foot in feet)
    assert all(min(foot.dqik_swing_x_max, -foot.dqik_swing_x_min) < 1.6 for foot in feet)
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not any(foot.dqik_use_limits for foot in feet)
