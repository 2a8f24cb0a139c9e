# SPDX-License-Identifier: GPL-3.0-or-later
"""When to solve: Blender's handlers, which armatures they concern, and in which order these are solved.

Handlers read from the evaluated depsgraph and write to the original bones, which Blender then evaluates once more.
State that lasts between frames is stored here under the object's `session_uid`; no ID and no depsgraph is stored.
"""

import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .rig.blender import channels, scene_state
from .rig.blender.dependencies import aims_of
from .rig.frame import following, handler_order, hidden_in_render, learning, rest
from .rig.frame.learning import Lesson
from .rig.frame.simulations import Simulations
from .rig.frame.state import report, versions
from .rig.frame.state.arrivals import Arrivals
from .rig.frame.state.known_answers import KnownAnswers
from .rig.frame.state.report import GoalError, Status
from .rig.frame.state.session import Session
from .rig.frame.step import frame as step
from .rig.frame.step.read import Reading
from .rig.frame.view import View, changed_objects
from .rig.notes import Code, Note, note_of
from .solvers import DqikError


class _Busy:
    """While it is entered, no evaluation is answered: a solve causes them itself."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


@dataclass
class _State:
    """Sessions by object, and what else lasts between frames.

    armatures : those that have goals or hold an answer, and which of them follow which.
    borrowed : gives objects back what they have only for a render's frame.
    arrivals : tells what arrives on their bones from other bones.
    simulations : those that wait until a frame is solved. order : of our handlers and others.
    known : answers that were found before.
    """

    sessions: dict[int, Session] = field(default_factory=dict)
    armatures: following.Armatures = field(default_factory=following.Armatures)
    borrowed: list[Callable[[], None]] = field(default_factory=list)
    arrivals: Arrivals = field(default_factory=Arrivals)
    busy: _Busy = field(default_factory=_Busy)
    suspended: set[int] = field(default_factory=set)
    simulations: Simulations = field(default_factory=Simulations)
    order: handler_order.Order = field(default_factory=handler_order.Order)
    known: KnownAnswers = field(default_factory=KnownAnswers)

    def __post_init__(self) -> None:
        self.armatures.states = (self.sessions, self.arrivals.seen)


_state = _State()


def session_of(ob: bpy.types.Object) -> Session:
    """The session of an armature object, original or evaluated."""
    uid = ob.original.session_uid
    session = _state.sessions.get(uid)
    if session is None:
        session = _state.sessions[uid] = Session(known=_state.known)
    return session


def status(ob: bpy.types.Object) -> Status:
    """The report of the object's last solve."""
    session = _state.sessions.get(ob.original.session_uid)
    if session is None:
        return Status()
    if ob.data.pose_position == "REST":
        return Status(notes=(Note(Code.REST_POSITION),))
    return session.report.status(ob.original)


def forget() -> None:
    """Drop all state that lasts between frames, as if Blender had just started."""
    _state.sessions.clear()
    _state.armatures.forget()
    _state.borrowed.clear()
    _state.arrivals.clear()
    _state.simulations = Simulations(_state.simulations.rendering)
    _state.order = handler_order.Order()
    _state.known.clear()


def touch(ob: bpy.types.Object) -> None:
    """A setting of this armature changed: read everything again, and solve at the next evaluation."""
    if getattr(ob, "type", "") != "ARMATURE":
        return
    versions.mark(ob.original)
    session_of(ob).rig.touch()
    _state.armatures.forget()
    if ob.dqik.live:
        ob.original.update_tag(refresh={"DATA"})


def switch(ob: bpy.types.Object) -> None:
    """Live solving was switched on or off. Switching it off puts the bones back to their base pose."""
    if ob.type != "ARMATURE":
        return
    touch(ob)
    session = session_of(ob)
    session.motion.stop()
    if not ob.dqik.live:
        session.report.clear()
        if ob.pose is not None:
            with _state.busy:
                session.pose.give_back(ob, *_now(ob, session))


def keep(ob: bpy.types.Object) -> None:
    """Switch live solving off and leave the bones as they are now, also those with keys until the next frame."""
    now = channels.read(ob.pose.bones)
    session_of(ob).pose.rebase(ob)
    ob.dqik.live = False
    channels.write(ob, now)
    ob.update_tag(refresh={"OBJECT"})


def solve_once(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Status:
    """Solve an armature at the current frame, write the answer and return the report.

    If live solving is off, the solve starts from the current pose, and the answer stays on the bones.
    """
    session = session_of(ob) if ob.dqik.live else Session(stored=False)
    with _state.busy:
        view = View(depsgraph, depsgraph.scene.frame_current_final, fresh=False)
        _state.armatures.levels(view, _state.suspended)
        step.write_answer(session, ob, step.solve(session, ob, view), view)
    if not ob.dqik.live:
        _state.sessions[ob.session_uid] = session_of(ob).renewed(session.report)
    bpy.context.view_layer.update()
    return session.report.status(ob)


def reset(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Put the bones that the goals move (all bones if there are no goals) to rest; this becomes their base pose.

    They are not held there.
    """
    session = session_of(ob)
    view = View(depsgraph, depsgraph.scene.frame_current_final, fresh=False)
    with _state.busy:
        step.read(session, ob, view)
    rest.put_to_rest(ob, session.rig.rig)
    if ob.dqik.live:
        session.pose.rebase(ob)
    ob.update_tag(refresh={"DATA"})


def natural_pose_refusal(ob: bpy.types.Object) -> Note | None:
    """Why the natural pose does not know this armature's figure; None if it does, or nothing was solved yet."""
    session = _state.sessions.get(ob.original.session_uid)
    return None if session is None else session.rig.natural.refusal


def learn(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, actions: Sequence[str]) -> Lesson | Note:
    """What the natural pose learns from actions of an armature by name, from all of its own if there are none.

    Returns the reason if there is nothing to learn from.
    """
    with aside(ob) as reading, _state.busy:
        start = step.read(reading, ob, View(depsgraph, depsgraph.scene.frame_current_final, fresh=False)).start
        return learning.learn(ob, reading.rig, start, actions)


def unbaked_simulations(scene: bpy.types.Scene) -> list[str]:
    """Names of simulations that follow live armatures of a scene and are not baked: renders do not show them."""
    return _state.simulations.unbaked(scene)


def known_answers() -> KnownAnswers:
    """The answers that live solving has found."""
    return _state.known


# -- frames read for bakes and comparisons -----------------------------------------------------------------------------


def begin_bake(ob: bpy.types.Object, solver: str = "") -> Session:
    """Suspend the handlers of an armature while its frames are read, and return the session to read them with.

    The session starts from the same pose as live solving does, and stores nothing on the bones.
    """
    _state.suspended.add(ob.session_uid)
    reading = Session(solver, stored=False)
    if not solver:
        reading.rig = session_of(ob).rig
    if ob.dqik.live:
        reading.pose = session_of(ob).pose.copy(ob)
    return reading


def bake_frame(reading: Session, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Reading:
    """Read one frame for a bake, as live solving would read it after the change of frame.

    The next frame overwrites its input.
    """
    with _state.busy:
        view = View(depsgraph, depsgraph.scene.frame_current_final, fresh=True)
        if len(_state.armatures.places()) > 1:  # only then may others follow it
            _state.armatures.levels(view, _state.suspended)
        return step.read(reading, ob, view)


def shown_errors(reading: Session, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[GoalError, ...]:
    """How far the pose that Blender shows at this frame misses each goal.

    If Live is off, goals with an influence below 1 are left out: their targets depend on a pose that is not solved.
    reading : the session to read frames with if Live is off; it stores nothing.
    """
    if ob.dqik.live:
        return status(ob).goals
    found = bake_frame(reading, ob, depsgraph).frame_input
    if found is None:
        return ()
    return report.shown_errors(ob.evaluated_get(depsgraph), found.rig, found.prepared, found.targets)


@contextmanager
def aside(ob: bpy.types.Object, solver: str = "") -> Generator[Session]:
    """A session to read an armature's frames with, for a bake or a comparison; live solving pauses meanwhile."""
    uid = ob.session_uid  # a handler may remove the object meanwhile
    try:
        yield begin_bake(ob, solver)
    finally:
        _state.suspended.discard(uid)


# -- handlers ----------------------------------------------------------------------------------------------------------


@persistent
def _before_frame(scene: bpy.types.Scene, *_: object) -> None:
    _on_rendered()
    _state.order.begin("frame_change_post", _on_frame)
    _note_poses()
    _state.simulations.wait(scene, _state.suspended)


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    try:
        if depsgraph is not None:
            _solve_live(depsgraph, scene.frame_current_final, None)
    finally:
        _state.simulations.go_on()
        _state.order.end("frame_change_post")
        handler_order.put_first("frame_change_pre", _before_frame)


@persistent
def _before_update(*_: object) -> None:
    _on_rendered()
    if not _state.busy.depth:
        _state.order.begin("depsgraph_update_post", _on_update)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if _state.busy.depth:
        return
    _state.order.end("depsgraph_update_post")
    if depsgraph is None or not _state.armatures.places():
        return
    moved = changed_objects(depsgraph)
    with _state.busy:
        arrived = _look_at_arrivals(depsgraph, moved)
    _solve_live(depsgraph, scene.frame_current_final, moved)
    for ob in arrived:
        _state.arrivals.note(ob)


@persistent
def _on_rendered(*_: object) -> None:
    """A frame has been rendered, or is followed by another evaluation: what was set for it goes back."""
    if _state.busy.depth:
        return
    while _state.borrowed:
        with suppress(ReferenceError):  # the object was removed
            _state.borrowed.pop()()


@persistent
def _on_render_start(*arguments: object) -> None:
    _state.simulations.rendering = True
    hidden_in_render.include(*arguments)


@persistent
def _on_render_end(*_: object) -> None:
    _state.simulations.rendering = False
    _on_rendered()
    hidden_in_render.remove()


@persistent
def _on_save(*_: object) -> None:
    _state.simulations.go_on()


@persistent
def _on_forget(*_: object) -> None:
    """After undo and redo, most of the state is out of date."""
    renewed = {uid: session.renewed() for uid, session in _state.sessions.items()}
    forget()
    _state.sessions.update(renewed)


@persistent
def _on_load(*_: object) -> None:
    forget()
    hidden_in_render.remove()
    places = _state.armatures.places()  # brings what earlier versions have stored up to the present one
    if bpy.app.background and any(bpy.data.objects[place].dqik.live for place, _ in places):
        scene_state.visit(bpy.context.scene, bpy.context.scene.frame_current_final)  # here nothing else calls handlers


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
    handler_order.put_first("frame_change_pre", _before_frame)


def unregister() -> None:
    """Remove the handlers, and put every armature back to its base pose."""
    _state.simulations.go_on()
    for name, handler in _HANDLERS.items():
        installed = getattr(bpy.app.handlers, name)
        if handler in installed:
            installed.remove(handler)
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and ob.dqik.has_base:
            session_of(ob).pose.give_back(ob, *_now(ob, session_of(ob)))
    forget()


# -- inside ------------------------------------------------------------------------------------------------------------


def _solve_live(depsgraph: bpy.types.Depsgraph, now: float, moved: set[int] | None) -> None:
    """Solve the live armatures that a depsgraph evaluates and write their answers, leaders before followers.

    moved : `session_uid` of the objects that an edit moved; None after a change of frame.
    """
    suspended = _state.suspended
    if _state.busy.depth or (suspended and suspended.issuperset(uid for _, uid in _state.armatures.places())):
        return
    with _state.busy:
        view = View(depsgraph, now, fresh=moved is None)
        name, handler = ("frame_change_post", _on_frame) if moved is None else ("depsgraph_update_post", _on_update)
        if handler_order.others_before(name, handler):
            changed = view.evaluate_and_note()  # what the handlers before this one have changed
            moved = None if moved is None else moved | changed
        solved: set[int] = set()
        levels = _state.armatures.levels(view, _state.suspended)
        for level in levels:
            if solved:
                view.evaluate()
            solved |= _solve_level(level, view, None if moved is None else moved | solved)
            _state.borrowed += view.borrowed
            view.borrowed.clear()
        _state.simulations.solved(view, [ob for level in levels for ob, live in level if live])


def _solve_level(level: list[tuple[bpy.types.Object, bool]], view: View, moved: set[int] | None) -> set[int]:
    """Solve armatures that do not follow each other, then write all answers; the `session_uid` of those written."""
    answers: list[tuple[bpy.types.Object, Session, step.Answer]] = []
    for ob, live in level:
        session = session_of(ob)
        if ob.session_uid in _state.suspended or (moved is not None and not _concerned(ob, session, moved)):
            continue
        try:
            answers.append((ob, session, step.solve(session, ob, view, active=live)))
        except Exception as error:
            _give_up(ob, session, error)
    for ob, session, answer in answers:
        step.write_answer(session, ob, answer, view)
    return {ob.session_uid for ob, _, _ in answers}


def _look_at_arrivals(depsgraph: bpy.types.Depsgraph, moved: set[int]) -> list[bpy.types.Object]:
    """Put right what has arrived on bones of moved objects from other bones; returns those that were looked at.

    Their evaluated copies are put right too, because these are solved next.
    """
    looked = []
    for place, uid in _state.armatures.places():
        ob = bpy.data.objects[place]
        if ob.pose is None or ob.mode == "EDIT" or ob.library is not None:
            continue  # in Edit Mode bones and pose do not agree
        if uid in moved or not _state.arrivals.knows(uid):
            _state.arrivals.look(ob, session_of(ob).pose, depsgraph)
            looked.append(ob)
    return looked


def _note_poses() -> None:
    """Note the poses before a change of frame, if handlers of others may change them together with the frame."""
    if _state.busy.depth or not (handler_order.others("frame_change_pre") or handler_order.others("frame_change_post")):
        return
    first = not handler_order.others_before("frame_change_pre", _before_frame)
    for place, uid in _state.armatures.places():
        if uid in _state.sessions and uid not in _state.suspended:
            _state.sessions[uid].pose.note_arrival(bpy.data.objects[place] if first else None)


def _concerned(ob: bpy.types.Object, session: Session, moved: set[int]) -> bool:
    """Whether an armature, one that it follows or one of its targets moved, or one of its settings changed."""
    follows = _state.armatures.followed(ob.session_uid)
    return session.rig.stale or not follows.isdisjoint(moved) or any(
        target.session_uid in moved for target, _ in aims_of(ob)
    )


def _now(ob: bpy.types.Object, session: Session) -> tuple[tuple[np.ndarray, np.ndarray] | None, View | None]:
    """The unanimated channels and the view at the context's frame, for `PoseMemory.give_back`."""
    layer = getattr(bpy.context, "view_layer", None)
    depsgraph = None if layer is None else layer.depsgraph
    if depsgraph is None:
        return None, None
    view = View(depsgraph, bpy.context.scene.frame_current_final, fresh=False)
    session.rig.look(ob, ob, view)
    return session.rig.free, view


def _give_up(ob: bpy.types.Object, session: Session, error: Exception) -> None:
    """Switch live solving off for this armature and report the reason; playback continues."""
    note = note_of(error)
    if not isinstance(error, DqikError):
        traceback.print_exc()
        note = Note(Code.SWITCHED_OFF, str(error))
    ob.dqik.live = False
    session.report.clear(note)
