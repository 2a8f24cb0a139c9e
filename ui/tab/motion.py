# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of a whole motion: what is done to it, its contacts, and what is shown of it."""

import bpy

from ...operators.common import armature
from ...rig.blender.words import iface_
from ...rig.clip import contact_ranges, last_report, seen_motion
from ...rig.notes import Code, Note
from ...rig.overlay import contact_bars, original, preview
from ..contact_bars import name_of
from .common import ArmatureSidebar, is_narrow, paragraph, settled


class DQIK_PT_motion(ArmatureSidebar, bpy.types.Panel):
    """What is done to all frames of a motion at once"""

    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if ob.mode != "POSE":
            paragraph(context, layout, "Go to Pose Mode to change a motion", "INFO")
            if ob == context.object:
                layout.operator("object.posemode_toggle", text="Pose Mode", icon="POSE_HLT")
            return
        column = layout.column(align=True)
        column.operator("dqik.retarget", text="Retarget...")
        if (shown := preview.of(ob)) is not None:
            _preview(column, shown)
        column.operator("dqik.remove_shakes", text="Remove Shakes...")
        column.operator("dqik.mend_motion", text="Mend Motion...")
        column.operator("dqik.unbake", text="Fewer Keys...")
        column = layout.column(align=True)
        column.operator("dqik.in_betweens", text="In-Betweens...")
        column.operator("dqik.edit_range")
        column.operator("dqik.overlap", text="Overlap...")
        report = last_report.of(ob)
        if report is not None:
            box = layout.box().column()
            for note in report.notes:
                paragraph(context, box, note, "CHECKMARK" if report.is_fine else "ERROR", in_box=True)
        if original.is_known(ob):
            _original(context, layout, ob)


def _preview(layout: bpy.types.UILayout, shown: preview.Preview) -> None:
    """Draws the buttons that key a motion which is only shown so far, and that hide it."""
    row = layout.row(align=True)
    key = row.operator("dqik.retarget", text="Key the Preview...")
    key.source, key.partner, (key.frame_start, key.frame_end) = shown.source, shown.partner, shown.taken
    row.operator("dqik.preview_hide", text="", icon="X")


def _original(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Draws the switch that shows the motion from which this one was made, and its place."""
    settings = ob.dqik
    layout.prop(settings, "show_original")
    if settings.show_original and ob.dqik.live:
        paragraph(context, layout, "The original is shown while Live is off", "INFO")
    elif settings.show_original:
        settled(context, layout).prop(settings, "original_beside")


_FEWEST, _MOST = 3, 8  # rows of the list


class DQIK_UL_contacts(bpy.types.UIList):
    """A row for each contact: its part of the body, its first and its last frame"""

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
    """The frames on which feet and knees are on the ground and hands hold on, where Mend Motion plants them"""

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


class DQIK_PT_see_motion(ArmatureSidebar, bpy.types.Panel):
    """What 3D views show of the frames around the present one"""

    bl_label = "See Motion"
    bl_parent_id = "DQIK_PT_motion"
    on_goals, in_pose_mode = True, True

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        layout, settings = settled(context, self.layout), ob.dqik
        layout.prop(settings, "ghosts")
        if settings.ghosts:
            layout.row().prop(settings, "ghosts_of")
            column = layout.column(align=True)
            for name in ("before", "after", "step"):
                column.prop(settings, f"ghosts_{name}")
        layout.prop(settings, "arcs")
        if seen_motion.is_asked(ob):
            _state(context, layout, ob)
        layout.operator("dqik.motion_paths")


def _state(context: bpy.types.Context, layout: bpy.types.UILayout, ob: bpy.types.Object) -> None:
    """Draws a sentence where what is shown is not up to date, with a button that reads the motion."""
    known = seen_motion.known(ob)
    if known.failed:
        paragraph(context, layout, "Another add-on or a script changes the frames while they are read", "ERROR")
    elif known.is_old:
        paragraph(context, layout, "The motion has changed", "INFO")
    elif not seen_motion.missing(ob, context.scene)[0]:
        return
    layout.operator("dqik.see_motion", icon="FILE_REFRESH")
