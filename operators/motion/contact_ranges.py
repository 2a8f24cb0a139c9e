# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames on which parts of the body stand still: found, listed, and changed in the list or by dragging bars."""

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ...rig.blender import scene_state, views
from ...rig.blender.words import iface_
from ...rig.clip import contact_ranges, standing
from ...rig.controls import selection
from ...rig.motion import mend_motion
from ...rig.notes import Code, Note, Refused, counted
from ...rig.overlay import contact_bars
from ...rig.skeleton.menus import CONTACT_PARTS
from ..common import NotDone, Said, Steps, Tool, armature
from ..frames import FramesTool
from .mend_motion import GroundOptions

_LONG = 10  # frames of a contact that is added


class DQIK_OT_contacts_find(GroundOptions, FramesTool, bpy.types.Operator):
    """Find the frames on which parts of the body rest on the ground or hold on, and list them in place of others"""

    bl_label = "Find Contacts"
    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        del context
        self.draw_range()
        self.draw_ground()

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        ground, rate = self.chosen_ground(context), self.rate(context.scene)
        with scene_state.restored(context.scene, context.view_layer, ob, [ground.ob]) as visits:
            own = mend_motion.figure(ob, standing.armature(ob, frames, visits))
            motion = yield from mend_motion.read(ob, own, frames, visits, ground.ob)
        heights = mend_motion.ground_heights(context, motion, ground)
        on_frames = mend_motion.on_frames(mend_motion.contacts(motion, rate, heights), rate)
        ranges = contact_ranges.of_masks(own.names, frames, on_frames)
        contact_ranges.store(ob, ranges)
        self.tell({"INFO"} if ranges else {"WARNING"},
                  Note("{} found", counted(len(ranges), Code.ONE_CONTACT, Code.CONTACTS)))


class ContactTool(Tool):
    """A tool that works on one contact of the list."""

    index: IntProperty(name="Contact", description="Number of the contact, -1 for the active one", default=-1, min=-1)

    def number(self, ob: bpy.types.Object) -> int:
        """The number of the contact."""
        number, count = ob.dqik.active_contact if self.index < 0 else self.index, len(ob.dqik.contacts)
        if not count:
            raise Refused(Note(Code.NO_CONTACTS, repr(ob.name)))
        if number >= count:
            raise Refused(Note("{} has {}: there is none with the number {}", repr(ob.name),
                               counted(count, Code.ONE_CONTACT, Code.CONTACTS), number))
        return number


class DQIK_OT_contact_add(Tool, bpy.types.Operator):
    """Add a contact of the selected part of the body from this frame on"""

    bl_label = "Add Contact"

    bone: StringProperty(name="Bone", description="The bone in contact: a foot, a hand, a shin for its knee, the "
                         "hips for what they sit on, or the spine for the back. Without a name, the selected one, or "
                         "the left foot",
                         options={"SKIP_SAVE"})  # fmt: skip
    part: EnumProperty(name="Part", description="Which part of it. Heel and ball of a hand are its wrist and knuckles",
                       items=CONTACT_PARTS, default="BALL", options={"SKIP_SAVE"})  # fmt: skip
    frame_start: IntProperty(name="From", description="First frame. From 0 To -1 takes frames from the present one on",
                             default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="To", description="Last frame", default=-1, options={"SKIP_SAVE"})

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        self.column().prop_search(self, "bone", ob.pose, "bones", icon="BONE_DATA")
        row = self.layout.row(heading="Part")
        for part in contact_ranges.limbs(ob).get(self.bone, contact_ranges.FOOT):
            row.prop_enum(self, "part", part)
        self.column("frame_start", "frame_end")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        limbs = contact_ranges.limbs(ob)
        if not limbs:
            raise Refused(Note(Code.NO_FEET, repr(ob.name)))
        if not self.bone:
            chosen = [ob.pose.bones[name] for name in selection.selected(context, ob)]
            names = [bone.name for bone in chosen]
            ends = [above.name for bone in chosen for above in bone.parent_recursive
                    if limbs.get(above.name) in (contact_ranges.FOOT, contact_ranges.HAND)]  # fmt: skip
            self.bone = next((name for name in (*names, *ends) if name in limbs), next(iter(limbs)))
        elif self.bone not in limbs:
            if self.bone not in ob.pose.bones:
                raise Refused(Note(Code.HAS_NO_BONE, repr(ob.name), repr(self.bone)))
            raise Refused(Note("{} is no foot, shin, hand, hips or spine that is recognised: set its Role in the "
                               "Bone panel", repr(self.bone)))
        parts = limbs[self.bone]
        self.part = parts[min(contact_ranges.rank(self.part)[1], len(parts) - 1)]
        start, end = self.frame_start, self.frame_end
        if end < start:
            if (start, end) != (0, -1):
                raise Refused(Note(Code.RANGE_REVERSED, end, start))
            now = context.scene.frame_current
            free = contact_ranges.free(ob, self.bone, self.part, now, _LONG)
            if free is None:
                raise Refused(Note("{} has a contact at or beside frame {} already: drag its bar, or go to "
                                   "another frame", repr(self.bone), now))
            self.frame_start, self.frame_end = start, end = free
        contact_ranges.add(ob, contact_ranges.ContactRange(self.bone, self.part, start, end))


class DQIK_OT_contact_remove(ContactTool, bpy.types.Operator):
    """Take a contact out of the list. That part of the body is not planted there any more"""

    bl_label = "Remove Contact"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        contact_ranges.remove(ob, self.number(ob))
        views.redraw("DOPESHEET_EDITOR")


class DQIK_OT_contacts_clear(Tool, bpy.types.Operator):
    """Empty the list of contacts. Mend Motion finds them itself then"""

    bl_label = "Clear Contacts"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if all(one.mute for one in ob.dqik.contacts):
            raise NotDone("WARNING", Note(Code.NO_CONTACTS, repr(ob.name)))
        contact_ranges.clear(ob)
        views.redraw("DOPESHEET_EDITOR")


class DQIK_OT_contact_drag(ContactTool, bpy.types.Operator):
    """Drag the bar of a contact in the timeline: near an end this end, in the middle all of it"""

    bl_label = "Drag Contact"
    bl_options = {"UNDO"}

    end: EnumProperty(
        name="End", description="What is moved",
        items=[("START", "From", "The first frame"), ("END", "To", "The last frame"), ("WHOLE", "Whole", "Both")],
    )  # fmt: skip
    frames: IntProperty(name="Frames", description="By how many frames", default=0)

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        number = self.number(ob)
        contact_ranges.move(ob, number, contact_ranges.moved(ob, number, self.end, self.frames))

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Take the bar under the pointer; if there is none, the click is another tool's."""
        ob, area = armature(context), context.area
        if area is None or area.type != "DOPESHEET_EDITOR" or not contact_bars.are_shown(ob, context.space_data):
            return {"PASS_THROUGH"}
        scale = context.preferences.system.ui_scale
        bars = contact_bars.in_region(ob, context)
        hit = contact_bars.under(bars, event.mouse_region_x, event.mouse_region_y, scale)
        if hit is None:
            return {"PASS_THROUGH"}
        self.index, self.end = hit
        self._before = contact_ranges.at(ob, self.index)
        self._from = self._frame(context, event)
        ob.dqik.active_contact = self.index
        context.window.cursor_modal_set("SCROLL_X" if self.end == "WHOLE" else "MOVE_X")
        context.window_manager.modal_handler_add(self)
        self._show(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the pointer until the button is let go; Esc or the right button takes it back."""
        ob = armature(context)
        if ob is None or self.index >= len(ob.dqik.contacts):
            return self._leave(context, {"CANCELLED"})
        if event.type in {"ESC", "RIGHTMOUSE"}:
            contact_ranges.move(ob, self.index, self._before)
            return self._leave(context, {"CANCELLED"})
        if event.type == "MOUSEMOVE" or (event.type == "LEFTMOUSE" and event.value == "RELEASE"):
            self.frames = round(self._frame(context, event) - self._from)
            contact_ranges.move(ob, self.index, contact_ranges.moved(ob, self.index, self.end, self.frames,
                                                                     self._before))  # fmt: skip
            self._show(context)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            is_moved = contact_ranges.at(ob, self.index) != self._before
            return self._leave(context, {"FINISHED"} if is_moved else {"CANCELLED"})
        return {"RUNNING_MODAL"}

    def _show(self, context: bpy.types.Context) -> None:
        """Which frames the contact has now, in the status bar."""
        now = contact_ranges.at(armature(context), self.index)
        context.workspace.status_text_set(iface_("Contact from frame {} to {}").format(now.first, now.last))
        views.redraw()

    @staticmethod
    def _frame(context: bpy.types.Context, event: bpy.types.Event) -> float:
        return context.region.view2d.region_to_view(event.mouse_region_x, 0.0)[0]

    def _leave(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        context.window.cursor_modal_restore()
        context.workspace.status_text_set(None)
        views.redraw()
        views.redraw("DOPESHEET_EDITOR")
        return result
