# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that an animator poses by their controls."""

from collections.abc import Container

import bpy

from ..blender.places import Owner
from ..controls import selection
from ..figure.character import Character
from ..frame.sessions import sessions
from ..skeleton import foot_roll


def control_of(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> Owner | None:
    """The control of a foot that rolls by it: the goal's target; None for another goal."""
    held = foot_roll.owner(goal) if foot_roll.may_roll(goal) else None
    if held is None:
        return None
    rig = sessions.of(ob).rig.rig  # whose figure is known
    figure = Character.of(ob).figure if rig is None else rig.plan.character.figure
    role = figure.role(ob.pose.bones.find(goal.bone))
    return held if role is not None and role.name == "foot" else None


def selected(
    ob: bpy.types.Object, names: Container[str], objects: Container[bpy.types.Object]
) -> list[tuple[bpy.types.PropertyGroup, Owner]]:  # fmt: skip
    """The goals of selected feet, with their controls. names : of bones. objects : that are selected."""
    chosen = [goal for goal in ob.dqik.goals if selection.holds_goal(ob, goal, names, objects)]
    both = ((goal, control_of(ob, goal)) for goal in chosen)
    return [(goal, held) for goal, held in both if held is not None]
