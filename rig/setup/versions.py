# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of an armature's settings, by which files from before a change of defaults keep their look."""

import bpy

PRESENT = 1  # 1: the natural pose


def mark(ob: bpy.types.Object) -> None:
    """Store the present version on an armature whose settings are made or changed."""
    if not ob.dqik.version:
        ob.dqik.version = PRESENT


def keep_look(ob: bpy.types.Object) -> None:
    """Give the settings of an armature that an earlier version has saved the defaults that they had there."""
    if ob.type != "ARMATURE" or ob.library is not None or not len(ob.dqik.goals) or ob.dqik.version:
        return
    if not ob.dqik.is_property_set("natural_pose"):
        ob.dqik.natural_pose = 0.0
    mark(ob)
