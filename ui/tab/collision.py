# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what the body does not pass through: itself, the floor, and objects."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.blender import units
from .common import ArmatureSidebar, settled

_ROWS = 2  # of the list at first


class DQIK_UL_obstacles(bpy.types.UIList):
    """A row for each obstacle: its object"""

    def draw_item(
        self, context: bpy.types.Context, layout: bpy.types.UILayout, data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup, icon: int, active_data: bpy.types.PropertyGroup, active_property: str,
        index: int = 0, flt_flag: int = 0,
    ) -> None:  # fmt: skip
        del context, data, icon, active_data, active_property, index, flt_flag
        layout.prop(item, "object", text="")


class DQIK_PT_contacts(ArmatureSidebar, bpy.types.Panel):
    """What the body does not pass through"""

    bl_label = "Collision"
    bl_parent_id = "DQIK_PT_body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        settings = ob.dqik
        layout.prop(settings, "avoid_self")
        layout.prop(settings, "use_floor")
        if settings.use_floor:
            column = settled(context, layout).column()
            column.prop(settings, "floor", text="Object")
            column.prop(settings, "floor_height")
        row = layout.row()
        row.template_list("DQIK_UL_obstacles", "", settings, "avoid", settings, "active_obstacle", rows=_ROWS)
        column = row.column(align=True)
        column.operator("dqik.avoid_add", text="", icon="ADD")
        column.operator("dqik.avoid_remove", text="", icon="REMOVE")
        layout.operator("dqik.fit_capsules", icon="MESH_CAPSULE")
        if settings.live and settings.status.overlap > 0.0:
            depth = units.miss(context.scene, ob, settings.status.overlap, 0.0)
            layout.label(text=iface_("Overlap: {}").format(depth), icon="ERROR", translate=False)
