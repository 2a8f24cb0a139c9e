# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of what an armature object stores, by which files of earlier versions open with their look and pose.

`MIGRATIONS` lists, in order, what brings an object from each version to the next. Whoever changes what is stored adds
one at the end, and a file of the version before to `tests/files/`. Objects come from such files by opening, linking
and appending, and are looked at whenever the list of objects has changed. An object of the first version has no number:
it is told by the settings that it stores. What tools note on a figure without goals, as contacts are, tells nothing.
"""

from collections.abc import Callable

import bpy

from ...controls import pins
from ...skeleton import owners
from . import stored_base

_OF_A_FILE = 2  # settings: on an object that has no version yet, a single one has just been made
_FIRST_SETTINGS = ("live", "solver", "iterations", "tolerance", "rotation_tolerance", "damping", "order", "unit_angle",
                   "objective", "start_from", "hold_keyed")  # fmt: skip
_FIRST_GOAL_SETTINGS = ("mute", "bone", "target", "subtarget", "chain_length", "use_position", "use_rotation",
                        "position_weight", "rotation_weight", "influence", "priority", "use_tail", "pole_target",
                        "pole_subtarget", "pole_angle")  # fmt: skip
"""What the first version could store. To set one of these marks the object today; what came later need not."""


def mark(ob: bpy.types.Object) -> None:
    """Bring an armature on which a setting has just been made up to the present version."""
    if ob.dqik.version < PRESENT:
        bring_up(ob)
        ob.dqik.version = PRESENT


def bring_up(ob: bpy.types.Object) -> None:
    """Bring what an armature object stores up to the present version, if an earlier version has stored it."""
    version = ob.dqik.version
    if version >= PRESENT or ob.pose is None:
        return
    if not version and _settings_stored(ob) < _OF_A_FILE:
        return
    for migrate in MIGRATIONS[version:]:
        migrate(ob)
    ob.dqik.version = PRESENT


def _leave_natural_pose_out(ob: bpy.types.Object) -> None:
    """0 to 1: settings of a version without the natural pose were made without it, so it stays off."""
    settings = ob.dqik
    if not settings.is_property_set("natural_pose") and not _had_natural_pose(ob):
        settings.natural_pose = 0.0


def _claim(ob: bpy.types.Object) -> None:
    """1 to 2: holds and base poses say whose they are, and a base pose is one property."""
    if ob.dqik.has_base:
        stored_base.take_over(ob)
    for bone in ob.pose.bones:
        if bone.dqik_hold and not bone.dqik_hold_of:
            owners.claim_hold(bone)


MIGRATIONS: tuple[Callable[[bpy.types.Object], None], ...] = (_leave_natural_pose_out, _claim, pins.recognise)
"""From 2 to 3: pins are goals of their own, and marked."""

PRESENT = len(MIGRATIONS)


def _settings_stored(ob: bpy.types.Object) -> int:
    """The number of settings of the first version that were ever made on an armature object and its goals."""
    of_goals = (goal.is_property_set(name) for goal in ob.dqik.goals for name in _FIRST_GOAL_SETTINGS)
    return sum(ob.dqik.is_property_set(name) for name in _FIRST_SETTINGS) + sum(of_goals)


def _had_natural_pose(ob: bpy.types.Object) -> bool:
    """Whether a version with the natural pose has stored the settings, the first of which had no number yet."""
    return any(bone.dqik_owner or bone.is_property_set("dqik_made_limits") for bone in ob.pose.bones)
