# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own IK gets wrong and DQIK must not: both on the same rig in the same Blender.

Blender's failures are asserted too: a Blender that has mended one of them should make us look.
"""

from math import cos, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion, Vector

MODES = ("POSE", "PREVIOUS")


def solve_by(which: str, ob: bpy.types.Object, start_from: str = "POSE") -> None:
    """Evaluate with Blender's constraints as they are, or with our goals live."""
    if which == "dqik":
        ob.dqik.start_from = start_from
        ob.dqik.live = True
    rigs.update()


# -- a pole and limits ------------------------------------------------------------------------------------------------

NARROW = 10.0


def narrow_arm(which: str, upper_turn: Quaternion, elbow: float, pole_side: float) -> tuple:
    """An upright arm whose upper bone may turn by +-10 degrees only, its target where the tip is with the upper bone
    turned by `upper_turn` and the elbow bent by `elbow`; the pole is on that elbow's side, or opposite (-1)."""
    ob = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)])
    for bone, turn in zip(ob.pose.bones, (upper_turn, rigs.rotation((1, 0, 0), elbow)), strict=True):
        rigs.posed(bone, turn)
    rigs.update()
    root, middle, tip = rigs.head(ob, "a"), rigs.head(ob, "b"), rigs.tail(ob, "b")
    line = (tip - root).normalized()
    out = (middle - root) - line * (middle - root).dot(line)
    for bone in ob.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    target, pole = rigs.empty(tip), rigs.empty(root + line + pole_side * 3.0 * out.normalized(), "Pole")
    bone = ob.pose.bones["a"]
    if which == "blender":
        for axis in "xyz":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", -radians(NARROW))
            setattr(bone, f"ik_max_{axis}", radians(NARROW))
        rigs.blender_ik(ob, "b", target, chain_count=2, pole_target=pole)
    else:
        rigs.limit(bone, *[(-NARROW, NARROW)] * 3)
        rigs.goal(ob, "b", target, pole_target=pole)
    solve_by(which, ob)
    return ob, target, pole


@pytest.mark.parametrize("pole_side", [1.0, -1.0])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (1, 0, 1), (-1, 0, 2)])
def test_limits_hold_with_a_pole(axis: tuple, pole_side: float) -> None:
    """Whichever way the pole pulls, our bone stays inside its limits, where Blender's leaves them by far for one of
    the two poles; and where the pole can be followed inside the limits, it is, and the target is reached."""
    turn = rigs.rotation(axis, 7.0)
    worst = {}
    for which in ("blender", "dqik"):
        for side in (1.0, -1.0):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            ob, target, pole = narrow_arm(which, turn, 65.0, side)
            angles = np.abs(rigs.twist_and_swing(rigs.local_rotation(ob, "a")))
            worst[which] = max(worst.get(which, 0.0), angles.max())
            print(which, side, angles, rigs.miss(ob, "b", target), rigs.elbow_angle(ob, "a", "b", rigs.place(pole)), rigs.message(ob))
