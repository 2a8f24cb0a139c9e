# SPDX-License-Identifier: GPL-3.0-or-later
"""The *Roll* of a planted foot: whether its control can show how the foot rolls, and how the foot moves by it."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...solvers.motion import planting
from ..blender.dependencies import acts
from ..blender.places import owner_of
from ..figure import foot
from ..figure.character import Character
from ..figure.foot import Foot
from ..keys import keyable
from ..skeleton import foot_roll
from . import keys


def foot_of(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> Foot | None:
    """What the foot of a goal rolls about, in its target's frame and the world's units; None if it cannot roll."""
    if not foot_roll.may_roll(goal):
        return None
    own = Character.of(ob)
    bone = own.armature.index[goal.bone]
    found = foot.of(ob, own, bone)
    if found is None:
        return None
    found = foot_roll.seen_from_goal(own.armature, found, bone, goal.use_tail)
    scale = max(map(abs, ob.matrix_world.to_scale()))
    heel, ball, tip, joint = (scale * point for point in found[:4])
    return Foot(heel, ball, tip, joint, found.axis, found.toes)


def by_number(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, first: int, last: int) -> Foot | None:
    """As `foot_of`, if the number of the foot's control can roll it between two frames; else None.

    It cannot where it cannot be keyed, nor where the toes would not stay flat by it: they are animated themselves, or
    nothing solves them.
    """
    found, held = foot_of(ob, goal), foot_roll.owner(goal)
    if found is None or held is None:
        return None
    if keyable.problem(held.id_data, [foot_roll.path_of(held)]) is not None:
        return None
    return found if found.toes < 0 or _stay_flat(ob, goal, ob.pose.bones[found.toes], first, last) else None


def motions(rolling: Foot, rolls: Sequence[float]) -> planting.Motions:
    """How a foot moves by the number, on F frames."""
    moved = [foot.rolled(rolling, float(roll)) for roll in rolls]
    return planting.Motions(np.array([one.offset for one in moved]), np.array([one.turn for one in moved]))


def _stay_flat(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, toes: bpy.types.PoseBone, first: int, last: int
) -> bool:  # fmt: skip
    """Whether toes that a roll bends stay flat between two frames: nothing animates them, and a solve turns them."""
    if not keys.stays(toes, first, last):
        return False
    for other in ob.dqik.goals:
        if other.mute or other.bone not in ob.pose.bones:
            continue
        if other.bone == toes.name:
            held: Any = None if other.target is None else owner_of(other.target, other.subtarget)
            return held is not None and other.kind == "REACH" and other.use_rotation and keys.stays(held, first, last)
        if toes in ob.pose.bones[other.bone].parent_recursive:
            return False
    solved = not toes.dqik_lock and toes.bone.use_inherit_rotation and not any(acts(one) for one in toes.constraints)
    return solved and toes.parent is not None and toes.parent.name == goal.bone
