# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchanging left and right where a figure's sides were mistaken."""

import bpy

from ...rig.figure import character
from ...rig.notes import Note
from ..common import ArmatureOperator, armature


class DQIK_OT_swap_sides(ArmatureOperator, bpy.types.Operator):
    """Take the figure's left for its right and the other way round, where its names or its shape mislead"""

    bl_idname = "dqik.swap_sides"
    bl_label = "Swap Sides"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Choose the mirrored role of every bone that has a side."""
        ob = armature(context)
        count = character.swap_sides(ob)
        if not count:
            self.tell({"WARNING"}, Note("No bone of {} is known as a part of a left or a right side", repr(ob.name)))
            return {"CANCELLED"}
        self.tell({"INFO"}, Note("Swapped the sides of {} bones", count))
        return {"FINISHED"}


CLASSES = (DQIK_OT_swap_sides,)
