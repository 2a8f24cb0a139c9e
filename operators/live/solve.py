# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving the current frame once, and resetting the pose."""

import bpy
from mathutils import Matrix

from ...rig.controls import controls
from ...rig.frame import commands
from ...rig.frame.memory import stored_base
from ...rig.frame.step import missed
from ...rig.keys import keyable, keying
from ...rig.notes import Note, note_of
from ...solvers import DqikError
from ..common import ArmatureOperator, GoalsOperator, armature


class DQIK_OT_solve(GoalsOperator, bpy.types.Operator):
    """Solve the current frame once, without Live"""

    stores = False

    bl_idname = "dqik.solve"
    bl_label = "Solve"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Solve at the scene's current frame."""
        ob = armature(context)
        try:
            report = commands.solve(ob, context.evaluated_depsgraph_get())
        except DqikError as error:
            self.tell({"ERROR"}, note_of(error))
            return {"CANCELLED"}
        if not report.solved:
            self.tell({"ERROR"}, *report.notes)
            return {"CANCELLED"}
        if report.converged:
            self.tell({"INFO"}, Note("All goals met"))
        elif report.lags:
            self.tell({"INFO"}, Note("At frame {} the bones lag behind their targets, as Follow has them",
                                     f"{report.frame:g}"))
        else:
            errors = missed.worst_first(report.goals)
            self.tell({"WARNING"}, missed.at_frame(context.scene, ob, errors, report.frame))
        return {"FINISHED"}


class DQIK_OT_keep_pose(ArmatureOperator, bpy.types.Operator):
    """Switch Live off and keep the pose as it is now, to go on without targets. Bake does so for a range of frames"""

    bl_idname = "dqik.keep_pose"
    bl_label = "Keep Pose"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Keep the pose; with Auto Keying, key the bones that the goals moved."""
        ob = armature(context)
        if not ob.dqik.live:
            self.tell({"WARNING"}, Note("Live is off already"))
            return {"CANCELLED"}
        moved = [ob.pose.bones[number].name for number in stored_base.own(ob)]
        auto = keying.is_auto(context.scene)
        if auto and (refusal := keyable.of_owners([ob.pose.bones[name] for name in moved])):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        commands.keep_pose(ob)
        if auto:
            for name in moved:
                keying.key(ob.pose.bones[name], context.scene.frame_current_final, name, auto=True)
        return {"FINISHED"}


class DQIK_OT_reset_pose(ArmatureOperator, bpy.types.Operator):
    """Put the bones that the goals move, and the control bones, back to rest. Solves start from there afterwards"""

    bl_idname = "dqik.reset_pose"
    bl_label = "Reset Pose"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Reset the bones that the goals move, or all bones if there are no goals."""
        ob = armature(context)
        for bone in controls.of(ob):
            bone.matrix_basis = Matrix()
        commands.put_to_rest(ob, context.evaluated_depsgraph_get())
        return {"FINISHED"}


CLASSES = (DQIK_OT_solve, DQIK_OT_keep_pose, DQIK_OT_reset_pose)
