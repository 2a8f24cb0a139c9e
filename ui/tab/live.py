# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel: live solving, what is met, what is held, and baking. All of its lines keep their places."""

import bpy

from ...operators.common import armature
from ...rig.clip import cautions
from . import status
from .common import Sidebar, fits, needed, paragraph, places
from .tools import Button, place


class DQIK_PT_live(Sidebar, bpy.types.Panel):
    """Whether the body follows its controls, what it reaches, and what is held"""

    bl_label = "Live"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """The figure's name, where it is not the active object or not the only one: at the end of the header."""
        ob = armature(context)
        selected = [one for one in context.selected_objects if one.type == "ARMATURE"]
        if ob is not None and (ob != context.object or len(selected) > 1):
            self.layout.label(text=ob.name, icon="ARMATURE_DATA", translate=False)

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if ob is None:
            linked = cautions.of_instance(context.object)
            status.warnings(context, layout, linked)
            if not linked:
                paragraph(context, layout, "Select an armature, or the target of one of its goals", "INFO")
            return
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
        _pair(context, column, Button("dqik.bake", text="Bake..."), Button("dqik.check_range", text="Check Range..."))
        keep, solve = Button("dqik.keep_pose"), Button("dqik.solve")
        widest = max(needed(keep.words), needed(solve.words))  # their line is the same
        _pair(context, column, keep if settings.live else solve, Button("dqik.reset_pose"), widest)


def _first(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The one button that matters while nothing is set up."""
    status.warnings(context, layout, [*cautions.of_figure(ob), *cautions.of_motion(ob, context.scene)])
    row = layout.row()
    row.scale_y = 1.6
    row.operator("dqik.setup_full_body", icon="OUTLINER_OB_ARMATURE")


def _pair(
    context: bpy.types.Context, layout: bpy.types.UILayout, one: Button, other: Button, widest: float = 0.0
) -> None:  # fmt: skip
    """Two buttons beside each other if there is room. widest : pixels for which the first must have room."""
    widths = [max(needed(one.words), widest), needed(other.words)]
    for own, tool in zip(places(context, layout, widths, fits(context, widths)), (one, other), strict=True):
        place(own, tool)
