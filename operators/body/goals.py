# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding and removing goals, and converting Blender's IK constraints to goals."""

from collections.abc import Sequence

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...rig.controls import constraints, goals, selection
from ...rig.notes import Code, Note
from ..common import ArmatureOperator, GoalsOperator, OneGoalOperator, armature


class DQIK_OT_goal_add(ArmatureOperator, bpy.types.Operator):
    """Add a goal for each selected bone, with an empty at its tail as the target"""

    bl_idname = "dqik.goal_add"
    bl_label = "Add Goal"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="The bone that should reach the target. If empty, the selected bones")
    target: StringProperty(name="Target", description="The object to reach. If empty, each goal gets a new empty")
    subtarget: StringProperty(name="Target Bone", description="The bone to reach, if the target is an armature")
    chain_length: IntProperty(name="Chain Length", description="Number of bones that the goal moves, 0 for all", min=0)
    use_rotation: BoolProperty(name="Rotation", description="Turn the bone with the target")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the goals."""
        ob = armature(context)
        names = [self.bone] if self.bone else selection.selected(context, ob)
        for name in names:
            if name not in ob.pose.bones:
                self.tell({"ERROR"}, Note(Code.HAS_NO_BONE, repr(ob.name), repr(name)))
                return {"CANCELLED"}
        target = bpy.data.objects.get(self.target) if self.target else None
        if self.target and target is None:
            self.tell({"ERROR"}, Note(Code.NO_OBJECT, repr(self.target)))
            return {"CANCELLED"}
        if not names:
            self.tell({"ERROR"}, Note("In Pose Mode, select the bones that should reach a target"))
            return {"CANCELLED"}
        for name in names:
            goal = goals.new_goal(ob, name, self.chain_length, self.use_rotation)
            goal.target = target or goals.new_empty(ob, name)
            goal.subtarget, goal.own_target = self.subtarget, target is None
        return {"FINISHED"}


class DQIK_OT_goal_remove(OneGoalOperator, bpy.types.Operator):
    """Remove the active goal, and its target if it was made for the goal"""

    bl_idname = "dqik.goal_remove"
    bl_label = "Remove Goal"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove one goal."""
        ob = armature(context)
        number = self.goal(ob)
        if number is None:
            return {"CANCELLED"}
        _remove(self, ob, [number])
        return {"FINISHED"}


class DQIK_OT_goals_clear(GoalsOperator, bpy.types.Operator):
    """Remove all goals with their control bones, and put settings back that were made for them"""

    bl_idname = "dqik.goals_clear"
    bl_label = "Remove All Goals"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove every goal."""
        ob = armature(context)
        _remove(self, ob, range(len(ob.dqik.goals)))
        return {"FINISHED"}


class DQIK_OT_goals_from_constraints(ArmatureOperator, bpy.types.Operator):
    """Convert the IK constraints, their poles and the IK limits to goals and limits, and mute the constraints"""

    bl_idname = "dqik.goals_from_constraints"
    bl_label = "Goals from IK Constraints"
    bl_options = {"REGISTER", "UNDO"}

    use_limits: BoolProperty(name="IK Limits", description="Copy the bones' IK limits and locks", default=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Convert all active IK constraints."""
        ob = armature(context)
        count, problems = constraints.take_over(ob)
        if not count:
            self.tell({"WARNING"}, problems[0] if problems else Note("{} has no active IK constraints", repr(ob.name)))
            return {"CANCELLED"}
        limited = constraints.limits_from_ik(ob.pose.bones) if self.use_limits else 0
        self.tell({"INFO"}, Note("Added {} goals, and limits for {} bones", count, limited), *problems)
        return {"FINISHED"}


def _remove(operator: bpy.types.Operator, ob: bpy.types.Object, numbers: Sequence[int]) -> None:
    """Remove goals, and say in one line what stays."""
    if notes := goals.remove(ob, numbers):
        operator.tell({"WARNING"}, *notes)


CLASSES = (DQIK_OT_goal_add, DQIK_OT_goal_remove, DQIK_OT_goals_clear, DQIK_OT_goals_from_constraints)
