# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that are left to their keys while their goals lead the rest of the body as before: *Lead Body*.

At influence 0 such a goal is solved as at 1, from the pose that the limb had when it followed the goal last. What is
solved of the limb is not shown: it shows its keys. So the body does not depend on how the limb is posed meanwhile.
"""

from collections.abc import Collection, Mapping, Sequence

import bpy
import numpy as np

from ... import curves
from ...blender.channels import Channels
from ...skeleton.rig import Rig
from . import keyed_pose


def is_led(goal: bpy.types.PropertyGroup) -> bool:
    """Whether a goal leads the body and leaves its limb to keys."""
    return goal.leads_body and goal.influence == 0.0 and goal.kind == "REACH" and not goal.mute


def read(ob: bpy.types.Object, goals: Sequence[bpy.types.PropertyGroup], frame: float) -> dict[int, float | None]:
    """The goals of an original object that lead the body at a frame, by number, and when their limbs followed them.

    That is the last key before the frame at which the influence is above 0, or else the first key after it. Goals
    without such a key are left out.
    """
    found = dict[int, float | None]()
    for number, goal in enumerate(goals):
        curve = curves.find(ob, f"dqik.goals[{number}].influence", 0) if is_led(goal) else None
        times = [] if curve is None else [point.co[0] for point in curve.keyframe_points if point.co[1] > 0.0]
        if times:
            found[number] = max((time for time in times if time <= frame), default=min(times))
    return found


def bones(rig: Rig, led: Collection[int]) -> np.ndarray:
    """The bones (n,) of the limbs of goals, by their numbers in the panel's list."""
    return np.array([bone for number in led for bone in rig.limb(number)], dtype=np.intp)


def start(ob: bpy.types.Object, rig: Rig, led: Mapping[int, float | None], channels: Channels) -> Channels:
    """The channels that a frame starts from, with limbs as they were when they followed their goals.

    ob : the evaluated object. led : as `read` has it; limbs with None start from their keys.
    """
    found = channels
    for number, time in led.items():
        if time is None:
            continue
        found = found.copy() if found is channels else found
        found.put(keyed_pose.from_curves(ob.original, channels, time), bones(rig, [number]))
    return found
