# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what 3D views show of goals and limits."""

import bpy

from ...operators.common import armature
from .common import ArmatureSidebar


class DQIK_PT_overlay(ArmatureSidebar, bpy.types.Panel):
    """What the 3D view shows of goals and limits"""

    bl_label = "Overlay"
    bl_parent_id = "DQIK_PT_rig"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.window_manager.dqik_overlay, "show", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, overlay, ob = self.layout, context.window_manager.dqik_overlay, armature(context)
        column = layout.column(align=True)
        column.active = overlay.show
        for name in ("goals", "limits", "handles", "at_limit", "holds", "bodies", "roles", "reach"):
            column.prop(overlay, name)
        row = layout.row(align=True)
        row.operator("dqik.reach_show", text="Compute Reach")
        if ob.dqik.workspace is not None:
            row.operator("dqik.reach_hide", text="", icon="X")
