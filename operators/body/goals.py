# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding and removing goals, and converting Blender's IK constraints to goals."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...rig.controls import constraints, goals, selection
from ...rig.notes import Code, Note, Refused, counted
from ..common import NotDone, OneGoalTool, Said, Tool


class DQIK_OT_goal_add(Tool, bpy.types.Operator):
    """Add a goal for each selected bone, with an empty at its tail as the target"""

    bl_label = "Add Goal"

    bone: StringProperty(name="Bone", description="The bone that should reach the target. If empty, the selected bones",
                         options={"SKIP_SAVE"})  # fmt: skip
    target: StringProperty(name="Target", description="The object to reach. If empty, each goal gets a new empty",
                           options={"SKIP_SAVE"})  # fmt: skip
    subtarget: StringProperty(name="Target Bone", description="The bone to reach, if the target is an armature",
                              options={"SKIP_SAVE"})  # fmt: skip
    chain_length: IntProperty(name="Chain Length", description="Number of bones that the goal moves, 0 for all", min=0)
    use_rotation: BoolProperty(name="Rotation", description="Turn the bone with the target")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        names = [self.bone] if self.bone else selection.selected(context, ob)
        for name in names:
            if name not in ob.pose.bones:
                raise Refused(Note(Code.HAS_NO_BONE, repr(ob.name), repr(name)))
        target = bpy.data.objects.get(self.target) if self.target else None
        if self.target and target is None:
            raise Refused(Note(Code.NO_OBJECT, repr(self.target)))
        if self.subtarget and (target is None or target.pose is None or self.subtarget not in target.pose.bones):
            raise Refused(Note("Choose the armature that has the bone {} as the target", repr(self.subtarget))
                          if target is None else Note(Code.HAS_NO_BONE, repr(target.name), repr(self.subtarget)))
        if not names:
            raise Refused(Note("In Pose Mode, select the bones that should reach a target"))
        for name in names:
            goal = goals.new_goal(ob, name, self.chain_length, self.use_rotation)
            if target is None:
                goals.add_empty(ob, len(ob.dqik.goals) - 1)
            else:
                goal.target, goal.subtarget = target, self.subtarget


class DQIK_OT_goal_remove(OneGoalTool, bpy.types.Operator):
    """Remove the active goal, and its target if it was made for the goal"""

    bl_label = "Remove Goal"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if notes := goals.remove(ob, [self.goal(ob)]):
            self.tell({"WARNING"}, *notes)


class DQIK_OT_goals_clear(Tool, bpy.types.Operator):
    """Remove all goals with their control bones, and put settings back that were made for them"""

    bl_label = "Remove All Goals"
    on_goals = True

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if notes := goals.remove(ob, range(len(ob.dqik.goals))):
            self.tell({"WARNING"}, *notes)


class DQIK_OT_goals_from_constraints(Tool, bpy.types.Operator):
    """Convert the IK constraints, their poles and the IK limits to goals and limits, and mute the constraints"""

    bl_label = "Goals from IK Constraints"

    use_limits: BoolProperty(name="IK Limits", description="Copy the bones' IK limits and locks", default=True)

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        count, problems = constraints.take_over(ob)
        if not count:
            raise NotDone("WARNING", *problems[:1] or [Note("{} has no active IK constraints", repr(ob.name))])
        limited = constraints.limits_from_ik(ob.pose.bones) if self.use_limits else 0
        return Note("Added {}, and limits for {}", counted(count, Code.ONE_GOAL, Code.GOALS),
                    counted(limited, Code.ONE_BONE, Code.BONES)), *problems  # fmt: skip
