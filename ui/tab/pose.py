# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with which an animator poses: what is selected, and the tools for it. Its rows keep their places."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.controls import selection
from ...rig.shot import feet
from . import tools
from .common import ArmatureSidebar, fits, needed, places

_SPACES = (("FOREARM", "With Forearm", 1.0), ("WORLD", "With World", 0.0))


class DQIK_PT_pose(ArmatureSidebar, bpy.types.Panel):
    """What is done with the selected controls and bones at this frame"""

    bl_label = "Pose"
    bl_options = set()
    on_goals = True

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        kind = tools.kind_of_selection(context, ob)
        name = layout.row()
        name.active = kind != tools.NOTHING or context.object != ob
        name.label(text=tools.name_of_selection(context, ob), icon="RESTRICT_SELECT_OFF", translate=False)
        column = layout.column(align=True)
        for row in tools.ROWS:
            _row(context, column, row, kind)
        _of_part(context, layout.row(align=True), ob, kind)


def _row(context: bpy.types.Context, layout: bpy.types.UILayout, row: tuple[tools.Button, ...], kind: str) -> None:
    """The tools of a row; below each other, on as many lines for each selection, where they do not fit for all."""
    variants = [tools.row_for(row, one) for one in sorted(tools.ANY)]
    beside = all(fits(context, _widths(variant)) for variant in variants)
    own = tools.row_for(row, kind)
    for place, (tool, is_for) in zip(places(context, layout, _widths(own), beside), own, strict=True):
        place.enabled = is_for
        tools.place(place, tool)
    for _ in range(0 if beside else max(map(len, variants)) - len(own)):
        layout.label(text="")


def _widths(row: list[tuple[tools.Button, bool]]) -> list[float]:
    return [needed(tool.words, tool.icon) for tool, _ in row]


def _of_part(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object, kind: str) -> None:
    """The last line: the roll of a foot, what a hand turns with, or the way to Pose Mode."""
    names = set(selection.selected(context, ob))
    if ob.mode != "POSE" and ob == context.object:
        layout.operator("object.posemode_toggle", text="Pose Mode", icon="POSE_HLT")
        return
    if kind == tools.FOOT:
        found = feet.selected(ob, names, ())
        if found:
            layout.prop(found[0][1], "dqik_roll", text="Roll", slider=True)
            return
    number = next((selection.goal_of_bone(ob, name) for name in names), -1) if kind == tools.HAND else -1
    if number >= 0 and ob.dqik.goals[number].use_rotation:
        follows = ob.dqik.goals[number].rotation_follows
        are_long = fits(context, [needed(iface_(text)) for _, text, _ in _SPACES])
        for space, text, share in _SPACES:
            text = text if are_long else space.title()
            button = layout.operator("dqik.rotation_space", text=text, depress=follows == share)
            button.space, button.index = space, number
        return
    layout.active = False
    words = iface_("Press G or R, or drag the control")
    layout.label(text=words if names and fits(context, [needed(words)]) else "", translate=False)
