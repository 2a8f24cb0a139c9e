# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting joint limits from Blender's IK limits or from an action, and clearing them."""

import bpy
from bpy.props import BoolProperty, FloatProperty

from ...rig.controls import constraints, selection
from ...rig.notes import Code, Note
from ...rig.skeleton import limits
from ..common import ArmatureOperator, armature


class LimitsOperator(ArmatureOperator):
    """Base of operators that work on all bones, or on the selected ones."""

    only_selected: BoolProperty(name="Only Selected Bones", description="Change the limits of selected bones only")

    def _bones(self, context: bpy.types.Context) -> list[bpy.types.PoseBone]:
        ob = armature(context)
        return selection.selected_bones(context, ob) if self.only_selected else list(ob.pose.bones)

    def _which(self) -> Note:
        return Note(Code.SELECTED_BONES if self.only_selected else Code.THE_BONES)


class DQIK_OT_limits_from_ik(LimitsOperator, bpy.types.Operator):
    """Copy the IK limits and IK locks of Blender's own IK"""

    bl_idname = "dqik.limits_from_ik"
    bl_label = "Limits from IK Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy the limits."""
        count = constraints.limits_from_ik(self._bones(context))
        if not count:
            self.tell({"WARNING"}, Note("None of {} has IK limits", self._which()))
            return {"CANCELLED"}
        self.tell({"INFO"}, Note(Code.LIMITS_SET, count))
        return {"FINISHED"}


class DQIK_OT_limits_from_action(LimitsOperator, bpy.types.Operator):
    """Set limits to the range of rotations in the current action, plus a margin"""

    bl_idname = "dqik.limits_from_action"
    bl_label = "Limits from Action"
    bl_options = {"REGISTER", "UNDO"}

    margin: FloatProperty(name="Margin", description="Angle added to the action's range on every side",
                          default=0.0873, min=0.0, soft_max=1.0, subtype="ANGLE")  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Measure the action."""
        ob = armature(context)
        count, damaged = limits.from_action(ob, self._bones(context), self.margin)
        if damaged:
            more = Note(" and of {} more", len(damaged) - 1) if len(damaged) > 1 else ""
            self.tell({"WARNING"}, Note("Keys of bone {}{} are no numbers and were left out", repr(damaged[0]), more))
            return {"FINISHED" if count else "CANCELLED"}
        if not count:
            self.tell({"WARNING"}, Note("The action of {} turns none of {}", repr(ob.name), self._which()))
            return {"CANCELLED"}
        self.tell({"INFO"}, Note(Code.LIMITS_SET, count))
        return {"FINISHED"}


class DQIK_OT_limits_clear(LimitsOperator, bpy.types.Operator):
    """Switch limits off and reset them"""

    bl_idname = "dqik.limits_clear"
    bl_label = "Clear Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Reset the limits."""
        limits.clear(self._bones(context))
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_from_ik, DQIK_OT_limits_from_action, DQIK_OT_limits_clear)
