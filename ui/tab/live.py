# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel: live solving, what is met, what is held, and baking. All of its lines keep their places."""

import bpy

from ...operators.common import armature
from ...rig.clip import cautions
from . import status
from .common import Sidebar, is_narrow, paragraph


class DQIK_PT_live(Sidebar, bpy.types.Panel):
    """Whether the body follows its controls, what it reaches, and what is held"""

    bl_label = "Live"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if ob is None:
            paragraph(context, layout, "Select an armature, or the target of one of its goals", "INFO")
            return
        if ob != context.object or len([one for one in context.selected_objects if one.type == "ARMATURE"]) > 1:
            layout.label(text=ob.name, icon="ARMATURE_DATA", translate=False)
        if ob.mode == "EDIT":
            paragraph(context, layout, "Leave Edit Mode to set goals and solve", "INFO")
            return
        settings = ob.dqik
        if not settings.goals and not settings.live:
            _first(context, layout, ob)
            return
        live = layout.row()
        live.scale_y = 1.6
        live.prop(settings, "live", toggle=True, icon="RADIOBUT_ON" if settings.live else "RADIOBUT_OFF")
        status.draw(context, layout, ob)
        column = layout.column(align=True)
        _pair(context, column, ("dqik.bake", "Bake..."), ("dqik.check_range", "Check Range..."))
        _pair(context, column, ("dqik.keep_pose" if settings.live else "dqik.solve", ""), ("dqik.reset_pose", ""))


def _first(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The one button that matters while nothing is set up."""
    status.warnings(context, layout, [*cautions.of_figure(ob), *cautions.of_motion(ob, context.scene)])
    row = layout.row()
    row.scale_y = 1.6
    row.operator("dqik.setup_full_body", icon="OUTLINER_OB_ARMATURE")


def _pair(context: bpy.types.Context, layout: bpy.types.UILayout, *buttons: tuple[str, str]) -> None:
    """Two buttons beside each other if there is room."""
    row = layout.column(align=True) if is_narrow(context) else layout.row(align=True)
    for operator, text in buttons:
        if text:
            row.operator(operator, text=text)
        else:
            row.operator(operator)


CLASSES = (DQIK_PT_live, *status.CLASSES)
