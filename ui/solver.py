# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the solver and its settings."""

import bpy

from ..operators.common import armature
from .common import ArmatureSidebar, settled


class DQIK_PT_solver(ArmatureSidebar, bpy.types.Panel):
    """The solver and its settings"""

    bl_label = "Solver"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = settled(self.layout), armature(context).dqik
        layout.prop(settings, "solver", text="Method")
        if settings.solver == "CCD":
            layout.prop(settings, "order")
            layout.prop(settings, "unit_angle")
        elif settings.solver == "SQP":
            layout.prop(settings, "objective")
        layout.prop(settings, "start_from")
        layout.prop(settings, "hold_keyed")
        column = layout.column()
        column.prop(settings, "iterations")
        column.prop(settings, "tolerance")
        column.prop(settings, "rotation_tolerance", text="Rotation")
        column.prop(settings, "damping")
        layout.prop(settings, "implementation")


CLASSES = (DQIK_PT_solver,)
