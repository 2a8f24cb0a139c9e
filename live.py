# SPDX-License-Identifier: GPL-3.0-or-later
"""When to solve: on every change of frame, and when a target or a bone is moved.

Handlers read through the evaluated depsgraph and write to the original bones, which Blender then evaluates once more
by itself. What is kept between frames lives here, by the object's `session_uid`: never an ID, never a depsgraph.

The base pose: bones with keys start each frame from their keys. Bones without keep our last answer in their channels,
so the pose that they start from is captured when live solving goes on, follows the user's own posing, is stored on
the bones to survive saving and undo, and is given back when live solving goes off.
"""

import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .rig import channels, curves, read, rotation, write
from .rig.armature import matrices
from .rig.build import Rig, build, signature
from .rig.channels import Channels
from .rig.read import FrameInput, SolvedPose
from .solvers import Batch, DqikError, Pose, quaternion

_EDITED = 1e-5  # a channel further from what was written was changed by the user


@dataclass
class Status:
    """The last solve of an armature, for the panel."""

    error: float = 0.0
    rotation_error: float = 0.0
    iterations: int = 0
    milliseconds: float = 0.0
    at_limits: int = 0
    converged: bool = False
    message: str = ""
    solved: bool = False


@dataclass
class Session:
    """What is remembered about one armature while Blender runs."""

    rig: Rig | str | None = None
    rest: np.ndarray | None = None
    stale: bool = True
    animation: curves.Animation | None = None
    animation_key: tuple | None = None
    free: np.ndarray | None = None
    base: Channels | None = None  # of bones without keys
    frame_base: Channels | None = None  # of all bones, at the frame that was solved last
    written: Channels | None = None
    frame: float | None = None
    previous: Pose | None = None
    tracked: bool = False
    was_live: bool = False
    status: Status = field(default_factory=Status)


@dataclass
class _State:
    sessions: dict[int, Session] = field(default_factory=dict)
    candidates: list[tuple[str, int]] = field(default_factory=list)
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
    return _state.sessions.setdefault(ob.original.session_uid, Session())


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
    known = session(ob)
    known.stale, known.previous = True, None
    _state.object_count = -1
    was_live = known.was_live or ob.dqik.has_base  # after loading and undo only the file knows
    known.was_live = ob.dqik.live
    if ob.dqik.live and not was_live:
        capture(ob)
        ob.update_tag(refresh={"DATA"})
    elif not ob.dqik.live and was_live:
        restore(ob)


def capture(ob: bpy.types.Object) -> None:
    """Take the bones' present pose as the base pose, and store it on them."""
    known = session(ob)
    known.base = channels.read(ob.pose.bones)
    known.frame_base = known.written = None
    _store(ob, known.base, np.arange(len(ob.pose.bones)))
    ob.dqik.has_base = True


def _keep_base(ob: bpy.types.Object, known: Session) -> None:
    """Take the goals' bones as they stand into the base pose; all others keep theirs."""
    now = channels.read(ob.pose.bones)
    known.base = now if known.base is None else known.base
    for base in (known.base, known.frame_base):
        if base is not None:
            base.rotations[:], base.locations[:] = now.rotations, now.locations
    known.written = known.previous = None
    _store(ob, now, np.arange(len(ob.pose.bones)))


def restore(ob: bpy.types.Object) -> None:
    """Give the bones back the base pose."""
    known = session(ob)
    base = known.base if known.base is not None else _stored(ob)
    if base is not None and len(base.rotations) == len(ob.pose.bones) and _same_modes(base, ob):
        if known.frame_base is not None:  # bones with keys: what the keys say at this frame
            base = _merged(known.frame_base, base, _free_bones(ob, known))
        channels.write(ob.pose.bones, base, location=True)
        ob.update_tag(refresh={"DATA"})
    known.base = known.frame_base = known.written = known.previous = None
    ob.dqik.has_base = False


def base_channels(ob: bpy.types.Object, known: Session, posed: Channels, fresh: bool) -> Channels:
    """The channels that this frame's solve starts from.

    ob : the original object. posed : as evaluated. fresh : the evaluated bones with keys stand as their keys say.
    """
    if known.base is None or len(known.base.rotations) != len(posed.rotations) or not _same_modes(known.base, ob):
        known.base = _stored(ob) or channels.read(ob.pose.bones)
        if not ob.dqik.has_base:
            known.was_live = True
    free = _free_bones(ob, known)
    if fresh or known.frame_base is None or len(known.frame_base.rotations) != len(posed.rotations):
        known.frame_base = _merged(posed, known.base, free)
    else:
        known.frame_base = _merged(known.frame_base, known.base, free)
    if isinstance(known.rig, Rig) and ob.dqik.start_from == "REST":
        base = known.frame_base.copy()
        rest = np.zeros(4)
        for mode, members in base.groups:
            rest[:] = (
                (1, 0, 0, 0) if mode == rotation.QUATERNION else (0, 0, 1, 0) if mode == rotation.AXIS_ANGLE else 0
            )
            base.rotations[np.intersect1d(members, known.rig.solved_bones)] = rest
        sliding = known.rig.bones[known.rig.slide_row]
        base.locations[sliding] = 0.0
        return base
    return known.frame_base


def adopt_edits(ob: bpy.types.Object, known: Session, fresh: bool) -> None:
    """Take over into the base pose what the user did to bones since our last answer.

    fresh : right after a change of frame, when bones with keys have moved by themselves.
    """
    if known.written is None or known.base is None:
        return
    now = channels.read(ob.pose.bones)
    if len(now.rotations) != len(known.written.rotations) or not _same_modes(known.written, ob):
        known.base = known.frame_base = known.written = None
        return
    edited = (np.abs(now.rotations - known.written.rotations) > _EDITED).any(-1)
    edited |= (np.abs(now.locations - known.written.locations) > _EDITED).any(-1)
    if fresh:
        edited &= _free_bones(ob, known)
    if not edited.any():
        return
    for base in (known.base, known.frame_base):
        if base is not None:
            base.rotations[edited], base.locations[edited] = now.rotations[edited], now.locations[edited]
    known.written, known.previous = now, None
    _store(ob, now, np.flatnonzero(edited))


def prepare(ob: bpy.types.Object, known: Session, check: bool = False) -> Rig | str:
    """The prepared rig of an original object, made anew if anything it depends on has changed."""
    rest = matrices(ob.data.bones, "matrix_local")
    key = curves.animation_key(ob)
    if known.animation is None or key != known.animation_key:
        known.animation, known.animation_key, known.free = curves.animation(ob), key, None
    same = (
        not known.stale
        and isinstance(known.rig, Rig)
        and known.rest is not None
        and known.rest.shape == rest.shape
        and np.array_equal(known.rest, rest)
        and len(ob.dqik.goals) == known.rig.goal_count
        and all(ob.dqik.goals[goal.index].target is not None for goal in known.rig.goals)
    )
    if same and (check or known.animation.settings) and signature(ob) != known.rig.signature:
        same = False
    if not same:
        if isinstance(known.rig, Rig) and (known.rest is None or not np.array_equal(known.rest, rest)):
            known.base = known.frame_base = known.written = None  # bones were added, removed or moved in edit mode
        known.rig, known.rest, known.stale, known.previous, known.free = build(ob), rest, False, None, None
    return known.rig


def solve_frame(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, fresh: bool, frame: float,
    solved: dict[int, SolvedPose] | None = None,
) -> Channels | None:  # fmt: skip
    """Solve an armature as it stands in `depsgraph`; the channels to write, or None where nothing is to be solved.

    fresh : right after a change of frame, when bones with keys stand as their keys say.
    solved : armatures solved before it for the same frame; this one is added.
    """
    began = time.perf_counter()
    known = session(ob)
    rig, given, base = read_frame(ob, depsgraph, fresh, solved)
    if isinstance(rig, str) or given is None:
        known.status = Status(message=str(rig))
        return None
    step_on = known.frame is not None and known.previous is not None and 0.0 < frame - known.frame <= 1.0
    follow = ob.dqik.start_from == "PREVIOUS" and depsgraph.mode == "VIEWPORT" and (step_on or not fresh)
    if follow and known.previous is not None:
        batch = rig.prepared.track(known.previous, given.targets, given.start, given.links, first=not known.tracked)
    else:
        batch = rig.prepared.solve_batch(given.targets, given.start, given.links)
    known.previous = Pose(batch.rotations[0], batch.translations[0])
    known.tracked, known.frame = follow, frame
    if solved is not None:
        world = rig.skeleton.transforms(batch.rotations, batch.translations, given.links)[0]
        solved[ob.session_uid] = SolvedPose(ob.evaluated_get(depsgraph), rig, world)
    answer = write.answer(rig, batch, 0, base, given.slide_scale)
    _report(known, rig, batch, time.perf_counter() - began)
    return answer


def solve_once(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, frame: float) -> Status:
    """Solve an armature at the present frame and write the answer; the report says what came of it.

    Without live solving the start is the pose as it stands.
    """
    known = session(ob)
    if not ob.dqik.live:
        known.base = known.frame_base = known.previous = None
        ob.dqik.has_base = False
    answer = solve_frame(ob, depsgraph, fresh=False, frame=frame)
    if answer is not None:
        apply(ob, known, answer)
    if not ob.dqik.live:
        known.base = known.frame_base = known.written = known.previous = None
        known.was_live = False
    return known.status


def reset(ob: bpy.types.Object) -> None:
    """Put the bones that the goals move to the rest pose, all bones where there are no goals; it is the new base."""
    known = session(ob)
    rig = prepare(ob, known, check=True)
    bones = ob.pose.bones if isinstance(rig, str) else [ob.pose.bones[int(bone)] for bone in rig.solved_bones]
    sliding = set() if isinstance(rig, str) else {int(rig.bones[row]) for row in rig.slide_row}
    for bone in bones:
        location = bone.location.copy()
        bone.matrix_basis.identity()
        bone.rotation_quaternion, bone.rotation_euler = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        bone.rotation_axis_angle = (0.0, 0.0, 1.0, 0.0)
        bone.location = (
            (0.0, 0.0, 0.0) if isinstance(rig, str) or ob.pose.bones.find(bone.name) in sliding else location
        )
    if ob.dqik.live:
        _keep_base(ob, known)
    ob.update_tag(refresh={"DATA"})


def begin_bake(ob: bpy.types.Object) -> None:
    """Keep the handlers off an armature while a bake reads its frames."""
    _state.suspended.add(ob.session_uid)
    known = session(ob)
    if not ob.dqik.live:
        known.base = known.frame_base = None
        ob.dqik.has_base = False
    known.stale = True


def end_bake(ob: bpy.types.Object) -> None:
    """Undo `begin_bake`."""
    _state.suspended.discard(ob.session_uid)
    known = session(ob)
    known.previous = None
    if not ob.dqik.live:
        known.base = known.frame_base = known.written = None
        known.was_live = False


def apply(ob: bpy.types.Object, known: Session, answer: Channels) -> bool:
    """Write an answer to the original bones, unless they have it already; whether anything was written."""
    bones = ob.pose.bones
    now = channels.read(bones, answer.groups)
    moves = isinstance(known.rig, Rig) and len(known.rig.slide_row) > 0
    for part in ("rotations", "locations"):
        setattr(answer, part, getattr(answer, part).astype(np.float32).astype(float))
    rows = known.rig.solved_bones if isinstance(known.rig, Rig) else np.arange(len(bones))
    changed = (now.rotations[rows] != answer.rotations[rows]).any() or (
        moves and (now.locations[rows] != answer.locations[rows]).any()
    )
    result = now.copy()
    result.rotations[rows] = answer.rotations[rows]
    if moves:
        result.locations[rows] = answer.locations[rows]
    known.written = result
    if not changed:
        return False
    channels.write(bones, result, location=moves)
    ob.update_tag(refresh={"DATA"})
    return True


def read_frame(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, fresh: bool, solved: dict[int, SolvedPose] | None = None
) -> tuple[Rig | str, FrameInput | None, Channels]:
    """The prepared rig, one frame's input and the channels that it starts from.

    The rig is a sentence if there is nothing to solve.

    fresh : right after a change of frame, when bones with keys stand as their keys say.
    """
    known = session(ob)
    evaluated = ob.evaluated_get(depsgraph)
    rig = prepare(ob, known, check=not fresh)
    posed = channels.read(evaluated.pose.bones)
    if isinstance(rig, str):
        return rig, None, posed
    base = base_channels(ob, known, posed, fresh)
    return rig, read.read(evaluated, rig, base, posed, depsgraph, solved), base


# -- handlers ----------------------------------------------------------------------------------------------------


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if depsgraph is None:
        return
    frame = scene.frame_current_final
    _solve_live(scene, depsgraph, True, frame, None)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    if depsgraph is None or _state.busy or not _candidates():
        return
    moved = {update.id.original.session_uid for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}
    _solve_live(scene, depsgraph, False, scene.frame_current_final, moved)


@persistent
def _on_forget(*_: object) -> None:
    """After undo, redo or a new file every reference and every cache is out of date."""
    reports = {uid: known.status for uid, known in _state.sessions.items()}
    _state.clear()
    for uid, report in reports.items():
        _state.sessions[uid] = Session(status=report)


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
        known = _state.sessions.get(ob.session_uid)
        if ob.type == "ARMATURE" and (ob.dqik.has_base or (known is not None and known.was_live)):
            restore(ob)
    _state.clear()


# -- inside ------------------------------------------------------------------------------------------------------


def _solve_live(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, fresh: bool, frame: float, moved: set | None
) -> None:
    """Solve the scene's live armatures, those that others' targets follow first, then write all answers."""
    if _state.busy:
        return
    _state.busy = True
    try:
        armatures = _followed_first(_live_armatures(scene, depsgraph))
        answers, solved = [], {} if len(armatures) > 1 else None
        for ob in armatures:
            known = session(ob)
            if moved is not None and not _concerned(ob, known, moved | set(solved or ())):
                continue
            try:
                if depsgraph.mode == "VIEWPORT":
                    adopt_edits(ob, known, fresh)
                answer = solve_frame(ob, depsgraph, fresh, frame, solved)
            except Exception as error:
                _give_up(ob, known, error)
                continue
            if answer is not None:
                answers.append((ob, known, answer))
        for ob, known, answer in answers:
            apply(ob, known, answer)
    finally:
        _state.busy = False


def _live_armatures(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Iterator[bpy.types.Object]:
    for name, uid in _candidates():
        ob = scene.objects.get(name)
        if (
            ob is None
            or ob.session_uid != uid
            or uid in _state.suspended
            or ob.mode == "EDIT"
            or ob.data.pose_position == "REST"
        ):
            continue
        if ob.evaluated_get(depsgraph).dqik.live:
            yield ob


def _followed_first(armatures: Iterator[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures in an order in which those that others' targets follow come before them."""
    left, ordered = list(armatures), []
    while left:
        names = {ob.name for ob in left}
        ready = [ob for ob in left if not (_follows(ob) & names) - {ob.name}] or left[:1]
        left = [ob for ob in left if ob not in ready]
        ordered += ready
    return ordered


def _follows(ob: bpy.types.Object) -> set[str]:
    """Names of the objects that the targets of an armature are, or are parented to."""
    targets = [target for goal in ob.dqik.goals for target in (goal.target, goal.pole_target) if target is not None]
    return {target.name for target in targets} | {target.parent.name for target in targets if target.parent is not None}


def _candidates() -> list[tuple[str, int]]:
    """Armatures that have goals: looked for again only when objects or settings have changed."""
    count = len(bpy.data.objects)
    if count != _state.object_count:
        _state.object_count = count
        _state.candidates = [
            (ob.name, ob.session_uid) for ob in bpy.data.objects if ob.type == "ARMATURE" and len(ob.dqik.goals)
        ]
    return _state.candidates


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
    if isinstance(error, DqikError):
        text = str(error)
    else:
        traceback.print_exc()
        text = f"Switched off after an error: {error}"
    known.was_live = False
    ob.dqik.live = False
    known.status = Status(message=text)


def _report(known: Session, rig: Rig, batch: Batch, seconds: float) -> None:
    known.status = Status(
        float(batch.position_errors.max(initial=0.0)), float(batch.rotation_errors.max(initial=0.0)),
        int(batch.iterations[0]), 1e3 * seconds, int(batch.at_limit[0].sum()), bool(batch.converged[0]),
        "; ".join(rig.notes), True,
    )  # fmt: skip


def _free_bones(ob: bpy.types.Object, known: Session) -> np.ndarray:
    """(N,) bones that no keys or drivers set: the ones that keep our last answer. Kept until rig or keys change."""
    if known.animation is None:
        known.animation, known.animation_key = curves.animation(ob), curves.animation_key(ob)
        known.free = None
    if known.free is None or len(known.free) != len(ob.pose.bones):
        solved = np.ones(len(ob.pose.bones), dtype=bool)
        if isinstance(known.rig, Rig):
            solved[:] = False
            solved[known.rig.solved_bones] = True
        animated = known.animation.bones
        known.free = solved & np.array([bone.name not in animated for bone in ob.pose.bones])
    return known.free


def _merged(channels_of: Channels, base: Channels, free: np.ndarray) -> Channels:
    merged = channels_of.copy()
    merged.rotations[free], merged.locations[free] = base.rotations[free], base.locations[free]
    return merged


def _same_modes(known: Channels, ob: bpy.types.Object) -> bool:
    now = channels.modes(ob.pose.bones)
    return len(now) == len(known.groups) and all(
        mode == other and np.array_equal(bones, theirs)
        for (mode, bones), (other, theirs) in zip(now, known.groups, strict=True)
    )


def _store(ob: bpy.types.Object, base: Channels, bones: np.ndarray) -> None:
    """Keep base channels on the bones themselves."""
    modes = base.modes()
    for index in bones:
        bone = ob.pose.bones[int(index)]
        bone.dqik_base_rotation, bone.dqik_base_location = base.rotations[index], base.locations[index]
        bone.dqik_base_mode = modes[index]


def _stored(ob: bpy.types.Object) -> Channels | None:
    """The base channels that are kept on the bones, in the bones' present rotation modes."""
    if not ob.dqik.has_base:
        return None
    base = channels.read(ob.pose.bones)
    modes = base.modes()
    for index, bone in enumerate(ob.pose.bones):
        if not bone.dqik_base_mode:
            continue
        kept = np.array(bone.dqik_base_rotation)
        if bone.dqik_base_mode != modes[index]:
            turned = quaternion.normalize(rotation.to_quaternion(bone.dqik_base_mode, kept))
            kept = rotation.from_quaternion(modes[index], turned, base.rotations[index])
        base.rotations[index], base.locations[index] = kept, bone.dqik_base_location
    return base
