# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves all stages of a prepared solve with the compiled kernel: frames afresh, and frames of a motion."""

import os
import threading
from collections.abc import Callable, Sequence
from copy import copy
from ctypes import addressof
from functools import partial
from itertools import pairwise

import numpy as np

from ..group.stage import Stage
from ..group.stages import check, first_pose
from ..model.frames import FrameArrays, room
from ..model.skeleton import Pose, Skeleton
from .declare import Packer
from .library import Kernel
from .pack import problem, with_holds
from .structures import MOTION

_ROUNDED = 1e-15  # by which checking a pose changes it, where it is an answer
FRAMES_A_THREAD = 8  # at least: for fewer frames another thread costs more than it saves


def in_threads(count: int, work: Callable[[int, int], None], least: int = FRAMES_A_THREAD) -> None:
    """Call `work(begin, end)` for all of `count` frames; for many frames in several threads, of `least` ones each."""
    share = 1 if count < 2 * least else min(os.cpu_count() or 1, count // least)
    if share == 1:
        work(0, count)
        return
    first, *others = pairwise(np.linspace(0, count, share + 1).astype(int).tolist())
    threads = [threading.Thread(target=work, args=part) for part in others]
    for thread in threads:
        thread.start()
    work(*first)
    for thread in threads:
        thread.join()


class WorkingMemory(threading.local):
    """Working memory of a number of doubles for each thread that asks."""

    def __init__(self, size: int) -> None:
        self.doubles = np.empty(size)
        self.address = self.doubles.ctypes.data


class CompiledStages:
    """The stages of a prepared solve, packed for the kernel.

    Holds no state of a solve: each calling thread has its own working memory, so any number of threads may share it.
    """

    def __init__(
        self, library: Kernel, skeleton: Skeleton, stages: Sequence[Stage], counts: np.ndarray, solver: str,
        points: int = 0,
    ) -> None:  # fmt: skip
        """`counts` (G, 2) bool: whether each goal's position and its rotation count. points : number of all goals'."""
        self.library, self.skeleton, self.goals, self.points = library, skeleton, len(counts), points
        self.rows = sum(stage.tasks.m for stage in stages)
        self.packer = self._whole = Packer()
        self._joints, self._solver = len(skeleton), solver
        self.address = addressof(problem(self.packer, skeleton, stages, counts, solver, points))
        self.memory = WorkingMemory(int(library.work(self.address)))

    def with_holds(self, stages: Sequence[Stage]) -> "CompiledStages":
        """Stages that differ by their joints' holds and gains only; they share the other packed memory."""
        other = copy(self)
        other.packer, other.skeleton = Packer(self._whole), stages[0].skeleton if stages else self.skeleton
        other.address = addressof(with_holds(other.packer, self.address, stages, self._solver))
        return other

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve every frame afresh; many frames in several threads."""
        check(arrays, self.goals, self._joints, self.points)
        in_threads(len(arrays), partial(self._solve, arrays))

    def _solve(self, arrays: FrameArrays, begin: int, end: int) -> None:
        self.library.solve(self.address, arrays.address, begin, end, self.memory.address)

    def motion(self) -> "CompiledMotion":
        """A new motion, before its first frame."""
        return CompiledMotion(self)


class CompiledMotion:
    """The `Motion` of frames that the kernel solves."""

    def __init__(self, stages: CompiledStages) -> None:
        self._stages = stages
        self._last = room(1, stages.goals, len(stages.skeleton), points=stages.points)
        self._packer = Packer()
        self._state = self._packer.fill(
            MOTION, steps=0, unchanged=0, residual=np.zeros(stages.rows), last=self._last.address
        )
        self._address = addressof(self._state)

    def restart(self) -> None:
        """See `Motion`."""
        self._state.steps = self._state.unchanged = 0

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        first = first_pose(self._stages.skeleton, pose)
        self._last.rotations[:], self._last.translations[:] = first
        same = np.abs(first.rotations - pose.rotations) < _ROUNDED
        np.copyto(self._last.rotations, pose.rotations, where=same)  # an answer goes on to the last digit
        self._state.steps, self._state.unchanged = 1, 0

    @property
    def pose(self) -> Pose | None:
        """See `Motion`."""
        return Pose(self._last.rotations[0].copy(), self._last.translations[0].copy()) if self._state.steps else None

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`."""
        stages = self._stages
        check(arrays, stages.goals, len(stages.skeleton), stages.points)
        stages.library.follow(stages.address, self._address, arrays.address, 0, len(arrays), stages.memory.address)
