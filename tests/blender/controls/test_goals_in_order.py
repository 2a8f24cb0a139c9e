# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals whose targets follow bones that other goals move, as two hands on one weapon: each is solved after those."""

from collections.abc import Callable
from math import radians

import bpy
import numpy as np
import pytest
import rigs
from situations import forget

MET = 2e-3
PATH = [(-0.3, -0.2, 1.05), (-0.25, -0.25, 1.1), (-0.2, -0.22, 1.2), (-0.32, -0.1, 1.15), (-0.22, -0.3, 1.0)]


def two_arms() -> bpy.types.Object:
    """A chest with two arms and a third one on the head; no two share a bone that a goal moves."""
    bones = [rigs.Bone("chest", (0, 0, 1), (0, 0, 1.4)), rigs.Bone("neck", (0, 0, 1.4), (0, 0, 1.5), "chest")]
    for side, sign in (("L", 1), ("R", -1)):
        elbow, hand = (0.3 * sign, 0.05, 1.15), (0.1 if side == "L" else -0.3, -0.2, 1.05)
        bones += [rigs.Bone(f"upper.{side}", (0.2 * sign, 0, 1.4), elbow, "chest"),
                  rigs.Bone(f"fore.{side}", elbow, hand, f"upper.{side}", True),
                  rigs.Bone(f"hand.{side}", hand, (hand[0], -0.3, 1.0), f"fore.{side}", True)]  # fmt: skip
    bones += [rigs.Bone("trunk", (0, 0.1, 1.5), (0, -0.2, 1.45), "neck"),
              rigs.Bone("tip", (0, -0.2, 1.45), (0.05, -0.4, 1.3), "trunk", True)]  # fmt: skip
    return rigs.armature(bones, "Arms")


def by_parent(grip: bpy.types.Object, ob: bpy.types.Object, bone: str) -> None:
    place = rigs.place(grip)
    rigs.child(grip, ob, bone)
    rigs.update()
    grip.matrix_world = rigs.Matrix.Translation(place)


def by_child_of(grip: bpy.types.Object, ob: bpy.types.Object, bone: str) -> None:
    made = rigs.constrain(grip, "CHILD_OF", ob, subtarget=bone)
    made.inverse_matrix = (ob.matrix_world @ ob.pose.bones[bone].matrix).inverted()


def by_driver(grip: bpy.types.Object, ob: bpy.types.Object, bone: str) -> None:
    """Only its place follows."""
    grip.delta_location = (0.15, -0.05, 0.0)
    for index, axis in enumerate("XYZ"):
        rigs.drive_by(grip, "location", index, ob, bone, f"LOC_{axis}")


def by_copy(grip: bpy.types.Object, ob: bpy.types.Object, bone: str) -> None:
    rigs.constrain(grip, "COPY_LOCATION", ob, subtarget=bone, use_offset=True)
    grip.location = (0.15, -0.05, 0.0)


WAYS = [by_parent, by_child_of, by_copy, by_driver]


def holding(way: Callable) -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """The right hand follows a path, and the left hand a grip on what the right one holds."""
    ob = two_arms()
    right, grip = rigs.empty(PATH[0], "Right"), rigs.empty((-0.1, -0.25, 1.05), "Grip")
    rigs.key_path(right, [1 + 3 * k for k in range(len(PATH))], PATH)
    rigs.goal(ob, "fore.R", right, chain_length=2)
    way(grip, ob, "hand.R")
    rigs.goal(ob, "fore.L", grip, chain_length=2)
    return ob, right, grip


@pytest.mark.parametrize("start_from", ["POSE", "REST", "PREVIOUS"])
@pytest.mark.parametrize("way", WAYS)
def test_a_hand_stays_on_what_the_other_one_holds(way: Callable, start_from: str) -> None:
    """In playback, on frames in any order, after edits, and as *Solve* and bakes have it: all show the same."""
    ob, right, grip = holding(way)
    ob.dqik.start_from, ob.dqik.live = start_from, True
    shown = {}
    for frame in rigs.visited((1, 2, 3, 4, 9, 6, 12.5, 13, 5)):
        assert rigs.miss(ob, "fore.R", right) < MET
        assert rigs.miss(ob, "fore.L", grip) < MET
        assert ob.dqik.status.converged and ob.dqik.status.message == ""
        shown[frame] = rigs.matrices(ob)
    forget()
    for frame in rigs.visited((9, 2, 6)):
        assert np.abs(rigs.matrices(ob) - shown[frame]).max() < 1e-4
    right.animation_data_clear()
    for place in PATH:
        right.location = place
        rigs.update()
        assert max(rigs.miss(ob, "fore.R", right), rigs.miss(ob, "fore.L", grip)) < MET
    rigs.at_frame(2)


@pytest.mark.parametrize("live", [False, True])
def test_a_bake_shows_what_live_shows(live: bool) -> None:
    """One that is to be smooth is refused, since the grip would follow another motion than the one it was read from."""
    ob, right, grip = holding(by_parent)
    ob.dqik.live = live
    rigs.at_frame(1)
    rigs.refuses(bpy.ops.dqik.bake, "Smooth", frame_start=1, frame_end=13, smooth=0.3)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=13, clear_goals=True) == {"FINISHED"}
    for _ in rigs.visited(range(1, 14)):
        assert max(rigs.miss(ob, "fore.R", right), rigs.miss(ob, "fore.L", grip)) < MET


def test_a_check_leaves_the_pose_and_a_solve_without_live_meets_both() -> None:
    """Reading a frame for a check writes nothing; *Solve* leaves both hands where they belong."""
    ob, right, grip = holding(by_parent)
    rigs.at_frame(5)
    before = rigs.matrices(ob)
    bpy.ops.dqik.check_range(frame_start=4, frame_end=8)
    rigs.at_frame(5)
    assert np.abs(rigs.matrices(ob) - before).max() < 1e-6
    bpy.ops.dqik.solve()
    assert max(rigs.miss(ob, "fore.R", right), rigs.miss(ob, "fore.L", grip)) < MET


def three_led(bone: str) -> tuple[bpy.types.Object, ...]:
    """The armature, live; targets of the tip, of the right hand, on a bone, and of the left hand, on the right one."""
    ob = two_arms()
    lead, first, second = rigs.empty((0.05, -0.4, 1.3)), rigs.empty((-0.3, -0.2, 1.05)), rigs.empty((0.1, -0.2, 1.05))
    for end, target in (("fore.L", second), ("fore.R", first), ("tip", lead)):
        rigs.goal(ob, end, target, chain_length=2)
    by_parent(first, ob, bone)
    by_parent(second, ob, "hand.R")
    return rigs.live(ob), lead, first, second


def test_goals_follow_each_other_in_a_chain() -> None:
    """The left hand follows the right one, which follows the tip of the trunk: listed the other way round."""
    ob, lead, first, second = three_led("tip")
    for place in ((0.0, -0.36, 1.34), (0.05, -0.33, 1.38), (0.08, -0.35, 1.32)):
        lead.location = place
        rigs.update()
        assert max(rigs.miss(ob, "tip", lead), rigs.miss(ob, "fore.R", first), rigs.miss(ob, "fore.L", second)) < MET
        assert ob.dqik.status.converged


def test_goals_that_follow_each_other_are_left_out_and_not_met() -> None:
    """Each hand follows the other one: both are named, and neither is met. A third goal goes on."""
    ob, lead, _, _ = three_led("hand.L")
    assert "fore.L" in ob.dqik.status.message and "fore.R" in ob.dqik.status.message
    assert not ob.dqik.status.converged
    assert [goal.missed for goal in ob.dqik.goals] == [True, True, False]
    assert rigs.miss(ob, "tip", lead) < MET


def test_a_hand_that_shares_bones_with_the_one_that_it_follows_is_left_out_until_its_chain_is_shorter() -> None:
    """Both arms move the chest; the sentence says what to do, and then both hands are met."""
    ob = two_arms()
    right, grip = rigs.empty((-0.3, -0.2, 1.05)), rigs.empty((-0.1, -0.25, 1.05))
    rigs.goal(ob, "fore.R", right, chain_length=3)
    rigs.goal(ob, "fore.L", grip, chain_length=3)
    by_parent(grip, ob, "hand.R")
    rigs.live(ob)
    right.location = (-0.25, -0.3, 1.2)
    rigs.update()
    assert "'fore.L'" in ob.dqik.status.message
    assert not ob.dqik.status.converged and ob.dqik.goals[1].missed and not ob.dqik.goals[0].missed
    assert ob.dqik.goals[1].error == pytest.approx(rigs.miss(ob, "fore.L", grip), abs=1e-4)
    ob.dqik.goals[1].chain_length = 2
    rigs.update()
    assert max(rigs.miss(ob, "fore.R", right), rigs.miss(ob, "fore.L", grip)) < MET
    assert ob.dqik.status.converged and ob.dqik.status.message == ""


def test_a_control_that_is_attached_to_the_other_hand_leaves_that_arm_its_chain() -> None:
    """A control bone on the right hand: the right arm still follows its own goal, and the left hand stays on it."""
    ob = two_arms()
    rigs.add(ob, rigs.Bone("grip", (-0.1, -0.25, 1.05), (-0.1, -0.25, 1.15), "hand.R"))
    ob.data.bones["grip"].use_deform = False
    right = rigs.empty((-0.3, -0.2, 1.05))
    rigs.goal(ob, "fore.R", right, chain_length=2)
    rigs.goal(ob, "fore.L", ob, chain_length=2).subtarget = "grip"
    rigs.live(ob)
    for place in PATH:
        right.location = place
        rigs.update()
        assert rigs.miss(ob, "fore.R", right) < MET
        assert (rigs.tail(ob, "fore.L") - rigs.head(ob, "grip")).length < MET
    assert radians(1.0) < rigs.local_rotation(ob, "upper.R").angle
