# SPDX-License-Identifier: GPL-3.0-or-later
"""Packing a figure into a small file that shows a fault."""

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ...rig.controls import problem_file
from ...rig.frame.sessions import sessions
from ...rig.notes import Note
from ..common import ArmatureOperator, armature


class DQIK_OT_report_problem(ArmatureOperator, bpy.types.Operator):
    """Write a small file with this figure, its goals, targets and keys, without meshes and names, to show a fault"""

    stores = False

    bl_idname = "dqik.report_problem"
    bl_label = "Report a Problem"
    bl_options = {"REGISTER"}

    filepath: StringProperty(name="File", description="Where the file goes", subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.blend", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask where the file goes."""
        del event
        self.filepath = self.filepath or "dqik problem.blend"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write it."""
        path = Path(bpy.path.abspath(self.filepath))
        if not self.filepath or path.is_dir():
            self.tell({"ERROR"}, Note("Name a file to write"))
            return {"CANCELLED"}
        try:
            with sessions.busy:
                objects, bones = problem_file.write(armature(context), path.with_suffix(".blend"))
        except (OSError, RuntimeError):
            self.tell({"ERROR"}, Note("{} cannot be written: choose another place", repr(str(path))))
            return {"CANCELLED"}
        self.tell({"INFO"}, Note("{} has {} objects and {} bones, without meshes and names: look at it before you send "
                                 "it", path.name, objects, bones))
        return {"FINISHED"}


CLASSES = (DQIK_OT_report_problem,)
