# SPDX-License-Identifier: GPL-3.0-or-later
"""Live leaves baked frames as they are while their goals are as they were, and solves them when a goal changes."""

import bpy
import numpy as np
import pytest
import rigs

FRAMES = (1, 3, 5)
APART = 1e-3


def baked(alone: bool) -> bpy.types.Object:
    """A chain baked with two goals that draw its end to different places; the second one has a pole.

    alone : whether the first one is muted.
    """
    ob = rigs.chain([(0, 0, 0), (0, 0.05, 1), (0, 0, 2), (0, 0.1, 3)])
    other, end, pole = rigs.empty((0.9, 0.3, 1.2), "other"), rigs.empty((0, 0, 0), "end"), rigs.empty((0, 5, 1), "pole")
    rigs.key_path(end, (1, 5), [(0.5, 0.8, 1.6), (0.9, -0.4, 1.4)])
    rigs.goal(ob, "c", other, use_rotation=False, mute=alone)
    rigs.goal(ob, "c", end, use_rotation=False, pole_target=pole)
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=5) == {"FINISHED"}
    ob.dqik.live = True
    return ob


@pytest.mark.parametrize(
    ("number", "setting", "value"),
    [(0, "position_weight", 9.0), (0, "priority", 1), (0, "chain_length", 1), (1, "pole_angle", 2.0),
     (1, "use_tail", False), (1, "use_rotation", True), (1, "mute", True), (0, "influence", 0.5)],
)  # fmt: skip
def test_a_goal_that_changes_after_a_bake_counts_on_its_frames(number: int, setting: str, value: object) -> None:
    ob = baked(alone=setting == "pole_angle")  # where it misses its goals, the keyed pose decides
    ob.dqik.live = False
    keyed = rigs.shown(ob, FRAMES)
    ob.dqik.live = True
    np.testing.assert_allclose(rigs.shown(ob, FRAMES), keyed, atol=1e-6)
    before = getattr(ob.dqik.goals[number], setting)
    setattr(ob.dqik.goals[number], setting, value)
    changed = rigs.shown(ob, FRAMES)
    assert np.abs(changed - keyed).max() > APART
    rigs.made_active(ob)
    setattr(ob.dqik.goals[number], setting, before)
    np.testing.assert_allclose(rigs.shown(ob, FRAMES), keyed, atol=1e-6)
    ob.dqik.own_answers = ""  # what the bake noted
    setattr(ob.dqik.goals[number], setting, value)
    np.testing.assert_allclose(rigs.shown(ob, FRAMES), changed, atol=1e-6)
