# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry points: `solve` one pose, `prepare` for many, `solve_frames` a motion."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .compiled.contract import SOLVERS as COMPILED
from .compiled.library import load
from .compiled.twin import Twin
from .group.grouping import chains_of, stage_order
from .group.stage import Stage, carried, frames_of, of_goals, posed
from .methods.table import METHODS, solver_named
from .model.goals import Goal, Targets, check_targets, no_rotations, resolve_goals
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

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> prepared = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> prepared.solver, prepared([(0.6, 0.8, 0)]).converged
    ('PGS', True)
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], solver: str = "PGS", options: Options | None = None
    ) -> None:
        self.skeleton, self.goals, self.solver = skeleton, resolve_goals(skeleton, goals), solver_named(solver)
        self.options = Options() if options is None else options
        self._chains = chains_of(skeleton, self.goals)
        method = METHODS[self.solver]
        if method.check is not None:
            method.check(skeleton, self.goals, self._chains)
        timed = self.options.restarts > 0 and self.options.restart_seconds is not None  # the kernel has no clock
        library = load() if self.solver in COMPILED and not timed else None
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
            Twin(library, skeleton, self.stages, len(self.goals), self.solver, asked) if library is not None else None
        )
        self._residuals: list[np.ndarray | None] = [None] * len(self.stages)
        ends = [(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in self.goals]
        self._poles = np.array(ends, dtype=float).reshape(-1, 3)
        self._no_rotations = no_rotations(self.goals)
        self._asked: tuple[np.ndarray, ...] = ()
        self._answer: Batch | None = None
        self._unchanged = 0

    def __call__(
        self, positions: ArrayLike | None, rotations: ArrayLike | None = None, pose: Pose | None = None
    ) -> Solution:
        """Solve one frame: `positions` (G, 3), `rotations` (G, 4) from `pose` (default: rest).

        Either may be None where no goal asks for it.
        """
        began = time.perf_counter()
        rotations = self._no_rotations if rotations is None else rotations
        if self.twin is not None and self.twin.ask_one(positions, rotations, self._poles, pose):
            self.twin.solve_one()
            return self.twin.one.solution(time.perf_counter() - began)
        batch = self.solve_batch(self.targets_of_frame(positions, rotations), self.start(pose))
        return batch.solution(0, time.perf_counter() - began)

    def targets(
        self, positions: ArrayLike | None, rotations: ArrayLike | None = None, poles: ArrayLike | None = None
    ) -> Targets:
        """Checked targets of F frames: (F, G, 3), (F, G, 4), and (F, G, 3) poles, by default the goals' own."""
        return check_targets(self.skeleton, self.goals, positions, rotations, poles)

    def targets_of_frame(self, positions: ArrayLike | None, rotations: ArrayLike | None) -> Targets:
        """Checked targets of one frame: (G, 3) and (G, 4)."""
        one: list[Any] = [part if part is None else [part] for part in (positions, rotations)]
        return self.targets(*one)

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
    """Work out once what does not depend on the frame: a callable `(positions, rotations, pose) -> Solution`.

    Parameters and errors as for `solve`. The goals' own positions and rotations say only what is asked for; where the
    targets are comes with each call.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> reach = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> [reach([place]).converged for place in [(0.5, 1.0, 0.3), (0.2, 1.2, 0.9)]]
    [True, True]
    """
    return Prepared(skeleton, goals, solver, options)


def solve(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
) -> Solution:
    """Bring the goals' effectors to their targets, inside all limits, starting from `pose` (default: rest).

    Never returns a joint outside its limits, a NaN, or a pose further from the goals than the one given.

    Parameters
    ----------
    solver : a name in `SOLVERS`, in capitals or not.

    Raises
    ------
    DqikError : a `ValueError`, of a class named after the cause, that names what is wrong with the input.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0), limits=ik.Range(0.1, 2.6)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> solution = ik.solve(arm, [ik.Goal("hand", position=(0.5, 1.0, 0.3))])
    >>> solution.converged
    True
    >>> ik.forward(arm, solution.pose).positions[arm.index("hand")].round(2).tolist()
    [0.5, 1.0, 0.3]
    """
    prepared = prepare(skeleton, goals, solver, options)
    positions = [(0.0, 0.0, 0.0) if goal.position is None else goal.position for goal in prepared.goals]
    rotations = [(1.0, 0.0, 0.0, 0.0) if goal.rotation is None else goal.rotation for goal in prepared.goals]
    return prepared(
        np.array(positions, dtype=float).reshape(-1, 3), np.array(rotations, dtype=float).reshape(-1, 4), pose
    )


def solve_frames(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: ArrayLike | None,
    rotations: ArrayLike | None = None,
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
) -> list[Solution]:
    """Solve a motion: one solution a frame.

    Warm-started: each frame begins where the one before ended, the first at `pose`. With `options.warm_start` off all
    frames are independent, begin at `pose` and are solved in one batch.

    Parameters
    ----------
    positions : (F, G, 3) targets of the goals in each frame; None where no goal asks for a position.
    rotations : (F, G, 4) `w x y z`; None where no goal asks for a rotation.

    Others, and errors, as for `solve`.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> places = [[(0.5, 1.0, 0.3 + 0.1 * frame)] for frame in range(5)]
    >>> frames = ik.solve_frames(arm, [ik.Goal("hand", position=(0, 0, 0))], places)
    >>> [frame.converged for frame in frames]
    [True, True, True, True, True]
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
