# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake shows what live solving showed, whatever else is in the action; one that fails leaves all as it was."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
import situations

SAME = 0.05  # [deg]


def bake(ob: bpy.types.Object, **settings: object) -> set[str]:
    rigs.made_active(ob)
    return bpy.ops.dqik.bake(frame_start=1, frame_end=20, **settings)


def special(name: str) -> Callable[[bpy.types.Object], None]:
    return lambda ob: situations.make_special(name, situations.curves_of(ob, "boom"))


def cyclic(ob: bpy.types.Object) -> None:
    situations.key_turns(ob, "mast", {2: (0.2, 0, 0), 7: (-0.2, 0.1, 0)})
    situations.make_special("cyclic", situations.curves_of(ob, "mast"))


def blended(ob: bpy.types.Object) -> None:
    """An action that counts half, over a strip."""
    situations.as_strip(ob)
    situations.key_turns(ob, "mast")
    rigs.put(ob.animation_data, action_blend_type="COMBINE", action_influence=0.5)


def blended_beside(ob: bpy.types.Object) -> None:
    """An action that adds a third to a bone that no goal moves, from its first key on and held before it."""
    situations.key_turns(ob, "flag")
    situations.as_strip(ob)
    situations.key_turns(ob, "flag", {5: (0.9, 0.0, 0.3), 12: (-0.7, 0.4, 0.0)})
    rigs.put(ob.animation_data, action_blend_type="ADD", action_influence=0.3)


def driver(ob: bpy.types.Object, mute: bool = False) -> None:
    rigs.drive(ob.pose.bones["mast"], "rotation_quaternion", "frame / 30", 1)
    ob.animation_data.drivers[0].mute = mute


def extrapolated(ob: bpy.types.Object) -> None:
    situations.make_special("extrapolated", situations.curves_of(ob, "boom"))
    for curve in situations.curves_of(ob, "boom"):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def unassigned_slot(ob: bpy.types.Object) -> None:
    """Where actions have slots: none animates the armature."""
    if bpy.app.version >= (4, 4, 0):
        ob.animation_data.action_slot = None


EXTRAS = situations.named(
    cyclic, blended, blended_beside, driver, extrapolated, unassigned_slot, nothing_more=lambda ob: None,
    **{name: special(name) for name in ("noisy", "stepped", "muted", "muted_group", "locked", "sampled")},
    muted_driver=lambda ob: driver(ob, mute=True),
    strip_above=lambda ob: rigs.put(situations.as_strip(ob), blend_type="COMBINE"),
    half_action=lambda ob: rigs.put(ob.animation_data, action_influence=0.5),
    added_action=lambda ob: rigs.put(ob.animation_data, action_blend_type="ADD"),
)  # fmt: skip


@pytest.mark.parametrize("hides", [True, False])
def test_a_bake_of_a_part_says_where_it_hides_strips(hides: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """Strips below an action of its own, as of keyed controls, are hidden; below a new action they are seen again."""
    ob, _ = situations.reaching()
    situations.key_turns(ob, "mast")
    situations.as_strip(ob)
    if hides:
        situations.key_turns(ob, "flag")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 30
    assert bake(ob, action="NEW") == {"FINISHED"}
    assert ("the keys hide the strips" in capfd.readouterr().out) == hides
    turned = situations.turn(situations.pose_at(ob, 25)[:1], situations.pose_at(ob, 20)[:1])
    assert (turned < SAME) == hides


@pytest.mark.parametrize("action", ["NEW", "CURRENT"])
@pytest.mark.parametrize("extra", EXTRAS)
def test_baked_frames_are_those_that_live_solving_showed(extra: Callable, action: str) -> None:
    """What an action holds besides plain keys plays no part in what was baked; else the bake says why not."""
    ob, _ = situations.reaching()
    ob.pose.bones["mast"].rotation_quaternion = situations.turned((0.1, 0.2, 0.0))
    situations.key_turns(ob, "boom")
    extra(ob)
    ob.dqik.live = True
    live = {frame: situations.pose_at(ob, frame) for frame in range(1, 21, 3)}
    actions = set(bpy.data.actions)
    if not rigs.done(bake, ob=ob, action=action):
        assert set(bpy.data.actions) == actions
        assert situations.turn(live[7], situations.pose_at(ob, 7)) < SAME
        return
    assert not ob.dqik.live
    assert max(situations.turn(pose, situations.pose_at(ob, frame)) for frame, pose in live.items()) < SAME
    assert situations.history(ob, (4, 10)) < SAME


def test_a_bone_whose_rotation_mode_is_keyed_gets_keys_in_each_mode() -> None:
    """Every frame is visited twice: where the mode changes, Blender converts channels in the middle of a visit."""
    ob, _ = situations.reaching()
    ob.pose.bones["mast"].rotation_quaternion = situations.turned((0.1, 0.2, 0.0))
    rigs.key_path(ob.pose.bones["mast"], (1, 9, 14), ("QUATERNION", "XYZ", "AXIS_ANGLE"), "rotation_mode")
    ob.dqik.live = True
    live = {frame: situations.pose_at(ob, frame) for frame in (*range(1, 21, 3), 2)}
    bake(ob)
    for frame, pose in live.items():
        situations.pose_at(ob, frame)
        assert situations.turn(pose, situations.pose_at(ob, frame)) < SAME


@pytest.mark.parametrize("action", ["NEW", "CURRENT"])
def test_other_bones_and_other_channels_keep_their_curves(action: str) -> None:
    """The flag's keys, a custom property's and those of another rotation mode's channel."""
    ob, _ = situations.reaching()
    situations.key_turns(ob, "flag")
    bone = ob.pose.bones["boom"]
    bone["strain"] = 0.0
    for frame in (1, 20):
        bone["strain"] = bone.rotation_euler.x = 0.1 * frame
        bone.keyframe_insert('["strain"]', frame=frame)
        bone.keyframe_insert("rotation_euler", frame=frame)
    before = rigs.keys(ob)
    bake(ob, action=action)
    after = rigs.keys(ob)
    assert {channel: after.get(channel) for channel in before} == before


# -- bakes that come to nothing ----------------------------------------------------------------------------------------


MISTAKES = situations.named(
    asks_for_nothing=lambda ob: rigs.put(ob.dqik.goals[0], use_position=False),
    no_such_bone=lambda ob: rigs.put(ob.dqik.goals[0], bone="nobody"),
    no_target=lambda ob: rigs.put(ob.dqik.goals[0], target=None),
    reversed_limits=lambda ob: rigs.limit(ob.pose.bones["jib"], (0, 0), (50, 10), (-5, 5)),
    all_muted=lambda ob: rigs.put(ob.dqik.goals[0], mute=True),
    # Blender does not evaluate the action while a track is solo, so baked keys would not be seen
    solo_track=lambda ob: rigs.put(ob.animation_data.nla_tracks.new(), is_solo=True),
)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("action", ["NEW", "CURRENT"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_bake_that_fails_changes_nothing(mistake: Callable, action: str, live: bool) -> None:
    """Keys, actions, frame, bones, and targets that were moved and not keyed."""
    ob, target = situations.reaching()
    situations.key_turns(ob, "boom")
    rigs.at_frame(5)
    mistake(ob)
    rigs.live(ob, live)
    target.location = place = (0.6, 0.7, 0.8)
    ob.pose.bones["flag"].location = (0.1, 0.2, 0.3)
    rigs.update()
    actions, keys, channels = set(bpy.data.actions), repr(rigs.keys(ob)), rigs.channels(ob)
    with pytest.raises(RuntimeError, match="Error"):
        bake(ob, action=action)
    assert tuple(target.location) == pytest.approx(place, abs=1e-6)
    assert set(bpy.data.actions) == actions
    assert repr(rigs.keys(ob)) == keys
    assert bpy.context.scene.frame_current == 5
    assert ob.dqik.live == live
    np.testing.assert_allclose(rigs.channels(ob), channels, atol=1e-5)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(("steps", "smooth"), [(1, 0.0), (7, 0.0), (20, 0.0), (21, 1.0)])
def test_a_bake_that_is_stopped_changes_nothing(steps: int, smooth: float, live: bool) -> None:
    """Esc closes the operator's steps while frames are read, and of a smooth one while it solves after that."""
    ob, target = situations.reaching()
    situations.key_turns(ob, "boom")
    rigs.at_frame(5)
    ob.dqik.live = live
    target.location = place = (0.6, 0.7, 0.8)
    before, keys = rigs.matrices(ob), rigs.keys(ob)
    rigs.made_active(ob)
    working, _ = situations.steps_of("bake", smooth=smooth)
    for _ in range(steps):
        next(working)
    working.close()
    assert bpy.context.scene.frame_current == 5
    assert tuple(target.location) == pytest.approx(place, abs=1e-6)
    assert rigs.keys(ob) == keys
    assert ob.dqik.live == live
    assert situations.turn(before, rigs.matrices(ob)) < SAME
