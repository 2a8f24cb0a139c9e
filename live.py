# SPDX-License-Identifier: GPL-3.0-or-later
"""When to solve: on every change of frame, and when a target or a bone is moved.

Handlers read through the evaluated depsgraph and write to the original bones, which Blender then evaluates once more
by itself. What is kept between frames is kept here, by the object's `session_uid`: never an ID, never a depsgraph.
"""

import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import bpy
from bpy.app.handlers import persistent

from .rig import base_pose, channels, playback, rotation, steady
from .rig.build import Rig
from .rig.channels import Channels
from .rig.compare import Row
from .rig.read import FrameInput, SolvedPose
from .rig.session import Session, Status, apply, follows, give_back, prepare, read_frame, solve_frame
from .solvers import DqikError

DEFAULT_SOLVER = "PGS"


@dataclass
class _State:
    """Sessions by object; armatures that have goals: name, library, session_uid, looked for when objects change."""

    sessions: dict[int, Session] = field(default_factory=dict)
    candidates: list[tuple[str, str | None, int]] = field(default_factory=list)
    object_count: int = -1
    busy: bool = False
    suspended: set[int] = field(default_factory=set)

    def clear(self) -> None:
        self.sessions.clear()
        self.candidates.clear()
        self.object_count = -1
        self.busy = False


_state = _State()


def session(ob: bpy.types.Object) -> Session:
    """The session of an armature object, original or evaluated."""
    uid = ob.original.session_uid
    known = _state.sessions.get(uid)
    if known is None:
        known = _state.sessions[uid] = Session()
    return known


def status(ob: bpy.types.Object) -> Status:
    """The report of the object's last solve."""
    known = _state.sessions.get(ob.original.session_uid)
    return Status() if known is None else known.status


def touch(ob: bpy.types.Object) -> None:
    """A setting of this armature changed: prepare it anew, and solve at the next evaluation."""
    if getattr(ob, "type", "") != "ARMATURE":
        return
    session(ob).stale = True
    _state.object_count = -1
    if ob.dqik.live:
        ob.update_tag(refresh={"DATA"})


def switch(ob: bpy.types.Object) -> None:
    """Live solving went on or off: capture the base pose, or give it back."""
    if ob.type != "ARMATURE":
        return
    touch(ob)
    known = session(ob)
    known.previous = None
    if ob.dqik.live and not known.was_live:
        known.was_live = True
        if not ob.dqik.has_base:
            base_pose.capture(ob, known)
    elif not ob.dqik.live and (known.was_live or ob.dqik.has_base):
        known.was_live = False
        base_pose.restore(ob, known)


def solve_once(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, frame: float) -> Status:
    """Solve an armature at the present frame and write the answer; the report says what came of it.

    Without live solving the start is the pose as it stands.
    """
    known = session(ob)
    if not ob.dqik.live:
        known.forget_pose()
    known.now = None
    answer = solve_frame(ob, known, depsgraph, False, frame)
    if answer is not None:
        apply(ob, known, answer)
    if not ob.dqik.live:
        known.forget_pose()
    return known.status


def reset(ob: bpy.types.Object) -> None:
    """Put the bones that the goals move to the rest pose, all bones where there are no goals; it is the new base."""
    known = session(ob)
    rig = prepare(ob, known, check=True)
    moved = set(range(len(ob.pose.bones))) if isinstance(rig, str) else set(map(int, rig.solved_bones))
    slid = moved if isinstance(rig, str) else {int(rig.bones[row]) for row in rig.slide_row}
    for index in moved:
        bone = ob.pose.bones[index]
        path = rotation.PATHS[bone.rotation_mode]
        setattr(bone, path, rotation.NO_ROTATION[bone.rotation_mode][: rotation.SIZES[bone.rotation_mode]])
        if index in slid:
            bone.location = (0.0, 0.0, 0.0)
    if ob.dqik.live:
        base_pose.keep(ob, known)
    ob.update_tag(refresh={"DATA"})


def begin_bake(ob: bpy.types.Object) -> None:
    """Keep the handlers off an armature while a bake reads its frames."""
    _state.suspended.add(ob.session_uid)
    known = session(ob)
    known.stale, known.reading = True, None
    if not ob.dqik.live:
        known.forget_pose()


def bake_frame(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[Rig | str, FrameInput | None, Channels | None]:
    """One frame's input for a bake, as live solving would read it after the change of frame.

    Where keys leave nothing to solve at this frame there is no input, but the channels are those without us. The
    channels stay as they are; frames that start from the same ones may share them.
    """
    known = session(ob)
    if known.reading is not None:
        reader, base = known.reading
        if reader.read(ob, known, ob.evaluated_get(depsgraph), depsgraph):
            return reader.given.rig, reader.frame(), base
        known.reading = None
    rig, given, base = read_frame(ob, known, depsgraph, fresh=True)
    if given is None and known.animation is not None and known.animation.settings:
        posed = channels.read(ob.evaluated_get(depsgraph).pose.bones, known.groups)
        base = base_pose.without_answer(ob, known, posed, fresh=True)
    base = None if base is None else base.copy()
    if given is not None and base is not None:
        reader = steady.reader(ob, known, given)
        known.reading = None if reader is None else (reader, base)
    return rig, given, base


def end_bake(ob: bpy.types.Object) -> None:
    """Undo `begin_bake`."""
    _state.suspended.discard(ob.session_uid)
    known = session(ob)
    known.previous = known.reading = None
    if not ob.dqik.live:
        known.forget_pose()


@contextmanager
def aside(ob: bpy.types.Object) -> Generator[None]:
    """While an armature's frames are read for something other than its pose: handlers are kept off it.

    Frames are read with a solver that takes any goals. What is remembered of the armature is as before afterwards.
    """
    uid, known = ob.session_uid, session(ob)
    _state.suspended.add(uid)
    _state.sessions[uid] = replace(known, stale=True, solver=DEFAULT_SOLVER, playing=None, reading=None)
    if not ob.dqik.live:
        _state.sessions[uid].forget_pose()
    try:
        yield
    finally:
        _state.suspended.discard(uid)
        _state.sessions[uid] = known


def comparison(ob: bpy.types.Object) -> Sequence[Row]:
    """What the last comparison of solvers on this armature found."""
    known = _state.sessions.get(ob.original.session_uid)
    return () if known is None else known.comparison


# -- handlers ----------------------------------------------------------------------------------------------------------


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if depsgraph is not None:
        _solve_live(scene, depsgraph, True, None)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if depsgraph is None or _state.busy or not _candidates():
        return
    if steady.edited(depsgraph):
        for known in _state.sessions.values():
            known.doubt()
    moved = {update.id.original.session_uid for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}
    _solve_live(scene, depsgraph, False, moved)


@persistent
def _on_forget(*_: object) -> None:
    """After undo, redo or a new file every reference and every cache is out of date."""
    kept = {uid: Session(report=k.status, comparison=k.comparison) for uid, k in _state.sessions.items()}
    _state.clear()
    _state.sessions.update(kept)


_HANDLERS = {
    "frame_change_post": _on_frame,
    "depsgraph_update_post": _on_update,
    "load_post": _on_forget,
    "undo_post": _on_forget,
    "redo_post": _on_forget,
}


def register() -> None:
    """Install the handlers."""
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Take the handlers out again, and give every live armature its base pose back."""
    for name, handler in _HANDLERS.items():
        installed = getattr(bpy.app.handlers, name)
        if handler in installed:
            installed.remove(handler)
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and (ob.dqik.has_base or session(ob).was_live):
            base_pose.restore(ob, session(ob))
    _state.clear()


# -- inside ------------------------------------------------------------------------------------------------------------


def _solve_live(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, fresh: bool, moved: set[int] | None) -> None:
    """Solve the scene's live armatures, those that others' targets follow first, then write all answers.

    fresh : after a change of frame. moved : session_uids of the objects that an edit moved; None for all.
    """
    if _state.busy:
        return
    _state.busy = True
    try:
        armatures, linked = _followed_first(_live_armatures(scene, depsgraph, fresh), fresh)
        solved: dict[int, SolvedPose] | None = {} if linked else None
        answers: list[tuple[bpy.types.Object, Session, Channels]] = []
        for ob in armatures:
            known = session(ob)
            if moved is not None and not _concerned(ob, known, moved | set(solved or ())):
                continue
            try:
                if fresh and solved is None and _steadily(ob, known, depsgraph, scene.frame_current_final):
                    continue
                known.was_live, known.now = True, None
                if depsgraph.mode == "VIEWPORT":
                    if not ob.dqik.has_base:  # switched on by keys
                        base_pose.capture(ob, known)
                    base_pose.adopt_edits(ob, known, fresh)
                answer = solve_frame(ob, known, depsgraph, fresh, scene.frame_current_final, solved)
            except Exception as error:
                _give_up(ob, known, error)
                continue
            if answer is not None:
                answers.append((ob, known, answer))
        for ob, known, answer in answers:
            apply(ob, known, answer)
            if fresh and solved is None and depsgraph.mode == "VIEWPORT" and known.given is not None:
                known.playing = playback.playback(ob, known, known.given)
    finally:
        _state.busy = False


def _steadily(ob: bpy.types.Object, known: Session, depsgraph: bpy.types.Depsgraph, frame: float) -> bool:
    """Whether the frame could be solved the short way; if not, the next ones go the long way until they are steady."""
    if known.playing is None or depsgraph.mode != "VIEWPORT":
        return False
    done = known.playing.solve(ob, known, depsgraph, frame)
    if not done:
        known.playing = None
    return done


def _live_armatures(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, fresh: bool) -> Iterator[bpy.types.Object]:
    """The scene's armatures that are to be solved; those that keys have switched off get their base pose back."""
    for ob in _objects():
        uid = ob.session_uid
        if uid in _state.suspended or getattr(scene.objects.get(ob.name), "session_uid", None) != uid:
            continue
        if ob.mode == "EDIT" or ob.data.pose_position == "REST":
            continue
        if ob.evaluated_get(depsgraph).dqik.live:
            yield ob
        elif ob.dqik.has_base:
            known = session(ob)
            known.now = None
            answer = give_back(ob, known, depsgraph, fresh)
            if answer is not None:
                apply(ob, known, answer)


def _followed_first(armatures: Iterable[bpy.types.Object], fresh: bool) -> tuple[list[bpy.types.Object], bool]:
    """The armatures in an order in which those that others' targets follow come before them; and whether any does."""
    left, ordered = list(armatures), []
    if len(left) < 2:
        return left, False
    ahead = {ob.session_uid: follows(ob, session(ob), fresh) for ob in left}
    linked = any(behind & ahead.keys() for behind in ahead.values())
    while linked and left:
        uids = {ob.session_uid for ob in left}
        ready = [ob for ob in left if not ahead[ob.session_uid] & uids] or left[:1]
        left = [ob for ob in left if ob not in ready]
        ordered += ready
    return ordered or left, linked


def _file_of(ob: bpy.types.Object) -> str | None:
    """The file that an object is linked from, by which Blender tells objects of one name apart."""
    linked = getattr(ob, "library", None)
    return None if linked is None else linked.filepath


def _candidates() -> list[tuple[str, str | None, int]]:
    """Armatures that have goals or had: looked for again only when the objects or their settings have changed."""
    objects = bpy.data.objects
    if len(objects) != _state.object_count:
        _state.object_count = len(objects)
        _state.candidates = [
            (ob.name, _file_of(ob), ob.session_uid)
            for ob in objects
            if ob.type == "ARMATURE" and (len(ob.dqik.goals) or ob.dqik.has_base)
        ]
    return _state.candidates


def _objects() -> list[bpy.types.Object]:
    """The armatures behind the candidates, which are looked for again where one has gone by another name since."""
    for _ in range(2):
        found: list[bpy.types.Object] = []
        for name, library, uid in _candidates():
            ob = bpy.data.objects.get((name, library))
            if getattr(ob, "session_uid", None) == uid:
                found.append(ob)
        if len(found) == len(_state.candidates):
            return found
        _state.object_count = -1
    return []


def _concerned(ob: bpy.types.Object, known: Session, moved: set[int]) -> bool:
    """Whether one of the objects that moved matters to this armature."""
    if known.stale or ob.session_uid in moved:
        return True
    return any(
        target is not None and target.session_uid in moved
        for goal in ob.dqik.goals
        for target in (goal.target, goal.pole_target)
    )


def _give_up(ob: bpy.types.Object, known: Session, error: Exception) -> None:
    """Switch live solving off for this armature and say why; playback goes on."""
    text = str(error)
    if not isinstance(error, DqikError):
        traceback.print_exc()
        text = f"Switched off after an error: {error}"
    ob.dqik.live = False
    known.status = Status(message=text)
