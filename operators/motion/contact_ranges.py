# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames on which feet and hands stand still: found, listed, and changed in the list or by dragging their bars."""

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import EnumProperty, IntProperty, StringProperty

from ...rig.blender import scene_state, views
from ...rig.clip import contact_ranges, standing
from ...rig.controls import selection
from ...rig.motion import mend_motion
from ...rig.notes import Code, Note, Refused
from ...rig.overlay import contact_bars
from ...rig.skeleton.menus import CONTACT_PARTS
from ..common import ArmatureOperator, armature
from ..frames import FramesOperator, Steps
from .ground import GroundOptions

_LONG = 10  # frames of a contact that is added


class DQIK_OT_contacts_find(GroundOptions, FramesOperator, bpy.types.Operator):
    """Find the frames on which feet are on the ground and hands hold on, and list them in place of others"""

    bl_idname = "dqik.contacts_find"
    bl_label = "Find Contacts"
    bl_options = {"REGISTER", "UNDO"}

    whole_motion = True

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the dialog and in the panel that adjusts the last operation."""
        self.draw_range()
        self.draw_ground(context)

    def _run(self, context: bpy.types.Context) -> Steps:
        """Read the motion and list its contacts."""
        scene, ob = context.scene, armature(context)
        frames = self._frames(scene)
        if not frames:
            return {"CANCELLED"}
        try:
            ground = self.chosen_ground(context)
            with scene_state.restored(scene, context.view_layer, ob) as visits:
                own = mend_motion.figure(ob, standing.armature(context, ob, frames, visits))
                motion = yield from mend_motion.read(context, ob, own, frames, visits)
        except Refused as refused:
            self.tell({"ERROR"}, refused.note)
            return {"CANCELLED"}
        heights = mend_motion.ground_heights(context, motion, ground)
        rate = scene.render.fps / scene.render.fps_base / self.step
        on_ground, held = mend_motion.contacts(motion, rate, heights), mend_motion.holds(motion, rate)
        ranges = contact_ranges.of_masks(own.feet, own.hands, frames, on_ground, held)
        contact_ranges.store(ob, ranges)
        self.tell({"INFO"} if ranges else {"WARNING"}, Note("{} contacts found", len(ranges)))
        return {"FINISHED"}


class ContactOperator(ArmatureOperator):
    """An operator that works on one contact of the list."""

    index: IntProperty(name="Contact", description="Number of the contact, -1 for the active one", default=-1, min=-1)

    def number(self, ob: bpy.types.Object) -> int | None:
        """The number of the contact; None, with a report, if there is none."""
        number, count = ob.dqik.active_contact if self.index < 0 else self.index, len(ob.dqik.contacts)
        if number < count:
            return number
        self.tell({"ERROR"}, Note("{} has {} contacts: there is none with the number {}", repr(ob.name), count, number))
        return None


class DQIK_OT_contact_add(ArmatureOperator, bpy.types.Operator):
    """Add a contact of the selected foot or hand from this frame on"""

    bl_idname = "dqik.contact_add"
    bl_label = "Add Contact"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="The bone in contact. Without a name, the selected foot or hand, or "
                         "the left foot", options={"SKIP_SAVE"})  # fmt: skip
    part: EnumProperty(name="Part", description="Which part of it. Heel and ball of a hand are its wrist and knuckles",
                       items=CONTACT_PARTS, default="BALL", options={"SKIP_SAVE"})  # fmt: skip
    frame_start: IntProperty(name="From", description="First frame. From 0 To -1 takes frames from the present one on",
                             default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="To", description="Last frame", default=-1, options={"SKIP_SAVE"})

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the panel that adjusts the last operation."""
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        ob = armature(context)
        layout.prop_search(self, "bone", ob.pose, "bones", icon="BONE_DATA")
        row = layout.row(heading="Part")
        for part in contact_ranges.limbs(ob).get(self.bone, contact_ranges.FOOT):
            row.prop_enum(self, "part", part)
        column = layout.column(align=True)
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it to the list."""
        ob = armature(context)
        limbs = contact_ranges.limbs(ob)
        if not limbs:
            self.tell({"ERROR"}, Note(Code.NO_FEET, repr(ob.name)))
            return {"CANCELLED"}
        if not self.bone:
            chosen = [ob.pose.bones[name] for name in selection.selected(context, ob)]
            names = [above.name for bone in chosen for above in (bone, *bone.parent_recursive)]
            self.bone = next((name for name in names if name in limbs), next(iter(limbs)))
        elif self.bone not in limbs:
            known = self.bone in ob.pose.bones
            self.tell({"ERROR"}, Note("{} is no foot or hand that is recognised: set its Role in the Bone panel",
                                      repr(self.bone)) if known else
                      Note(Code.HAS_NO_BONE, repr(ob.name), repr(self.bone)))  # fmt: skip
            return {"CANCELLED"}
        self.part = limbs[self.bone][contact_ranges.PARTS.index(self.part) % 2]
        start, end = self.frame_start, self.frame_end
        if end < start:
            if (start, end) != (0, -1):
                self.tell({"ERROR"}, Note(Code.RANGE_REVERSED, end, start))
                return {"CANCELLED"}
            now = context.scene.frame_current
            free = contact_ranges.free(ob, self.bone, self.part, now, _LONG)
            if free is None:
                self.tell({"ERROR"}, Note("{} has a contact at or beside frame {} already: drag its bar, or go to "
                                          "another frame", repr(self.bone), now))
                return {"CANCELLED"}
            self.frame_start, self.frame_end = start, end = free
        contact_ranges.add(ob, contact_ranges.Range(self.bone, self.part, start, end))
        return {"FINISHED"}


class DQIK_OT_contact_remove(ContactOperator, bpy.types.Operator):
    """Take a contact out of the list. The foot or hand is not planted there then"""

    bl_idname = "dqik.contact_remove"
    bl_label = "Remove Contact"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        ob = armature(context)
        number = self.number(ob)
        if number is None:
            return {"CANCELLED"}
        contact_ranges.remove(ob, number)
        views.redraw("DOPESHEET_EDITOR")
        return {"FINISHED"}


class DQIK_OT_contacts_clear(ArmatureOperator, bpy.types.Operator):
    """Empty the list of contacts. Mend Motion finds them itself then"""

    bl_idname = "dqik.contacts_clear"
    bl_label = "Clear Contacts"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove all."""
        contact_ranges.clear(armature(context))
        views.redraw("DOPESHEET_EDITOR")
        return {"FINISHED"}


class DQIK_OT_contact_drag(ContactOperator, bpy.types.Operator):
    """Drag the bar of a contact in the timeline: near an end this end, in the middle all of it"""

    bl_idname = "dqik.contact_drag"
    bl_label = "Drag Contact"
    bl_options = {"UNDO"}

    end: EnumProperty(
        name="End", description="What is moved",
        items=[("START", "From", "The first frame"), ("END", "To", "The last frame"), ("WHOLE", "Whole", "Both")],
    )  # fmt: skip
    frames: IntProperty(name="Frames", description="By how many frames", default=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """From a script: move an end of a contact, or all of it, by some frames."""
        ob = armature(context)
        number = self.number(ob)
        if number is None:
            return {"CANCELLED"}
        contact_ranges.move(ob, number, contact_ranges.moved(ob, number, self.end, self.frames))
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
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


CLASSES = (
    DQIK_OT_contacts_find, DQIK_OT_contact_add, DQIK_OT_contact_remove, DQIK_OT_contacts_clear, DQIK_OT_contact_drag,
)  # fmt: skip
