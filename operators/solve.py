# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving the current frame once, and resetting the pose."""

import bpy

from .. import live
from ..rig.frame import missed
from ..solvers import DqikError
from .common import ArmatureOperator, GoalsOperator, armature


class DQIK_OT_solve(GoalsOperator, bpy.types.Operator):
    """Solve the current frame once, without Live"""

    bl_idname = "dqik.solve"
    bl_label = "Solve"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Solve at the scene's current frame."""
        ob = armature(context)
        try:
            report = live.solve_once(ob, context.evaluated_depsgraph_get())
        except DqikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not report.solved:
            self.report({"ERROR"}, report.message)
            return {"CANCELLED"}
        if report.converged:
            self.report({"INFO"}, "All goals met")
        else:
            errors = missed.worst_first(report.goals)
            self.report({"WARNING"}, missed.at_frame(context.scene, ob, errors, report.frame))
        return {"FINISHED"}


class DQIK_OT_reset_pose(ArmatureOperator, bpy.types.Operator):
    """Put the bones that the goals move back to rest. Solves start from there afterwards"""

    bl_idname = "dqik.reset_pose"
    bl_label = "Reset Pose"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Reset the bones that the goals move, or all bones if there are no goals."""
        live.reset(armature(context), context.evaluated_depsgraph_get())
        return {"FINISHED"}


CLASSES = (DQIK_OT_solve, DQIK_OT_reset_pose)
