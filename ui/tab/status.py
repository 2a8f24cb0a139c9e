# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the report of the last solve: goals met, holds, missed frames, warnings, each on a line that is always there.

Warnings are read in full, and mended, in a window that opens from their line.
"""

from collections.abc import Sequence

import bpy

from ...operators.common import armature
from ...operators.live.mend import MENDED_BY
from ...rig.blender import units
from ...rig.blender.words import iface_
from ...rig.clip import cautions, last_report
from ...rig.figure.short_names import called
from ...rig.frame.sessions import sessions
from ...rig.notes import Code, Note, joined, listed
from ...rig.shot import holds
from .common import is_narrow, paragraph

_WARNINGS = 3  # most warnings that are shown at once in the panel of a figure that is not set up
_WIDE, _UNIT = 22, 20  # of the window with all warnings, in units of the interface, each of so many pixels


def draw(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The lines, whatever there is to say."""
    column = layout.column(align=True)
    _result(context, column, ob)
    _held(context, column, ob)
    _missed_frames(context, column, ob)
    _warnings(context, column, ob)


def warnings(
    context: bpy.types.Context, layout: bpy.types.UILayout, notes: Sequence[Note], width: float = 0.0
) -> None:  # fmt: skip
    """Each warning once, with the button that mends it. width : of the window that they are in, if they are in one."""
    notes = list(dict.fromkeys(notes))
    for note in notes[:_WARNINGS]:
        box = layout.box().column()
        paragraph(context, box, note, "ERROR", in_box=True, width=width)
        for operator, kind, text in (MENDED_BY[code] for code in note.codes() if code in MENDED_BY):
            button = box.operator(operator, text=text)
            if kind:
                button.kind = kind
    if len(notes) > _WARNINGS:
        more = iface_("More warnings: {}").format(len(notes) - _WARNINGS)
        layout.label(text=more, icon="BLANK1", translate=False)


class DQIK_PT_warnings(bpy.types.Panel):
    """What may be wrong, with what mends it"""

    bl_label = "Warnings"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _WIDE

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        notes = [] if ob is None else _notes(context, ob)
        if not notes:
            self.layout.label(text="No warnings", icon="CHECKMARK")
        for note in notes:
            warnings(context, self.layout, [note], width=_UNIT * _WIDE)


def _result(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Two lines: whether all goals are met, and by how much not; with Live off, what was done last, as a bake."""
    report, goals = ob.dqik.status, ob.dqik.goals
    misses = sorted((goal for goal in goals if goal.missed), key=lambda goal: -goal.error)
    left_out = _left_out(ob)
    wishes = sorted((goal for goal in goals if goal.gave_way), key=lambda goal: -goal.error)
    first, second = layout.row(), layout.row()
    second.active = False
    if not report.milliseconds > 0.0:
        why = "Not solved: read the warning" if sessions.status(ob).notes else "Not solved yet"
        first.label(text=why if ob.dqik.live else "Live is off", icon="INFO")
        done = None if ob.dqik.live else last_report.of(ob)
        second.label(text=done.notes[0].words(iface_) if done else "", icon="BLANK1", translate=False)
        return
    if misses:
        others = f" +{len(misses) - 1}" if len(misses) > 1 else ""
        miss = units.miss(context.scene, ob, misses[0].error, misses[0].rotation_error)
        first.alert = True
        first.label(text=f"{called(ob, misses[0].name)}: {miss}{others}", icon="ERROR", translate=False)
    elif left_out:
        first.alert = True
        first.label(text=f"{left_out[0].label}: {iface_('left out')}", icon="ERROR", translate=False)
    elif report.lags:
        first.label(text="Following the targets", icon="PLAY")
    else:
        first.label(text="All goals met", icon="CHECKMARK")
    if misses:
        words = iface_("Not met at frame {}").format(context.scene.frame_current)
    elif left_out:
        words = iface_("Goals left out: {}").format(len(left_out))
    elif wishes:
        miss = units.miss(context.scene, ob, wishes[0].error, wishes[0].rotation_error)
        words = iface_("{} gave way by {}").format(called(ob, wishes[0].name), miss)
    else:
        error = units.miss(context.scene, ob, report.error, report.rotation_error)
        words = (iface_("Behind by {}") if report.lags else iface_("Off by {}")).format(error)
    if ob.dqik.start_from == "SHOT" and report.shot < 1.0:
        words = f"{iface_('Shot')}: {shot_share(ob.dqik)}"
    at_limits = iface_("At limits: {}").format(report.at_limits)
    second.label(text=f"{words}, {at_limits}" if report.at_limits else words, icon="BLANK1", translate=False)


def shot_share(settings: bpy.types.PropertyGroup) -> str:
    """How much of the shot is solved, in words."""
    return Note("{} % solved", f"{100.0 * settings.status.shot:.0f}").words(iface_)


def _left_out(ob: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """The goals that count and were not solved; a warning says why."""
    solved = {error.goal for error in sessions.status(ob).goals}
    counting = ((k, goal) for k, goal in enumerate(ob.dqik.goals) if not goal.mute and goal.influence > 0.0)
    return [goal for k, goal in counting if k not in solved]


def _line(context: bpy.types.Context, layout: bpy.types.UILayout) -> tuple[bpy.types.UILayout, bpy.types.UILayout]:
    """A place for text, and one for its buttons: at its end, or below it if the sidebar is narrow."""
    place = layout.column(align=True) if is_narrow(context) else layout.row(align=True)
    return place.row(), place.row(align=True)


def _held(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The bones that are held, with buttons that hold them here only, let them go here, and let them go."""
    found = {Code.HELD: holds.on_all_frames, Code.HELD_HERE: holds.until_next_frame} if ob.dqik.live else {}
    told = {code: names for code, of in found.items() if (names := of(ob))}
    words, buttons = _line(context, layout)
    words.active = bool(told)
    names = {code: listed([called(ob, name) for name in own]) for code, own in told.items()}
    notes = [Note(Code.QUOTED if is_narrow(context) else code, own) for code, own in names.items()]
    text = joined(notes, iface_) or iface_("Nothing is held")
    words.label(text=text, icon="PINNED" if told else "UNPINNED", translate=False)
    buttons.enabled = bool(told)
    buttons.operator("dqik.hold_here", text="", icon="KEYFRAME").all_held = True
    buttons.operator("dqik.holds_clear", text="", icon="KEYFRAME_HLT").here = True
    buttons.operator("dqik.holds_clear", text="", icon="X")


def _missed_frames(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Draws the number of marked frames, and buttons that go from one to the next."""
    count = len(ob.dqik.missed_frames)
    words, buttons = _line(context, layout)
    words.active = bool(count)
    words.label(text=iface_("Missed: {}").format(count) if count else iface_("No missed frames"), icon="MARKER",
                translate=False)  # fmt: skip
    buttons.enabled = bool(count)
    buttons.operator("dqik.missed_frame", text="", icon="TRIA_LEFT").direction = "PREVIOUS"
    buttons.operator("dqik.missed_frame", text="", icon="TRIA_RIGHT").direction = "NEXT"
    buttons.operator("dqik.missed_clear", text="", icon="X")


def _warnings(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The first warning, as much of it as there is room, and how many there are: press it to read them."""
    notes, row = _notes(context, ob), layout.row()
    row.alert = bool(notes)
    row.active = bool(notes)
    others = f" +{len(notes) - 1}" if len(notes) > 1 else ""
    text = notes[0].words(iface_) + others if notes else iface_("No warnings")
    row.popover(DQIK_PT_warnings.__name__, text=text, translate=False, icon="ERROR" if notes else "CHECKMARK")


def _notes(context: bpy.types.Context, ob: bpy.types.Object) -> list[Note]:
    return list(dict.fromkeys([*sessions.status(ob).notes, *cautions.of_motion(ob, context.scene)]))
