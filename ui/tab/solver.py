# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the solver: its settings, and the comparison of solvers as a table."""

from collections.abc import Callable, Sequence
from math import degrees

import bpy

from ...operators.common import armature
from ...rig.blender.units import length
from ...rig.blender.words import iface_
from ...rig.compare import Row
from .common import ArmatureSidebar, paragraph, settled
from .status import shot_share


class DQIK_PT_solver(ArmatureSidebar, bpy.types.Panel):
    """The solver and its settings"""

    bl_label = "Solver"
    bl_parent_id = "DQIK_PT_rig"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = settled(context, self.layout), armature(context).dqik
        layout.prop(settings, "solver", text="Method")
        if settings.solver == "CCD":
            layout.prop(settings, "order")
            layout.prop(settings, "unit_angle")
        elif settings.solver == "SQP":
            layout.prop(settings, "objective")
        layout.prop(settings, "start_from")
        if settings.start_from == "FOLLOW":
            layout.prop(settings, "gain")
        elif settings.start_from == "SHOT":
            layout.prop(settings, "smooth", slider=True)
            row = layout.row()
            row.label(text=shot_share(settings), translate=False)
            row.operator("dqik.solve_shot")
        layout.prop(settings, "hold_keyed")
        column = layout.column()
        column.prop(settings, "iterations")
        column.prop(settings, "tolerance")
        column.prop(settings, "rotation_tolerance", text="Rotation")
        column.prop(settings, "damping")
        layout.prop(settings, "implementation")
        report = settings.status
        if report.milliseconds > 0.0:
            row = layout.row()
            row.active = False
            words = iface_("{} iterations, {:.1f} ms").format(report.iterations, report.milliseconds)
            row.label(text=words, translate=False)


_Column = tuple[str, Callable[[Row], str]]


class DQIK_PT_compare(ArmatureSidebar, bpy.types.Panel):
    """Measure the solvers on this rig"""

    bl_label = "Comparison"
    bl_parent_id = "DQIK_PT_solver"

    def draw(self, context: bpy.types.Context) -> None:
        layout, rows = self.layout, armature(context).dqik.comparison
        layout.operator("dqik.compare_solvers", text="Compare Solvers...")
        measured = [row for row in rows if not row.message]
        if measured:
            _table(layout, measured, (
                ("Error", lambda row: row.solver),
                ("worst", lambda row: length(context.scene, row.worst_error)),
                ("mean", lambda row: length(context.scene, row.mean_error)),
                ("met", lambda row: f"{100 * row.met:.0f} %"),
            ))  # fmt: skip
            _table(layout, measured, (
                ("Frame", lambda row: row.solver),
                ("time", lambda row: f"{row.milliseconds:.1f} ms"),
                ("iterations", lambda row: f"{row.iterations:.1f}"),
            ))  # fmt: skip
            _table(layout, measured, (
                ("Joint step", lambda row: row.solver),
                ("mean", lambda row: _angle(row.mean_step)),
                ("largest", lambda row: _angle(row.largest_step)),
            ))  # fmt: skip
        for row in rows:
            if row.refusal is not None:
                paragraph(context, layout, row.refusal, "INFO")


def _angle(radians: float) -> str:
    return f"{degrees(radians):.2f}\N{DEGREE SIGN}"


def _table(layout: bpy.types.UILayout, rows: Sequence[Row], columns: Sequence[_Column]) -> None:
    """A table with a column for each measure and a line for each solver."""
    box = layout.box().row()
    for number, (heading, value) in enumerate(columns):
        column = box.column(align=True)
        column.alignment = "RIGHT" if number else "LEFT"
        first = column.row()
        first.active = False
        first.alignment = column.alignment
        first.label(text=iface_(heading), translate=False)
        for row in rows:
            cell = column.row()
            cell.alignment = column.alignment
            cell.label(text=value(row), translate=False)
