# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what is done to a whole motion."""

import bpy

from ...operators.common import armature
from ...rig.clip import last_report
from ...rig.overlay import original
from .common import ArmatureSidebar, paragraph, settled


class DQIK_PT_motion(ArmatureSidebar, bpy.types.Panel):
    """What is done to all frames of a motion at once"""

    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if ob.mode != "POSE":
            paragraph(context, layout, "Go to Pose Mode to change a motion", "INFO")
            if ob == context.object:
                layout.operator("object.posemode_toggle", text="Pose Mode", icon="POSE_HLT")
            return
        column = layout.column(align=True)
        column.operator("dqik.retarget", text="Retarget...")
        column.operator("dqik.mend_motion", text="Mend Motion...")
        column.operator("dqik.unbake", text="Fewer Keys...")
        column = layout.column(align=True)
        column.operator("dqik.edit_range")
        column.operator("dqik.overlap", text="Overlap...")
        report = last_report.of(ob)
        if report is not None:
            box = layout.box().column()
            for note in report.notes:
                paragraph(context, box, note, "CHECKMARK" if report.is_fine else "ERROR", in_box=True)
        if original.is_known(ob):
            _original(context, layout, ob)


def _original(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Whether the motion from which this one was made is shown, and where."""
    settings = ob.dqik
    layout.prop(settings, "show_original")
    if settings.show_original and ob.dqik.live:
        paragraph(context, layout, "The original is shown while Live is off", "INFO")
    elif settings.show_original:
        settled(context, layout).prop(settings, "original_beside")
