# SPDX-License-Identifier: GPL-3.0-or-later
"""What sets the bones changes while live solving is on: keys, mutes, tracks, drivers, slots, goals.

After each change a frame is what a fresh session makes of it, and depends on no frame visited before.
"""

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
import situations

SLOTS = bpy.app.version >= (4, 4, 0)


def move_keys(ob: bpy.types.Object, start: str, end: str) -> None:
    """Take the keys from one bone and give another bone as many."""
    for frame in (1, 15, 30):
        ob.pose.bones[start].keyframe_delete("rotation_quaternion", frame=frame)
    situations.key_turns(ob, end, {1: (0.0, 0.4, 0.1), 15: (0.5, 0.0, 0.0), 30: (0.0, -0.2, 0.3)})


# -- keys --------------------------------------------------------------------------------------------------------------


def no_preparation(ob: bpy.types.Object) -> None:
    situations.key_turns(ob, "boom")


def two_actions(ob: bpy.types.Object) -> None:
    """Keys of the mast, and another action with keys of the boom."""
    situations.key_turns(ob, "boom")
    other = ob.animation_data.action
    other.name, other.use_fake_user = "Other", True
    ob.animation_data.action = None
    situations.key_turns(ob, "mast")


def one_muted(ob: bpy.types.Object) -> None:
    situations.key_turns(ob, "mast")
    situations.key_turns(ob, "boom")
    for curve in situations.curves_of(ob, "mast"):
        curve.mute = True


def strip(ob: bpy.types.Object) -> None:
    situations.key_turns(ob, "boom")
    situations.as_strip(ob)


def strip_and_action(ob: bpy.types.Object) -> None:
    strip(ob)
    situations.key_turns(ob, "mast")


def short_strip_and_action(ob: bpy.types.Object) -> None:
    situations.key_turns(ob, "boom")
    bpy.data.actions[0].name = "Other"
    bpy.data.actions["Other"].use_fake_user = True
    ob.animation_data.action = None
    situations.key_turns(ob, "mast", {1: (0.3, 0, 0), 8: (0, 0.2, 0.2)})
    situations.as_strip(ob)


def two_slots(ob: bpy.types.Object) -> None:
    """Keys of the boom, and in another slot of the same action keys of the mast."""
    situations.key_turns(ob, "boom")
    data = ob.animation_data
    first = data.action_slot
    data.action_slot = data.action.slots.new(id_type="OBJECT", name="Second")
    situations.key_turns(ob, "mast")
    data.action_slot = first


def drivers(ob: bpy.types.Object) -> None:
    for index, expression in enumerate(("1", "frame / 60", "0", "0.1")):
        rigs.drive(ob.pose.bones["boom"], "rotation_quaternion", expression, index)


def swap_mutes(ob: bpy.types.Object) -> None:
    for bone, mute in (("mast", False), ("boom", True)):
        for curve in situations.curves_of(ob, bone):
            curve.mute = mute


def hold_nothing(ob: bpy.types.Object) -> None:
    """The strip plays over frames 5 to 15 alone."""
    strip = ob.animation_data.nla_tracks[0].strips[0]
    strip.frame_start, strip.frame_end = 5, 15
    strip.extrapolation = "NOTHING"


def mute_curves_in_strip(ob: bpy.types.Object) -> None:
    data = ob.animation_data
    situations.assign(ob, data.nla_tracks[0].strips[0].action)
    situations.make_special("muted", rigs.fcurves(ob))
    data.action = None


NLA_OFF = {
    "mute_curves_in_strip": mute_curves_in_strip,
    "mute_track": lambda ob: rigs.put(ob.animation_data.nla_tracks[0], mute=True),
    "mute_strip": lambda ob: rigs.put(ob.animation_data.nla_tracks[0].strips[0], mute=True),
    "nla_off": lambda ob: rigs.put(ob.animation_data, use_nla=False),
}
CHANGES: dict[str, tuple[Callable, Callable]] = {
    "swap_keys": (no_preparation, lambda ob: move_keys(ob, "boom", "mast")), "swap_mutes": (one_muted, swap_mutes),
    "mute_groups": (
        no_preparation, lambda ob: situations.make_special("muted_group", situations.curves_of(ob, "boom"))
    ),
    "mute_groups_in_nla": (strip_and_action, lambda ob: rigs.put(situations.curves_of(ob, "mast")[0].group, mute=True)),
    "assign_other_action": (two_actions, lambda ob: situations.assign(ob, bpy.data.actions["Other"])),
    "take_action": (no_preparation, lambda ob: rigs.put(ob.animation_data, action=None)),
    **{name: (strip, change) for name, change in {**NLA_OFF, "hold_nothing": hold_nothing}.items()},
    "add_strip": (short_strip_and_action, lambda ob: ob.animation_data.nla_tracks[0].strips.new(
        "Second", 12, bpy.data.actions["Other"])),
    "mute_drivers": (drivers, lambda ob: [rigs.put(curve, mute=True) for curve in ob.animation_data.drivers]),
    "rename_keyed_bone": (no_preparation, lambda ob: rigs.put(ob.data.bones["boom"], name="beam")),
    **({"choose_other_slot": (two_slots, lambda ob: rigs.put(
        ob.animation_data, action_slot=ob.animation_data.action.slots[1]))} if SLOTS else {}),
}  # fmt: skip
"""What is prepared, and what is changed then."""


@pytest.mark.parametrize("while_live", [True, False])
@pytest.mark.parametrize(("prepare", "change"), CHANGES.values(), ids=CHANGES)
def test_what_is_animated_may_change(prepare: Callable, change: Callable, while_live: bool) -> None:
    """Keys, mutes, tracks and drivers may change in one update, or have been so from the start."""
    ob, _ = situations.reaching()
    prepare(ob)
    if not while_live:
        change(ob)
    ob.dqik.live = True
    rigs.visit((3, 4, 5))
    if while_live:
        change(ob)
        rigs.update()
    assert situations.history(ob) < situations.STEADY
    assert ob.dqik.live


# -- goals that leave the solve ----------------------------------------------------------------------------------------


def keyed(name: str, values: dict[int, object]) -> Callable:
    def set_up(goal: bpy.types.PropertyGroup) -> None:
        rigs.key_path(goal, values, values.values(), name)

    return set_up


def driven(name: str, expression: str) -> Callable:
    return lambda goal: rigs.drive(goal.id_data, goal.path_from_id(name), expression)


LEAVING = {
    "muted by keys": keyed("mute", {1: False, 10: True, 20: False}),
    "influence keyed to 0": keyed("influence", {1: 1.0, 9: 1.0, 10: 0.0, 19: 0.0, 20: 1.0}),
    "muted by a driver": driven("mute", "10 <= frame < 20"),
    "influence driven to 0": driven("influence", "abs(frame - 15) > 5"),
}


@pytest.mark.parametrize("others", [True, False])
@pytest.mark.parametrize("way", LEAVING)
def test_a_goal_that_leaves_the_solve_leaves_nothing_behind(way: str, others: bool) -> None:
    """At a frame at which a goal counts no longer, its bones are as if it never had."""
    ob, target = situations.crane(), situations.load()
    if others:
        rigs.goal(ob, "jib", target, chain_length=1)
    LEAVING[way](rigs.goal(ob, "boom", rigs.empty((0.5, 0.6, 1.2), "Post")))
    ob.pose.bones["boom"].rotation_quaternion = situations.turned((0.2, 0.1, 0.0))
    ob.dqik.live = True
    assert situations.history(ob, (9, 10, 15, 19, 20, 25)) < situations.STEADY
    rigs.at_frame(15)
    alone = rigs.matrices(ob)
    ob.animation_data_clear()
    ob.dqik.goals.remove(len(ob.dqik.goals) - 1)
    ob.update_tag()
    situations.forget()
    assert situations.turn(alone, situations.pose_at(ob, 15)) < situations.STEADY


@pytest.mark.parametrize("inherits", [True, False])
@pytest.mark.parametrize("kind", ["DAMPED_TRACK", "COPY_ROTATION", "LIMIT_ROTATION"])
def test_a_constrained_bone_in_a_chain_carries_nothing_from_frame_to_frame(kind: str, inherits: bool) -> None:
    """Its constraint is evaluated on our last answer. The goal is out of reach, which magnifies whatever is left."""
    ob, target = situations.crane(), situations.load()
    rigs.goal(ob, "jib", target)
    rigs.goal(ob, "mast", rigs.empty((0.5, -2.0, -0.6), "Far"))
    ob.data.bones["boom"].use_inherit_rotation = inherits
    made = ob.pose.bones["boom"].constraints.new(kind)
    if kind == "LIMIT_ROTATION":
        made.owner_space, made.use_limit_x, made.max_x, ob.pose.bones["boom"].rotation_quaternion[1] = (
            "LOCAL", True, 0.1, 0.4)  # fmt: skip
    else:
        made.target = rigs.empty((1.0, 0.9, 1.8), "Sight")
        made.target.rotation_quaternion = situations.turned((0.4, 1.0, -0.3))
    ob.dqik.live = True
    assert situations.history(ob, (4, 9, 15, 22)) < situations.STEADY


@pytest.mark.parametrize("link", [1e-4, 1e-2, 1.0])
def test_a_goal_that_leaves_the_solve_does_not_turn_the_others_chain(link: float) -> None:
    """The other goal's chain hangs below the bones that leave. With a tiny first bone, a target behind it and out of
    reach, a rounding error of its start would turn the chain."""
    ob = rigs.chain([(0, 0, 0), (0, 0.1, 1), (0, 0.1 + link, 1), (0.4, 0.3, 1.6), (1.2, 0, 2)])
    rigs.goal(ob, "c", rigs.empty((1.5, -2.0, -0.6), "Far"), chain_length=2)
    rigs.goal(ob, "d", rigs.empty((1.4, 0.8, 1.1), "Post"))
    rigs.key_path(ob.dqik.goals[1], (1, 5, 9), (False, True, False), "mute")
    ob.dqik.live = True
    assert situations.history(ob, (4, 5, 7, 8, 9)) < situations.STEADY


def test_a_rig_that_another_follows_may_be_switched_off_by_keys() -> None:
    """The target on the first rig's jib is where the first rig's base pose has it, however the frame was reached."""
    first, _ = situations.reaching()
    second = situations.crane("Second")
    second.location = (0.6, 0.5, 0)
    rigs.goal(second, "jib", rigs.child(rigs.empty((0, 0, 0), "Hook"), first, "jib"))
    rigs.key_path(first.dqik, (1, 10, 20), (True, False, True), "live")
    second.dqik.live = True
    for frame in (9, 10, 19, 20):
        here = situations.pose_at(second, frame)
        for _ in rigs.visited((frame - 1, frame + 1, 25)):
            assert situations.turn(here, situations.pose_at(second, frame)) < situations.STEADY


# -- the pose that is given back ---------------------------------------------------------------------------------------


def posed_while_live() -> tuple[bpy.types.Object, np.ndarray]:
    """A crane solved by its two last bones, whose mast was turned after live solving went on; and its channels."""
    ob, _ = situations.reaching(chain_length=2)
    situations.key_turns(ob, "flag")
    rigs.live(ob, at=3)
    ob.pose.bones["mast"].rotation_quaternion = situations.turned((0.3, 0.1, 0.0))
    rigs.visit((10, 11))
    return ob, rigs.channels(ob)


@pytest.mark.parametrize("afterwards", ["loading", "undo"])
def test_live_off_after_loading_or_undo_changes_no_other_bone(afterwards: str, tmp_path: Path) -> None:
    """The mast, in no chain, keeps the pose of the hand, and the flag, which is keyed, stays on its keys."""
    ob, before = posed_while_live()
    if afterwards == "loading":
        situations.reopened(tmp_path / "crane.blend")
    else:
        bpy.ops.ed.undo_push(message="posed")
        bpy.data.objects["Load"].show_name = True
        bpy.ops.ed.undo_push(message="named")
        bpy.ops.ed.undo()
    ob = bpy.data.objects["Crane"]
    assert ob.dqik.live
    ob.dqik.live = False
    for bone in ("mast", "flag"):
        index = ob.pose.bones.find(bone)
        np.testing.assert_allclose(rigs.channels(ob)[index], before[index], atol=1e-6)
    rigs.update()
    index = ob.pose.bones.find("flag")
    np.testing.assert_allclose(rigs.channels(ob)[index], before[index], atol=1e-6)


def test_a_bone_whose_keys_were_moved_to_another_gets_its_pose_of_the_hand_back() -> None:
    """The boom, which lost its keys while live, was put to rest by hand, and is at rest after live off."""
    ob, _ = situations.reaching()
    situations.key_turns(ob, "boom")
    ob.dqik.live = True
    rigs.visit((3, 4, 5))
    move_keys(ob, "boom", "mast")
    ob.pose.bones["boom"].rotation_quaternion = (1, 0, 0, 0)
    rigs.update()
    rigs.visit((6, 12))
    rigs.live(ob, False)
    np.testing.assert_allclose(ob.pose.bones["boom"].rotation_quaternion, (1, 0, 0, 0), atol=1e-6)


@pytest.mark.parametrize("mute", NLA_OFF.values(), ids=NLA_OFF)
def test_keys_that_play_no_part_are_no_keys(mute: Callable) -> None:
    """Live off gives a bone with muted keys the pose that it had by hand."""
    ob, _ = situations.reaching()
    strip(ob)
    mute(ob)
    ob.pose.bones["boom"].rotation_quaternion = situations.turned((0.1, 0.5, 0.2))
    rigs.update()
    before = rigs.channels(ob)
    ob.dqik.live = True
    rigs.visit((3, 9, 20))
    rigs.live(ob, False)
    np.testing.assert_array_equal(rigs.channels(ob), before)


def test_keys_that_name_a_bone_by_its_number_are_keys() -> None:
    """Scripts may write data paths like `pose.bones[1].rotation_quaternion`."""
    ob, _ = situations.reaching()
    situations.key_turns(ob, "boom")
    for curve in situations.curves_of(ob, "boom"):
        curve.data_path = curve.data_path.replace('"boom"', str(ob.pose.bones.find("boom")))
    ob.dqik.live = True
    assert situations.history(ob) < situations.STEADY


# -- edits of animation are not poses of the hand ----------------------------------------------------------------------


def other_values(ob: bpy.types.Object) -> None:
    for curve in situations.curves_of(ob, "boom"):
        for key in curve.keyframe_points:
            key.co.y *= 0.5
        curve.update()
    ob.animation_data.action.update_tag()


def noise(ob: bpy.types.Object) -> None:
    for curve in situations.curves_of(ob, "boom"):
        curve.modifiers.new("NOISE").strength = 0.4
    ob.animation_data.action.update_tag()


def evaluated_again(ob: bpy.types.Object) -> None:
    ob.update_tag(refresh={"TIME"})


def strip_moved(ob: bpy.types.Object) -> None:
    strip = ob.animation_data.nla_tracks[0].strips[0]
    strip.frame_start_ui, strip.frame_end_ui = 4, 40


def less_strip(ob: bpy.types.Object) -> None:
    ob.animation_data.nla_tracks[0].strips[0].influence = 0.3
    ob.update_tag(refresh={"TIME"})


@pytest.mark.parametrize(("prepare", "change"), [
    (no_preparation, other_values), (no_preparation, noise), (no_preparation, evaluated_again), (strip, strip_moved),
    (strip, less_strip), (no_preparation, situations.tweaked), (strip, evaluated_again),
])  # fmt: skip
def test_an_edit_of_animation_is_no_pose_of_the_hand(prepare: Callable, change: Callable) -> None:
    """No bone is held for it, and what is seen then is what the frame shows when it is visited."""
    ob, _ = situations.reaching()
    prepare(ob)
    ob.dqik.live = True
    rigs.visit((9, 10))
    change(ob)
    rigs.update()
    assert not any(bone.dqik_hold for bone in ob.pose.bones)
    seen = rigs.matrices(ob)
    assert situations.turn(seen, situations.pose_at(ob, 10)) < situations.STEADY
    assert situations.history(ob) < situations.STEADY


def test_live_off_after_loading_puts_bones_on_what_the_nla_gives(tmp_path: Path) -> None:
    """An action by half on top of a track."""
    ob, _ = situations.reaching()
    strip(ob)
    situations.key_turns(ob, "boom", {1: (0.9, 0, 0), 30: (0.9, 0.4, 0.1)})
    ob.animation_data.action_influence = 0.5
    keyed = situations.pose_at(ob, 12)
    ob.dqik.live = True
    rigs.visit((5, 12))
    situations.reopened(tmp_path / "crane.blend")
    ob = bpy.data.objects["Crane"]
    ob.dqik.live = False
    assert situations.turn(keyed, rigs.matrices(ob)) < situations.STEADY


def test_a_target_moved_after_loading_moves_bones_from_what_the_nla_gives(tmp_path: Path) -> None:
    """The pose is that of the frame when it is visited; bones in no chain keep their pose of the hand."""
    ob, _ = situations.reaching(chain_length=2)
    situations.key_turns(ob, "flag")
    strip(ob)
    ob.dqik.live = True
    rigs.visit((5, 12))
    situations.reopened(tmp_path / "crane.blend")
    ob, target = bpy.data.objects["Crane"], bpy.data.objects["Load"]
    ob.pose.bones["flag"].rotation_quaternion = situations.turned((0.1, 0.5, 0.2))
    target.animation_data_clear()
    target.location = (0.9, 0.3, 1.2)
    rigs.update()
    np.testing.assert_allclose(ob.pose.bones["flag"].rotation_quaternion, situations.turned((0.1, 0.5, 0.2)), atol=1e-6)
    chain = [ob.pose.bones.find(bone) for bone in ("boom", "jib")]
    seen = rigs.matrices(ob)[chain]
    assert situations.turn(seen, situations.pose_at(ob, 12)[chain]) < situations.STEADY
