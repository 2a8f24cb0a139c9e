# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry points: `solve` one pose, `prepare` for many, `solve_frames` a motion."""

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .compiled.contract import SOLVERS as COMPILED
from .compiled.contract import TASKS as COMPILED_TASKS
from .compiled.library import load
from .compiled.stages import CompiledStages
from .group.grouping import chains_of, stage_order
from .group.stage import Stage
from .group.stages import Stages
from .methods.table import METHODS
from .model import frames
from .model.errors import InvalidGoal, UnknownSolver
from .model.frames import FrameArrays, Motion
from .model.goals import Goal, Targets
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Batch, Solution

SOLVERS = {name: method.summary for name, method in METHODS.items()}
"""Names and one-line descriptions of the solvers."""


class Prepared:
    """A skeleton, goals, a solver and options with all worked out that does not depend on the frame.

    Calling it solves one frame; `solve_into` and `solve_batch` solve many independent ones, a `motion` solves frames
    from one another. It never changes: any number of threads may share it, and it may be copied and pickled.

    Attributes
    ----------
    numpy : its stages, solved with NumPy. compiled : the same solved by the compiled kernel, or None.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], solver: str = "PGS", options: Options | None = None
    ) -> None:
        if solver not in METHODS:
            raise UnknownSolver(f"solver {solver!r} is not known; the solvers are {', '.join(SOLVERS)}")
        self.skeleton, self.goals, self.solver = skeleton, list(goals), solver
        self.options = Options() if options is None else options
        for index, goal in enumerate(self.goals):
            Goal.check(goal, skeleton, index)
        chains = chains_of(skeleton, self.goals)
        method = METHODS[solver]
        if method.check is not None:
            method.check(skeleton, self.goals, chains)
        timed = self.options.restarts > 0 and self.options.restart_seconds is not None  # the kernel has no clock
        library = load() if solver in COMPILED and not timed else None
        stages = [
            Stage(skeleton, self.goals, indices, chains, method, self.options)
            for indices in stage_order(skeleton, chains, apart=library is not None)
        ]
        self.numpy = Stages(skeleton, self.goals, stages, self.options)
        known = all(kind.name in COMPILED_TASKS for stage in stages for kind in stage.tasks.kinds)
        self.compiled = (
            CompiledStages(library, skeleton, stages, self.numpy.counts, solver) if library and known else None
        )
        ends = [(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in self.goals]
        self._poles = np.array(ends, dtype=float).reshape(-1, 3)
        self._rest = skeleton.rest_pose()
        self._own = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.skeleton, self.goals, self.solver, self.options)

    @property
    def stages(self) -> list[Stage]:
        """The groups of goals that are solved together, in order."""
        return self.numpy.stages

    def __call__(self, positions: np.ndarray, rotations: np.ndarray, pose: Pose | None = None) -> Solution:
        """Solve one frame: `positions` (G, 3), `rotations` (G, 4) from `pose` (default: rest)."""
        began = time.perf_counter()
        try:
            arrays = self._own.arrays
        except AttributeError:
            arrays = self._own.arrays = self.arrays()
        if not self._asks(arrays, positions, rotations, self._rest if pose is None else pose):
            targets = self.targets(np.asarray(positions)[None], np.asarray(rotations)[None])
            arrays.ask(targets, self.start(pose))
        (self.compiled or self.numpy).solve_into(arrays)
        return arrays.solution(0, time.perf_counter() - began)

    @staticmethod
    def _asks(arrays: FrameArrays, positions: np.ndarray, rotations: np.ndarray, pose: Pose) -> bool:
        """Copy a question to `arrays` of one frame; False where it is not finite arrays of the right shapes."""
        places = arrays.positions, arrays.orientations, arrays.start_rotations, arrays.start_translations
        for value, room in zip((positions, rotations, *pose), places, strict=False):
            if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != room.shape[1:]:
                return False
            if not math.isfinite(np.vdot(value, value)):
                return False
            room[0] = value
        return True

    def arrays(self, count: int = 1, shared: bool = False) -> FrameArrays:
        """Arrays for the questions and answers of `count` frames.

        They ask for the rest pose with the skeleton's own links and the goals' own poles, and for targets at the
        origin.

        shared : the start poses and the links have a leading axis of 1, the same for all frames.
        """
        arrays = frames.room(count, len(self.goals), len(self.skeleton), shared)
        arrays.orientations[..., 0] = 1.0
        arrays.poles[:] = self._poles
        arrays.start_rotations[:], arrays.start_translations[:] = self._rest
        arrays.links[:] = self.skeleton.links
        return arrays

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve every frame afresh, each from its own start; frames that hold a NaN or an infinity answer NaN."""
        (self.compiled or self.numpy).solve_into(arrays)

    def motion(self) -> Motion:
        """A motion that no frame of is solved yet."""
        return (self.compiled or self.numpy).motion()

    def targets(self, positions: np.ndarray, rotations: np.ndarray, poles: np.ndarray | None = None) -> Targets:
        """Checked targets of F frames: (F, G, 3), (F, G, 4), and (F, G, 3) poles, by default the goals' own."""
        count = len(self.goals)
        parts: list[np.ndarray] = []
        for name, value, size in [("positions", positions, 3), ("rotations", rotations, 4)]:
            array = np.array(value, dtype=float)
            if array.ndim != 3 or array.shape[1:] != (count, size):
                raise InvalidGoal(f"{name}: expected shape (frames, {count}, {size}), got {array.shape}")
            if not np.isfinite(array).all():
                frame, goal = np.argwhere(~np.isfinite(array).all(-1))[0]
                raise InvalidGoal(f"{name} of goal {goal}, frame {frame}: got {array[frame, goal].tolist()}")
            parts.append(array)
        if len(parts[0]) != len(parts[1]):
            raise InvalidGoal(f"positions of {len(parts[0])} frames but rotations of {len(parts[1])}; expected as many")
        length = np.linalg.norm(parts[1], axis=-1, keepdims=True)
        parts[1] = np.where(length > 0.0, parts[1] / np.where(length > 0.0, length, 1.0), (1.0, 0.0, 0.0, 0.0))
        if poles is None:
            return Targets(parts[0], parts[1], np.broadcast_to(self._poles, parts[0].shape))
        ends = np.array(poles, dtype=float)
        if ends.shape != parts[0].shape or not np.isfinite(ends).all():
            raise InvalidGoal(f"poles: expected finite numbers of shape {parts[0].shape}, got {ends.tolist()}")
        return Targets(parts[0], parts[1], ends)

    def solve_batch(self, targets: Targets, start: Pose, links: np.ndarray | None = None) -> Batch:
        """Solve F frames, each afresh from its own start.

        Parameters
        ----------
        start : `Pose` of (F or 1, J, 4) and (F or 1, J, 3). links : (F or 1, J, 8) as in `Skeleton.transforms`.
        """
        arrays = frames.asking(targets, start, self.skeleton.links if links is None else links)
        self.solve_into(arrays)
        return arrays.batch()

    def start(self, pose: Pose | None) -> Pose:
        """A checked starting pose with a leading axis for frames; the rest pose for None."""
        checked = self._rest if pose is None else self.skeleton.check_pose(pose)
        return Pose(checked.rotations[None], checked.translations[None])


def prepare(skeleton: Skeleton, goals: Sequence[Goal], solver: str = "PGS", options: Options | None = None) -> Prepared:
    """Work out once what does not depend on the frame: a callable `(positions, rotations, pose) -> Solution`."""
    return Prepared(skeleton, goals, solver, options)


def solve(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
) -> Solution:
    """Bring the goals' effectors to their targets, inside all limits, starting from `pose` (default: rest).

    Raises a `DqikError` (a `ValueError`) that names what is wrong with its input. Never returns a joint outside its
    limits, a NaN, or a pose further from the goals than the one given.
    """
    prepared = prepare(skeleton, goals, solver, options)
    positions = np.array([(0.0, 0.0, 0.0) if goal.position is None else goal.position for goal in goals], dtype=float)
    rotations = np.array(
        [(1.0, 0.0, 0.0, 0.0) if goal.rotation is None else goal.rotation for goal in goals], dtype=float
    )
    return prepared(positions.reshape(-1, 3), rotations.reshape(-1, 4), pose)


def solve_frames(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: np.ndarray,
    rotations: np.ndarray,
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
) -> list[Solution]:
    """Solve a motion: `positions` (F, G, 3) and `rotations` (F, G, 4), one solution a frame.

    Warm-started: each frame begins where the one before ended, the first at `pose`. With `options.warm_start` off all
    frames are independent, begin at `pose` and are solved in one batch.
    """
    prepared = prepare(skeleton, goals, solver, options)
    targets, start = prepared.targets(positions, rotations), prepared.start(pose)
    began = time.perf_counter()
    count = len(targets.positions)
    if not count:
        return []
    arrays = prepared.arrays(count, shared=True)
    arrays.ask(targets, start)
    if prepared.options.warm_start:
        prepared.motion().solve_into(arrays)
    else:
        prepared.solve_into(arrays)
    return arrays.batch().solutions((time.perf_counter() - began) / count)
