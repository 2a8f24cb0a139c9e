# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of the last solve in the panel, and warnings."""

from math import degrees

import bpy

from .common import paragraph

_SMALL = 1e-4  # [m]; smaller distances are shown as "less than ..."


def draw(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The report of the last solve, then warnings."""
    report = ob.dqik.status
    if report.milliseconds > 0.0:
        _result(context, layout, report)
    for line in report.message.splitlines():
        paragraph(context, layout.box(), line, "ERROR")
    if ob.dqik.live and not context.scene.render.use_lock_interface:
        box = layout.box().column()
        paragraph(context, box, "To render while live, lock the interface", "INFO")
        box.operator("dqik.lock_interface")


def _result(context: bpy.types.Context, layout: bpy.types.UILayout, report: bpy.types.PropertyGroup) -> None:
    """The result in a constant number of lines, so that the panel does not jump while a target is dragged."""
    column = layout.column(align=True)
    if report.converged:
        column.label(text="All goals met", icon="CHECKMARK")
    else:
        column.label(text="Not all goals met", icon="INFO")
    column = column.column(align=True)
    column.active = False
    angle = f", {degrees(report.rotation_error):.1f}\N{DEGREE SIGN}" if report.rotation_error > 0.0 else ""
    column.label(text=f"Off by {_length(context.scene, report.error)}{angle}", icon="BLANK1")
    column.label(text=f"{_count(report.iterations, 'iteration')} in {report.milliseconds:.1f} ms", icon="BLANK1")
    column.label(text=f"{_count(report.at_limits, 'joint')} at limits", icon="BLANK1")


def _length(scene: bpy.types.Scene, value: float) -> str:
    units = scene.unit_settings
    length = max(value * units.scale_length, _SMALL)
    text = bpy.utils.units.to_string(units.system, "LENGTH", round(length, 4), precision=2)
    return f"less than {text}" if length == _SMALL else text


def _count(number: int, thing: str) -> str:
    return f"{number or 'No'} {thing}{'' if number == 1 else 's'}"
