# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of targets that are carried with the limb above (`rotation_follows`), against Blender's own matrices."""

import bpy
import pytest
import rigs
from live_rigs import film_here
from mathutils import Quaternion, Vector

TURNED = 2e-3  # radians
HAND = "hand.L"


def body(targets: str = "BONES") -> bpy.types.Object:
    """A figure with controls, live."""
    return rigs.set_up(rigs.figure(), targets=targets)


def turn(ob: bpy.types.Object, bone: str) -> Quaternion:
    """The orientation of a bone in armature space, as Blender evaluates it."""
    return rigs.evaluated(ob).pose.bones[bone].matrix.to_quaternion()


def at_rest(ob: bpy.types.Object, bone: str) -> Quaternion:
    return ob.data.bones[bone].matrix_local.to_quaternion()


def above(ob: bpy.types.Object) -> str:
    return ob.pose.bones[HAND].parent.name


def carried(ob: bpy.types.Object, follows: float, target: Quaternion) -> Quaternion:
    """Where a hand is turned whose target, in armature space, follows its forearm by a share."""
    by = turn(ob, above(ob)) @ at_rest(ob, above(ob)).inverted()
    return Quaternion().slerp(by, follows) @ target


def from_forearm(ob: bpy.types.Object) -> Quaternion:
    """How the hand stands to its forearm."""
    return turn(ob, above(ob)).inverted() @ turn(ob, HAND)


def stands(ob: bpy.types.Object) -> Quaternion:
    """How the hand stands to its forearm at rest."""
    return at_rest(ob, above(ob)).inverted() @ at_rest(ob, HAND)


def control(ob: bpy.types.Object) -> bpy.types.PoseBone | bpy.types.Object:
    return rigs.owner_of(ob, HAND)


def apart(one: Quaternion, other: Quaternion) -> float:
    angle = one.rotation_difference(other).angle
    return min(angle, abs(angle - 6.283185307179586))


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_hands_that_are_set_up_turn_with_their_forearms(targets: str) -> None:
    """The hand stands to its forearm as at rest wherever it goes; feet and head keep their rotation in the world."""
    ob = body(targets)
    assert {goal.bone: goal.rotation_follows for goal in ob.dqik.goals} == {
        "hips": 0.0, "head": 0.0, "hand.L": 1.0, "hand.R": 1.0, "foot.L": 0.0, "foot.R": 0.0,
    }  # fmt: skip
    for by in ((-0.2, -0.3, 0.1), (-0.1, 0.1, -0.4), (0.1, -0.1, 0.6)):
        control(ob).location += Vector(by)
        rigs.update()
        assert ob.dqik.status.converged
        assert apart(from_forearm(ob), stands(ob)) < TURNED
    assert apart(turn(ob, above(ob)), at_rest(ob, above(ob))) > 0.5


def test_the_targets_own_turn_comes_on_top() -> None:
    ob = body()
    control(ob).location = (-0.1, -0.3, 0.2)
    by = rigs.rotation((1, 2, 0), 30.0)
    control(ob).rotation_quaternion = by
    rigs.update()
    assert apart(from_forearm(ob), stands(ob) @ by) < TURNED


@pytest.mark.parametrize("under_root", [False, True])
@pytest.mark.parametrize("follows", [0.0, 0.3, 0.5, 1.0])
def test_in_between_it_is_in_between(follows: float, under_root: bool) -> None:
    ob = body()
    if under_root:
        rigs.with_root(ob, (0.2, 0.5, 0.1), 0.4)
        rigs.posed(ob.pose.bones["root"], rigs.rotation((0, 1, 1), 25.0))
    rigs.goal_of(ob, HAND).rotation_follows = follows
    control(ob).location = (-0.1, -0.2, 0.2)
    control(ob).rotation_quaternion = rigs.rotation((0, 1, 1), 20.0)
    rigs.update()
    assert ob.dqik.status.converged
    target = rigs.evaluated(ob).pose.bones[control(ob).name].matrix.to_quaternion()
    assert apart(turn(ob, HAND), carried(ob, follows, target)) < TURNED


def test_a_hand_follows_a_forearm_that_the_goal_does_not_move() -> None:
    """The chain is the hand alone; the forearm is posed by hand, in an armature that is turned and scaled."""
    ob = rigs.figure()
    ob.matrix_world = rigs.facing(3)
    goal = rigs.goal(ob, HAND, rigs.empty((0, 0, 0)), chain_length=1, use_rotation=True, use_position=False)
    goal.rotation_follows = 1.0
    goal.target.rotation_mode = "QUATERNION"
    goal.target.matrix_world = ob.matrix_world @ ob.data.bones[HAND].matrix_local
    ob.dqik.live = True
    rigs.pose(ob, above(ob), rigs.rotation((1, 0, 1), 70.0))
    assert apart(from_forearm(ob), stands(ob)) < TURNED
    assert ob.dqik.status.converged
    assert goal.rotation_error < TURNED


@pytest.mark.parametrize("space", ["FOREARM", "WORLD"])
def test_switching_the_space_turns_the_control_and_nothing_else(space: str) -> None:
    ob = body()
    control(ob).location, before = (-0.1, -0.3, 0.2), "WORLD" if space == "FOREARM" else "FOREARM"
    number = ob.dqik.goals.find(HAND)
    assert bpy.ops.dqik.rotation_space(space=before, index=number) == {"FINISHED"}
    hand, place, own = turn(ob, HAND), rigs.head(ob, HAND), control(ob).matrix.to_quaternion()
    pose = film_here(ob)
    assert bpy.ops.dqik.rotation_space(space=space, index=number) == {"FINISHED"}
    rigs.update()
    assert rigs.goal_of(ob, HAND).rotation_follows == float(space == "FOREARM")
    assert apart(turn(ob, HAND), hand) < TURNED
    assert (rigs.head(ob, HAND) - place).length < 1e-3
    assert rigs.turn(pose, film_here(ob)) < 0.3  # the natural pose of an arm knows of a hand in the world
    assert apart(control(ob).matrix.to_quaternion(), own) > 0.3
    shown = control(ob).custom_shape_transform
    assert (None if shown is None else shown.name) == (HAND if space == "FOREARM" else None)


@pytest.mark.parametrize("follows", [0.0, 1.0])
def test_a_root_that_turns_the_whole_body_with_its_controls_turns_hands_once(follows: float) -> None:
    ob = rigs.figure()
    rigs.with_root(ob, (0.2, 0.5, 0.1), 0.4)
    rigs.set_up(ob)
    control(ob).location = (-0.1, -0.3, 0.2)
    rigs.goal_of(ob, HAND).rotation_follows = follows
    rigs.update()
    hand = from_forearm(ob)
    assert control(ob).parent.name == "root"
    ob.pose.bones["root"].rotation_mode = "XYZ"
    for angle in (0.5, 1.7, 2.9):
        ob.pose.bones["root"].rotation_euler = (0.1, angle, 0.2)
        rigs.update()
        assert ob.dqik.status.converged
        assert apart(from_forearm(ob), hand) < (TURNED if follows == 1.0 else 0.1)  # the arm's own pose may change


def test_targets_to_pose_knows_the_space() -> None:
    """A hand that was turned by hand stays so when its target goes there."""
    ob = body()
    ob.dqik.live = False
    rigs.posed(ob.pose.bones[above(ob)], rigs.rotation((1, 0, 0), 60.0))
    rigs.posed(ob.pose.bones[HAND], rigs.rotation((0, 0, 1), 25.0))
    pose = film_here(ob)
    assert bpy.ops.dqik.targets_to_pose(all=True) == {"FINISHED"}
    assert rigs.turn(pose, film_here(rigs.live(ob))) < 0.02
    assert apart(from_forearm(ob), stands(ob) @ rigs.rotation((0, 0, 1), 25.0)) < TURNED


def test_a_pin_holds_the_hand_in_the_world() -> None:
    ob = body()
    control(ob).location = (-0.1, -0.2, 0.2)
    rigs.update()
    before = turn(ob, HAND)
    rigs.select(ob, HAND)
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    assert [goal.rotation_follows for goal in ob.dqik.goals if goal.bone == HAND] == [1.0, 0.0]
    rigs.update()
    assert apart(turn(ob, HAND), before) < TURNED
    rigs.owner_of(ob, "hips").location = (0, 0.1, -0.1)
    rigs.update()
    assert apart(turn(ob, HAND), before) < TURNED


def test_an_influence_below_1_goes_part_of_the_way_from_where_the_hand_is() -> None:
    """Half the influence is half the way from the base pose's turn to the one that the target asks for there."""
    ob = rigs.figure()
    goal = rigs.goal(ob, HAND, rigs.empty((0, 0, 0)), chain_length=1, use_rotation=True, use_position=False)
    goal.rotation_follows, goal.influence = 1.0, 0.5
    goal.target.rotation_mode = "QUATERNION"
    goal.target.matrix_world = ob.data.bones[HAND].matrix_local @ rigs.rotation((1, 0, 0), 40.0).to_matrix().to_4x4()
    rigs.posed(ob.pose.bones[above(ob)], rigs.rotation((0, 0, 1), 80.0))
    rigs.live(ob)
    assert apart(from_forearm(ob), stands(ob) @ rigs.rotation((1, 0, 0), 20.0)) < TURNED


def test_mirrored_goals_follow_too() -> None:
    ob = rigs.figure()
    goal = rigs.goal(ob, HAND, rigs.empty((0, 0, 0)), use_rotation=True)
    goal.rotation_follows = 0.7
    assert bpy.ops.dqik.goals_mirror(direction="L") == {"FINISHED"}
    assert rigs.goal_of(ob, "hand.R").rotation_follows == pytest.approx(0.7)


@pytest.mark.parametrize("space", ["FOREARM", "WORLD"])
def test_the_hand_stays_as_it_is_turned_at_all_keys_of_its_control(space: str) -> None:
    ob = body()
    goal, frames = rigs.goal_of(ob, HAND), (1, 9, 17)
    goal.rotation_follows = 1.0 - float(space == "FOREARM")
    for frame in frames:
        control(ob).location = (-0.02 * frame, -0.1 - 0.01 * frame, 0.01 * frame)
        control(ob).rotation_quaternion = rigs.rotation((0, 1, 1), 3.0 * frame)
        for path in ("location", "rotation_quaternion"):
            control(ob).keyframe_insert(path, frame=frame)
    seen = {frame: (turn(ob, HAND), rigs.head(ob, HAND)) for frame in rigs.visited(frames)}
    rigs.at_frame(9)
    keys = rigs.keys(ob)
    number = ob.dqik.goals.find(HAND)
    assert bpy.ops.dqik.rotation_space(space=space, index=number) == {"FINISHED"}
    assert rigs.goal_of(ob, HAND).rotation_follows == float(space == "FOREARM")
    for frame, (turned, place) in seen.items():
        rigs.at_frame(frame)
        assert apart(turn(ob, HAND), turned) < TURNED
        assert (rigs.head(ob, HAND) - place).length < 1e-3
    path = control(ob).path_from_id("location")
    assert all(points == rigs.keys(ob)[channel] for channel, points in keys.items() if channel[0] == path)
