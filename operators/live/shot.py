# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Shot*: the frames that the timeline plays are read and solved as one motion while the user works."""

from collections.abc import Sequence

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
_PAUSE, _WAIT = 0.02, 0.1  # seconds between two parts, and after an edit
_THREADS = 2  # shots that are solved at a time


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
        count = len(sessions.of(ob).motion.shot.asked()[0])
        return Note("{} frames are solved as one motion", count)


_solving: dict[int, whole_shot.ShotSolving] = {}  # by the `session_uid` of the armature
_shown: list[float] = []  # how much of each shot is solved, as the panels show it


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
    context, obs = bpy.context, whole_shot.armatures()
    for uid in _solving.keys() - {ob.session_uid for ob in obs}:  # removed, or of a file that was open before
        _solving.pop(uid).stop()
    if (shares := [ob.dqik.status.shot for ob in obs]) != _shown:
        _shown[:] = shares
        views.redraw()
    for group in whole_shot.groups([ob for ob in obs if context.view_layer.objects.get(ob.name)]):
        if _work_on(context, group):
            return _PAUSE  # those that follow these come later
    return None


def _work_on(context: bpy.types.Context, group: Sequence[bpy.types.Object]) -> bool:
    """Read or solve some frames of the shots of armatures; returns whether there is more to do.

    What cannot be done is said in the panel, and tried again after the next edit.
    """
    failed = [ob for ob in group if not _go_on_after_solving(context, ob)]
    if sessions.simulations.unbaked(context.scene):  # these step with the frames: only the button visits them
        return any(ob.session_uid in _solving for ob in group)
    try:
        for _ in whole_shot.read(context, group, _AT_ONCE):
            pass
    except (scene_state.Disturbed, DqikError) as error:
        for ob in group:
            sessions.of(ob).report.clear(note_of(error))
        return False
    waits = False
    for ob in group:
        shot = sessions.of(ob).motion.shot
        unanswered = 0 if ob in failed else shot.unanswered
        if unanswered and ob.session_uid not in _solving and len(_solving) < _THREADS:
            _solving[ob.session_uid] = whole_shot.ShotSolving(ob, context.scene)
        waits |= bool(unanswered or shot.unread()) or ob.session_uid in _solving
    return waits


def _go_on_after_solving(context: bpy.types.Context, ob: bpy.types.Object) -> bool:
    """Show an armature's shot, if it was solved; returns whether nothing has failed."""
    solving = _solving.get(ob.session_uid)
    if solving is None or not solving.has_ended:
        return True
    _solving.pop(ob.session_uid).stop()
    try:
        solving.is_done()
    except DqikError as error:
        sessions.of(ob).report.clear(note_of(error))
        return False
    whole_shot.solved(ob)
    seen_motion.outdate(ob)
    live.solve_again(ob, context)
    views.redraw()
    return True


def register() -> None:
    """Hear of edits."""
    live.after_update.append(look)


def unregister() -> None:
    """Hear of none, and solve no more."""
    live.after_update.remove(look)
    stop()
