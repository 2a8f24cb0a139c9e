# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the frames of a smooth bake: runs that follow each other and share a prepared solve are one motion.

Frames are solved one by one first, as for a usual bake. Of the motions that meet the goals as well, that one is taken
whose joints have small accelerations. A body whose bones are all keyed keeps its motion: its correction is smooth.
"""

from ...solvers import Batch, FrameArrays, Motion, Prepared
from ...solvers.clip import Watch, solve_into, unwatched
from ...solvers.model import ANSWERS, QUESTIONS
from ..frame.read.question import check_numbers
from ..frame.step.known_answers import KnownAnswers
from . import steady_targets
from .frames import Run

_FEWEST = 3  # frames that have an acceleration


class Stopped(Exception):
    """The solve was stopped from another thread."""


class MotionSolver:
    """Solves runs in order. `stop` may be called from another thread, and `share` read.

    share : of the work on the present motion, how much is done, 0 to 1.
    """

    def __init__(self, known: KnownAnswers, smooth: float) -> None:
        """`known` : answers that were found before. smooth : 0 to 1, in proportion to the time that it smooths over."""
        self._known, self._weight = known, smooth**4  # of squared accelerations: they grow by the time's fourth power
        self._parts: list[FrameArrays] = []
        self._last: Run | None = None
        self._first, self._stopped, self.share = 0, False, 0.0

    def solve(self, run: Run) -> list[tuple[int, Batch]]:
        """Add a run to the motion; if it begins another one, solve the one before, as of `end`."""
        last, solved = self._last, list[tuple[int, Batch]]()
        if last is None or not run.goes_on or run.prepared is not last.prepared or run.keyed != last.keyed:
            solved = self.end()
            self._first = run.first
        self._parts.append(run.in_motion(self._known))
        self._last = run
        return solved

    def end(self) -> list[tuple[int, Batch]]:
        """Solve the motion: the index of its first frame, and the answers; nothing if there is none."""
        if self._last is None:
            return []
        prepared, corrects = self._last.prepared, self._last.keyed
        arrays = _joined(prepared, self._parts)
        steady_targets.in_arrays(self._last.rig, arrays)
        self._parts.clear()
        self._last = None
        solve_motion(prepared, arrays, self._weight, corrects, self._watch)
        return [(self._first, arrays.batch())]

    def stop(self) -> None:
        """Stop solving."""
        self._stopped = True

    def _watch(self, share: float) -> None:
        if self._stopped:
            raise Stopped
        self.share = share


def solve_motion(
    prepared: Prepared, arrays: FrameArrays, weight: float, corrects: bool, watch: Watch = unwatched,
    held: tuple[int, int] = (0, 0), beside: tuple[int, int] = (0, 0), bridges: bool = True,
) -> None:  # fmt: skip
    """Solve frames whose own answers stand in arrays as one motion, as `solve_into` has it."""
    if len(arrays) >= _FEWEST:
        own = _Answered(prepared)
        solve_into(prepared, own, arrays, weight, corrects, watch=watch, held=held, beside=beside, bridges=bridges)
        check_numbers(arrays.rotations)
        prepared.push_apart(arrays)


class _Answered:
    """What solves frames (`solvers/clip/answers.py`) whose own answers stand in the arrays already."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    def solve_into(self, arrays: FrameArrays) -> None:
        """Leave the answers as they are."""

    def motion(self) -> Motion:
        """A motion, in which each frame is solved from the one before."""
        return self._prepared.motion()


def _joined(prepared: Prepared, parts: list[FrameArrays]) -> FrameArrays:
    """Arrays of all frames of a motion."""
    whole, begin = prepared.arrays(sum(map(len, parts))), 0
    for part in parts:
        for name in (*QUESTIONS, *ANSWERS):
            getattr(whole, name)[begin : begin + len(part)] = getattr(part, name)
        begin += len(part)
    return whole
