# SPDX-License-Identifier: GPL-3.0-or-later
"""Clearing the holds of bones."""

import bpy
from bpy.props import BoolProperty

from ..rig.frame.state import holds
from ..rig.notes import Code, Note
from ..rig.setup import selection
from .common import ArmatureOperator, armature


class DQIK_OT_holds_clear(ArmatureOperator, bpy.types.Operator):
    """Let bones that were posed by hand follow the goals again"""

    bl_idname = "dqik.holds_clear"
    bl_label = "Clear Holds"
    bl_options = {"REGISTER", "UNDO"}

    only_selected: BoolProperty(name="Only Selected Bones", description="Clear the holds of selected bones only")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear the holds."""
        ob = armature(context)
        count = holds.clear(selection.selected_bones(context, ob) if self.only_selected else ob.pose.bones)
        if not count:
            self.tell({"WARNING"}, Note(Code.NONE_SELECTED_HELD) if self.only_selected
                        else Note(Code.NONE_HELD))  # fmt: skip
            return {"CANCELLED"}
        self.tell({"INFO"}, Note(Code.HOLDS_CLEARED, count))
        return {"FINISHED"}


CLASSES = (DQIK_OT_holds_clear,)
