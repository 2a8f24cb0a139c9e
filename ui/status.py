# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the last solve, in words, and what needs attention."""

from math import degrees

import bpy

from .common import paragraph


def draw(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """The report of the last solve, then warnings."""
    report = ob.dqik.status
    if report.milliseconds > 0.0:
        _result(context, layout, report)
    if report.message:
        paragraph(context, layout.box(), report.message, "ERROR")
    if ob.dqik.live and not context.scene.render.use_lock_interface:
        box = layout.box().column()
        paragraph(context, box, "A render while live needs the interface locked", "ERROR")
        box.operator("dqik.lock_interface")


def _result(context: bpy.types.Context, layout: bpy.types.UILayout, report: bpy.types.PropertyGroup) -> None:
    column = layout.column(align=True)
    column.label(
        text="All goals met" if report.converged else "Not all goals met",
        icon="CHECKMARK" if report.converged else "INFO",
    )
    words = [f"Off by {_length(context.scene, report.error)}"]
    if report.rotation_error > 0.0:
        words.append(f"{degrees(report.rotation_error):.1f}\N{DEGREE SIGN}")
    column.label(text=" and ".join(words), icon="BLANK1")
    column.label(text=f"{_count(report.iterations, 'iteration')} in {report.milliseconds:.1f} ms", icon="BLANK1")
    if report.at_limits:
        column.label(text=f"{_count(report.at_limits, 'joint')} at limits", icon="BLANK1")


def _length(scene: bpy.types.Scene, value: float) -> str:
    units = scene.unit_settings
    return bpy.utils.units.to_string(units.system, "LENGTH", value * units.scale_length, precision=2)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
