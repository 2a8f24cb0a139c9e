# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with which an animator poses: what is selected, and the tools for it. Its rows keep their places."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.controls import selection
from ...rig.shot import feet
from . import tools
from .common import ArmatureSidebar, is_narrow

_SPACES = (("FOREARM", "With Forearm", 1.0), ("WORLD", "With World", 0.0))


class GoalsSidebar(ArmatureSidebar):
    """A panel that is shown while an armature has goals."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bool(armature(context).dqik.goals)


class DQIK_PT_pose(GoalsSidebar, bpy.types.Panel):
    """What is done with the selected controls and bones at this frame"""

    bl_label = "Pose"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        kind = tools.kind_of_selection(context, ob)
        name = layout.row()
        name.active = kind != tools.NOTHING
        name.label(text=tools.name_of_selection(context, ob), icon="RESTRICT_SELECT_OFF", translate=False)
        column = layout.column(align=True)
        for row in tools.ROWS:
            place = column.column(align=True) if is_narrow(context) else column.row(align=True)
            for tool, is_for in tools.row_for(row, kind):
                cell = place.row(align=True)
                cell.enabled = is_for
                tools.place(cell, tool)
        _of_part(context, layout.row(align=True), ob, kind)


def _of_part(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object, kind: str) -> None:
    """The last line: the roll of a foot, or what a hand turns with."""
    names = set(selection.selected(context, ob))
    if kind == tools.FOOT:
        found = feet.selected(ob, names, ())
        if found:
            layout.prop(found[0][1], "dqik_roll", text="Roll", slider=True)
            return
    number = next((selection.goal_of_bone(ob, name) for name in names), -1) if kind == tools.HAND else -1
    if number >= 0 and ob.dqik.goals[number].use_rotation:
        follows = ob.dqik.goals[number].rotation_follows
        for space, text, share in _SPACES:
            button = layout.operator("dqik.rotation_space", text=text, depress=follows == share)
            button.space, button.index = space, number
        return
    layout.active = False
    layout.label(text=iface_("Press G or R, or drag the control") if names else "", translate=False)


CLASSES = (DQIK_PT_pose,)
