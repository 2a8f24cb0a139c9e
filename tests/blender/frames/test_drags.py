# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that are dragged along smooth paths: no joint jumps, and at rest the pose is the answer of its frame."""

from collections.abc import Callable
from itertools import pairwise
from math import cos, degrees, pi, sin

import bpy
import numpy as np
import pytest
import rigs
from conventions import BY_NAME
from mathutils import Vector

import build

STEPS = 130
UP = Vector((0, 0, 1))


def set_up(name: str, role: tuple) -> tuple[bpy.types.Object, bpy.types.PoseBone, bpy.types.Object, float, Vector]:
    """A character with a full body: its armature, a part's bone and target, its height and the way it looks."""
    character = BY_NAME[name]
    ob = rigs.made_active(build.native(character))
    bone = {role: ob.pose.bones[name] for name, role in build.truth(character).items() if role}
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    target = rigs.goal_of(ob, bone[role].name).target
    heights = [(ob.matrix_world @ one.head).z for one in ob.pose.bones]
    ahead = ob.matrix_world.to_3x3() @ (bone["toes", "L"].head - bone["foot", "L"].head)
    return ob, bone[role], target, max(heights) - min(heights), (ahead - ahead.dot(UP) * UP).normalized()


def turned(ob: bpy.types.Object) -> np.ndarray:
    """The rotations (N, 4) of bones against their parents."""
    return np.array([
        (bone.parent.matrix.inverted() @ bone.matrix if bone.parent else bone.matrix).to_quaternion()[:]
        for bone in ob.pose.bones
    ])  # fmt: skip


@pytest.mark.parametrize("name", ["mixamo", "unreal", "auto-rig pro", "xsens"])
def test_a_flat_foot_that_is_raised_behind_the_body_flips_no_knee(name: str) -> None:
    """A circle of 0.19 heights, in steps of 0.01: without Human Limits, ankles allow what knees would flip for."""
    ob, _, target, height, forward = set_up(name, ("foot", "L"))
    centre = target.matrix_world.translation + height * (0.2 * UP + 0.05 * forward)
    ob.dqik.live = True
    last = None
    for step in range(STEPS + 1):
        angle = 2.0 * pi * step / STEPS
        target.matrix_world.translation = centre + 0.19 * height * (cos(angle) * UP + sin(angle) * forward)
        bpy.context.view_layer.update()
        now = turned(ob)
        if last is not None:
            cosines = np.clip(np.abs((now * last).sum(-1)), 0.0, 1.0)
            assert degrees(2.0 * np.arccos(cosines).max()) < 15.0, step
        last = now


@pytest.mark.parametrize("name", ["vroid", "advanced skeleton", "motion builder"])
def test_a_head_that_limits_keep_from_its_target_comes_to_rest_near_it(name: str) -> None:
    """On a circle of 0.06 heights about its place, four times the steps bring it hardly nearer."""
    ob, head, target, height, forward = set_up(name, ("head", ""))
    assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    centre, side = target.matrix_world.translation - 0.02 * height * UP, forward.cross(UP)
    ob.dqik.live = True
    misses: list[float] = []
    for iterations in (50, 200):
        ob.dqik.iterations = iterations
        total = 0.0
        for step in range(0, STEPS, 10):
            angle = 2.0 * pi * step / STEPS
            asked = centre + 0.06 * height * (cos(angle) * side + sin(angle) * forward)
            target.matrix_world.translation = asked
            bpy.context.view_layer.update()
            total += (ob.matrix_world @ head.head - asked).length
        misses.append(total)
    assert misses[0] < 1.18 * misses[1]


@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
@pytest.mark.parametrize("name", ["mixamo", "unreal", "auto-rig pro", "valve"])
def test_a_foot_pulled_far_moves_no_hand_and_no_head_of_a_body_posed_by_its_targets(name: str, limited: bool) -> None:
    """Its hands hang down from a T-pose and its hips are low: they have moved from rest too, and still stay.

    Before blame went by squares, the head left its target by up to 5 % of the height.
    """
    ob, foot, target, height, forward = set_up(name, ("foot", "L"))
    if limited:
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    bone = {role: one for one, role in build.truth(BY_NAME[name]).items() if role}
    targets, aside = {goal.bone: goal.target for goal in ob.dqik.goals}, forward.cross(UP)
    ob.dqik.live = True
    for side in ("L", "R"):
        hand, shoulder = (ob.matrix_world @ ob.pose.bones[bone[part, side]].head for part in ("hand", "arm"))
        out = aside if (hand - shoulder).dot(aside) > 0.0 else -aside
        lowered = (hand - shoulder).length * (0.3 * out + 0.3 * forward - 0.8 * UP)
        targets[bone["hand", side]].matrix_world.translation = shoulder + lowered
    targets[bone["hips", ""]].matrix_world.translation -= 0.05 * height * UP
    bpy.context.view_layer.update()
    others = [one for one in targets if one not in (foot.name, bone["hips", ""])]
    most = (0.015 if limited else 0.004) * height
    before = {one: ob.matrix_world @ ob.pose.bones[one].head for one in others}
    away = ob.matrix_world.to_3x3() @ (foot.head - ob.pose.bones[bone["hips", ""]].head)
    for direction in (aside if away.dot(aside) > 0.0 else -aside, forward, -forward):
        place = target.matrix_world.translation.copy()
        target.matrix_world.translation = place + 0.6 * height * direction
        bpy.context.view_layer.update()
        for one in others:
            assert (ob.matrix_world @ ob.pose.bones[one].head - before[one]).length < most, one
        target.matrix_world.translation = place
        bpy.context.view_layer.update()


def rested(ob: bpy.types.Object) -> int:
    """Have an unchanged scene updated until the armature comes to rest; how many times it went on."""
    for number in range(40):
        before = turned(ob)
        ob.update_tag()
        rigs.update()
        if largest(before, turned(ob)) < 0.01:
            return number
    raise AssertionError("it never comes to rest")


def largest(before: np.ndarray, after: np.ndarray) -> float:
    """The largest turn of a bone [degrees]."""
    apart = np.minimum(np.linalg.norm(after - before, axis=-1), np.linalg.norm(after + before, axis=-1))
    return degrees(4.0 * np.arcsin(0.5 * apart).max())


def led_over_its_root(limited: bool, step: float = 0.01) -> tuple[bpy.types.Object, bpy.types.Object, list[Vector]]:
    """A leg with one goal and the way of its target, on which the leg's own answers jump; `step` in heights."""
    ob = rigs.made_active(rigs.chain([(0.1, 0, 0.9), (0.1, -0.03, 0.5), (0.1, 0.03, 0.08), (0.1, -0.12, 0.02)]))
    target = rigs.empty(rigs.tail(ob, "c"))
    rigs.reach(ob, "c", target)
    for bone in ob.pose.bones if limited else ():
        rigs.limit(bone, (-40, 40), (-60, 50), (-45, 60))
    rigs.live(ob)
    home, count = target.location.copy(), round(2.6 / (1.75 * step))
    way = [home + Vector((0, -0.42 * (1 - cos(t)), 0.42 * sin(t)))
           for t in (2.0 * pi * k / count for k in range(count // 3))]  # fmt: skip
    return ob, target, way


@pytest.fixture
def drag(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Says whether one of Blender's transforms runs, which needs a window."""
    views = rigs.part("rig.blender.views")

    def say(runs: bool) -> None:
        monkeypatch.setattr(views, "is_dragging", lambda: runs)

    say(True)
    return say


@pytest.mark.usefixtures("drag")
@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
def test_a_drag_over_a_jump_of_the_answer_goes_there_by_steps(limited: bool) -> None:
    """The frame's own answers on this way jump by more than 60 degrees, as frames that are visited afresh show."""
    ob, target, way = led_over_its_root(limited)
    last, jumps, misses, afresh = turned(ob), [], [], []
    for point in way:
        target.location = point
        rigs.update()
        jumps.append(largest(last, turned(ob)))
        misses.append(rigs.miss(ob, "c", target))
        last = turned(ob)
    for point in way:
        target.location = point
        rigs.at_frame(1)
        afresh.append(turned(ob))
    assert max(largest(*pair) for pair in pairwise(afresh)) > 60.0
    assert max(jumps) < 15.0
    assert max(misses) < 0.002


@pytest.mark.usefixtures("drag")
@pytest.mark.parametrize("name", ["mixamo", "toon"])
def test_a_head_that_is_dragged_down_folds_no_neck_on_the_way(name: str) -> None:
    """Straight knees bend by more than a drag shows in a step. Where hips gave only at the end, necks folded by 150."""
    ob, head, target, height, _ = set_up(name, ("head", ""))
    rigs.live(ob)
    first = turned(ob)
    trunk = [ob.pose.bones.find(bone.name) for bone in (head, *head.parent_recursive)]
    for _ in range(12):
        target.location.z -= 0.01 * height
        rigs.update()
        assert largest(first[trunk], turned(ob)[trunk]) < 25.0


@pytest.mark.usefixtures("drag")
def test_a_drag_that_stops_arrives_at_the_answer_of_its_frame() -> None:
    ob, target, way = led_over_its_root(limited=False)
    waits = 0
    for point in way:
        target.location = point
        rigs.update()
        if point is way[20] or point is way[35] or point is way[45]:
            waits += rested(ob)
            shown = turned(ob)
            rigs.at_frame(1)
            assert largest(shown, turned(ob)) < 0.01
    assert waits > 0


@pytest.mark.parametrize("way_by", [1, 12], ids=["small steps of a script", "large steps of a drag"])
def test_what_is_no_small_step_of_a_drag_shows_the_answer_at_once(drag: Callable[[bool], None], way_by: int) -> None:
    drag(way_by > 1)
    ob, target, way = led_over_its_root(limited=False)
    for point in way[::way_by]:
        target.location = point
        rigs.update()
        shown = turned(ob)
        rigs.at_frame(1)
        assert largest(shown, turned(ob)) < 0.01


def test_a_drag_that_is_over_shows_the_answer_of_its_frame(drag: Callable[[bool], None]) -> None:
    ob, target, way = led_over_its_root(limited=False)
    late = 0
    for point in way:
        drag(True)
        target.location = point
        rigs.update()
        on_the_way = turned(ob)
        drag(False)
        ob.update_tag()
        rigs.update()
        shown = turned(ob)
        late += largest(on_the_way, shown) > 1.0
        rigs.at_frame(1)
        assert largest(shown, turned(ob)) < 0.01
    assert late > 0
