# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving the present frame once, and going back."""

import bpy

from .. import live
from .common import ArmatureOperator, GoalsOperator, armature


class DQIK_OT_solve(GoalsOperator, bpy.types.Operator):
    """Solve this frame once and leave the bones as solved"""

    bl_idname = "dqik.solve"
    bl_label = "Solve"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Solve at the scene's current frame."""
        ob = armature(context)
        report = live.solve_once(ob, context.evaluated_depsgraph_get())
        if not report.solved:
            self.report({"ERROR"}, report.message)
            return {"CANCELLED"}
        met = "Goals met" if report.converged else "Goals not all met"
        self.report({"INFO"}, f"{met}: worst error {report.error:.3g} after {report.iterations} iterations")
        return {"FINISHED"}


class DQIK_OT_reset_pose(ArmatureOperator, bpy.types.Operator):
    """Put the bones that the goals move back to the rest pose, and start from it from now on"""

    bl_idname = "dqik.reset_pose"
    bl_label = "Reset Pose"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Reset the goals' bones, or all bones where there are no goals."""
        live.reset(armature(context), context.evaluated_depsgraph_get())
        return {"FINISHED"}


CLASSES = (DQIK_OT_solve, DQIK_OT_reset_pose)
