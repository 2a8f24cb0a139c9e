# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of the solvers in the comparison: an entry is made for a workload and then solves its frames."""

from typing import NamedTuple, Protocol

from workload_suite import Workload

import solvers as ik

ITERATIONS = 200  # of one attempt, at most


class Answer(NamedTuple):
    """A pose and its number of iterations; None if the solver does not report them."""

    pose: ik.Pose
    iterations: float | None


class Refused(Exception):
    """The reason, in one sentence, why a solver cannot take part."""


class Entry(Protocol):
    """A solver prepared for a workload. `read`, which is not timed, converts the results of `solve` and `follow`."""

    def solve(self, frame: int) -> object:
        """Answer a frame from the workload's start pose."""

    def follow(self, frame: int) -> object:
        """Answer a frame from the answer to the frame before."""

    def read(self, answer: object) -> Answer:
        """Convert a result to an `Answer`."""


class Ours:
    """One of `ik.SOLVERS`."""

    def __init__(self, solver: str, workload: Workload) -> None:
        options = ik.Options(
            iterations=ITERATIONS, tolerance=workload.tolerance, rotation_tolerance=workload.rotation_tolerance,
            restarts=workload.restarts,
        )  # fmt: skip
        try:
            self._prepared = ik.prepare(workload.skeleton, workload.goals, solver, options)
        except ik.DqikError as error:
            raise Refused(str(error)) from None
        self._targets = self._prepared.targets(workload.positions, workload.rotations)
        self._start = self._prepared.start(workload.start)
        self._arrays, self._motion = self._prepared.arrays(), self._prepared.motion()

    def solve(self, frame: int) -> ik.Batch:
        """Answer a frame from the workload's start pose."""
        self._arrays.ask(self._wanted(frame, frame + 1), self._start)
        self._prepared.solve_into(self._arrays)
        return self._arrays.batch()

    def solve_together(self, first: int, last: int) -> list[Answer]:
        """Answers of several frames in one batch, which are the same as one by one."""
        batch = self._prepared.solve_batch(self._wanted(first, last), self._start)
        return [self._read(batch, row) for row in range(last - first)]

    def follow(self, frame: int) -> ik.Batch:
        """Answer a frame from the answer to the frame before, as `ik.solve_frames` does."""
        self._arrays.ask(self._wanted(frame, frame + 1), self._start)
        self._motion.solve_into(self._arrays)
        return self._arrays.batch()

    def read(self, answer: ik.Batch) -> Answer:
        """Convert a result to an `Answer`."""
        return self._read(answer, 0)

    def _wanted(self, first: int, last: int):
        return self._targets.take(slice(first, last))

    @staticmethod
    def _read(batch: ik.Batch, row: int) -> Answer:
        return Answer(ik.Pose(batch.rotations[row], batch.translations[row]), int(batch.iterations[row]))
