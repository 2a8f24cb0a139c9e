# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of the last solve in the panel, the frames that missed goals, and warnings."""

from collections.abc import Sequence

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators.mend import MENDED_BY
from ..rig.blender import units
from ..rig.clip import cautions
from ..rig.figure.short_names import short
from ..rig.frame.sessions import sessions
from ..rig.notes import Note
from .common import is_narrow, paragraph

_WARNINGS = 3  # most warnings that are shown at once


def draw(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The report of the last solve, then the missed frames, then warnings."""
    report = ob.dqik.status
    if report.milliseconds > 0.0:
        _result(context, layout, ob)
    if len(ob.dqik.missed_frames):
        _missed_frames(context, layout, ob)
    warnings(context, layout, [*sessions.status(ob).notes, *cautions.of_motion(ob, context.scene)])


def _result(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The result in a constant number of lines, so that the panel does not jump while a target is dragged."""
    report = ob.dqik.status
    misses = sorted((goal for goal in ob.dqik.goals if goal.missed), key=lambda goal: -goal.error)
    column = layout.column(align=True)
    lags = report.lags and not misses
    if misses:
        others = f" +{len(misses) - 1}" if len(misses) > 1 else ""
        paragraph(context, column, iface_("Not met at frame {}:").format(context.scene.frame_current), "ERROR")
        column.label(text=f"{short(ob, misses[0].name)}{others}", icon="BLANK1", translate=False)
    elif lags:
        paragraph(context, column, "Following the targets", "PLAY")
    else:
        paragraph(context, column, "All goals met", "CHECKMARK")
    column = column.column(align=True)
    column.active = False
    wishes = sorted((goal for goal in ob.dqik.goals if goal.gave_way), key=lambda goal: -goal.error)
    if wishes and not (misses or lags):
        miss = units.miss(context.scene, ob, wishes[0].error, wishes[0].rotation_error)
        words = iface_("{} gave way by {}").format(short(ob, wishes[0].name), miss)
        column.label(text=words, icon="BLANK1", translate=False)
    elif not misses:
        error = units.miss(context.scene, ob, report.error, report.rotation_error)
        column.label(text=(iface_("Behind by {}") if lags else iface_("Off by {}")).format(error), icon="BLANK1")
    column.label(text=iface_("At limits: {}").format(report.at_limits), icon="BLANK1")


def _missed_frames(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """How many frames are marked, and buttons that go from one to the next."""
    row = layout.column(align=True) if is_narrow(context) else layout.row(align=True)
    row.label(text=iface_("Missed: {}").format(len(ob.dqik.missed_frames)), icon="MARKER")
    row = row.row(align=True)
    row.operator("dqik.missed_frame", text="", icon="TRIA_LEFT").direction = "PREVIOUS"
    row.operator("dqik.missed_frame", text="", icon="TRIA_RIGHT").direction = "NEXT"
    row.operator("dqik.missed_clear", text="", icon="X")


def warnings(context: bpy.types.Context, layout: bpy.types.UILayout, notes: Sequence[Note]) -> None:
    """Each warning once, with the button that mends it."""
    notes = list(dict.fromkeys(notes))
    for note in notes[:_WARNINGS]:
        box = layout.box().column()
        paragraph(context, box, note, "ERROR", in_box=True)
        for operator, kind, text in (MENDED_BY[code] for code in note.codes() if code in MENDED_BY):
            button = box.operator(operator, text=text)
            if kind:
                button.kind = kind
    if len(notes) > _WARNINGS:
        layout.label(text=iface_("More warnings: {}").format(len(notes) - _WARNINGS), icon="BLANK1")
