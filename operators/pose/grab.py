# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a body by its skin, and selecting its parts by clicks on it."""

import bpy
from bpy.props import FloatVectorProperty, StringProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ...rig.blender.words import iface_
from ...rig.controls import selection
from ...rig.notes import Code, Note, Refused
from ...rig.shot import pick
from ...rig.shot.grab import Grab
from ...rig.shot.pick import Picked
from ..common import REFUSALS, NotDone, Said, Tool

_REACH = 20  # pixels from a bone, where there is no skin under the pointer
_ABORT = {"ESC", "RIGHTMOUSE"}
_ENTER = {"RET", "NUMPAD_ENTER"}


class DQIK_OT_grab(Tool, bpy.types.Operator):
    """Press on the body and drag: what is pressed follows the pointer, the rest stays. A click selects the part"""

    bl_label = "Grab Body"

    bone: StringProperty(name="Bone", description="The bone to drag", options={"SKIP_SAVE"})
    point: FloatVectorProperty(name="Point", description="Where on the bone to drag it, in the world",
                               subtype="XYZ_LENGTH", options={"SKIP_SAVE"})  # fmt: skip
    to: FloatVectorProperty(name="To", description="Where that point goes, in the world", subtype="XYZ_LENGTH",
                            options={"SKIP_SAVE"})  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if not self.bone:
            raise Refused(Note("Name the bone to drag"))
        if self.bone not in ob.pose.bones:
            raise Refused(Note(Code.HAS_NO_BONE, repr(ob.name), repr(self.bone)))
        grab = Grab(ob, self.bone, Vector(self.point), context)
        self._move(grab, Vector(self.to))
        grab.finish()

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Wait for the mouse button; if it has called the operator, begin."""
        if self.bone:
            return self.execute(context)
        if context.mode != "POSE":
            raise Refused(Note("Go to Pose Mode to grab the body"))
        self._picked, self._grab, self._region = None, None, None
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            self._press(context, event)
        words = iface_("Drag a part of the body, or click it to select it (Shift extends). Esc cancels")
        context.workspace.status_text_set(words)
        context.window.cursor_modal_set("HAND")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the pointer."""
        try:
            result = self._follow(context, event)
        except REFUSALS as error:
            result = self.refused(error)
        if result & {"FINISHED", "CANCELLED"}:
            self._end(context)
        return result

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator, because the file is closed for example."""
        if self._grab is not None:
            self._grab.cancel()
        self._end(context)

    def _follow(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.value == "PRESS" and (event.type in _ABORT or (self._picked is None and event.type in _ENTER)):
            if self._grab is not None:
                self._grab.cancel()
            return {"CANCELLED"}
        if self._picked is None:
            return self._wait(context, event)
        if event.type == "MOUSEMOVE":
            return self._drag(context, event)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            if self._grab is not None:
                self._grab.finish()
                return {"FINISHED"}
            return self._select(self._picked, event.shift)
        return {"RUNNING_MODAL"}

    def _wait(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Wait for the mouse button over a 3D view; all else goes on as usual."""
        if event.type == "LEFTMOUSE" and event.value == "PRESS" and _view_at(context, event) is not None:
            self._press(context, event)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def _press(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Find what is under the pointer."""
        found = _view_at(context, event)
        if found is not None:
            area, self._region = found
            self._pressed = Vector((event.mouse_x, event.mouse_y))
            self._picked = _picked(context, area.spaces.active, self._region, self._place(event))
        if self._picked is None:
            raise NotDone("WARNING", Note("There is no body under the pointer: press on the skin or a bone of a "
                                          "character in Pose Mode"))

    def _place(self, event: bpy.types.Event) -> Vector:
        """Returns the pointer's place in the region that was pressed in."""
        return Vector((event.mouse_x - self._region.x, event.mouse_y - self._region.y))

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Bring the point under the pointer: in the plane of the view if it can come there."""
        if self._grab is None:
            away = (Vector((event.mouse_x, event.mouse_y)) - self._pressed).length
            if away < context.preferences.inputs.drag_threshold_mouse * context.preferences.system.ui_scale:
                return {"RUNNING_MODAL"}
            self._grab = Grab(self._picked.ob, self._picked.bone, self._picked.point, context)
        view, at = self._region.data, self._place(event)
        self.bone, self.point = self._picked.bone, self._picked.point  # with `to`, for the panel that adjusts it
        to = view3d_utils.region_2d_to_location_3d(self._region, view, at, self._picked.point)
        along = view3d_utils.region_2d_to_vector_3d(self._region, view, at)
        self._move(self._grab, to, along)
        return {"RUNNING_MODAL"}

    def _move(self, grab: Grab, to: Vector, along: Vector | None = None) -> None:
        """Move what is dragged. If it cannot be, bring back the pose from before."""
        try:
            self.to = grab.move(to, along)
        except Refused:
            grab.cancel()
            raise

    def _select(self, picked: Picked, extend: bool) -> set[str]:
        """Select what moves the part under the pointer."""
        ob, bone = pick.selects(picked.ob, picked.bone)
        if not selection.is_visible(ob, bone):
            raise NotDone("WARNING", Note(Code.BONE_HIDDEN, repr(bone)))
        if extend:
            selection.select_also(ob, bone)
        else:
            for other in _posed():
                selection.select_only(other, *([bone] if other == ob else []))
        bpy.context.view_layer.objects.active = ob
        return {"FINISHED"}

    @staticmethod
    def _end(context: bpy.types.Context) -> None:
        context.workspace.status_text_set(None)
        context.window.cursor_modal_restore()


def _posed() -> list[bpy.types.Object]:
    """The armatures in Pose Mode."""
    return [ob for ob in bpy.context.view_layer.objects if ob.type == "ARMATURE" and ob.mode == "POSE"]


def _view_at(context: bpy.types.Context, event: bpy.types.Event) -> tuple[bpy.types.Area, bpy.types.Region] | None:
    """The 3D view under the pointer and its region; None over anything else, also over its sidebar and bars."""
    for area in context.window.screen.areas:
        under = [region for region in area.regions if _is_in(region, event)] if area.type == "VIEW_3D" else []
        if under and all(region.type == "WINDOW" for region in under):
            return area, under[0]
    return None


def _is_in(region: bpy.types.Region, event: bpy.types.Event) -> bool:
    x, y = event.mouse_x - region.x, event.mouse_y - region.y
    return region.width > 1 and 0 <= x < region.width and 0 <= y < region.height


def _picked(
    context: bpy.types.Context, view: bpy.types.SpaceView3D, region: bpy.types.Region, at: Vector
) -> Picked | None:
    """Returns the skin, else the nearest bone, under a place in a region of a 3D view."""
    depsgraph, data = context.evaluated_depsgraph_get(), region.data
    origin = view3d_utils.region_2d_to_origin_3d(region, data, at)
    direction = view3d_utils.region_2d_to_vector_3d(region, data, at)

    def to_screen(place: Vector) -> Vector | None:
        return view3d_utils.location_3d_to_region_2d(region, data, place)

    found = pick.pick(_posed(), origin, direction, depsgraph, view)
    reach = _REACH * context.preferences.system.ui_scale
    return found or pick.near(_posed(), at, to_screen, reach, depsgraph)
