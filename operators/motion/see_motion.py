# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the motion that ghosts and arcs show: at once on demand, or part by part while Blender waits for the user."""

import bpy

from ...rig.blender import scene_state, views
from ...rig.clip import seen_motion
from ...rig.notes import Note
from ..common import ArmatureOperator, armature

_AT_ONCE = 0.1  # seconds that a part may take, between which Blender answers the user
_PAUSE = 0.02  # seconds between two parts
_WAIT = 0.25  # seconds after a change
_JOBS = ("RENDER", "OBJECT_BAKE")  # that visit frames themselves


class _State:
    window = 0  # the address of the window whose view asks for frames


class DQIK_OT_see_motion(ArmatureOperator, bpy.types.Operator):
    """Read the motion for ghosts and arcs anew, all frames that the timeline plays"""

    stores = False

    bl_idname = "dqik.see_motion"
    bl_label = "Read Motion"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read all frames that are missing, or have changed."""
        ob = armature(context)
        if not seen_motion.is_asked(ob):
            self.tell({"ERROR"}, Note("Switch Ghosts or Arcs on first"))
            return {"CANCELLED"}
        try:
            while seen_motion.refresh(ob, context):
                pass
        except scene_state.Disturbed as disturbed:
            self.tell({"ERROR"}, disturbed.note)
            return {"CANCELLED"}
        views.redraw()
        return {"FINISHED"}


def ask(context: bpy.types.Context) -> None:
    """Read the missing frames of the window's active armature as soon as the user pauses."""
    _State.window = context.window.as_pointer()
    if not bpy.app.timers.is_registered(_read_part):
        bpy.app.timers.register(_read_part, first_interval=_WAIT)


def _read_part() -> float | None:
    """Read some frames of what is asked for; returns after how many seconds to go on, None if it is done."""
    windows = bpy.context.window_manager.windows
    window = next((one for one in windows if one.as_pointer() == _State.window), None)
    if window is None:
        return None
    if any(_is_busy(one) for one in windows) or any(map(bpy.app.is_job_running, _JOBS)):
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


def _is_busy(window: bpy.types.Window) -> bool:
    """Whether a window plays, or an operator drags something: frames must not be visited then."""
    return window.screen.is_animation_playing or window.screen.is_scrubbing or len(window.modal_operators) > 0


def stop() -> None:
    """Read no more."""
    if bpy.app.timers.is_registered(_read_part):
        bpy.app.timers.unregister(_read_part)


CLASSES = (DQIK_OT_see_motion,)
