# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel: live solving, the commands, and the report of the last solve."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators.common import armature
from ..rig.clip import cautions
from ..rig.figure.short_names import short
from ..rig.notes import Code, Note, listed
from ..rig.setup import selection
from ..rig.shot import feet, holds
from . import status
from .common import Sidebar, is_narrow, paragraph


class DQIK_PT_main(Sidebar, bpy.types.Panel):
    """Whole-armature inverse kinematics"""

    bl_label = "IK"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if ob is None:
            paragraph(context, layout, "Select an armature, or the target of one of its goals", "INFO")
            return
        if ob != context.object or len([one for one in context.selected_objects if one.type == "ARMATURE"]) > 1:
            layout.label(text=ob.name, icon="ARMATURE_DATA")
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
        column = layout.column(align=True)
        row = column.column(align=True) if is_narrow(context) else column.row(align=True)
        row.operator("dqik.keep_pose" if settings.live else "dqik.solve")
        row.operator("dqik.reset_pose")
        column.operator("dqik.bake", text="Bake...")
        column.operator("dqik.check_range", text="Check Range...")
        if ob.mode == "POSE" and settings.goals:
            column.operator("dqik.grab", icon="VIEW_PAN")
        if settings.goals:
            _rolls(context, layout, ob)
            _held(context, layout, ob)
            status.draw(context, layout, ob)


def _first(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The one button that matters while nothing is set up."""
    status.warnings(context, layout, [*cautions.of_figure(ob), *cautions.of_motion(ob, context.scene)])
    row = layout.row()
    row.scale_y = 1.6
    row.operator("dqik.setup_full_body", icon="OUTLINER_OB_ARMATURE")


def _rolls(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The roll of the selected feet, by their controls or their bones."""
    objects = () if ob.mode == "POSE" else context.selected_objects
    found = feet.selected(ob, set(selection.selected(context, ob)), objects)
    column = layout.column(align=True)
    for goal, control in found:
        if len(found) == 1:
            column.prop(control, "dqik_roll", slider=True)
        else:
            text = f"{iface_('Roll')} {goal.label}"
            column.prop(control, "dqik_roll", text=text, translate=False, slider=True)


def _held(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The bones that are held on all frames, with buttons that hold them or let them go on this frame, or on all."""
    found = {Code.HELD: holds.on_all_frames, Code.HELD_HERE: holds.until_next_frame} if ob.dqik.live else {}
    told = {code: names for code, of in found.items() if (names := of(ob))}
    if not told:
        return
    box = layout.box().column()
    for code, names in told.items():
        paragraph(context, box, Note(code, listed([short(ob, name) for name in names])), "PINNED", in_box=True)
    row = box.column(align=True) if is_narrow(context) else box.row(align=True)
    row.operator("dqik.hold_here", text="Only Here").all_held = True
    row.operator("dqik.holds_clear", text="Not Here").here = True
    row.operator("dqik.holds_clear", text="Let Go")


CLASSES = (DQIK_PT_main,)
