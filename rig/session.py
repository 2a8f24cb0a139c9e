# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered about one armature while Blender runs, and one frame's solve of it.

Nothing here holds an ID or a depsgraph: objects are passed in anew each time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..solvers import Batch, InvalidPose, Pose, Prepared
from ..solvers.model.frames import FrameArrays, Motion, asking
from . import base_pose, channels, curves, follow, playback, read, rotation, steady, write
from .build import Rig, build, signature
from .channels import Channels
from .compare import Row
from .read import FrameInput, SolvedPose

_NO_BONES = np.empty(0, dtype=np.intp)


@dataclass
class Status:
    """The last solve of an armature, for the panel; `solved` is False where there was nothing to solve."""

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
    """One armature's prepared rig, base pose and last answer.

    Attributes
    ----------
    rig : prepared, or a sentence why there is nothing to solve. rest : the rest matrices that it was made from.
    stale : a setting has changed since. animation, animation_key : what has keys, and how to tell that this changed.
    free : the channels that keep our last answer. held : bones that hold an answer of ours.
    base : channels that bones without keys start from. frame_base : those of all bones at the frame solved last.
    written, written_raw : the channels as the last answer left them, and as `room` reads them. now : as they stand,
        read once a frame.
    frame, previous, prepared, tracked : the frame solved last, its pose, what solved it, and whether it did so from
        the one before.
    was_live : the base pose was captured and is to be given back.
    follows : session_uids of the armatures that this one's targets follow.
    unseen : sentences about targets that Blender does not evaluate.
    solver : what to solve with instead of the armature's own choice, if anything.
    comparison : what the last comparison of solvers found.
    given : what the last frame that was solved here was solved with. playing : what solves the next ones, if they can
        go the short way. reading : what a bake reads the next ones with, and their base.
    """

    rig: Rig | str | None = None
    rest: bytes | None = None
    stale: bool = True
    animation: curves.Animation | None = None
    animation_key: tuple | None = None
    free: base_pose.Free | None = None
    held: np.ndarray | None = None
    groups: channels.Groups | None = None
    room: channels.Room | None = None
    base: Channels | None = None
    frame_base: Channels | None = None
    given: FrameInput | None = None
    written: Channels | None = None
    written_raw: bytes | None = None
    now: Channels | None = None
    frame: float | None = None
    previous: Pose | None = None
    prepared: Prepared | None = None
    tracked: bool = False
    motion: Motion | None = None
    was_live: bool = False
    follows: set[int] | None = None
    unseen: list[str] | None = None
    solver: str = ""
    comparison: Sequence[Row] = ()
    playing: playback.Playback | None = None
    reading: tuple[steady.Reader, Channels] | None = None
    report: Callable[[], Status] | Status = field(default_factory=Status)

    @property
    def status(self) -> Status:
        """The report of the last solve, made when it is asked for."""
        if not isinstance(self.report, Status):
            self.report = self.report()
        return self.report

    @status.setter
    def status(self, report: Status) -> None:
        self.report = report

    def report_later(self, arrays: FrameArrays, seconds: float) -> None:
        """The report of a frame that is solved; read from its arrays when it is asked for."""
        self.report = lambda: _report(self.notes(), arrays.batch(), seconds)

    def solve(self, prepared: Prepared, arrays: FrameArrays, follow: bool) -> None:
        """Solve a frame, from the one before it if it is to `follow` one."""
        if follow and self.previous is not None:
            if not self.tracked or self.motion is None:
                self.motion = prepared.motion()
                self.motion.begin(self.previous)
            self.motion.solve_into(arrays)
        else:
            prepared.solve_into(arrays)
        self.tracked = follow and self.previous is not None

    def doubt(self) -> None:
        """Have the next frame look at everything that may have changed."""
        if self.playing is not None:
            self.playing.reader.unsure = True
        if self.reading is not None:
            self.reading[0].unsure = True

    def notes(self) -> list[str]:
        """What needs attention about the rig and its targets."""
        return [*(self.rig.notes if isinstance(self.rig, Rig) else ()), *(self.unseen or ())]

    def forget_pose(self) -> None:
        """Forget base pose and answers, as where the bones themselves have changed."""
        self.base = self.frame_base = self.written = self.written_raw = self.previous = self.held = None

    def ours(self, rig: Rig | str | None) -> np.ndarray:
        """The bones that are solved, or were and still hold an answer of ours."""
        solved = rig.solved_bones if isinstance(rig, Rig) else _NO_BONES
        return solved if self.held is None or self.held is solved else np.union1d(solved, self.held)


def follows(ob: bpy.types.Object, known: Session, fresh: bool) -> set[int]:
    """`session_uid` of the armatures that this one's targets follow; looked for again after edits."""
    if known.follows is None or known.stale or not fresh:
        known.follows = follow.armatures_behind(ob)
    return known.follows


def prepare(ob: bpy.types.Object, known: Session, check: bool = False) -> Rig | str:
    """The prepared rig of an original object, made anew if anything it depends on has changed.

    check : compare all settings, as after an edit; otherwise only what a script can change without telling.
    """
    bones = ob.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    rest = matrices.tobytes()
    same_bones = known.rest == rest
    key = curves.animation_key(ob)
    if known.animation is None or key != known.animation_key:
        known.animation, known.animation_key, known.free = curves.animation(ob), key, None
    groups = channels.modes(ob.pose.bones, known.groups)
    rig, goals = known.rig, ob.dqik.goals
    same = (
        not known.stale
        and same_bones
        and groups is known.groups
        and isinstance(rig, Rig)
        and len(goals) == rig.goal_count
        and all(goals[goal.index].target is not None for goal in rig.goals)
    )
    if same and (check or known.animation.settings):
        same = isinstance(rig, Rig) and signature(ob) == rig.signature
    if not same:
        if groups is not known.groups or (known.rest is not None and not same_bones):
            known.forget_pose()  # bones were added, removed or moved in edit mode, or turn in another mode
        known.rig, known.rest, known.groups, known.stale = build(ob, known.solver), rest, groups, False
        known.previous = known.free = None
    if known.free is None:
        known.free = _free_channels(ob, known)
    return known.rig if known.rig is not None else "Nothing to solve"


def _free_channels(ob: bpy.types.Object, known: Session) -> base_pose.Free:
    """The channels of our bones that no keys or drivers set; any bone counts as ours while there is no rig."""
    bones = ob.pose.bones
    ours = np.zeros((len(bones), 1), dtype=bool)
    ours[known.ours(known.rig) if isinstance(known.rig, Rig) else slice(None)] = True
    free = base_pose.Free(np.tile(ours, 4), np.tile(ours, 3))
    for name, animated in known.animation.channels.items() if known.animation else ():
        number = bones.find(name)
        for path, index in animated if number >= 0 else ():
            if path == "location":
                free.locations[number, index] = False
            elif path == rotation.PATHS[bones[number].rotation_mode]:
                free.rotations[number, index] = False
    return free


def read_frame(
    ob: bpy.types.Object,
    known: Session,
    depsgraph: bpy.types.Depsgraph,
    fresh: bool,
    solved: dict[int, SolvedPose] | None = None,
) -> tuple[Rig | str, FrameInput | None, Channels | None]:
    """The prepared rig, one frame's input and the channels that it starts from.

    The rig is a sentence, and the others None, if there is nothing to solve.

    fresh : right after a change of frame, when bones with keys stand as their keys say.
    solved : armatures solved before for the same frame.
    """
    rig = prepare(ob, known, check=not fresh)
    if isinstance(rig, str):
        return rig, None, None
    if known.base is None and ob.dqik.has_base and not fresh:
        base_pose.recall(ob, known, depsgraph.scene.frame_current_final)
    evaluated = ob.evaluated_get(depsgraph)
    base, posed = base_pose.of_frame(ob, known, rig, evaluated, fresh)
    return rig, read.read(evaluated, rig, base, posed, depsgraph, solved), base


def solve_frame(
    ob: bpy.types.Object,
    known: Session,
    depsgraph: bpy.types.Depsgraph,
    fresh: bool,
    frame: float,
    solved: dict[int, SolvedPose] | None = None,
) -> Channels | None:
    """Solve an armature as it stands in `depsgraph`; the channels to write, or None where nothing is to be solved.

    Parameters as in `read_frame`; this armature is added to `solved`.
    """
    began = time.perf_counter()
    rig, given, base = read_frame(ob, known, depsgraph, fresh, solved)
    if isinstance(rig, str) or given is None or base is None:
        known.status = Status(message=str(rig))
        return give_back(ob, known, depsgraph, fresh)
    step_on = known.frame is not None and 0.0 < frame - known.frame <= 1.0
    follow = ob.dqik.start_from == "PREVIOUS" and depsgraph.mode == "VIEWPORT" and (step_on or not fresh)
    arrays = asking(given.targets, given.start, given.links)
    known.solve(given.prepared, arrays, follow and known.prepared is given.prepared)
    batch = arrays.batch()
    if not np.isfinite(batch.rotations).all():
        raise InvalidPose("The bones' pose, or a target, is not a number: reset it and switch Live on again")
    known.prepared = given.prepared
    known.previous, known.frame = Pose(batch.rotations[0], batch.translations[0]), frame
    if solved is not None:
        world = rig.skeleton.transforms(batch.rotations, batch.translations, given.links)[0]
        solved[ob.session_uid] = SolvedPose(ob.evaluated_get(depsgraph), rig, world)
    answer = write.answer(rig, batch, 0, base, given.slide_scale)
    if depsgraph.mode == "VIEWPORT" and (known.unseen is None or not fresh):
        known.unseen = read.unseen(ob, rig, depsgraph)
    known.status = _report(known.notes(), batch, time.perf_counter() - began)
    known.given = given
    return answer


def give_back(ob: bpy.types.Object, known: Session, depsgraph: bpy.types.Depsgraph, fresh: bool) -> Channels | None:
    """The pose without us, for bones that hold an answer of ours where nothing is solved; None if there are none."""
    if known.held is None or not known.held.size:
        return None
    posed = channels.read(ob.evaluated_get(depsgraph).pose.bones, known.groups)
    return base_pose.without_answer(ob, known, posed, fresh)


def apply(ob: bpy.types.Object, known: Session, answer: Channels) -> bool:
    """Write an answer to the original bones, unless they have it already; whether anything was written.

    Bones that are solved no longer are written too, and so return to their base pose.
    """
    rows, bones, rig = known.ours(known.rig), ob.pose.bones, known.rig
    known.held = rig.solved_bones if isinstance(rig, Rig) else _NO_BONES
    moves = len(rows) > len(known.held) or (isinstance(rig, Rig) and len(rig.slide_row) > 0)
    now = channels.read(bones, known.groups) if known.now is None else known.now
    rotations = channels.rounded(answer.rotations[rows])
    changed = not np.array_equal(now.rotations[rows], rotations)
    now.rotations[rows] = rotations
    if moves:
        locations = channels.rounded(answer.locations[rows])
        changed = changed or not np.array_equal(now.locations[rows], locations)
        now.locations[rows] = locations
    known.written, known.now = now, None
    if changed:
        channels.write(bones, now, location=moves)
        ob.update_tag(refresh={"DATA"})
    if changed or known.written_raw is None:
        if known.room is None or known.room.groups is not now.groups:
            known.room = channels.Room(len(bones), now.groups)
        known.written_raw = known.room.read(bones)
    return changed


def _report(notes: list[str], batch: Batch, seconds: float) -> Status:
    return Status(
        error=float(batch.position_errors.max(initial=0.0)),
        rotation_error=float(batch.rotation_errors.max(initial=0.0)),
        iterations=int(batch.iterations[0]),
        milliseconds=1e3 * seconds,
        at_limits=int(batch.at_limit[0].sum()),
        converged=bool(batch.converged[0]),
        message="; ".join(notes),
        solved=True,
    )
