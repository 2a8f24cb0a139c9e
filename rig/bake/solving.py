# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the frames of a bake in a thread of their own, while more frames are read."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ...solvers import Batch
from ..frame.read import own_answers
from ..frame.read.question import FrameInput
from ..frame.step.known_answers import KnownAnswers
from ..frame.step.start_mode import Way
from ..frame.step.whole_shot import WholeShot
from ..notes import Note, Refused
from .frames import Run, Runs, RunSolver
from .smooth_motion import MotionSolver

_BEAT = 0.05  # seconds between reports that frames are still being solved
_RUNS_SHARE = 0.2  # of the time of a smooth bake, about: solving frame by frame


class Solving:
    """Solves frames in a thread of their own while more are read; leaving the context stops it.

    The thread only works on whole runs, all frames at once: only one thread at a time runs Python.
    """

    def __init__(
        self, way: Way, known: KnownAnswers, smooth: float = 0.0, shot: WholeShot | None = None
    ) -> None:  # fmt: skip
        """`way` : as for `solve_inputs`. `known` : answers that were found before. smooth : as of `MotionSolver`.

        shot : that is solved already.
        """
        if smooth > 0.0 and way.gain is not None:  # frames lag behind their targets
            raise Refused(Note("Follow lags behind its targets, a smooth bake does not: choose another Start From, or "
                               "Smooth 0"))
        self._whole = MotionSolver(known, smooth) if smooth > 0.0 else None
        self._solver = self._whole or RunSolver(way, known, shot)
        self._runs = Runs(way if self._whole is None else Way(follows=False))
        self._thread = ThreadPoolExecutor(1)
        self._batches: list[Future[list[tuple[int, Batch]]]] = []
        self.goals: list[bytes] = []  # of each frame, as of `own_answers.of_goals`

    @property
    def lags(self) -> set[int]:
        """Indices of the frames whose answers are on their way to the targets."""
        return self._runs.lags

    def add(self, frame_input: FrameInput | None, time: float) -> None:
        """Add the next frame, as for `solve_inputs`."""
        if self._whole is not None and frame_input is not None and frame_input.rig.plan.passes:
            raise Refused(Note("Goals follow what other goals move, which a smooth bake does not: choose Smooth 0"))
        goals = b"" if frame_input is None else own_answers.of_goals(frame_input.prepared, frame_input.targets)
        self.goals.append(goals)
        self._submit(self._runs.add(frame_input, time))

    def batches(self) -> Generator[float, None, list[tuple[int, Batch]]]:
        """The result of `solve_inputs` for all frames; yields the progress from 0 to 1."""
        self._submit(self._runs.end())
        if self._whole is not None:
            self._batches.append(self._thread.submit(self._whole.end))
        beat = 0.0  # who stops it is heard at once, however soon it would end
        while wait(self._batches, beat).not_done:
            beat = _BEAT
            done = sum(batch.done() for batch in self._batches) / len(self._batches)
            yield done if self._whole is None else _RUNS_SHARE * done + (1.0 - _RUNS_SHARE) * self._whole.share
        return [part for batch in self._batches for part in batch.result()]

    def __enter__(self) -> "Solving":
        return self

    def __exit__(self, *_: object) -> None:
        if self._whole is not None:
            self._whole.stop()
        self._thread.shutdown(cancel_futures=True)

    def _submit(self, runs: Iterable[Run]) -> None:
        self._batches += [self._thread.submit(self._solver.solve, run) for run in runs]
