# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Shot*: the frames that the timeline plays are read and solved as one motion while the user works."""

import bpy

from ... import live
from ...rig.bake import whole_shot
from ...rig.blender import scene_state, views
from ...rig.clip import seen_motion
from ...rig.frame.sessions import sessions
from ...rig.notes import Note, Refused, note_of
from ...solvers import DqikError
from ..common import Steps, Tool

_AT_ONCE = 0.1  # seconds that reading may take, between which Blender answers the user
_PAUSE, _WAIT = 0.02, 0.25  # seconds between two parts, and after an edit


class DQIK_OT_solve_shot(Tool, bpy.types.Operator):
    """Solve all frames that the timeline plays as one motion now"""

    bl_label = "Solve Shot"
    on_goals = True
    stores = False

    doing = Note("Solving the shot")
    stopped = Note("Stopped. The rest of the shot is solved while you work")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        if ob.dqik.start_from != "SHOT":
            raise Refused(Note("Set Start From to Shot first"))
        yield from whole_shot.finish(context, ob)
        live.solve_again(ob, context)
        count = len(sessions.of(ob).motion.shot.asked())
        return Note("{} frames are solved as one motion", count)


_solving: dict[int, whole_shot.ShotSolving] = {}  # by the `session_uid` of the armature


def look() -> None:
    """Go on with shots that are not solved as soon as the user pauses."""
    if not bpy.app.background and whole_shot.armatures() and not bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.register(_go_on, first_interval=_WAIT)


def stop() -> None:
    """Solve no more."""
    if bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.unregister(_go_on)
    while _solving:
        _solving.popitem()[1].stop()


def _go_on() -> float | None:
    """Read or solve some frames; returns after how many seconds to go on, None if all is done."""
    if views.is_busy():
        return _WAIT
    context, waits = bpy.context, False
    for ob in whole_shot.armatures():
        if context.view_layer.objects.get(ob.name) is None:
            continue
        try:
            waits |= _work_on(context, ob)
        except (scene_state.Disturbed, DqikError) as error:
            sessions.of(ob).report.clear(note_of(error))  # the panel says so; it is tried again after the next edit
    return _PAUSE if waits else None


def _work_on(context: bpy.types.Context, ob: bpy.types.Object) -> bool:
    """Read or solve some frames of an armature's shot; returns whether there is more to do.

    Raises `scene_state.Disturbed`, and errors of the solvers.
    """
    solving, shot = _solving.get(ob.session_uid), sessions.of(ob).motion.shot
    if solving is not None:
        if not solving.is_done():
            return True
        _solving.pop(ob.session_uid).stop()
        whole_shot.solved(ob)
        seen_motion.outdate(ob)
        live.solve_again(ob, context)
        views.redraw()
    if sessions.simulations.unbaked(context.scene):  # these step with the frames: only the button visits them
        return False
    for _ in whole_shot.read(context, ob, _AT_ONCE):
        pass
    if shot.unread():
        return True
    if shot.share == 1.0:
        return False
    _solving[ob.session_uid] = whole_shot.ShotSolving(ob, context.scene)
    return True


def register() -> None:
    """Hear of edits."""
    live.after_update.append(look)


def unregister() -> None:
    """Hear of none, and solve no more."""
    live.after_update.remove(look)
    stop()
