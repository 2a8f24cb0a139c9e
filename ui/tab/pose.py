# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels with which an animator poses: the tools for what is selected, and what is attached. Rows keep places."""

from collections.abc import Iterator
from math import isfinite

import bpy

from ...operators.common import armature
from ...rig.blender.dependencies import aims
from ...rig.blender.words import iface_
from ...rig.controls import selection
from ...rig.keys import attachments
from ...rig.keys.attachments import Attachment
from ...rig.shot import attachable, plant
from . import tools
from .common import ArmatureSidebar, fits, needed, paragraph, places

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
        found = plant.selected_feet(ob, names, ())
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


_ROWS = 8  # most that are listed


class DQIK_PT_attach(ArmatureSidebar, bpy.types.Panel):
    """Controls that are attached to objects, and objects that hands hold"""

    bl_label = "Attached"
    bl_parent_id = "DQIK_PT_pose"
    on_goals = True

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob, time = self.layout, armature(context), context.scene.frame_current_final
        found = sorted(_attachments(context, ob), key=lambda one: one.start)
        column = layout.column(align=True)
        if not found:
            paragraph(context, column, "Nothing is attached", "INFO")
        for one in found[:_ROWS]:
            row = column.row(align=True)
            text = row.row()
            text.active = one.acts_at(time)
            text.label(text=_words(one), translate=False, icon="LINKED" if one.acts_at(time) else "UNLINKED")
            _button(row, one, remove=False).active = one.acts_at(time)
            _button(row, one, remove=True)
        if len(found) > _ROWS:
            column.label(text=iface_("and {} more").format(len(found) - _ROWS), icon="BLANK1", translate=False)


def _attachments(context: bpy.types.Context, ob: bpy.types.Object) -> Iterator[Attachment]:
    """Those of an armature object, its bones and the other targets of its goals, and of objects that it holds."""
    targets = {target for goal in ob.dqik.goals for target, _ in aims(goal)} - {ob}
    for bone in ob.pose.bones:
        if len(bone.constraints):
            yield from attachments.of(ob, bone.name)
    for other in context.view_layer.objects:
        if len(other.constraints):
            own = other == ob or other in targets
            yield from (one for one in attachments.of(other) if own or one.target == ob)


def _words(one: Attachment) -> str:
    """What is attached to what, and on which frames. Controls have the name of the part that they move."""
    owner = attachable.called_of((one.ob, one.bone))
    target = "" if one.target is None else attachable.called_of((one.target, one.subtarget))
    if isfinite(one.end):
        text = iface_("{} to {}, {} to {}")
        return text.format(owner, target, f"{one.start:g}", f"{one.end - 1:g}")
    return iface_("{} to {}, from {}").format(owner, target, f"{one.start:g}")


def _button(layout: bpy.types.UILayout, one: Attachment, remove: bool) -> bpy.types.UILayout:
    """A button that lets one go at the present frame, or removes it."""
    row = layout.row(align=True)
    button = row.operator("dqik.detach", text="", icon="X" if remove else "UNLINKED")
    button.object, button.bone, button.constraint, button.remove = one.ob.name, one.bone, one.constraint, remove
    return row
