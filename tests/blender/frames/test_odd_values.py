# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that scripts and damaged files set: they are left out with a sentence, and no channel becomes NaN.

A traceback fails a test here as everywhere (`conftest.py`).
"""

import base64
import json
from math import inf, nan

import bpy
import numpy as np
import pytest
import rigs


def arm_with_goal() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A bent arm whose hand has a goal within reach."""
    ob = rigs.bent_arm()
    target = rigs.empty((1.2, -0.6, 0.3))
    rigs.goal(ob, "b", target, use_tail=True)
    return rigs.made_active(ob), target


def test_bones_that_are_all_locked_beside_an_ik_constraint_are_named_as_the_reason() -> None:
    """Blender's IK is elsewhere in the rig, so the sentence is about the locks."""
    ob, target = arm_with_goal()
    rigs.add(ob, rigs.Bone("other", (5, 0, 0), (6, 0, 0)))
    rigs.blender_ik(ob, "other", target)
    for name in ("a", "b"):
        ob.pose.bones[name].dqik_lock = True
    rigs.live(ob)
    assert "locked" in rigs.message(ob)


DAMAGED = {
    "no JSON": "no JSON", "nothing in it": "{}", "a list": "[]", "a number": "1", "deep": "[" * 100_000,
    "huge number": '{"version": 1, "features": 1e999, "arrays": []}',
    "negative": '{"version": 1, "features": -1, "arrays": ["", "", ""]}',
    "text for a number": '{"version": 1, "features": "a", "arrays": ["", "", ""]}',
    "too few arrays": '{"version": 1, "features": 3, "arrays": [""]}',
    "arrays of null": '{"version": 1, "features": 3, "arrays": null}',
    "empty arrays": '{"version": 1, "features": 0, "arrays": ["", "", ""]}',
    "odd bytes": '{"version": 1, "features": 1, "arrays": ["AAA=", "AAA=", "AAA="]}',
    "many digits": '{"version": 1, "features": ' + "9" * 5000 + ', "arrays": ["", "", ""]}',
    "nested version": '{"version": [[[]]], "features": 1, "arrays": ["", "", ""]}',
}  # fmt: skip


def learnt(value: float) -> str:
    """A text of the right form whose numbers are all `value`."""
    parts = [base64.b64encode(np.full(size, value, "<f4").tobytes()).decode() for size in (2, 2, 9)]
    return json.dumps({"version": 1, "features": 2, "arrays": parts})


@pytest.mark.parametrize("text", [*DAMAGED.values(), learnt(nan), learnt(inf), learnt(3e38), learnt(0.0)])
def test_what_was_learnt_and_is_damaged_is_left_out_with_a_sentence(text: str) -> None:
    """The figure is posed as if nothing had been learnt, and the panel says so."""
    ob = rigs.made_active(rigs.figure())
    bpy.ops.dqik.setup_full_body()
    ob.dqik.natural_pose = ob.dqik.own_motion_share = 1.0
    rigs.live(ob, at=2)
    before = rigs.channels(ob)
    ob.dqik.own_motion = text
    rigs.update()
    rigs.at_frame(2)
    assert rigs.finite(ob)
    assert "is damaged and left out" in rigs.message(ob)
    assert np.allclose(before, rigs.channels(ob), atol=1e-3)


@pytest.mark.parametrize("value", [nan, inf, -inf])
@pytest.mark.parametrize("every", [True, False])
def test_limits_from_action_leave_out_keys_that_are_no_numbers(value: float, every: bool) -> None:
    """With some good keys the limits come from these; with none the bone keeps its own; both are said."""
    ob, _ = arm_with_goal()
    bone = ob.pose.bones["a"]
    bone.rotation_mode = "XYZ"
    rigs.key_path(bone, (1, 10, 20), [(0.1 * frame, 0, 0) for frame in (1, 10, 20)], "rotation_euler")
    for curve in rigs.fcurves(ob):
        for point in curve.keyframe_points if every else curve.keyframe_points[-1:]:
            point.co.y = value
    try:
        bpy.ops.dqik.limits_from_action()
    except RuntimeError as error:
        assert "no numbers" in str(error)
    parts = ("twist", "swing_x", "swing_z")
    stored = [getattr(bone, f"dqik_{part}_{end}") for part in parts for end in ("min", "max")]
    assert np.isfinite(stored).all()
    if not every:
        assert 0.9 < bone.dqik_swing_x_max < 1.2  # 1 rad at the last good key, and the margin
    assert bone.dqik_use_limits is not every


BONE_VALUES = (
    "dqik_stiffness", "dqik_hold", "dqik_gain", "dqik_twist_min", "dqik_twist_max", "dqik_swing_x_min",
    "dqik_swing_z_max", "dqik_limits_axes", "dqik_limits_zero", "dqik_preferred_angle",
)  # fmt: skip


@pytest.mark.parametrize("value", [nan, inf, -inf])
@pytest.mark.parametrize("name", BONE_VALUES)
def test_a_setting_of_a_bone_that_is_no_number_is_named_with_its_bone(name: str, value: float) -> None:
    """If Blender stores the value at all: otherwise the arm goes on."""
    ob, _ = arm_with_goal()
    rigs.limit(ob.pose.bones["a"], (-60, 60), (-60, 60), (-60, 60))
    rigs.live(ob)
    bone = ob.pose.bones["a"]
    size = np.size(getattr(bone, name))
    setattr(bone, name, value if size == 1 else [value] * size)
    rigs.update()
    rigs.at_frame(2)
    assert rigs.finite(ob)
    if not np.isfinite(getattr(bone, name)).all():
        assert "'a'" in rigs.message(ob)
        assert "not a number" in rigs.message(ob)


@pytest.mark.parametrize("value", [nan, inf, -inf])
@pytest.mark.parametrize("name", ["position_weight", "rotation_weight", "influence", "pole_angle"])
def test_a_setting_of_a_goal_that_is_no_number_spoils_nothing(name: str, value: float) -> None:
    """The goal is named, or left out, or goes on; no channel is NaN."""
    ob, _ = arm_with_goal()
    rigs.live(ob)
    setattr(ob.dqik.goals[0], name, value)
    rigs.update()
    rigs.at_frame(2)
    assert rigs.finite(ob)
    if not np.isfinite(getattr(ob.dqik.goals[0], name)):
        assert rigs.message(ob)


@pytest.mark.parametrize("value", [nan, inf, -inf])
@pytest.mark.parametrize(
    "name", ["tolerance", "rotation_tolerance", "damping", "unit_angle", "natural_pose", "own_motion_share"]
)
def test_a_setting_of_an_armature_that_is_no_number_spoils_nothing(name: str, value: float) -> None:
    """It is named, or has no effect; no channel is NaN."""
    ob = rigs.made_active(rigs.figure())
    bpy.ops.dqik.setup_full_body()
    ob.dqik.solver = "CCD" if name == "unit_angle" else "PGS"
    rigs.live(ob)
    setattr(ob.dqik, name, value)
    rigs.update()
    rigs.at_frame(2)
    assert rigs.finite(ob)
    rigs.done(bpy.ops.dqik.solve)
    rigs.done(bpy.ops.dqik.bake, frame_start=1, frame_end=2)
    assert rigs.finite(ob)
