# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins win over wishes and over goals that are no pins, and are keyed at a frame with Auto Keying."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import frames_of
from mathutils import Vector
from pytest import MonkeyPatch
from situations import as_strip, auto_keying, reopened
from test_controls import HEIGHT, control, shift
from test_posing import live_figure

EXACT = 1e-4  # [m]: a tenth of a millimetre
DRAGS = ((0.5, 0, 0), (0, -0.5, 0), (0, 0.5, 0), (0, 0, 0.5), (0, 0, -0.5))


def pin(ob: bpy.types.Object, *bones: str) -> None:
    rigs.select(ob, *bones)
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    rigs.update()


def goal_of(ob: bpy.types.Object, bone: str, last: bool = True) -> bpy.types.PropertyGroup:
    """The last, or the first goal of a bone."""
    return [goal for goal in ob.dqik.goals if goal.bone == bone][-1 if last else 0]


def drag_pin(ob: bpy.types.Object, bone: str, way: tuple[float, float, float]) -> None:
    """Move the control of a bone's pin."""
    own = ob.pose.bones[goal_of(ob, bone).subtarget]
    own.location = own.location + Vector(way)
    rigs.update()


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
    drag_pin(ob, "hand.R", (-3.0, 0.0, 0.0))
    wish = goal_of(ob, "hips")
    assert wish.gave_way and not wish.missed
    assert wish.error == pytest.approx((rigs.head(ob, "hips") - rigs.head(ob, "DQIK hips")).length, abs=1e-4)
    pin(ob, "foot.L", "foot.R")
    drag_pin(ob, "hand.R", (-3.0, 0.0, 0.0))
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


def test_pins_are_keyed_with_auto_keying(monkeypatch: MonkeyPatch) -> None:
    """Pinned from frame 20 on, let go at 40: before and after, a dragged hand takes the hips along. One step each."""
    auto_keying(monkeypatch, True, False)
    ob = live_figure()
    rigs.at_frame(20)
    pin(ob, "hips")
    rigs.select(ob, "hips", at=40)
    bpy.ops.ed.undo_push(message="Before")
    assert bpy.ops.dqik.unpin("EXEC_DEFAULT", True) == {"FINISHED"}
    rigs.update()
    muted = {frame: goal_of(ob, "hips").mute for frame in rigs.visited((1, 19, 20, 30, 39, 40, 60))}
    assert muted == {1: True, 19: True, 20: False, 30: False, 39: False, 40: True, 60: True}
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", False)
    rigs.at_frame(30)
    start = rigs.head(ob, "hips")
    control(ob, "hand.L").location.y -= 0.5
    control(ob, "hand.L").keyframe_insert("location", frame=30)
    moved = {frame: (rigs.head(ob, "hips") - start).length for frame in rigs.visited((1, 30, 60))}
    assert moved[30] < EXACT < 0.01 < min(moved[1], moved[60])
    bpy.ops.ed.undo()
    rigs.at_frame(60)
    assert not goal_of(bpy.data.objects["Figure"], "hips").mute


def test_only_insert_available_makes_no_curve_for_a_pin(monkeypatch: MonkeyPatch) -> None:
    """The pin is there on all frames, and Unpin removes it."""
    auto_keying(monkeypatch, True, True)
    ob = live_figure()
    count = len(ob.dqik.goals)
    pin(ob, "hips")
    assert rigs.keys(ob) == {}
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert len(ob.dqik.goals) == count


def test_unpin_without_auto_keying_takes_the_keys_along(monkeypatch: MonkeyPatch) -> None:
    """A goal that is added later in its place is not muted by them."""
    auto_keying(monkeypatch, True, False)
    ob = live_figure()
    pin(ob, "hips")
    assert any("mute" in path for path, _ in rigs.keys(ob))
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", False)
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert not any("dqik.goals" in path for path, _ in rigs.keys(ob))


@pytest.mark.parametrize("in_strip", [False, True])
def test_a_pin_on_a_figure_that_moves_is_keyed_in_any_case(in_strip: bool, monkeypatch: MonkeyPatch) -> None:
    """Also with Only Insert Available: else a pin on one frame would hold the hips there on all frames."""
    auto_keying(monkeypatch, True, True)
    ob = live_figure()
    hips, places = control(ob, "hips"), {}
    rigs.key_path(hips, (1, 20), [(*hips.location.xy, -0.005 * frame) for frame in (1, 20)])
    if in_strip:
        as_strip(ob)
    for frame in rigs.visited((20, 1)):
        places[frame] = rigs.matrices(ob)[: ob.pose.bones.find(hips.name)]
    rigs.at_frame(20)
    pin(ob, "hips")
    rigs.at_frame(1)
    assert (rigs.matrices(ob)[: len(places[1])] == places[1]).all()
    assert goal_of(ob, "hips").mute


@pytest.mark.parametrize("changed", ["as made", "renamed", "sorted away"])
def test_pin_on_a_control_pins_the_bone_that_it_moves(changed: str) -> None:
    ob = live_figure()
    count = len(ob.dqik.goals)
    for bone in ob.data.bones if changed != "as made" else ():
        if changed == "renamed":
            bone.name = bone.name.replace("DQIK ", "CTRL_")
        else:
            for one in list(bone.collections):
                one.unassign(bone)
    rigs.update()
    pin(ob, goal_of(ob, "hips").subtarget, goal_of(ob, "hand.L").subtarget)
    assert len(ob.dqik.goals) == count + 2  # beside the goals that they have
    start = rigs.head(ob, "hips")
    shift(ob, "hand.R", (0, -0.5, 0))
    assert (rigs.head(ob, "hips") - start).length < EXACT
    assert goal_of(ob, "hand.L").priority == goal_of(ob, "hips").priority > goal_of(ob, "hand.R").priority


@pytest.mark.parametrize("bone", ["hand.L", "forearm.L"])
def test_what_is_dragged_after_unpin_counts(bone: str) -> None:
    """The control of the goal that stays, or the bone, is selected where the pin was."""
    ob = live_figure()
    pin(ob, bone)
    stays = goal_of(ob, bone, last=False).subtarget if bone == "hand.L" else bone
    rigs.select(ob, goal_of(ob, bone).subtarget)
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert [one.name for one in bpy.context.selected_pose_bones] == [stays]
    assert bpy.context.active_pose_bone.name == stays


def test_bones_with_and_without_a_goal_are_pinned_at_once_where_they_are() -> None:
    """The pin of the one counts its target's rotation, which its goal did not: the other does not move with it."""
    ob = rigs.made_active(rigs.chain([(0, 0, 0), (0.1, 0, 1), (0.2, 0.1, 2), (0.3, 0, 2.6)], "Chain"))
    rigs.goal(ob, "b", rigs.empty((0.9, -0.4, 0.8), "Target"))
    ob.dqik.goals[0].use_rotation = False
    rigs.live(ob)
    rigs.select(ob, "a", "b")
    before = rigs.matrices(ob)
    assert bpy.ops.dqik.pin() == {"FINISHED"}
    rigs.update()
    assert [goal.name for goal in ob.dqik.goals] == ["b", "a", "b pin"]
    assert np.abs(rigs.matrices(ob)[:3] - before[:3]).max() < EXACT


def moving(random: np.random.Generator, tracks: int) -> bpy.types.Object:
    """A live figure whose controls have keys at random frames, with the usual interpolation."""
    ob = live_figure()
    for name in random.choice(["hips", "head", "hand.L", "hand.R", "foot.L", "foot.R"], tracks, replace=False).tolist():
        own, reach = control(ob, name), 0.05 if name in ("hips", "head") else 0.15
        frames = sorted(random.choice(range(1, 41), 4, replace=False).tolist())
        rigs.key_path(own, frames, [Vector(random.normal(0.0, reach, 3)) for _ in frames])
    rigs.at_frame(1)
    return ob


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """To a ten-thousandth of the figure's height, and a tenth of a degree."""
    return np.abs(one - other)[..., :3, 3].max() < 1e-4 * HEIGHT and np.degrees(rigs.turn(one, other)) < 0.1


def value_of(goal: bpy.types.PropertyGroup, name: str) -> object:
    """A setting, as a value that outlives the file: of what it points to the name, of a vector its numbers."""
    value = getattr(goal, name)
    is_array = isinstance(value, (bpy.types.bpy_prop_array, Vector))
    return tuple(value) if is_array else getattr(value, "name", value)


def kept(ob: bpy.types.Object) -> tuple[list, dict]:
    """The goals, with all of their settings, and the keys, without those of pins."""
    settings = [one.identifier for one in ob.dqik.goals[0].bl_rna.properties if not one.is_readonly]
    settings = [name for name in settings if name not in ("mute", "pin", "label", "roll", "rna_type")]
    goals = [[value_of(goal, name) for name in settings] for goal in ob.dqik.goals if goal.pin != 1]
    own = ["mute", *(f'"{goal.subtarget}"' for goal in ob.dqik.goals if goal.pin == 1)]
    return goals, {key: points for key, points in rigs.keys(ob).items() if not any(word in key[0] for word in own)}


@pytest.mark.parametrize(("bone", "most", "usual"), [
    ("foot.L", 1e-3, 1e-4), ("head", 0.01, 2e-3), ("hand.L", 5e-4, 1e-4),
])  # fmt: skip
def test_a_pin_hardly_moves_the_body_when_it_is_pressed(bone: str, most: float, usual: float) -> None:
    """On frames whose goals are all met: in heights, at most and in the median of three motions."""
    moved = []
    for seed in range(1, 4):
        random = np.random.default_rng(seed)
        ob = moving(random, 3)
        frame = next(frame for frame in random.permutation(range(1, 41)).tolist() if all_met(ob, frame))
        [before] = frames_of(ob, [frame])
        pin(ob, control(ob, bone).name)
        [now] = frames_of(ob, [frame])
        moved.append(np.abs(now - before)[:, :3, 3].max() / HEIGHT)
    assert max(moved) < most
    assert np.median(moved) < usual


def all_met(ob: bpy.types.Object, frame: int) -> bool:
    """Whether a figure meets its goals on a frame."""
    rigs.at_frame(frame)
    return not any(goal.missed for goal in ob.dqik.goals)


@pytest.mark.parametrize(("seed", "auto"), [(0, True), (1, False), (2, False), (3, False), (4, True), (5, True)])
def test_pin_and_unpin_change_no_other_time(auto: bool, seed: int, monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    """Bones at random are pinned and let go again, some twice, with undo, or saved and opened in between.

    The bones stay where they are until *Unpin*; goals, controls and their keys stay, and after it the motion is as
    before. Without Auto Keying *Unpin* brings everything back.
    """
    random = np.random.default_rng(seed)
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", bool(seed % 2))
    ob = moving(random, 3)
    frames = [1.0, 6.0, 9.5, 10.0, 15.0, 19.5, 20.0, 25.0, 32.0, 40.0]
    before, goals = frames_of(ob, frames), kept(ob)
    bones = random.choice(["hand.L", "hand.R", "foot.L", "hips", "forearm.R", "head"], 2, replace=False).tolist()
    for begin, end in ((10.0, 20.0), (25.0, 32.0))[: 1 + seed % 2]:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto  # goes with the scene
        rigs.select(ob, *bones, at=begin)
        assert bpy.ops.dqik.pin() == {"FINISHED"}
        places = [rigs.head(ob, name) for name in bones]
        if seed % 3 == 1:
            reopened(tmp_path / "pinned.blend")
            ob = rigs.made_active(bpy.data.objects["Figure"])
            if ob.mode != "POSE":
                bpy.ops.object.mode_set(mode="POSE")
        elif seed % 3 == 2:
            for message in ("pinned", "more"):
                bpy.ops.ed.undo_push(message=message)
            bpy.ops.ed.undo()
            ob = rigs.made_active(bpy.data.objects["Figure"])
        assert kept(ob) == goals
        for frame in (begin, begin + 1.5, 0.5 * (begin + end), end - 0.5) if auto else frames:
            rigs.at_frame(frame)
            for name, place in zip(bones, places, strict=True):
                assert (rigs.head(ob, name) - place).length < 2e-3
        rigs.select(ob, *bones, at=end)
        assert bpy.ops.dqik.unpin() == {"FINISHED"}
        after = frames_of(ob, frames)
        free = [not (auto and begin <= frame < end) and (frame < begin or frame >= end or not auto) for frame in frames]
        free = [one and not (auto and begin == 25.0 and 10.0 <= frame < 20.0)
                for one, frame in zip(free, frames, strict=True)]  # fmt: skip
        assert same(after[free], before[free])
        assert kept(ob) == goals
        assert auto or len(ob.dqik.goals) == len(goals[0])
        rigs.select(ob, *bones, at=end)
        assert bpy.ops.dqik.unpin() == {"CANCELLED"}


def test_a_pin_that_is_pressed_again_keeps_the_frames_before(monkeypatch: MonkeyPatch) -> None:
    """Pinned at 10 and once more at 12, moved by hand at 15, let go at 20, and pinned where the body is at 30."""
    auto_keying(monkeypatch, True, False)
    ob = moving(np.random.default_rng(3), 3)
    for _ in rigs.visited((10, 12)):
        pin(ob, "hand.L")
    rigs.at_frame(15)
    drag_pin(ob, "hand.L", (0.05, 0.02, 0.04))
    own = ob.pose.bones[goal_of(ob, "hand.L").subtarget]
    own.keyframe_insert("location", frame=15)
    for curve in rigs.fcurves(ob):
        if f'"{own.name}"' in curve.data_path:
            curve.keyframe_points[-1].interpolation = "BEZIER"
    rigs.select(ob, "hand.L", at=20)
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    frames = [1.0, 9.0, 10.0, 11.0, 11.5, 13.0, 15.0, 17.0, 19.5, 20.0, 25.0, 29.0]
    before = frames_of(ob, frames)
    rigs.at_frame(30)
    pin(ob, "hand.L")
    assert same(frames_of(ob, frames), before)
    muted = [rigs.evaluated(ob).dqik.goals[goal_of(ob, "hand.L").name].mute for _ in rigs.visited(frames)]
    assert muted == [not 10.0 <= frame < 20.0 for frame in frames]


@pytest.mark.parametrize("leads", [True, False])
def test_a_pin_leaves_the_pole_of_its_limb_to_the_other_goal(leads: bool, monkeypatch: MonkeyPatch) -> None:
    """It stays with its keys, and so does the elbow, also where it does not lead it; after *Unpin* all is as before."""
    auto_keying(monkeypatch, True, False)
    ob = live_figure()
    pole, own = rigs.empty((0.8, 1.0, 1.0), "Pole"), goal_of(ob, "hand.L")
    own.pole_target, own.influence = pole, float(leads)
    if leads:
        rigs.key_path(pole, (1, 20), ((0.8, 1.0, 1.0), (0.8, 0.6, 2.0)))
    else:
        ob.pose.bones["forearm.L"].rotation_quaternion = (1.0, 0.3, 0.2, 0.0)
    frames, keys = [1.0, 5.0, 9.0, 16.0, 18.0], rigs.keys(pole)
    before, [here] = frames_of(ob, frames), frames_of(ob, [10.0])
    place = pole.location.copy()
    pin(ob, "hand.L")
    assert (pole.location - place).length < 1e-6
    [now] = frames_of(ob, [10.0])
    assert np.abs(now - here)[:, :3, 3].max() < (5e-3 if leads else 1e-4) * HEIGHT  # one that leads counts for more now
    rigs.select(ob, "hand.L", at=15)
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert rigs.keys(pole) == keys
    assert same(frames_of(ob, frames)[:, : before.shape[1]], before)


@pytest.mark.parametrize("auto", [True, False])
def test_unpin_leaves_what_was_never_pinned_alone(auto: bool, monkeypatch: MonkeyPatch) -> None:
    """All controls, keyed or not: a sentence, and nothing changes; nor does a goal of a high priority by hand."""
    ob = moving(np.random.default_rng(0), 4)
    ob.dqik.goals[2].priority = 1
    monkeypatch.setattr(bpy.context.scene.tool_settings, "use_keyframe_insert_auto", auto)
    before = kept(ob), rigs.keys(ob), [bone.name for bone in ob.pose.bones]
    rigs.at_frame(16)
    assert bpy.ops.dqik.select_controls() == {"FINISHED"}
    assert bpy.ops.dqik.unpin() == {"CANCELLED"}
    assert (kept(ob), rigs.keys(ob), [bone.name for bone in ob.pose.bones]) == before


def test_pins_of_an_earlier_version_are_let_go(tmp_path: Path) -> None:
    """It had made the goal of a bone its pin, if there was one: that goal stays. Others go with their controls."""
    ob = live_figure()
    pin(ob, "hips", "chest")
    for goal in ob.dqik.goals:
        goal.pin = 0
        if goal.bone == "hand.L":
            goal.priority, goal.rotation_follows = 1, 0.0
    ob.dqik.version = 2
    reopened(tmp_path / "old.blend")
    ob = rigs.made_active(bpy.data.objects["Figure"])
    rigs.update()
    assert len(ob.dqik.goals) == 8
    assert bpy.ops.dqik.select_controls() == {"FINISHED"}
    assert bpy.ops.dqik.unpin() == {"FINISHED"}
    assert sorted(goal.bone for goal in ob.dqik.goals) == ["foot.L", "foot.R", "hand.L", "hand.R", "head", "hips"]
    assert {goal.priority for goal in ob.dqik.goals} == {0, -1}
    assert bpy.ops.dqik.unpin() == {"CANCELLED"}


def test_a_pinned_foot_keeps_its_roll() -> None:
    """Pinned on its ball with flat toes, nothing moves."""
    ob = live_figure()
    control(ob, "foot.L")["unused"] = 0
    control(ob, "foot.L").dqik_roll = 0.5
    rigs.update()
    before = frames_of(ob, [1.0])
    pin(ob, "foot.L")
    assert np.abs(frames_of(ob, [1.0]) - before).max() < 2e-3


def test_mirrored_goals_pair_pins_with_pins() -> None:
    """The other hand gets a pin of its own, and its goal stays what it is."""
    ob = live_figure()
    pin(ob, "hand.L")
    assert bpy.ops.dqik.goals_mirror() == {"FINISHED"}
    found = {(goal.bone, goal.pin, goal.mute) for goal in ob.dqik.goals if goal.bone.startswith("hand")}
    assert found == {("hand.L", 2, True), ("hand.L", 1, False), ("hand.R", 2, True), ("hand.R", 1, False)}
