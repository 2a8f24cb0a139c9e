# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what is attached: a row for each attachment of the figure's controls, and to its bones."""

from collections.abc import Iterator
from math import isfinite

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.blender.dependencies import aims
from ...rig.figure.short_names import called
from ...rig.keys import attachments
from ...rig.keys.attachments import Attachment
from ...rig.shot import attachable
from .common import ArmatureSidebar, paragraph

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
    owner = _name(one.ob, attachable.hand_of(one.ob, one.bone)[1])
    target = "" if one.target is None else _name(one.target, one.subtarget)
    if isfinite(one.end):
        text = iface_("{} to {}, {} to {}")
        return text.format(owner, target, f"{one.start:g}", f"{one.end - 1:g}")
    return iface_("{} to {}, from {}").format(owner, target, f"{one.start:g}")


def _name(ob: bpy.types.Object, bone: str) -> str:
    """The name of a bone by its part of the body, or of an object."""
    return called(ob, bone) if bone and ob.type == "ARMATURE" else ob.name


def _button(layout: bpy.types.UILayout, one: Attachment, remove: bool) -> bpy.types.UILayout:
    """A button that lets one go at the present frame, or removes it."""
    row = layout.row(align=True)
    button = row.operator("dqik.detach", text="", icon="X" if remove else "UNLINKED")
    button.object, button.bone, button.constraint, button.remove = one.ob.name, one.bone, one.constraint, remove
    return row
