# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry points: `solve` one pose, `prepare` for many, `solve_frames` a motion."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from .compiled.contract import SOLVERS as COMPILED
from .compiled.library import load
from .compiled.twin import Twin
from .group.grouping import chains_of, stage_order
from .group.stage import Stage, carried, frames_of, of_goals, posed
from .methods.table import METHODS
from .model.errors import InvalidGoal, UnknownSolver
from .model.goals import Goal, Targets
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Batch, Solution
from .space.point import Point

SOLVERS = {name: method.summary for name, method in METHODS.items()}
"""Names and one-line descriptions of the solvers."""

HOLD_AFTER = 2  # frames in a row that ask for the same, after which the answer stays as it is


class Prepared:
    """A skeleton, goals, a solver and options with all worked out that does not depend on the frame.

    Calling it solves one frame; `solve_batch` solves many independent ones, `track` follows a motion.
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
        self._chains = chains_of(skeleton, self.goals)
        method = METHODS[solver]
        if method.check is not None:
            method.check(skeleton, self.goals, self._chains)
        timed = self.options.restarts > 0 and self.options.restart_seconds is not None  # the kernel has no clock
        library = load() if solver in COMPILED and not timed else None
        self.stages = [
            Stage(skeleton, self.goals, indices, self._chains, method, self.options)
            for indices in stage_order(skeleton, self._chains, apart=library is not None)
        ]
        self._tolerances = np.array(
            [self.options.tolerance if goal.position_weight > 0.0 else np.inf for goal in self.goals]
        )
        self._rotation_tolerances = np.array(
            [self.options.rotation_tolerance if goal.rotation_weight > 0.0 else np.inf for goal in self.goals]
        )
        asked = np.stack([np.isfinite(self._tolerances), np.isfinite(self._rotation_tolerances)], -1)
        self.twin = (
            Twin(library, skeleton, self.stages, len(self.goals), solver, asked) if library is not None else None
        )
        self._residuals: list[np.ndarray | None] = [None] * len(self.stages)
        ends = [(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in self.goals]
        self._poles = np.array(ends, dtype=float).reshape(-1, 3)
        self._asked: tuple[np.ndarray, ...] = ()
        self._answer: Batch | None = None
        self._unchanged = 0

    def __call__(self, positions: np.ndarray, rotations: np.ndarray, pose: Pose | None = None) -> Solution:
        """Solve one frame: `positions` (G, 3), `rotations` (G, 4) from `pose` (default: rest)."""
        began = time.perf_counter()
        if self.twin is not None and self.twin.ask_one(positions, rotations, self._poles, pose):
            self.twin.solve_one()
            return self.twin.one.solution(time.perf_counter() - began)
        batch = self.solve_batch(
            self.targets(np.asarray(positions)[None], np.asarray(rotations)[None]), self.start(pose)
        )
        return batch.solution(0, time.perf_counter() - began)

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
        count = len(targets.positions)
        if self.twin is not None:
            return self.twin.solve(targets, start, links)
        pose, iterations = frames_of(start, count), np.zeros(count, dtype=int)
        points: list[Point] = []
        for stage in self.stages:
            point, took = stage.solve(pose, of_goals(targets, stage.indices), links)
            pose, iterations = posed(stage, point.state, pose), iterations + took
            points.append(point)
        return self.report(pose, points, iterations, targets)

    def track(
        self, previous: Pose, targets: Targets, start: Pose, links: np.ndarray | None = None, first: bool = False
    ) -> Batch:
        """Solve one frame from the `previous` frame's pose, as one of a motion; `start` is what the pull aims at.

        A frame that asks for what the ones before it asked for is answered as they were, so that a pose stretched
        toward a target out of reach holds still.

        first : forget what the frame before left over.
        """
        asked = (*targets[:3], start.rotations, start.translations, np.zeros(0) if links is None else links)
        same = not first and len(self._asked) == len(asked) and all(map(np.array_equal, asked, self._asked))
        self._unchanged = self._unchanged + 1 if same else 0
        self._asked = asked
        if self._answer is not None and self._unchanged >= HOLD_AFTER:
            return replace(self._answer, iterations=np.zeros(1, dtype=int))
        if self.twin is not None:
            self._answer = self.twin.track(previous, targets, start, links, first)
            return self._answer
        pose, iterations = frames_of(start, 1), np.zeros(1, dtype=int)
        points: list[Point] = []
        previous = frames_of(previous, 1)
        for index, stage in enumerate(self.stages):
            warm = carried(stage, previous, pose) if len(self.stages) > 1 else previous
            residual = None if first else self._residuals[index]
            point, took = stage.track(warm, pose, of_goals(targets, stage.indices), links, residual)
            self._residuals[index] = point.error
            pose, iterations = posed(stage, point.state, pose), iterations + took
            points.append(point)
        self._answer = self.report(pose, points, iterations, targets)
        return self._answer

    def follow(
        self, targets: Targets, start: Pose, links: np.ndarray | None = None, chunk: int = 1
    ) -> Iterator[Batch]:
        """Solve a motion: the first of F frames afresh, each other one from the one before it.

        Arguments as for `solve_batch`. Yields the answers of `chunk` frames at a time; NumPy's, one by one.
        """
        if self.twin is not None:
            yield from self.twin.follow(targets, start, links, chunk)
            return
        batch: Batch | None = None
        for frame in range(len(targets.positions)):
            own = slice(frame, frame + 1)
            wanted, begin = targets.take(own), Pose(*(part if len(part) == 1 else part[own] for part in start))
            hung = links if links is None or len(links) == 1 else links[own]
            if batch is None:
                batch = self.solve_batch(wanted, begin, hung)
            else:
                previous = Pose(batch.rotations[0], batch.translations[0])
                batch = self.track(previous, wanted, begin, hung, first=frame == 1)
            yield batch

    def report(self, pose: Pose, points: list[Point], iterations: np.ndarray, targets: Targets) -> Batch:
        """The answer of F frames: their `pose`, and a point for each stage."""
        count = len(pose.rotations)
        distances, angles = np.zeros((2, count, len(self.goals)))
        at_limit = np.zeros((count, len(self.skeleton)), dtype=bool)
        for stage, point in zip(self.stages, points, strict=True):
            found = stage.tasks.report(point.kinematics, of_goals(targets, stage.indices))
            distances[:, stage.indices], angles[:, stage.indices] = found
            if stage.space.limited:
                at_limit |= np.stack([stage.space.at_limit(x) for x in point.state.x])
        met = (distances <= self._tolerances) & (angles <= self._rotation_tolerances)
        posed = np.array(pose.rotations), np.array(pose.translations)
        return Batch(*posed, distances, angles, iterations, np.all(met, axis=-1), at_limit)

    def forget(self) -> None:
        """Forget what was asked last: somebody else has solved with this one's kernel since."""
        self._asked, self._answer = (), None

    def start(self, pose: Pose | None) -> Pose:
        """A checked starting pose with a leading axis for frames; the rest pose for None."""
        checked = self.skeleton.rest_pose() if pose is None else self.skeleton.check_pose(pose)
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
    if not prepared.options.warm_start:
        return prepared.solve_batch(targets, start).solutions((time.perf_counter() - began) / count)
    solutions: list[Solution] = []
    for batch in prepared.follow(targets, start, chunk=count):
        ended = time.perf_counter()
        solutions += batch.solutions((ended - began) / len(batch.iterations))
        began = ended
    return solutions
