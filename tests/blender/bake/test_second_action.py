# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure that is set up from one action, and gets another one: said, and mended by one button."""

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import frames_of
from mathutils import Euler
from situations import assign
from test_from_animation import walker

FRAMES = (1, 4, 8.5, 12, 16)
NEAR = 2e-5


def play(ob: bpy.types.Object, action: bpy.types.Action) -> None:
    assign(ob, action)
    rigs.update()


def two_actions() -> tuple[bpy.types.Object, bpy.types.Action, bpy.types.Action]:
    """A figure that walks in one action and waves in another, in place."""
    ob = walker()
    first = ob.animation_data.action
    first.name, first.use_fake_user = "Walk", True
    second = first.copy()
    second.name, second.use_fake_user = "Wave", True
    play(ob, second)
    for frame in range(1, 17):
        for name, angles in (("arm.L", (-0.3, 0.1, 0.05 * frame)), ("forearm.L", (0.0, 0.0, 0.9 + 0.03 * frame)),
                             ("thigh.R", (-0.9, 0.0, 0.02 * frame))):  # fmt: skip
            rigs.posed(ob.pose.bones[name], Euler(angles).to_quaternion(), frame)
    rigs.made_active(ob)
    return ob, first, second


def off(ob: bpy.types.Object, expected: np.ndarray) -> float:
    return float(np.abs(frames_of(ob, FRAMES) - expected).max())


@pytest.mark.parametrize(("press", "more", "live"), [
    ("key_from_motion", set(), True), ("key_from_motion", {"CHEST", "ELBOWS", "KNEES", "MASTER"}, False),
    ("setup_full_body", set(), False), ("setup_full_body", {"CHEST", "ELBOWS", "KNEES", "MASTER"}, True),
])  # fmt: skip
def test_the_second_action_plays_after_one_press_and_the_first_one_too(press: str, more: set, live: bool) -> None:
    ob, first, second = two_actions()
    waves = frames_of(ob, FRAMES)
    play(ob, first)
    walks = frames_of(ob, FRAMES)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    if more:
        ob.dqik.live = True
        bpy.ops.dqik.setup_full_body(controls=more)
    ob.dqik.live = True
    assert off(ob, walks) < NEAR
    assert not ob.dqik.status.message
    play(ob, second)
    rigs.at_frame(8)
    assert off(ob, waves) > 0.1
    assert "'Wave' moves the body, but has no keys on its controls" in ob.dqik.status.message
    ob.dqik.live = live
    rigs.at_frame(5)
    assert getattr(bpy.ops.dqik, press)() == {"FINISHED"}
    assert ob.dqik.live == live
    ob.dqik.live = True
    assert off(ob, waves) < NEAR
    assert not ob.dqik.status.message
    play(ob, first)
    assert off(ob, walks) < NEAR
    assert not ob.dqik.status.message
    play(ob, second)
    assert off(ob, waves) < NEAR
    assert bpy.ops.dqik.key_from_motion() == {"CANCELLED"}


def test_rolls_and_influences_of_the_first_action_do_not_stay_in_the_second() -> None:
    ob, first, second = two_actions()
    waves = frames_of(ob, FRAMES)
    play(ob, first)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.dqik.setup_full_body()
    rigs.key_path(rigs.owner_of(ob, "foot.L"), (1, 16), (0.0, 0.9), "dqik_roll")
    rigs.key_path(rigs.goal_of(ob, "foot.L"), (1, 16), (1.0, 0.2), "influence")
    rigs.live(ob, at=16)
    walks = frames_of(ob, FRAMES)
    rigs.at_frame(16)
    play(ob, second)
    assert bpy.ops.dqik.key_from_motion() == {"FINISHED"}
    assert off(ob, waves) < NEAR
    play(ob, first)
    assert off(ob, walks) < NEAR


def test_a_figure_without_an_action_is_told_so(capfd: pytest.CaptureFixture[str]) -> None:
    rigs.set_up(rigs.figure())
    for press in (bpy.ops.dqik.key_from_motion, bpy.ops.dqik.limits_from_action):
        assert press() == {"CANCELLED"}
        assert "Warning: 'Figure' has no action" in capfd.readouterr().out


def test_keys_by_hand_on_bones_of_a_figure_without_other_actions_are_no_fault() -> None:
    """Set up first, then a bone of the body is keyed beside the controls."""
    ob = rigs.made_active(rigs.figure())
    bpy.ops.object.mode_set(mode="POSE")
    rigs.set_up(ob)
    rigs.posed(ob.pose.bones["spine"], Euler((0.4, 0.0, 0.0)).to_quaternion(), 10)
    rigs.at_frame(5)
    assert "no keys on its controls" not in ob.dqik.status.message
    assert bpy.ops.dqik.key_from_motion() == {"CANCELLED"}


def test_a_figure_whose_targets_are_objects_is_told_so(capfd: pytest.CaptureFixture[str]) -> None:
    """Their keys are in actions of their own, which no action of the figure replaces."""
    two_actions()
    assert bpy.ops.dqik.goal_add(bone="hand.L") == {"FINISHED"}
    assert bpy.ops.dqik.goal_add(bone="foot.R") == {"FINISHED"}
    assert bpy.ops.dqik.key_from_motion() == {"CANCELLED"}
    assert "'Figure' are objects with actions of their own" in capfd.readouterr().out
