# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the solver and its settings."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from .common import ArmatureSidebar, settled


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
