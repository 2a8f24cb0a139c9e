# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a shot and solves it as one motion, in stretches, so that an edit is solved again near it and nowhere else."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import perf_counter

import bpy
import numpy as np

from ...solvers.clip import Window, borders, solve_into, stretches
from ..blender import scene_state
from ..frame import offline
from ..frame.read.question import check_numbers
from ..frame.sessions import sessions
from ..frame.step.known_answers import KnownAnswers, Question
from ..frame.step.whole_shot import Asked, WholeShot
from .frames import Run
from .smooth_motion import AnsweredFrames, Stopped

_FEWEST = 3  # frames that have an acceleration
_BEAT = 0.05  # seconds between reports that frames are still being solved
_READ = 0.5  # of the time, about, is reading

Watch = Callable[[float], None]
"""Is told the share of the work that is done, and may raise to stop it."""


def armatures() -> list[bpy.types.Object]:
    """The live armatures whose frames are solved as one motion."""
    found = (bpy.data.objects[place] for place, _ in sessions.armatures.places())
    return [ob for ob in found if ob.dqik.live and ob.dqik.start_from == "SHOT" and ob.mode != "EDIT"]


def read(
    context: bpy.types.Context, ob: bpy.types.Object, seconds: float = np.inf
) -> Generator[float, None, None]:
    """Visit the frames of an armature object's shot that are to be read, until so many seconds are over.

    Yields the progress from 0 to 1. Raises `scene_state.Disturbed`.
    """
    motion, scene, until = sessions.of(ob).motion, context.scene, perf_counter() + seconds
    motion.shot.cover(scene, ob.dqik.smooth)
    frames = motion.shot.unread()
    if not frames:
        return
    with offline.session(ob) as reading:
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            for number, frame in enumerate(frames, 1):
                visits.visit(frame)
                found = offline.bake_frame(reading, ob, context.evaluated_depsgraph_get()).frame_input
                question = None if found is None else motion.question_of(found)
                motion.shot.ask(scene.frame_current_final, question, found)
                yield number / len(frames)
                if perf_counter() > until:
                    break
        context.view_layer.update()  # what this evaluates is no edit


def finish(context: bpy.types.Context, ob: bpy.types.Object) -> Generator[float, None, None]:
    """Read and solve what is left of an armature object's shot, and before of those that it follows.

    Yields the progress from 0 to 1, of each. Raises `scene_state.Disturbed`.
    """
    follows = sessions.armatures.followed(ob.session_uid)
    for one in [*(other for other in armatures() if other != ob and other.session_uid in follows), ob]:
        for share in read(context, one):
            yield _READ * share
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

    What a window asked and was answered is kept, so that only those that ask otherwise are solved. known : answers of
    frames on their own.
    """
    parts = _parts(shot.asked())
    count, done, kept = sum(len(asked) for _, asked in parts), 0, set[tuple[int, object]]()
    for first, asked in sorted(parts, key=lambda part: abs(part[0] - near)):
        at_borders = {window.first: window for window in borders(len(asked))}
        for window in sorted(stretches(len(asked)), key=lambda one: abs(first + one.begin - near)):
            held = dict[int, bytes]()
            for border in (at_borders[at] for at in (window.begin, window.last) if at in at_borders):
                found = _answers(shot, known, first, border, asked, {}, watch)
                held.update(enumerate(found, border.first))
                kept.add((first, border))
            found = _answers(shot, known, first, window, asked, held, watch)
            kept.add((first, window))
            for at, answer in {**held, **dict(enumerate(found, window.first))}.items():
                shot.reply(first + at, asked[at].question, answer)
            done += window.last - window.begin
            watch(done / count)
    for key in shot.windows.keys() - kept:
        del shot.windows[key]


def _answers(
    shot: WholeShot, known: KnownAnswers, first: int, window: Window, asked: Sequence[Asked], held: dict[int, bytes],
    watch: Watch,
) -> list[bytes]:  # fmt: skip
    """The answers of a window's frames, as they were found before if it asks the same. held : by frame."""
    own = asked[window.begin : window.end]
    key = (shot.smooth, *(one.question for one in own), *held.values())
    before = shot.windows.get((first, window))
    if before is None or before[0] != key:
        watch(0.0)
        before = shot.windows[first, window] = key, _solve(window, own, held, shot.smooth, known)
    return before[1]


def _solve(
    window: Window, asked: Sequence[Asked], held: dict[int, bytes], smooth: float, known: KnownAnswers
) -> list[bytes]:  # fmt: skip
    run = Run(asked[0].frame_input, 0, len(asked), goes_on=False)
    for one in asked:
        run.add(one.frame_input, 1.0)
    arrays, prepared = run.in_motion(known), run.prepared
    for at, answer in held.items():
        arrays.answer_again(answer, at - window.begin)
    if len(arrays) >= _FEWEST and smooth > 0.0:
        solve_into(prepared, AnsweredFrames(prepared), arrays, smooth**4, run.keyed, held=window.held)
        check_numbers(arrays.rotations)
        prepared.push_apart(arrays)
    return arrays.answers()[window.first - window.begin : window.last - window.begin]


def _parts(asked: dict[int, Asked]) -> list[tuple[int, list[Asked]]]:
    """The frames that follow each other and are solved in the same way, each part with its first frame."""
    parts, before = list[tuple[int, list[Asked]]](), None
    for frame, one in asked.items():
        if before is None or frame != before[0] + 1 or _way(one.question) != _way(before[1]):
            parts.append((frame, []))
        parts[-1][1].append(one)
        before = frame, one.question
    return parts


def _way(question: Question) -> tuple[object, ...]:
    """What the frames of one motion share: the prepared solve, whether they are keyed, and the prior."""
    way = question.way
    return way if len(way) < 4 else (*way[:3], way[4])
