# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting joint limits from Blender's IK limits or from an action, and clearing them."""

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..rig.setup import constraints, limits
from .common import ArmatureOperator, armature


class LimitsOperator(ArmatureOperator):
    """Base of operators that work on all bones, or on the selected ones."""

    only_selected: BoolProperty(name="Only Selected Bones", description="Change the limits of selected bones only")

    def _bones(self, context: bpy.types.Context) -> list[bpy.types.PoseBone]:
        ob = armature(context)
        if not self.only_selected:
            return list(ob.pose.bones)
        return [bone for bone in context.selected_pose_bones or () if bone.id_data == ob]

    def _which(self) -> str:
        return "the selected bones" if self.only_selected else "the bones"


class DQIK_OT_limits_from_ik(LimitsOperator, bpy.types.Operator):
    """Copy the IK limits and IK locks of Blender's own IK"""

    bl_idname = "dqik.limits_from_ik"
    bl_label = "Limits from IK Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy the limits."""
        count = constraints.limits_from_ik(self._bones(context))
        if not count:
            self.report({"WARNING"}, f"None of {self._which()} has IK limits")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Set the limits of {count} bones")
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
            more = f" and of {len(damaged) - 1} more" if len(damaged) > 1 else ""
            self.report({"WARNING"}, f"Keys of bone {damaged[0]!r}{more} are no numbers and were left out")
            return {"FINISHED" if count else "CANCELLED"}
        if not count:
            self.report({"WARNING"}, f"The action of {ob.name!r} turns none of {self._which()}")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Set the limits of {count} bones")
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
