# SPDX-License-Identifier: GPL-3.0-or-later
"""When to solve: Blender's handlers, which armatures they concern, and in which order these are solved.

Handlers read from the evaluated depsgraph and write to the original bones, which Blender then evaluates once more. All
handlers of DQIK are here; other modules give functions for them to call (`after_update`, `after_undo`).

A handler of another add-on may move a target after each change of frame or update. So the handlers that solve come last
in their lists, and the one that prepares a change of frame comes first. Blender walks a list by position: a list may
only be reordered while it is not walked.
"""

import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import bpy
from bpy.app.handlers import persistent

from .rig.bake import whole_shot
from .rig.blender import scene_state
from .rig.clip import seen_motion
from .rig.frame import commands, hidden_in_render
from .rig.frame.memory import versions
from .rig.frame.read.view import View, changed_actions, changed_objects, note_changed
from .rig.frame.sessions import sessions
from .rig.frame.step import frame as step
from .rig.frame.step.session import Session
from .rig.notes import Note, note_of
from .rig.overlay import preview
from .rig.shot import holds as shot_holds
from .rig.shot import mirrored_paste
from .solvers import DqikError

after_update: list[Callable[[], None]] = []
"""Called after each update of the depsgraph that no solve has caused."""

after_undo: list[Callable[[], None]] = []
"""Called after undo and redo."""

_STEP = 1.0 / 60.0  # seconds between the steps of a pose on its way to the frame's own answer

_walked: set[str] = set()  # the lists of handlers that are about to be walked, or are being walked
_in_change: set[int] = set()  # `session_uid` of armatures whose settings are being made
_borrowed: list[Callable[[], None]] = []  # gives objects back what they have only for a render's frame


def forget(undone: bool = False) -> None:
    """Drop all state that lasts between frames, as if Blender had just started. `undone` : but what undo leaves."""
    if undone:
        sessions.renew()
    else:
        sessions.forget()
        preview.forget()
    seen_motion.forget()
    _walked.clear()
    _borrowed.clear()


@contextmanager
def at_once(ob: bpy.types.Object) -> Generator[None]:
    """Lets all settings of an armature that are made inside count as one change, at the end."""
    versions.mark(ob)  # first: where Blender evaluates on the way, what is made is none of an earlier version's
    _in_change.add(ob.session_uid)
    try:
        with sessions.busy:
            yield
    finally:
        _in_change.discard(ob.session_uid)
        touch(ob)


def touch(ob: bpy.types.Object) -> None:
    """A setting of this armature changed: read everything again, and solve at the next evaluation."""
    if getattr(ob, "type", "") != "ARMATURE" or ob.session_uid in _in_change:
        return
    versions.mark(ob.original)
    sessions.of(ob).rig.touch()
    sessions.armatures.forget()
    if ob.dqik.live:
        ob.original.update_tag(refresh={"DATA"})


def solve_again(ob: bpy.types.Object, context: bpy.types.Context) -> None:
    """Solve the present frame of an armature, whose answer may be another one now, and have Blender show it."""
    _solve_live(context.evaluated_depsgraph_get(), context.scene.frame_current_final, {ob.session_uid})
    with sessions.busy:  # what this evaluates is no edit
        context.view_layer.update()


def switch(ob: bpy.types.Object) -> None:
    """Live solving was switched on or off. Switching it off puts the bones back to their base pose."""
    if ob.type != "ARMATURE":
        return
    touch(ob)
    session = sessions.of(ob)
    session.motion.stop()
    if not ob.dqik.live:
        session.report.clear()
        if ob.pose is not None:
            commands.give_back(ob)


# -- handlers ----------------------------------------------------------------------------------------------------------


@persistent
def _before_frame(scene: bpy.types.Scene, *_: object) -> None:
    _on_rendered()
    _put_last("frame_change_post")
    others = _others_change_frames()
    if others and not sessions.busy.depth:
        sessions.note_poses(untouched=not _others_came_before("frame_change_pre"))
    elif not (others or sessions.busy.depth or sessions.simulations.rendering):
        _show_again(scene)
    sessions.simulations.wait(scene, sessions.suspended)


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    try:
        if depsgraph is not None:
            _solve_live(depsgraph, scene.frame_current_final, None)
            if depsgraph.mode == "VIEWPORT" and not sessions.busy.depth:
                sessions.note_switches()
    finally:
        sessions.simulations.go_on()
        _walked.discard("frame_change_post")
        _put_first("frame_change_pre")


@persistent
def _before_update(*_: object) -> None:
    _on_rendered()
    if not sessions.busy.depth:
        _put_last("depsgraph_update_post")


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if sessions.busy.depth:
        if depsgraph is not None:
            note_changed(depsgraph)
        return
    _walked.discard("depsgraph_update_post")
    for function in after_update:
        function()
    has_shots = sessions.has_shots
    edited = depsgraph is not None and seen_motion.note_change(depsgraph, has_shots)
    if depsgraph is None or not sessions.armatures.places():
        return
    keyed = changed_actions(depsgraph) if edited and has_shots and not sessions.suspended else None
    moved = changed_objects(depsgraph) | sessions.keyed_after_posing(depsgraph)
    with sessions.busy:
        arrived = sessions.look_at_arrivals(depsgraph, moved)
        for ob in arrived:
            mirrored_paste.key(ob, depsgraph)
    _solve_live(depsgraph, scene.frame_current_final, moved, keyed)
    for ob in arrived:
        with sessions.busy:
            mirrored_paste.keep(ob, depsgraph)
        sessions.of(ob).arrivals.settle(ob, sessions.of(ob).pose)
    if not bpy.app.background and not bpy.app.timers.is_registered(_go_on) and sessions.on_the_way():
        bpy.app.timers.register(_go_on, first_interval=_STEP)


def _go_on() -> float | None:
    """Have armatures solved again whose pose is on its way to the frame's own answer; None once all have arrived.

    They go on by a step in a drag, and by the rest of the way after it.
    """
    going = sessions.on_the_way()
    for ob in going:
        ob.update_tag()
    return _STEP if going else None


@persistent
def _on_rendered(*_: object) -> None:
    """A frame has been rendered, or is followed by another evaluation: what was set for it goes back."""
    if sessions.busy.depth:
        return
    while _borrowed:
        with suppress(ReferenceError):  # the object was removed
            _borrowed.pop()()


@persistent
def _on_render_start(scene: bpy.types.Scene, *_: object) -> None:
    sessions.simulations.rendering = True
    if bpy.app.background:  # in a window, what is not solved yet is said where renders start
        for ob in whole_shot.armatures():
            with suppress(DqikError):  # it is too long: each of its frames is solved alone, and the panel says so
                for _share in whole_shot.finish(bpy.context, ob):
                    pass
    hidden_in_render.include(scene)


@persistent
def _on_render_end(*_: object) -> None:
    sessions.simulations.rendering = False
    _on_rendered()
    hidden_in_render.remove()


@persistent
def _on_save(*_: object) -> None:
    sessions.simulations.go_on()


@persistent
def _on_forget(*_: object) -> None:
    """After undo and redo, most of the state is out of date."""
    forget(undone=True)
    sessions.follow_renames()  # a step of Blender's may have the bone's new name, but not yet ours
    for function in after_undo:
        function()


@persistent
def _on_load(*_: object) -> None:
    forget()
    hidden_in_render.remove()
    places = sessions.armatures.places()  # brings what earlier versions have stored up to the present one
    sessions.follow_renames()
    if not any(bpy.data.objects[place].dqik.live for place, _ in places):
        return
    if bpy.app.background:
        scene_state.visit(bpy.context.scene, bpy.context.scene.frame_current_final)  # here nothing else calls handlers
    else:
        bpy.app.timers.register(_solve_opened)


def _solve_opened() -> None:
    """Have a file that was opened solved: a window evaluates it without calling handlers, and goes on after that."""
    for place, _ in sessions.armatures.places():
        bpy.data.objects[place].update_tag()


_HANDLERS: dict[str, Callable] = {
    "frame_change_post": _on_frame,
    "depsgraph_update_post": _on_update,
    "frame_change_pre": _before_frame,
    "depsgraph_update_pre": _before_update,
    "render_init": _on_render_start,
    "render_post": _on_rendered,
    "render_complete": _on_render_end,
    "render_cancel": _on_render_end,
    "save_pre": _on_save,
    "load_post": _on_load,
    "undo_post": _on_forget,
    "redo_post": _on_forget,
}


def register() -> None:
    """Install the handlers."""
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)
    _put_first("frame_change_pre")


def unregister() -> None:
    """Remove the handlers, and put every armature back to its base pose."""
    if bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.unregister(_go_on)
    sessions.simulations.go_on()
    for name, handler in _HANDLERS.items():
        installed = getattr(bpy.app.handlers, name)
        if handler in installed:
            installed.remove(handler)
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and ob.dqik.has_base:
            commands.give_back(ob)
    forget()


# -- inside ------------------------------------------------------------------------------------------------------------


def _put_last(name: str) -> None:
    """Move our handler to the end of a list that Blender walks next, unless it is walked already.

    It moves once before each walk at most, so two add-ons that both want to be last do not block each other.
    """
    handlers, handler = getattr(bpy.app.handlers, name), _HANDLERS[name]
    if name not in _walked and handler in handlers[:-1]:
        handlers.remove(handler)
        handlers.append(handler)
    _walked.add(name)


def _put_first(name: str) -> None:
    """Move our handler to the start of a list that is not walked now."""
    handlers, handler = getattr(bpy.app.handlers, name), _HANDLERS[name]
    if handler in handlers[1:]:
        handlers.remove(handler)
        handlers.insert(0, handler)


def _others_came_before(name: str) -> bool:
    """Whether other handlers were called before ours in a walk, and may have changed something."""
    handlers = getattr(bpy.app.handlers, name)
    return bool(handlers) and handlers[0] is not _HANDLERS[name]


def _others_change_frames() -> bool:
    """Whether other add-ons have handlers that may change anything together with the frame."""
    return len(bpy.app.handlers.frame_change_pre) > 1 or len(bpy.app.handlers.frame_change_post) > 1


def _show_again(scene: bpy.types.Scene) -> None:
    """Give armatures what they showed last at a scene's new frame, if Blender evaluates them there in any case."""
    ready = {uid for uid, one in sessions.by_uid.items() if uid not in sessions.suspended and step.may_show_again(one)}
    for place, uid in sessions.armatures.places() if ready else ():
        ob = bpy.data.objects[place]
        if uid in ready and ob.dqik.live and ob.pose is not None:
            step.show_again(sessions.by_uid[uid], ob, scene)


def _solve_live(
    depsgraph: bpy.types.Depsgraph, now: float, moved: set[int] | None, keyed: set[int] | None = None
) -> None:  # fmt: skip
    """Solve the live armatures that a depsgraph evaluates and write their answers, leaders before followers.

    moved : `session_uid` of the objects that an edit moved; None after a change of frame.
    keyed : `session_uid` of the actions that it changed; None if no shot may ask something else since.
    """
    suspended = sessions.suspended
    if sessions.busy.depth or (suspended and suspended.issuperset(uid for _, uid in sessions.armatures.places())):
        return
    with sessions.busy:
        view = View(depsgraph, now, fresh=moved is None, borrowed=_borrowed, is_whole=not suspended)
        if view.edited and sessions.follow_renames():
            view.evaluate()
        # what the handlers before this one have changed, and in an update what arrivals and migrations have mended
        if moved is not None or _others_came_before("frame_change_post"):
            changed = view.evaluate_and_note()
            moved = None if moved is None else moved | changed
        solved: set[int] = set()
        levels = sessions.armatures.levels(view, sessions.suspended)
        if keyed is not None and moved is not None:
            changed = None if _others_change_frames() else sessions.scope.of(view, moved, keyed)
            sessions.doubt_shots(changed, [ob for level in levels for ob, _ in level], view)
        for level in levels:
            if solved:
                view.evaluate()
            solved |= _solve_level(level, view, None if moved is None else moved | solved)
        sessions.simulations.solved(view, [ob for level in levels for ob, live in level if live])


def _solve_level(level: list[tuple[bpy.types.Object, bool]], view: View, moved: set[int] | None) -> set[int]:
    """Solve armatures that do not follow each other, then write all answers; the `session_uid` of those written."""
    answers: list[tuple[bpy.types.Object, Session, step.FrameAnswer]] = []
    for ob, live in level:
        session = sessions.of(ob)
        if ob.session_uid in sessions.suspended or (moved is not None and not sessions.concerns(ob, moved)):
            continue
        try:
            answers.append((ob, session, step.solve(session, ob, view, active=live)))
        except Exception as error:
            _give_up(ob, session, error)
    for ob, session, answer in answers:
        step.write_answer(session, ob, answer, view)
        if not view.fresh and ob.dqik.live and shot_holds.notice(session, ob, view):
            view.evaluate()  # or Blender shows the new keys instead of the answer
            step.write_answer(session, ob, step.solve(session, ob, view), view)
    return {ob.session_uid for ob, _, _ in answers}


def _give_up(ob: bpy.types.Object, session: Session, error: Exception) -> None:
    """Switch live solving off for this armature and report the reason; playback continues."""
    note = note_of(error)
    if not isinstance(error, DqikError):
        traceback.print_exc()
        note = Note("Switched off after an error: {}", str(error))
    ob.dqik.live = False
    session.report.clear(note)
