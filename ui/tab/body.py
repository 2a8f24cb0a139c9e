# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what belongs to the character: how it poses itself, its controls, its bones and its collisions."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.body.full_body import CONTROLS
from ...operators.common import armature
from ...rig.controls import controls, more_controls
from ...rig.frame.sessions import sessions
from .common import ArmatureSidebar, paragraph


class DQIK_PT_body(ArmatureSidebar, bpy.types.Panel):
    """What belongs to the character on all frames: natural pose, controls, limits, couplings, collisions"""

    bl_label = "Body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if not ob.dqik.goals:
            paragraph(context, layout, "Set up the body, or give bones goals, first", "INFO")
            layout.operator("dqik.eyes_add", icon="VIS_SEL_11")
            return
        _natural_pose(context, layout, ob.dqik)
        layout.operator("dqik.eyes_add", icon="VIS_SEL_11")
        collection = controls.collection(ob)
        if collection is None:
            return
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("dqik.setup_full_body", text="", icon="OUTLINER_OB_ARMATURE")
        row.menu("DQIK_MT_controls")
        column.prop(collection, "is_solo", text="Show Controls Only", toggle=True, icon="HIDE_OFF")


class DQIK_MT_controls(bpy.types.Menu):
    """More controls for the body, each with a tick if it is there"""

    bl_label = "Controls"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        present = more_controls.present(ob)
        for name, label, _ in CONTROLS:
            row = layout.row()
            row.enabled = name not in present
            icon = "CHECKMARK" if name in present else "ADD"
            row.operator("dqik.setup_full_body", text=iface_(label), translate=False, icon=icon).controls = {name}
        layout.separator()
        row = layout.row()
        row.enabled = len(present) < len(CONTROLS)
        row.operator("dqik.setup_full_body", text="All").controls = {name for name, *_ in CONTROLS}


def _natural_pose(
    context: bpy.types.Context, layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup
) -> None:  # fmt: skip
    """How far the body poses itself, and how far as this character does; or why it does not."""
    refusal = sessions.natural_pose_refusal(settings.id_data)
    if refusal is not None:
        paragraph(context, layout, refusal, "INFO")
        return
    row = layout.row(align=True)
    row.prop(settings, "natural_pose", slider=True)
    row.operator("dqik.learn_from_actions", text="", icon="ACTION")
    if settings.own_motion:
        layout.prop(settings, "own_motion_share", slider=True)
