# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving the current frame once, and resetting the pose."""

import bpy
from mathutils import Matrix

from ...rig.controls import controls
from ...rig.frame import commands
from ...rig.frame.memory import stored_base
from ...rig.frame.step import missed
from ...rig.keys import keyable, keying
from ...rig.notes import Note
from ..common import NotDone, Said, Tool, refuse


class DQIK_OT_solve(Tool, bpy.types.Operator):
    """Solve the current frame once, without Live"""

    bl_label = "Solve"
    on_goals = True
    stores = False

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        report = commands.solve(ob, context.evaluated_depsgraph_get())
        if not report.solved:
            raise NotDone("ERROR", *report.notes)
        if report.converged:
            return Note("All goals met")
        if report.lags:
            return Note("At frame {} the bones lag behind their targets, as Follow has them", f"{report.frame:g}")
        errors = missed.worst_first(report.goals)
        self.tell({"WARNING"}, missed.at_frame(context.scene, ob, errors, report.frame))
        return None


class DQIK_OT_keep_pose(Tool, bpy.types.Operator):
    """Switch Live off and keep the pose as it is now, to go on without targets. Bake does so for a range of frames"""

    bl_label = "Keep Pose"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if not ob.dqik.live:
            raise NotDone("WARNING", Note("Live is off already"))
        moved = [ob.pose.bones[number].name for number in stored_base.own(ob)]
        auto = keying.is_auto(context.scene)
        if auto:
            refuse(keyable.of_owners([ob.pose.bones[name] for name in moved]))
        commands.keep_pose(ob)
        if auto:
            for name in moved:
                keying.key(ob.pose.bones[name], context.scene.frame_current_final, name, auto=True)


class DQIK_OT_reset_pose(Tool, bpy.types.Operator):
    """Put the bones that the goals move, and the control bones, back to rest. Solves start from there afterwards"""

    bl_label = "Reset Pose"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        for bone in controls.of(ob):
            bone.matrix_basis = Matrix()
        commands.put_to_rest(ob, context.evaluated_depsgraph_get())
