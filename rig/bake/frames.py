# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves frames in runs, each on its own or from the one before, and makes channels continuous between frames."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...solvers import Batch, FrameArrays, Motion, Pose, Prepared, TrackedMotion
from ...solvers.model import ANSWERS, QUESTIONS
from ..blender.channels import Channels
from ..frame.read import own_answers, start_pose
from ..frame.read.question import FrameInput, check_numbers, posed
from ..frame.step import write
from ..frame.step.known_answers import KnownAnswers
from ..frame.step.start_mode import Way
from ..frame.step.whole_shot import WholeShot
from ..skeleton.rig import Rig

CHUNK = 64  # frames solved at once: more take more memory and gain little time


class Run:
    """Frames that are solved at once, because they follow each other and share a prepared solve.

    first : index of the first frame. goes_on : whether they follow the run before. frames : time from one to the next.
    stands_alone : whether its frames are not solved from the ones before.
    """

    def __init__(
        self, frame_input: FrameInput, first: int, most: int, goes_on: bool, stands_alone: bool = False
    ) -> None:  # fmt: skip
        """`frame_input` : of the first frame. `most` : frames that there is room for."""
        self.prepared, self.first, self.goes_on, self.frames = frame_input.prepared, first, goes_on, 1.0
        self.stands_alone = stands_alone
        self._first, self._amounts, self._times = frame_input, list[float](), list[float]()
        self._room = self.prepared.arrays(most)

    def fits(self, frame_input: FrameInput) -> bool:
        """Whether the start pose of a frame is made in the same way."""
        own, other = self._first.shaping, frame_input.shaping
        if frame_input.keyed != self._first.keyed:
            return False
        if own is None or other is None:
            return own is other
        return own.prior is other.prior and own.share == other.share

    @property
    def rig(self) -> Rig:
        """The rig of its frames."""
        return self._first.rig

    @property
    def keyed(self) -> bool:
        """Whether its frames start from their keys, not from the frames before."""
        return self._first.keyed

    def add(self, frame_input: FrameInput, frames: float, time: float = np.nan) -> bool:
        """Copy the next frame's input, of `frames` after the one before; returns whether the run is full.

        time : its own.
        """
        if self._amounts or self.goes_on:
            self.frames = frames
        self._times.append(time)
        frame_input.ask(self._room, len(self._amounts))
        self._amounts.append(1.0 if frame_input.shaping is None else float(frame_input.shaping.amount))
        return len(self._amounts) == len(self._room)

    def in_motion(self, known: KnownAnswers) -> FrameArrays:
        """The answers as of `solve`, with the completed start poses, as parts of a motion that is solved as one."""
        arrays = self._room.part(0, len(self._amounts))
        asked = arrays.start_rotations.copy(), arrays.start_translations.copy(), arrays.positions.copy()
        self.solve(known)
        arrays.start_rotations[:], arrays.start_translations[:], arrays.positions[:] = asked
        ends = self._first.rig.end_joints  # as long as each frame by itself has bones that stretch
        arrays.start_translations[:, ends] = arrays.translations[:, ends]
        start_pose.complete(arrays, self._first.rig, self._first.shaped(np.array(self._amounts)))
        return arrays

    def follow(self, motion: Motion) -> FrameArrays:
        """The answers of the frames, each solved from the one before."""
        arrays = self._room.part(0, len(self._amounts))
        start_pose.complete(arrays, self._first.rig, self._first.shaped(np.array(self._amounts)))
        self._first.follow(motion, arrays)
        check_numbers(arrays.rotations)
        return arrays

    def solve(self, known: KnownAnswers, shot: WholeShot | None = None) -> FrameArrays:
        """The answers of the frames: those of the shot that they belong to, or each on its own; known ones again."""
        arrays = self._room.part(0, len(self._amounts))
        questions = [
            known.question(self.prepared, self._first.shaped(amount), self.keyed, inputs)
            for inputs, amount in zip(arrays.questions(), self._amounts, strict=True)
        ]
        asked: list[int] = []
        for frame, question in enumerate(questions):
            found = None if shot is None else shot.answer(self._times[frame], question)
            found = known.get(question) if found is None else found
            if found is None:
                asked.append(frame)
            else:
                arrays.answer_again(found, frame)
        if asked:
            unknown = arrays
            if len(asked) < len(arrays):
                unknown = self.prepared.arrays(len(asked))
                for name in (*QUESTIONS, *ANSWERS):
                    getattr(unknown, name)[:] = getattr(arrays, name)[asked]
            self._first.solve_afresh(unknown, np.array(self._amounts)[asked])
            check_numbers(unknown.rotations)
            for frame, found in zip(asked, unknown.answers(), strict=True):
                known.keep(questions[frame], found)
                if unknown is not arrays:
                    arrays.answer_again(found, frame)
        return arrays


class Runs:
    """Divides frames into runs.

    lags : indices of the frames whose answers are on their way to the targets.
    """

    def __init__(self, way: Way, most: int = CHUNK) -> None:
        """`way` : as for `solve_inputs`. `most` : frames in a run."""
        self._way, self._most, self.lags = way, most, set[int]()
        self._run: Run | None = None
        self._prepared: Prepared | None = None
        self._time, self._count = -np.inf, 0

    def add(self, frame_input: FrameInput | None, time: float) -> Iterator[Run]:
        """Add the next frame; yields the runs that this completes. It keeps nothing of the input itself."""
        prepared = None if frame_input is None else frame_input.prepared
        follows = prepared is not None and self._prepared is not None and 0.0 < time - self._time <= 1.0
        fits = prepared is not None and prepared is self._prepared and (follows or not self._way.follows)
        if not fits:
            yield from self.end()
        if frame_input is not None:
            goes_on = fits if self._way.gain is None else follows
            begins = self._way.gain is None and not goes_on  # a motion with a lag has its own beginning
            alone = self._way.follows and (frame_input.stands_alone or begins)
            if self._run is not None and not (self._run.fits(frame_input) and self._run.stands_alone == alone):
                yield from self.end()
            self._run = self._run or Run(frame_input, self._count, self._most, goes_on, alone)
            if goes_on and self._way.gain is not None and not alone:
                self.lags.add(self._count)
            if self._run.add(frame_input, time - self._time, time):
                yield from self.end()
        self._prepared, self._time = prepared, time
        self._count += 1

    def end(self) -> Iterator[Run]:
        """Complete the last run, if there is one."""
        if self._run is not None:
            yield self._run
        self._run = None


class RunSolver:
    """Solves runs in order, each from the one before where it goes on."""

    def __init__(self, way: Way, known: KnownAnswers, shot: WholeShot | None = None) -> None:
        """`way` : as for `solve_inputs`. `known` : answers that were found before. shot : that is solved already."""
        self._way, self._known, self._shot = way, known, shot
        self._motion: Motion | None = None

    def solve(self, run: Run) -> list[tuple[int, Batch]]:
        """The index of the first frame, and the answers."""
        if not self._way.follows:
            return [(run.first, run.solve(self._known, self._shot).batch())]
        if run.stands_alone:
            arrays, self._motion = run.solve(self._known, self._shot), self._way.motion(run.prepared)
            self._motion.begin(Pose(arrays.rotations[-1], arrays.translations[-1]))
            return [(run.first, arrays.batch())]
        if self._motion is None or not run.goes_on:
            self._motion = self._way.motion(run.prepared)
        elif isinstance(self._motion, TrackedMotion) and self._motion.prepared is not run.prepared:
            self._motion = self._way.motion(run.prepared, self._motion)
        self._way.set_time(self._motion, run.frames)
        return [(run.first, run.follow(self._motion).batch())]


def solve_inputs(
    inputs: Iterable[tuple[FrameInput | None, float]], way: Way, chunk: int = CHUNK
) -> Iterator[tuple[int, Batch]]:
    """Solve frames in order; yields each batch with the index of its first frame.

    inputs : of each frame, None if there is nothing to solve, and its time.
    way : whether each frame starts from the one before if they are one apart at most, as live playback does.
    chunk : the most frames in a batch.
    """
    runs, solver = Runs(way, chunk), RunSolver(way, KnownAnswers(0))
    for frame_input, time in inputs:
        for run in runs.add(frame_input, time):
            yield from solver.solve(run)
    for run in runs.end():
        yield from solver.solve(run)


def answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batches: Sequence[tuple[int, Batch]]
) -> list[Channels]:
    """The channels of each frame, without sign flips of quaternions or whole turns of Euler angles between frames.

    starts : the channels that each frame starts from.
    """
    channels: list[Channels] = []
    batch_at = dict(batches)
    frame, batch, first = 0, None, 0
    while frame < len(inputs):
        if frame in batch_at:
            batch, first = batch_at[frame], frame
        frame_input, start = inputs[frame], starts[frame]
        before = channels[-1] if channels else start
        if frame_input is None or batch is None:
            channels.append(_continued(start, before))
        elif frame == first and _are_quaternions(inputs[first : first + len(batch.iterations)], start):
            channels += _quaternion_answers(inputs, starts, batch, first, before)
        else:
            rotations, translations = batch.rotations[frame - first], batch.translations[frame - first]
            channels.append(write.answer(
                rotations, translations, _continued(start, before).copy(), frame_input, before,
            ))  # fmt: skip
        frame = len(channels)
    return channels


def digests(inputs: Sequence[FrameInput | None], solved: Sequence[Channels], goals: Sequence[bytes]) -> list[bytes]:
    """The digests of the answers (`own_answers.py`), which tell live solving to leave the baked poses as they are.

    goals : of each frame, as of `Solving.goals` in `solving.py`.
    """
    return [
        own_answers.digest(posed(one.rig, _as_keyed(channels), one.slide_scale), wanted)
        for one, channels, wanted in zip(inputs, solved, goals, strict=True) if one is not None
    ]  # fmt: skip


def _as_keyed(channels: Channels) -> Channels:
    """Channels as curves hold them."""
    rotations, locations = channels.rotations.astype(np.float32), channels.locations.astype(np.float32)
    return Channels(rotations, locations, channels.modes)


def _continued(start: Channels, before: Channels) -> Channels:
    """The channels `start`, with the rotation values nearest to those of the frame before."""
    bones = np.arange(len(start.rotations))
    rotations = start.modes.channels(start.quaternions(), bones, before.rotations)
    return Channels(rotations, start.locations, start.modes, start.scales)


def _are_quaternions(inputs: Sequence[FrameInput | None], start: Channels) -> bool:
    """Whether all bones use quaternions, and what is solved on frames of a batch is shown and only turns bones."""
    plain = all(
        one is not None and not (one.led or one.rig.slide_joint.size or one.rig.end_joints.size) for one in inputs
    )
    return plain and start.modes.quaternions_only


def _quaternion_answers(
    inputs: Sequence[FrameInput | None], starts: Sequence[Channels], batch: Batch, first: int, before: Channels
) -> list[Channels]:
    """The channels of a batch if all bones use quaternions and none slides, each near to the frame before."""
    rig, count = inputs[first].rig, len(batch.iterations)
    q = rig.to_bones(batch.rotations[:, rig.solved_joints])
    q /= np.sqrt((q * q).sum(-1, keepdims=True))
    previous = np.concatenate([before.rotations[None, rig.solved_bones], q[:-1]])
    flips = np.where((q * previous).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    rotations = np.stack([start.rotations for start in starts[first : first + count]])
    rotations[:, rig.solved_bones] = q * np.cumprod(flips, axis=0)
    own = starts[first : first + count]
    return [Channels(turned, start.locations, start.modes) for turned, start in zip(rotations, own, strict=True)]
