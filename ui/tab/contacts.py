# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the frames on which feet stand and hands hold on."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.clip import contact_ranges
from ...rig.notes import Code, Note
from ...rig.overlay import contact_bars
from ..contact_bars import name_of
from .common import ArmatureSidebar, is_narrow, paragraph

_FEWEST, _MOST = 3, 8  # rows of the list


class DQIK_UL_contacts(bpy.types.UIList):
    """A row for each contact: the part of the foot or hand, its first and its last frame"""

    def draw_item(
        self, context: bpy.types.Context, layout: bpy.types.UILayout, data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup, icon: int, active_data: bpy.types.PropertyGroup, active_property: str,
        index: int = 0, flt_flag: int = 0,
    ) -> None:  # fmt: skip
        del icon, active_data, active_property, flt_flag
        narrow = is_narrow(context)
        layout = layout.column(align=True) if narrow else layout
        layout.active = not item.mute
        row = layout.row(align=True)
        names = row.row() if narrow else row.split(factor=0.45)
        names.label(text=name_of(data.id_data, item.bone, item.part), translate=False)
        frames = layout.row(align=True) if narrow else names.row(align=True)
        frames.prop(item, "frame_start", text="")
        frames.prop(item, "frame_end", text="")
        if item.mute:
            row.prop(item, "mute", text="", emboss=False, icon="HIDE_ON")
        else:
            row.operator("dqik.contact_remove", text="", icon="X", emboss=False).index = index

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.PropertyGroup, property: str
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """All, in the order of their bars: by part, then by frame."""
        del context
        every, ob = getattr(data, property), data.id_data
        order = sorted(range(len(every)), key=lambda number: (
            contact_bars.rank(ob, every[number].bone, every[number].part), every[number].frame_start))  # fmt: skip
        places = [0] * len(order)
        for place, number in enumerate(order):
            places[number] = place
        return [], places


class DQIK_PT_motion_contacts(ArmatureSidebar, bpy.types.Panel):
    """The frames on which feet are on the ground and hands hold on, where Mend Motion plants them"""

    bl_label = "Contacts"
    bl_parent_id = "DQIK_PT_motion"
    in_pose_mode = True

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        settings, count = ob.dqik, len(ob.dqik.contacts)
        layout.operator("dqik.contacts_find", text="Find Contacts...", icon="VIEWZOOM")
        if not count:
            paragraph(context, layout, "Mend Motion finds the contacts itself if there are none here", "INFO")
            layout.operator("dqik.contact_add", icon="ADD")
            return
        if not contact_ranges.are_of_motion(ob):
            words = iface_("These are of another motion and do not count for this one: {}")
            note = Note(Code.QUOTED, words.format(settings.contacts_of.name))
            paragraph(context, layout.box().column(), note, "ERROR", in_box=True)
        rows = min(max(count, _FEWEST), _MOST)
        layout.template_list("DQIK_UL_contacts", "", settings, "contacts", settings, "active_contact", rows=rows)
        row = layout.row(align=True)
        row.operator("dqik.contact_add", icon="ADD")
        row.operator("dqik.contacts_clear", text="", icon="TRASH")
        layout.prop(settings, "show_contacts")
        if contact_bars.are_cut(ob, context):
            words = "The timeline is too low for all bars: drag its upper edge up, or choose a contact to see its bar"
            paragraph(context, layout, words, "INFO")
