# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a shot and solves it as one motion, in stretches, so that an edit is solved again near it and nowhere else."""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from time import perf_counter

import bpy
import numpy as np

from ...solvers import FrameArrays, Prepared
from ...solvers.clip import Watch, Window, across, borders, joined, popping, stretches
from ..blender import scene_state
from ..frame import offline
from ..frame.read.question import FrameInput
from ..frame.sessions import sessions
from ..frame.step.known_answers import KnownAnswers, Question
from ..frame.step.session import Session
from ..frame.step.whole_shot import Asked, SolvedWindow, WholeShot
from ..notes import Refused
from ..remembered import Remembered
from . import smooth_motion
from .frames import Run
from .smooth_motion import Stopped, slow_motion, solve_motion

_BEAT = 0.05  # seconds between reports that frames are still being solved
_JUMP, _STANDS_OUT = 0.1, 4.0  # [skeleton lengths], and times the steps beside it: a target's step that is a jump
_VERSIONS = 3  # of a window, whose answers are kept: undo and redo solve nothing
_READ = 0.5  # of the time, about, is reading


def armatures() -> list[bpy.types.Object]:
    """The live armatures whose frames are solved as one motion."""
    found = (bpy.data.objects[place] for place, _ in sessions.armatures.places())
    return [ob for ob in found if ob.dqik.live and ob.dqik.start_from == "SHOT" and ob.mode != "EDIT"]


def groups(obs: Sequence[bpy.types.Object]) -> Iterator[list[bpy.types.Object]]:
    """Armature objects that are read together: first those that follow none of the others."""
    left = list(obs)
    while left:
        free = [
            one for one in left
            if sessions.armatures.followed(one.session_uid).isdisjoint(o.session_uid for o in left if o != one)
        ]  # fmt: skip
        group = free or left[:1]  # where they follow each other, one comes first
        left = [one for one in left if one not in group]
        yield group


def read(
    context: bpy.types.Context, obs: Sequence[bpy.types.Object], seconds: float = np.inf
) -> Generator[float, None, None]:
    """Visit the frames of the shots of armature objects that are to be read, until so many seconds are over.

    Those near the present one come first. Yields the progress from 0 to 1. Raises `scene_state.Disturbed`.
    """
    scene, until, shots = context.scene, perf_counter() + seconds, {ob: sessions.of(ob).motion.shot for ob in obs}
    for ob, shot in shots.items():
        shot.cover(scene, ob.dqik.smooth)
    unread = {ob: frames for ob, shot in shots.items() if (frames := shot.unread())}
    if not unread:
        return
    obs, now = list(unread), scene.frame_current
    frames = sorted(set().union(*unread.values()), key=lambda frame: abs(frame - now))
    with _paused(obs) as (readings, unsolved):
        layer, rooms = context.view_layer, dict[Prepared, FrameArrays]()
        with scene_state.restored(scene, layer, obs[0], unsolved=unsolved) as visits:
            for number, frame in enumerate(frames, 1):
                visits.visit(frame)
                found = offline.bake_frames(readings, context.evaluated_depsgraph_get())
                for ob, reading in zip(obs, found, strict=True):
                    _ask(ob, scene.frame_current_final, reading.frame_input, rooms)
                yield number / len(frames)
                if perf_counter() > until or all(shots[ob].notes for ob in obs):
                    break
        layer.update()  # what this evaluates is no edit


def _ask(
    ob: bpy.types.Object, time: float, found: FrameInput | None, rooms: dict[Prepared, FrameArrays]
) -> None:  # fmt: skip
    """Note what a frame asks. rooms : where questions are put together."""
    motion, question = sessions.of(ob).motion, None
    if found is not None:
        if found.prepared not in rooms:
            rooms[found.prepared] = found.prepared.arrays()
        found.ask(rooms[found.prepared])
        question = motion.question_of(found, rooms[found.prepared])
    motion.shot.ask(time, question, found)


@contextmanager
def _paused(
    obs: Sequence[bpy.types.Object],
) -> Generator[tuple[list[tuple[Session, bpy.types.Object]], list[bpy.types.Object]]]:
    """Sessions to read armatures with; the live ones that none of them follows pause meanwhile, and are yielded too."""
    followed = set[int]().union(*(sessions.armatures.followed(ob.session_uid) for ob in obs))
    uids = {ob.session_uid for ob in obs}
    others = [bpy.data.objects[place] for place, uid in sessions.armatures.places() if uid not in followed | uids]
    others = [ob for ob in others if ob.dqik.live and ob.session_uid not in sessions.suspended]
    paused = {ob.session_uid for ob in others}
    with ExitStack() as stack:
        stack.callback(sessions.suspended.difference_update, paused)
        sessions.suspended.update(paused)
        yield [(stack.enter_context(offline.session(ob)), ob) for ob in obs], [*obs, *others]


def finish(context: bpy.types.Context, *obs: bpy.types.Object) -> Generator[float, None, None]:
    """Read and solve what is left of the shots of armature objects, and before of those that they follow.

    Yields the progress from 0 to 1, of each. Raises `scene_state.Disturbed`, and `Refused` for a shot that is too long.
    """
    follows = set[int]().union(*(sessions.armatures.followed(ob.session_uid) for ob in obs))
    for group in groups([*(other for other in armatures() if other not in obs and other.session_uid in follows), *obs]):
        for share in read(context, group):
            yield _READ * share
        for one in group:
            shot = sessions.of(one).motion.shot
            if shot.notes:
                raise Refused(shot.notes[0])
            with ShotSolving(one, context.scene) as solving:
                while not solving.is_done(_BEAT):
                    yield _READ + (1.0 - _READ) * solving.share
            solved(one)


def solved(ob: bpy.types.Object) -> None:
    """The shot of an armature object was solved: what others that follow it ask may be something else now."""
    for other in armatures():
        if other != ob and ob.session_uid in sessions.armatures.followed(other.session_uid):
            sessions.of(other).motion.shot.doubt()


class ShotSolving:
    """Solves what was read of a shot in a thread of its own; leaving the context stops it.

    share : of the work, how much is done, 0 to 1.
    """

    def __init__(self, ob: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self.share, self._is_stopped = 0.0, False
        shot, near = sessions.of(ob).motion.shot, scene.frame_current
        self._thread = ThreadPoolExecutor(1)
        self._future: Future[None] = self._thread.submit(solve, shot, sessions.known, near, self._watch)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, done or not."""
        return self._future.done()

    def is_done(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, within so many seconds. Raises what it raised."""
        if wait([self._future], seconds).not_done:
            return False
        self._future.result()
        return True

    def stop(self) -> None:
        """Stop solving, and wait until it has stopped."""
        self._is_stopped = True
        self._thread.shutdown(cancel_futures=True)

    def __enter__(self) -> "ShotSolving":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _watch(self, share: float) -> None:
        if self._is_stopped:
            raise Stopped
        self.share = share


def solve(shot: WholeShot, known: KnownAnswers, near: int, watch: Watch) -> None:
    """Answer all frames of a shot that were read, those `near` a frame first. Raises what `watch` raises.

    Windows that are not read whole are left. What a window asked and was answered is kept, so that only those that ask
    otherwise are solved. known : answers of frames on their own.
    """
    (asked, unsure), smooth = shot.asked(), shot.smooth
    done, kept, pops = 0, set[object](), dict[Window, bool | None]()
    motions = _parts(asked)
    steady = smooth_motion.in_shot(asked, motions, smooth, known)
    now, own = dict[int, bytes](), {part: list(stretches(*part)) for part in motions}
    at_borders = {part: {border.first: border for border in borders(*part, smooth)} for part in motions}

    def answer(part: tuple[int, int], window: Window, bridges: bool = False) -> bool | None:
        """Answer the frames of a window and of the borders beside it: whether it pops; None if they are not read."""
        held, ends = dict[int, bytes](), (window.begin, window.last)
        beside = [at_borders[part][at] for at in ends if at in at_borders[part]]
        kept.update((one, False) for one in (*beside, window))
        if not all(unsure.isdisjoint(range(one.begin, one.end)) for one in (*beside, window)):
            return None
        for border in beside:
            held.update(enumerate(_answers(shot, known, border, steady, {}, smooth, watch).answers, border.first))
        found = _answers(shot, known, window, steady, held, smooth, watch, bridges)
        reply({**held, **dict(enumerate(found.answers, window.first))})
        return found.pops

    def reply(answers: dict[int, bytes]) -> None:
        now.update(answers)
        for frame, one in answers.items():
            shot.reply(frame, smooth, asked[frame].question, one)

    every = [(part, window) for part in motions for window in own[part]]
    for part, window in sorted(every, key=lambda one: abs(one[1].begin - near)):
        pops[window] = answer(part, window)
        done += window.last - window.begin
        watch(done / len(asked))
    shot.is_partial = None in pops.values()
    if shot.is_partial:  # which stretches are joined is known when all is read
        return
    for part in motions:
        for window in joined(own[part], [bool(pops[one]) for one in own[part]]):
            answer(part, window, bridges=True)
        for window in (*own[part], *across(*part)) if smooth > 0.0 else ():
            held = {frame: now[frame] for frame in range(window.begin, window.end)}
            slower = _answers(shot, known, window, steady, held, smooth, watch, slows=True)
            reply(dict(enumerate(slower.answers, window.first)))
            kept.add((window, True))
    for window in shot.windows.keys() - kept:
        del shot.windows[window]


def _answers(
    shot: WholeShot, known: KnownAnswers, window: Window, asked: dict[int, Asked], held: dict[int, bytes],
    smooth: float, watch: Watch, bridges: bool = False, slows: bool = False,
) -> SolvedWindow:  # fmt: skip
    """The answers of a window's frames, as they were found before if it asks the same. held : by frame.

    slows : all are held: those in which joints turn too fast are solved again.
    """
    own = [asked[frame] for frame in range(window.begin, window.end)]
    key = (smooth, bridges, *(one.question for one in own), *held.values())
    solved = shot.windows.setdefault((window, slows), Remembered(_VERSIONS))
    return solved.of(key, lambda: _solve(window, own, held, smooth, known, bridges, slows, watch))


def _solve(
    window: Window, asked: Sequence[Asked], held: dict[int, bytes], smooth: float, known: KnownAnswers, bridges: bool,
    slows: bool, watch: Watch,
) -> SolvedWindow:  # fmt: skip
    watch(0.0)
    run = Run(asked[0].frame_input, 0, len(asked), goes_on=False)
    for one in asked:
        run.add(one.frame_input, 1.0)
    arrays, prepared = run.in_motion(known), run.prepared
    for at, answer in held.items():
        arrays.answer_again(answer, at - window.begin)
    if slows:
        slow_motion(prepared, arrays, smooth**4, run.keyed, held=window.held)
    elif smooth > 0.0:
        beside = window.first - window.begin, window.end - window.last
        solve_motion(prepared, arrays, smooth**4, run.keyed, held=window.held, beside=beside, bridges=bridges)
    answers = arrays.answers()[window.first - window.begin : window.last - window.begin]
    return SolvedWindow(answers, smooth > 0.0 and not slows and popping(prepared.numpy, arrays))


def _parts(asked: dict[int, Asked]) -> list[tuple[int, int]]:
    """The frames that are one motion, from the first of each to behind the last: solved alike, and without jumps."""
    parts, frames = list[tuple[int, int]](), list(asked)
    steps = {frame: _step(asked[frame], asked[frame + 1]) for frame in frames if frame + 1 in asked}
    begin = frames[0] if frames else 0
    for frame in frames:
        step, beside = steps.get(frame, np.inf), (steps.get(near, 0.0) for near in (frame - 1, frame + 1))
        if step == np.inf or step > max(_JUMP, _STANDS_OUT * max(beside)):
            parts.append((begin, frame + 1))
            begin = next((other for other in frames if other > frame), frame)
    return parts


def _step(one: Asked, other: Asked) -> float:
    """How far a target moves from a frame to the next, in skeleton lengths; infinitely far to another way to solve."""
    if _way(one.question) != _way(other.question):
        return float("inf")
    moved = other.frame_input.targets.positions - one.frame_input.targets.positions
    return float(np.abs(moved).max(initial=0.0)) / one.frame_input.rig.skeleton.length


def _way(question: Question) -> tuple[object, ...]:
    """What the frames of one motion share: the prepared solve, whether they are keyed, and the prior."""
    way = question.way
    return way if len(way) < 4 else (*way[:3], way[4])
