# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of what an armature object stores, by which files of earlier versions open with their look and pose.

Objects come from such files by opening, linking and appending. Blender does not say which, so they are told by what
they store.
"""

import bpy

from ...setup import owners
from . import stored_base

_OF_A_FILE = 2  # settings: on an object that has no version yet, a single one has just been made
PRESENT = 2  # 1: the natural pose; 2: holds and base poses say whose they are
_NOT_SETTINGS = {"name", "own_target", "rna_type", "goals", "missed_frames", "status", "active_goal", "targets_follow",
                 "has_base", "figure", "work", "version", "adoptions"}  # fmt: skip


def mark(ob: bpy.types.Object) -> None:
    """Bring an armature on which a setting has just been made up to the present version."""
    if ob.dqik.version < PRESENT:
        bring_up(ob)
        ob.dqik.version = PRESENT


def bring_up(ob: bpy.types.Object) -> None:
    """Bring what an armature object stores up to the present version, if an earlier version has stored it."""
    settings = ob.dqik
    if settings.version >= PRESENT or ob.pose is None:
        return
    if not settings.version and _settings_stored(ob) < _OF_A_FILE:
        return
    if not settings.version and not settings.is_property_set("natural_pose") and not _had_natural_pose(ob):
        settings.natural_pose = 0.0
    if settings.has_base:
        stored_base.take_over(ob)
    for bone in ob.pose.bones:
        if bone.dqik_hold and not bone.dqik_hold_of:
            owners.claim_hold(bone)
    settings.version = PRESENT


def _settings_stored(ob: bpy.types.Object) -> int:
    """The number of settings of an armature object and its goals that were ever made."""
    return sum(
        group.is_property_set(name)
        for group in (ob.dqik, *ob.dqik.goals)
        for name in {prop.identifier for prop in group.bl_rna.properties if not prop.is_readonly} - _NOT_SETTINGS
    )


def _had_natural_pose(ob: bpy.types.Object) -> bool:
    """Whether a version with the natural pose has stored the settings, the first of which had no number yet."""
    return any(bone.dqik_owner or bone.is_property_set("dqik_made_limits") for bone in ob.pose.bones)
