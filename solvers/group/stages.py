# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves all stages of a prepared solve in order, with NumPy: frames afresh, and frames of a motion."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np

from ..algebra import quaternion
from ..model.frames import QUESTIONS, FrameArrays, room
from ..model.freedom import ROUNDED, allowed
from ..model.goals import Goal, Targets
from ..model.options import Options
from ..model.skeleton import Pose, Skeleton
from ..model.solution import Batch
from ..space.joint_space import JointSpace
from ..space.point import Point
from .plan import Plan
from .solve import afresh, follow
from .stage import Stage, carried, posed

HOLD_AFTER = 2  # frames in a row with the same inputs, after which the answer is repeated


class Stages:
    """The stages of a prepared solve. Holds no state of a solve, so any number of threads may share it."""

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], stages: Sequence[Stage], options: Options, points: int
    ) -> None:
        """`stages`: in order of solving. points : number of target points of all goals and obstacles."""
        self.points = points
        self.skeleton, self.goals, self.stages = skeleton, goals, stages
        weights = np.array([(goal.position_weight, goal.rotation_weight) for goal in goals]).reshape(-1, 2)
        self.counts = weights > 0.0  # (G, 2) whether a goal's position and its rotation count
        self._tolerances = np.where(self.counts, (options.tolerance, options.rotation_tolerance), np.inf)
        self._still = still_joints(skeleton, self.stages)
        self._placed = [g for g, goal in enumerate(goals) if goal.position is not None]
        self._oriented = [g for g, goal in enumerate(goals) if goal.rotation is not None]
        poled = [stage for stage in self.stages if stage.tasks.poles]
        self._poled = [
            int(stage.indices[pole.goal]) for stage in poled if stage.tasks.poles for pole in stage.tasks.poles.poles
        ]

    def with_holds(self, skeleton: Skeleton) -> "Stages":
        """These stages for a skeleton that differs by holds and gains only."""
        other = copy(self)
        other.skeleton, other.stages = skeleton, [stage.with_holds(skeleton) for stage in self.stages]
        if "plans" in self.__dict__:
            parts = [stage.with_holds(skeleton) for stage, _ in self.plans]
            other.plans = [(part, Plan(part)) for part in parts]
        return other

    @cached_property
    def plans(self) -> list[tuple[Stage, Plan]]:
        """The part of each stage with its plan."""
        return [(part, Plan(part)) for part in (stage.part() for stage in self.stages)]

    def solve_into(self, arrays: FrameArrays) -> None:
        """Solve every frame afresh, one after the other."""
        for frame, finite in enumerate(self.finite(arrays).tolist()):
            own = arrays.part(frame, frame + 1)
            if finite:
                self.step_into(own, None, [None] * len(self.stages))
            else:
                own.answer_nothing(slice(None))

    def step_into(self, frame: FrameArrays, previous: Pose | None, residuals: list[np.ndarray | None]) -> None:
        """Solve one frame from the `previous` pose (1, J, 4), (1, J, 3); afresh for None.

        residuals : per stage, its last error rows (1, m) of the frame before, None if unknown; overwritten.
        """
        targets, pose, links, home = self.inputs(frame, slice(None))
        points, iterations = list[tuple[Stage, Point]](), 0
        for index, (stage, plan) in enumerate(self.plans):
            own, joints = targets.of_goals(stage.indices), stage.joints
            start, own_links, own_home = _of_joints(pose, joints), links[:, joints], home[:, joints]
            if previous is None:
                point, took = afresh(stage, plan, start, own, own_links, own_home)
            else:
                warm = _of_joints(carried(stage, previous, pose), joints)
                point, took = follow(stage, plan, warm, start, own, own_links, own_home, residuals[index])
            points.append((stage, point))
            residuals[index] = point.error
            pose, iterations = posed(stage, point.state, pose), iterations + took
        frame.answer(slice(None), self.report(pose, points, np.array([iterations]), targets))

    def motion(self) -> "StagesMotion":
        """A new motion, before its first frame."""
        return StagesMotion(self)

    def finite(self, arrays: FrameArrays) -> np.ndarray:
        """Frames (F,) in which all inputs that the answer depends on are finite."""
        self._check(arrays)
        with np.errstate(over="ignore", invalid="ignore"):
            total = sum(getattr(arrays, name).sum() for name in QUESTIONS)
        if np.isfinite(total):  # the common case, at less cost
            return np.ones(len(arrays), dtype=bool)
        parts = (
            arrays.start_rotations, arrays.start_translations, arrays.links, arrays.positions[:, self._placed],
            arrays.orientations[:, self._oriented], arrays.poles[:, self._poled], arrays.points, arrays.home_rotations,
        )  # fmt: skip
        finite = np.ones(len(arrays), dtype=bool)
        for part in parts:
            finite &= np.isfinite(part).all((1, 2))
        return finite

    def report(
        self, pose: Pose, points: Sequence[tuple[Stage, Point]], iterations: np.ndarray, targets: Targets
    ) -> Batch:
        """The outputs of F frames, from their `pose` and the last point of each stage."""
        count = len(pose.rotations)
        distances, angles = np.zeros((2, count, len(self.goals)))
        at_limit = np.zeros((count, len(self.skeleton)), dtype=bool)
        for stage, point in points:
            errors = stage.tasks.report(point.kinematics, targets.of_goals(stage.indices))
            distances[:, stage.indices], angles[:, stage.indices] = errors
            if stage.space.limited:
                at_limit[:, stage.joints] |= np.stack([stage.space.at_limit(x) for x in point.state.x])
        met = (distances <= self._tolerances[:, 0]) & (angles <= self._tolerances[:, 1])
        return Batch(np.array(pose.rotations), np.array(pose.translations), distances, angles, iterations,
                     np.all(met, axis=-1), at_limit)  # fmt: skip

    def inputs(self, arrays: FrameArrays, frames: np.ndarray | slice) -> tuple[Targets, Pose, np.ndarray, np.ndarray]:
        """The inputs of some frames: targets, start poses as `start` gives them, links and home."""
        targets, start, links, home = _inputs(arrays, frames)
        return targets, self.start(start), links, home

    def start(self, pose: Pose) -> Pose:
        """Poses (F, J, ...) with motions that the joints' kinds allow, and joints that no stage moves inside limits."""
        start, space = allowed(self.skeleton, pose), self._still
        if space is None:
            return start
        start = Pose(start.rotations.copy(), start.translations.copy())
        for block in space.blocks:
            joint = int(space.joint[block.start])
            own = start.translations if self.skeleton.slides[joint] else start.rotations
            inside = space.nearest(block, own[:, joint])[0]
            off = np.abs(inside - own[:, joint]).max(-1) > ROUNDED
            if own is start.rotations:  # q and -q are the same rotation
                off &= np.abs(inside + own[:, joint]).max(-1) > ROUNDED
            own[off, joint] = inside[off]
        return start

    def _check(self, arrays: FrameArrays) -> None:
        check(arrays, len(self.goals), len(self.skeleton), self.points)


def still_joints(skeleton: Skeleton, stages: Sequence[Stage]) -> JointSpace | None:
    """The space of the joints with limits that no stage moves: stiff, or in no chain; None if there are none."""
    still = np.array([joint.limits is not None for joint in skeleton.joints])
    for stage in stages:
        still[stage.space.joint] = False
    space = JointSpace(skeleton, still, stiff=True)
    return space if space.n else None


class StagesMotion:
    """The `Motion` of frames solved with NumPy."""

    def __init__(self, stages: Stages) -> None:
        self._stages, self._last = stages, room(1, len(stages.goals), len(stages.skeleton), points=stages.points)
        self._residuals: list[np.ndarray | None] = []
        self._steps = self._unchanged = 0
        self.restart()

    def restart(self) -> None:
        """See `Motion`."""
        self._residuals = [None] * len(self._stages.stages)
        self._steps = self._unchanged = 0

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        self.restart()
        self._last.rotations[:], self._last.translations[:] = first_pose(self._stages.skeleton, pose)
        self._steps = 1

    @property
    def pose(self) -> Pose | None:
        """See `Motion`."""
        return Pose(self._last.rotations[0].copy(), self._last.translations[0].copy()) if self._steps else None

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`."""
        finite = self._stages.finite(arrays)
        for frame in range(len(arrays)):
            if finite[frame]:
                self._step(arrays.part(frame, frame + 1))
            else:
                arrays.answer_nothing(slice(frame, frame + 1))

    def _step(self, frame: FrameArrays) -> None:
        """Solve the next frame, or repeat the last answer."""
        last = self._last
        same = self._steps > 1 and all(np.array_equal(getattr(frame, name), getattr(last, name)) for name in QUESTIONS)
        self._unchanged = self._unchanged + 1 if same else 0
        if self._unchanged >= HOLD_AFTER:
            frame.answer(slice(None), last.batch())
            frame.iterations[:] = 0
        elif self._steps:
            self._stages.step_into(frame, Pose(last.rotations.copy(), last.translations.copy()), self._residuals)
        else:
            self._stages.solve_into(frame)
        last.copy_from(frame)
        self._steps = min(self._steps + 1, 2)


def first_pose(skeleton: Skeleton, pose: Pose) -> Pose:
    """A checked pose (1, J, ...) from which a motion can begin."""
    rotations, translations = skeleton.check_pose(pose)
    return allowed(skeleton, Pose(rotations[None], translations[None]))


def check(arrays: FrameArrays, goals: int, joints: int, points: int) -> None:
    """Raise ValueError unless the arrays are for this number of goals, joints and target points."""
    if (arrays.goals, arrays.joints, arrays.target_points) != (goals, joints, points):
        raise ValueError(
            f"arrays for {arrays.goals} goals, {arrays.joints} joints and {arrays.target_points} points; "
            f"expected {goals} goals, {joints} joints and {points} points"
        )


def _inputs(arrays: FrameArrays, frames: np.ndarray | slice) -> tuple[Targets, Pose, np.ndarray, np.ndarray]:
    """The inputs of some frames: targets with unit quaternions, start poses, links and home rotations."""
    parts = {name: part if len(part := getattr(arrays, name)) == 1 else part[frames] for name in QUESTIONS}
    count = len(arrays.iterations[frames])
    target_arrays = parts["positions"], quaternion.unit(parts["orientations"]), parts["poles"], parts["points"]
    *three, points = (
        part if len(part) == count else np.broadcast_to(part, (count, *part.shape[1:])) for part in target_arrays
    )
    targets = Targets(*three, points=points if points.shape[1] else None)
    start = Pose(parts["start_rotations"], parts["start_translations"])
    return targets, start, parts["links"], parts["home_rotations"]


def _of_joints(pose: Pose, joints: np.ndarray) -> Pose:
    return Pose(pose.rotations[:, joints], pose.translations[:, joints])
