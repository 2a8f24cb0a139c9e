# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins win over wishes and over goals that are no pins, and are keyed at a frame with Auto Keying."""

import bpy
import numpy as np
import pytest
import rigs
from test_controls import HEIGHT, control, select, shift
from test_posing import live_figure

EXACT = 1e-4  # [m]: a tenth of a millimetre
DRAGS = ((0.5, 0, 0), (0, -0.5, 0), (0, 0.5, 0), (0, 0, 0.5), (0, 0, -0.5))


def pin(ob: bpy.types.Object, *bones: str) -> None:
    select(ob, *bones)
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    rigs.update()


def goal_of(ob: bpy.types.Object, bone: str, last: bool = True) -> bpy.types.PropertyGroup:
    """The last, or the first goal of a bone."""
    return [goal for goal in ob.dqik.goals if goal.bone == bone][-1 if last else 0]


@pytest.mark.parametrize("limits", [False, True])
def test_pinned_hips_stay_while_hands_are_dragged(limits: bool) -> None:
    """By half a metre, one hand and both, to a tenth of a millimetre; without the pin they go along."""
    ob = live_figure()
    if limits:
        bpy.ops.dqik.limits_preset()
        rigs.update()
    start = rigs.head(ob, "hips")
    shift(ob, "hand.L", (0, -0.5, 0))
    assert (rigs.head(ob, "hips") - start).length > 0.05 * HEIGHT
    shift(ob, "hand.L", (0, 0.5, 0))
    pin(ob, "hips")
    start, missed = rigs.head(ob, "hips"), 0
    for way in DRAGS:
        for hand in ("hand.L", "hand.R"):
            shift(ob, hand, way)
            assert (rigs.head(ob, "hips") - start).length < EXACT
        missed += goal_of(ob, "hand.L").missed
        assert not goal_of(ob, "hips").missed
        for hand in ("hand.L", "hand.R"):
            shift(ob, hand, tuple(-part for part in way))
    assert missed > 1


def test_a_pinned_hand_stays_before_a_hand_that_is_none() -> None:
    """The other hand misses; a pin that cannot be met is said to be missed, a wish that gave way by how much."""
    ob = live_figure()
    pin(ob, "hand.R")
    start = rigs.head(ob, "hand.R")
    for way in DRAGS:
        shift(ob, "hand.L", way)
        assert (rigs.head(ob, "hand.R") - start).length < EXACT
        shift(ob, "hand.L", tuple(-part for part in way))
    shift(ob, "hand.R", (-3.0, 0.0, 0.0))
    wish = goal_of(ob, "hips")
    assert wish.gave_way and not wish.missed
    assert wish.error == pytest.approx((rigs.head(ob, "hips") - rigs.head(ob, "DQIK hips")).length, abs=1e-4)
    pin(ob, "foot.L", "foot.R")
    shift(ob, "hand.R", (-3.0, 0.0, 0.0))
    assert goal_of(ob, "hand.R").missed


def test_a_pin_on_a_wish_goes_and_the_wish_stays() -> None:
    """Pinned again, no second pin."""
    ob = live_figure()
    before = [(goal.name, goal.priority, goal.position_weight) for goal in ob.dqik.goals]
    pin(ob, "hips")
    pin(ob, "hips")
    assert len(ob.dqik.goals) == len(before) + 1
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert [(goal.name, goal.priority, goal.position_weight) for goal in ob.dqik.goals] == before


def test_pins_are_keyed_with_auto_keying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pinned from frame 20 on, let go at 40: before and after, a dragged hand takes the hips along. One step each."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", True)
    ob = live_figure()
    rigs.at_frame(20)
    pin(ob, "hips")
    rigs.at_frame(40)
    select(ob, "hips")
    bpy.ops.ed.undo_push(message="Before")
    assert bpy.ops.dqik.unpin("EXEC_DEFAULT", True) == {"FINISHED"}
    rigs.update()
    muted = {}
    for frame in (1, 19, 20, 30, 39, 40, 60):
        rigs.at_frame(frame)
        muted[frame] = goal_of(ob, "hips").mute
    assert muted == {1: True, 19: True, 20: False, 30: False, 39: False, 40: True, 60: True}
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", False)
    rigs.at_frame(30)
    start = rigs.head(ob, "hips")
    control(ob, "hand.L").location.y -= 0.5
    control(ob, "hand.L").keyframe_insert("location", frame=30)
    moved = {}
    for frame in (1, 30, 60):
        rigs.at_frame(frame)
        moved[frame] = (rigs.head(ob, "hips") - start).length
    assert moved[30] < EXACT < 0.01 < min(moved[1], moved[60])
    bpy.ops.ed.undo()
    rigs.at_frame(60)
    assert not goal_of(bpy.data.objects["Figure"], "hips").mute


def test_only_insert_available_makes_no_curve_for_a_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pin is there on all frames, and Unpin removes it."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", True)
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", True)
    ob = live_figure()
    count = len(ob.dqik.goals)
    pin(ob, "hips")
    assert rigs.keys(ob) == {}
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert len(ob.dqik.goals) == count


def test_unpin_without_auto_keying_takes_the_keys_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goal that is added later in its place is not muted by them."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", True)
    ob = live_figure()
    pin(ob, "hips")
    assert any("mute" in path for path, _ in rigs.keys(ob))
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", False)
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert not any("dqik.goals" in path for path, _ in rigs.keys(ob))


def test_a_pin_on_a_figure_that_moves_is_keyed_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with Only Insert Available: else a pin on one frame would hold the hips there on all frames."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", True)
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", True)
    ob = live_figure()
    hips, places = control(ob, "hips"), {}
    for frame in (1, 20):
        hips.location.z = -0.005 * frame
        hips.keyframe_insert("location", frame=frame)
    for frame in (20, 1):
        rigs.at_frame(frame)
        places[frame] = rigs.matrices(ob)[: ob.pose.bones.find(hips.name)]
    rigs.at_frame(20)
    pin(ob, "hips")
    rigs.at_frame(1)
    assert (rigs.matrices(ob)[: len(places[1])] == places[1]).all()
    assert goal_of(ob, "hips").mute


def test_pin_on_a_control_pins_the_bone_that_it_moves() -> None:
    ob = live_figure()
    count = len(ob.dqik.goals)
    pin(ob, control(ob, "hips").name, control(ob, "hand.L").name)
    assert len(ob.dqik.goals) == count + 1  # the hand's own goal is its pin
    start = rigs.head(ob, "hips")
    shift(ob, "hand.R", (0, -0.5, 0))
    assert (rigs.head(ob, "hips") - start).length < EXACT
    assert goal_of(ob, "hand.L").priority == goal_of(ob, "hips").priority > goal_of(ob, "hand.R").priority


def test_bones_with_and_without_a_goal_are_pinned_at_once_where_they_are() -> None:
    """The pin of the one counts its target's rotation, which its goal did not: the other does not move with it."""
    ob = rigs.made_active(rigs.chain([(0, 0, 0), (0.1, 0, 1), (0.2, 0.1, 2), (0.3, 0, 2.6)], "Chain"))
    rigs.goal(ob, "b", rigs.empty((0.9, -0.4, 0.8), "Target"))
    ob.dqik.goals[0].use_rotation = False
    ob.dqik.live = True
    rigs.update()
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in ("a", "b")
    before = rigs.matrices(ob)
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    rigs.update()
    assert len(ob.dqik.goals) == 2
    assert np.abs(rigs.matrices(ob)[:3] - before[:3]).max() < EXACT
