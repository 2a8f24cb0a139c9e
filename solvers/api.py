# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry points: `solve` one pose, `prepare` for many, `solve_frames` a motion."""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .compiled.apart import CompiledApart, compiled_or_numpy
from .compiled.library import load
from .compiled.needs import SUPPORTED, needs
from .compiled.stages import CompiledStages
from .group.apart import Apart, MotionApart
from .group.grouping import chains_of, coupled, stage_order
from .group.stage import Stage
from .group.stages import Stages
from .methods.table import method_of, refuse_kinds, solver_named
from .model import frames
from .model.carry import Carry
from .model.contacts import Contacts
from .model.errors import InvalidOptions
from .model.frames import FrameArrays, Motion
from .model.goals import (
    LEAST_QUATERNION,
    Effectors,
    Goal,
    Targets,
    check_targets,
    no_rotations,
    own_points,
    points_of,
    resolve_goals,
)
from .model.numbers import shown
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Batch, Solution


class Prepared:
    """A skeleton, goals, a solver and options, with everything computed that does not depend on the frame.

    A call solves one frame; `solve_into` and `solve_batch` solve many independent frames; a `motion` solves each frame
    from the one before. The object never changes: threads may share it, and it may be copied and pickled.

    Attributes
    ----------
    carry : the goals whose rotations follow a limb. apart : pushes bodies apart; None without contacts.
    numpy : the stages, solved with NumPy. compiled : the same stages, solved by the compiled kernel, or None.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> prepared = ik.prepare(arm, [ik.Goal("hand", position=(0, 0, 0))])
    >>> prepared.solver, prepared([(0.6, 0.8, 0)]).converged
    ('PGS', True)
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], solver: str = "PGS", options: Options | None = None,
        contacts: Contacts | None = None,
    ) -> None:
        self.skeleton, self.goals, self.solver = skeleton, resolve_goals(skeleton, goals), solver_named(solver)
        self.options = Options() if options is None else options
        if not isinstance(self.options, Options):
            raise InvalidOptions(f"options: expected Options, got {shown(options)}")
        self.carry = Carry(skeleton, self.goals)
        chains = chains_of(skeleton, self.goals)
        method = method_of(self.solver)
        refuse_kinds(self.solver, skeleton, self.goals)
        if method.check is not None:
            method.check(skeleton, self.goals, chains)
        points = points_of(self.goals)
        stages = [
            Stage(skeleton, [self.goals[g] for g in indices], indices, chains[indices], [points[g] for g in indices],
                  method, self.options)
            for indices in stage_order(skeleton, self.goals, coupled(skeleton, chains))
        ]  # fmt: skip
        if contacts is not None and not isinstance(contacts, Contacts):
            raise InvalidOptions(f"contacts: expected Contacts, got {shown(contacts)}")
        self.contacts = contacts
        self._placing = np.zeros((0, 3)) if contacts is None else contacts.points()
        self._points = np.concatenate([own_points(self.goals), self._placing])
        self.numpy = Stages(skeleton, self.goals, stages, self.options, len(self._points))
        self.apart: Apart | CompiledApart | None = None
        if contacts is not None and self.goals:
            apart = Apart(skeleton, self.goals, chains, self.options, contacts, self.numpy)
            self.apart = compiled_or_numpy(apart, self.options, self.numpy.counts, self.numpy.points)
        library = load() if needs(skeleton, stages, self.solver, self.options) <= SUPPORTED else None
        self.compiled = (
            None if library is None
            else CompiledStages(library, skeleton, stages, self.numpy.counts, self.solver, self.numpy.points)
        )
        ends = [(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in self.goals]
        self._poles = np.array(ends, dtype=float).reshape(-1, 3)
        self._rest, self._no_rotations = skeleton.rest_pose(), no_rotations(self.goals)
        self._local = threading.local()

    @cached_property
    def effectors(self) -> Effectors:
        """What the goals ask for, as arrays."""
        return Effectors(self.goals)

    def with_holds(self, hold: np.ndarray, gain: np.ndarray) -> "Prepared":
        """The same solve with other holds and gains (J,) of the joints, which shares what these leave alone.

        Raises `InvalidSkeleton` for holds and gains that a `Joint` cannot have.
        """
        skeleton = self.skeleton.with_holds(hold, gain)
        if self.options.pull is None:  # then holds and gains decide whether there is a pull
            return Prepared(skeleton, self.goals, self.solver, self.options, self.contacts)
        other = Prepared.__new__(Prepared)
        other.__dict__.update(self.__dict__)
        other.skeleton, other._local = skeleton, threading.local()
        other.numpy = self.numpy.with_holds(skeleton)
        if self.apart is not None:
            apart = self.apart.numpy if isinstance(self.apart, CompiledApart) else self.apart
            other.apart = compiled_or_numpy(apart.with_holds(other.numpy), self.options, self.numpy.counts,
                                            self.numpy.points)  # fmt: skip
        if self.compiled is not None:
            other.compiled = self.compiled.with_holds(other.numpy.stages)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.skeleton, self.goals, self.solver, self.options, self.contacts)

    @property
    def stages(self) -> Sequence[Stage]:
        """The groups of goals that are solved together, in order."""
        return self.numpy.stages

    def __call__(
        self, positions: ArrayLike | None, rotations: ArrayLike | None = None, pose: Pose | None = None
    ) -> Solution:
        """Solve one frame: `positions` (G, 3), `rotations` (G, 4) from `pose` (default: rest).

        Either may be None if no goal has it.
        """
        began = time.perf_counter()
        rotations = self._no_rotations if rotations is None else rotations
        try:
            arrays = self._local.arrays
        except AttributeError:
            arrays = self._local.arrays = self.arrays()
        if not self._fill(arrays, positions, rotations, self._rest if pose is None else pose):
            arrays.ask(self.targets_of_frame(positions, rotations), self.start(pose))
        (self.compiled or self.numpy).solve_into(arrays)
        if self.apart is None:
            return arrays.solution(0, time.perf_counter() - began)
        self.apart.solve_into(arrays)
        solution = arrays.solution(0, time.perf_counter() - began)
        return replace(solution, overlap=float(self.apart.overlaps(arrays)[0]))

    @staticmethod
    def _fill(arrays: FrameArrays, positions: Any, rotations: Any, pose: Pose) -> bool:
        """Copy targets and pose to `arrays` of one frame; False unless all are finite floats of the right shapes.

        Also False if a target's quaternion may be zero.
        """
        if not isinstance(pose, tuple) or len(pose) != 2:
            return False
        parts = arrays.positions, arrays.orientations, arrays.start_rotations, arrays.start_translations
        try:
            values = positions, rotations, *pose
            given: list[np.ndarray] = [one if isinstance(one, np.ndarray) else np.array(one) for one in values]
        except ValueError:  # rows of different lengths
            return False
        for value, room in zip(given, parts, strict=True):
            if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != room.shape[1:]:
                return False
            if not math.isfinite(np.vdot(value, value)):
                return False
            room[0] = value
        scalars: list[float] = arrays.orientations[0, :, 0].tolist()
        return min(map(abs, scalars), default=1.0) > LEAST_QUATERNION

    def arrays(self, count: int = 1, shared: bool = False) -> FrameArrays:
        """Arrays for the inputs and outputs of `count` frames.

        They start from the rest pose, with the skeleton's links, the goals' poles, and targets at the origin.

        shared : whether all frames share their start pose and links, which then have a leading axis of 1.
        """
        arrays = frames.room(count, len(self.goals), len(self.skeleton), shared, len(self._points))
        arrays.points[:] = self._points
        arrays.orientations[..., 0] = 1.0
        arrays.poles[:] = self._poles
        arrays.start_rotations[:], arrays.start_translations[:] = self._rest
        arrays.links[:] = self.skeleton.links
        return arrays

    def solve_into(self, arrays: FrameArrays, from_start: bool = False) -> None:
        """Solve every frame afresh, each from its own start; non-finite input gives NaN output.

        from_start : whether bodies that overlap in an answer are led to it from the start pose, and so stay on the side
            where the start pose has them. For start poses that are alike where frames are, as keyed ones are.
        """
        (self.compiled or self.numpy).solve_into(arrays)
        self.push_apart(arrays, from_start)

    def push_apart(self, arrays: FrameArrays, from_start: bool = False) -> None:
        """Push bodies apart in solved frames where they overlap. from_start : as for `solve_into`."""
        if self.apart is None:
            return
        if not from_start:
            self.apart.solve_into(arrays)
            return
        for frame in range(len(arrays)):
            own = arrays.part(frame, frame + 1)
            self.apart.follow_into(own, Pose(own.start_rotations, own.start_translations))
        self.apart.solve_into(arrays)  # where the way was long, a little overlap is left

    def motion(self) -> Motion:
        """A new motion, before its first frame."""
        motion = (self.compiled or self.numpy).motion()
        return motion if self.apart is None else MotionApart(motion, self.apart)

    def targets(
        self, positions: ArrayLike | None, rotations: ArrayLike | None = None, poles: ArrayLike | None = None,
        points: ArrayLike | None = None,
    ) -> Targets:  # fmt: skip
        """Checked targets of F frames: (F, G, 3), (F, G, 4), (F, G, 3) poles and (F, P, 3) points of all goals.

        Poles and points are the goals' own by default.
        """
        return check_targets(
            self.skeleton, self.goals, positions, rotations, poles, points=points, placing=self._placing
        )

    def targets_of_frame(self, positions: ArrayLike | None, rotations: ArrayLike | None) -> Targets:
        """Checked targets of one frame: (G, 3) and (G, 4)."""
        return check_targets(self.skeleton, self.goals, positions, rotations, single=True, placing=self._placing)

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
        checked = self.skeleton.rest_pose() if pose is None else self.skeleton.check_pose(pose)
        return Pose(checked.rotations[None], checked.translations[None])


def prepare(
    skeleton: Skeleton, goals: Sequence[Goal], solver: str = "PGS", options: Options | None = None,
    contacts: Contacts | None = None,
) -> Prepared:  # fmt: skip
    """Compute once what does not depend on the frame; returns a callable `(positions, rotations, pose) -> Solution`.

    Parameters and errors as for `solve`. A goal's `position` and `rotation` only say which of the two it has; each call
    passes the targets.

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
    return Prepared(skeleton, goals, solver, options, contacts)


def solve(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    pose: Pose | None = None,
    solver: str = "PGS",
    options: Options | None = None,
    contacts: Contacts | None = None,
) -> Solution:
    """Bring the goals' effectors to their targets, inside all limits, starting from `pose` (default: rest).

    Motions in `pose` that a joint cannot make, a turn of a slide for example, are left out, and joints, whether a goal
    moves them or not, are brought inside their limits. Never returns a joint outside its limits, a NaN, or a pose
    further from the goals than that, by the sum of the squares of the weighted errors of the goals that are missed. In
    this sum goals that yield to others have smaller weights, and a target far out of reach counts as if it were just
    out of it: its distance may grow while the goal's rotation comes nearer. The errors reported are those of the pose
    returned.

    Parameters
    ----------
    solver : a name in `SOLVERS`; case does not matter.
    contacts : bodies that nothing passes through; None without any. The solver finds a pose without them, and where
        bodies overlap in it they are pushed apart: limits hold exactly, then contacts, then goals.

    Raises
    ------
    DqikError : a `ValueError`, of a class named after the cause, whose message says what is wrong with the input.

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
    prepared = prepare(skeleton, goals, solver, options, contacts)
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
    points: ArrayLike | None = None,
    contacts: Contacts | None = None,
) -> list[Solution]:
    """Solve a motion: one solution a frame.

    With warm start each frame begins at the answer of the one before, the first at `pose`. With `options.warm_start`
    off all frames are independent, begin at `pose` and are solved in one batch.

    Parameters
    ----------
    positions : (F, G, 3) targets of the goals in each frame; None if no goal has a position.
    rotations : (F, G, 4) `w x y z`; None if no goal has a rotation.
    points : (F, P, 3) of all goals with points, one goal after the other, and then of obstacles, four of each; None
        for their own.

    Other parameters, and errors, as for `solve`.

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
    prepared = prepare(skeleton, goals, solver, options, contacts)
    targets, start = prepared.targets(positions, rotations, points=points), prepared.start(pose)
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
    return solutions_of(prepared, arrays, time.perf_counter() - began)


def solutions_of(prepared: Prepared, arrays: FrameArrays, seconds: float) -> list[Solution]:
    """The solutions of solved frames, which took so long."""
    solutions = arrays.batch().solutions(seconds / len(arrays))
    if prepared.apart is None:
        return solutions
    overlaps = prepared.apart.overlaps(arrays).tolist()
    return [replace(one, overlap=overlap) for one, overlap in zip(solutions, overlaps, strict=True)]
