# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting the targets of goals."""

import bpy
from bpy.props import IntProperty

from .common import GoalsOperator, armature


class DQIK_OT_target_select(GoalsOperator, bpy.types.Operator):
    """Select the target of the goal, to move it. Leaves Pose Mode, unless the target is a bone"""

    bl_idname = "dqik.target_select"
    bl_label = "Select Target"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Goal", description="Number of the goal, -1 for the active one", default=-1, min=-1)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select only the target, and make it active."""
        ob = armature(context)
        goals, index = ob.dqik.goals, ob.dqik.active_goal if self.index < 0 else self.index
        if index >= len(goals):
            self.report({"ERROR"}, f"There is no goal {index}: {ob.name!r} has {len(goals)}, counted from 0")
            return {"CANCELLED"}
        goal = goals[index]
        target = goal.target
        if target is None:
            self.report({"ERROR"}, f"Goal {goal.name!r} has no target: choose an object")
            return {"CANCELLED"}
        if not target.visible_get(view_layer=context.view_layer):
            self.report({"ERROR"}, f"{target.name!r} is hidden or not in this view layer: show it first")
            return {"CANCELLED"}
        if context.view_layer.objects.active is not None and context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.view_layer.objects:
            other.select_set(other == target)
        context.view_layer.objects.active = target
        if target.type == "ARMATURE" and goal.subtarget in target.pose.bones:
            bpy.ops.object.mode_set(mode="POSE")
            for bone in target.pose.bones:
                _select(bone, bone.name == goal.subtarget)
            target.data.bones.active = target.data.bones[goal.subtarget]
        return {"FINISHED"}


def _select(bone: bpy.types.PoseBone, on: bool) -> None:
    (bone if hasattr(bone, "select") else bone.bone).select = on  # moved to the pose bone in Blender 5.0


CLASSES = (DQIK_OT_target_select,)
