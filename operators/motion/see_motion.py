# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the motion that ghosts and arcs show: at once on demand, or part by part while Blender waits for the user.

And motion paths of solved bones.
"""

import bpy
from bpy.props import EnumProperty

from ...rig.blender import scene_state, views
from ...rig.clip import seen_motion
from ...rig.controls import selection
from ...rig.notes import Note, Refused, listed
from ..common import Said, Tool, armature

_AT_ONCE = 0.1  # seconds that a part may take, between which Blender answers the user
_PAUSE = 0.02  # seconds between two parts
_WAIT = 0.25  # seconds after a change


class _Request:
    window = 0  # the address of the window whose view asks for frames


class DQIK_OT_see_motion(Tool, bpy.types.Operator):
    """Read the motion for ghosts and arcs anew, all frames that the timeline plays"""

    bl_label = "Read Motion"
    stores = False
    bl_options = {"REGISTER"}

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if not seen_motion.is_asked(ob):
            raise Refused(Note("Switch Ghosts or Arcs on first"))
        while seen_motion.refresh(ob, context):
            pass
        views.redraw()


class DQIK_OT_motion_paths(Tool, bpy.types.Operator):
    """Show where the selected bones go over the scene's frames, as they are solved. Press again after a change"""

    bl_label = "Motion Paths"
    on_goals = True
    stores = False

    ends: EnumProperty(
        name="Of", description="Which ends of the bones",
        items=[("HEADS", "Heads", "Where the bones begin"), ("TAILS", "Tails", "Where the bones end")],
    )  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        scene = context.scene
        names = selection.selected(context, ob)
        if not names:
            raise Refused(Note("In Pose Mode, select the bones whose motion to show"))
        first, last = scene_state.shown_range(scene)
        settings = ob.pose.animation_visualization.motion_path
        shown = seen_motion.read(ob, range(first, last + 1), context)
        bones = [ob.pose.bones.find(name) for name in names]
        places = seen_motion.places(list(shown.values()), bones, self.ends == "TAILS")
        settings.frame_start, settings.frame_end = first, last
        bpy.ops.pose.paths_calculate(display_type="RANGE", range="MANUAL", bake_location=self.ends)
        if left := seen_motion.show_paths(ob, names, first, places):
            self.tell({"WARNING"}, Note("Blender made no motion paths for {}", listed([repr(name) for name in left])))


def ask(context: bpy.types.Context) -> None:
    """Read the missing frames of the window's active armature as soon as the user pauses."""
    _Request.window = context.window.as_pointer()
    if not bpy.app.timers.is_registered(_read_part):
        bpy.app.timers.register(_read_part, first_interval=_WAIT)


def _read_part() -> float | None:
    """Read some frames of what is asked for; returns after how many seconds to go on, None if it is done."""
    windows = bpy.context.window_manager.windows
    window = next((one for one in windows if one.as_pointer() == _Request.window), None)
    if window is None:
        return None
    if views.is_busy():
        return _WAIT
    with bpy.context.temp_override(window=window):
        context = bpy.context
        ob = armature(context)
        if ob is None or ob.mode == "EDIT" or not seen_motion.is_asked(ob) or not may_read(ob, context.scene):
            return None
        try:
            has_more = seen_motion.refresh(ob, context, _AT_ONCE)
        except scene_state.Disturbed:
            return None  # the panel says so
    views.redraw()
    return _PAUSE if has_more else None


def may_read(ob: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether frames are read without a press of the button: if Blender goes on answering meanwhile."""
    return not seen_motion.known(ob).failed and seen_motion.is_cheap(ob, scene, 10.0 * _AT_ONCE)


def stop() -> None:
    """Read no more."""
    if bpy.app.timers.is_registered(_read_part):
        bpy.app.timers.unregister(_read_part)
