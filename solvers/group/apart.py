# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes bodies apart in frames whose answers overlap: contacts come after limits and before goals.

An answer without contacts is a continuous function of the targets. From it a fixed number of damped steps is taken:

    minimise  1/2 |e - J d|^2 + 1/2 w^2 |max(aim - g - G d, 0)|^2 + 1/2 s d^T D d      with x + d inside the limits

`e` are the goals' errors from where the answer has brought their effectors, `g` and `G` gaps and their Jacobian. All
goals hold equally, wishes too, but those whose own bodies overlap hold less: a hand in the chest misses, and hips and
feet stay. The aims rise in the first steps from the present overlap to the least gaps, so that bodies leave each other
along the shortest way. The steps do not go on to a minimum: there are several, and frames that are alike could end in
different ones. Each step is continuous in its start, and so is a fixed number of them; damping leaves alone what pushes
nothing. So frames depend on their own inputs only, and nothing jumps where contact begins.

In a motion whose frames follow each other the steps begin at the pose of the frame before instead, and a pull leads to
the answer: from step to step bodies stop each other, so that a hand that is led through a body stays on its side until
its answer is free. Where all poses are keyed they begin at the keyed pose, which depends on the frame alone.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from ..iterate.linear_step import LinearSystem
from ..iterate.one_sided import step_inside
from ..methods import pgs
from ..methods.table import method_of
from ..model.contacts import Contacts
from ..model.frames import FrameArrays, Motion
from ..model.goals import Goal, Targets, points_of
from ..model.options import Options
from ..model.skeleton import Pose, Skeleton
from ..model.solution import Batch
from ..space.contacts import ContactGaps
from ..space.joint_space import State
from ..space.point import Point, Request, evaluate
from ..space.tasks import ROTATION_LENGTH, Kinematics
from .settings import PULL
from .stage import Stage, carried, frames_of, posed
from .stages import Stages
from .starts import with_still_slides

STEPS, RAISING = 8, 4  # steps of a frame, and those in which the aims rise
WEIGHT = 100.0  # w, per skeleton length; a position goal's is 1
DAMPING = 0.03  # s
BACK = 0.03  # pull to the answer, of steps that begin at another pose
LONGEST = 0.5  # [rad], for slides [skeleton lengths]: a longer step is shortened, where bodies have no room
ROUNDS = 10  # most changes of the set of rows that count, in a step
HELD, LEFT = 4.0, 1.0  # weight of goals, per skeleton length; and of those whose own body is `SUNK` in another
SUNK = 0.07  # [skeleton lengths]
REACH = 0.2  # [skeleton lengths] wider gaps cannot close in a step
TOUCHING = 1e-7  # [skeleton lengths] less overlap counts as none


class _Answers(NamedTuple):
    """Finite answers of F frames without contacts, and how deep their bodies overlap."""

    frames: np.ndarray  # (F,) numbers
    pose: Pose
    request: Request  # the answers' states, targets and links
    reached: Kinematics  # where the answers have brought bodies and effectors
    depths: np.ndarray  # (F, K) of the gaps [length units]

    def take(self, rows: np.ndarray) -> "_Answers":
        """Some of the frames."""
        pose = Pose(self.pose.rotations[rows], self.pose.translations[rows])
        reached = Kinematics(*(part[rows] for part in self.reached))
        return _Answers(self.frames[rows], pose, self.request.take(rows), reached, self.depths[rows])


class Apart:
    """The contacts of a prepared solve. Holds no state of a solve.

    Attributes
    ----------
    stage : all goals, whose rows hold the effectors. gaps : of the bodies. touching : [length units] overlap.
    owned : (G, C) as `_owned`. weights : (G,) of the goals, per skeleton length.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray, options: Options, contacts: Contacts,
        stages: Stages,
    ) -> None:  # fmt: skip
        self._stages = stages
        options = replace(options, pull=PULL, bias="START", unit_angle=None)
        self.stage = Stage(skeleton, goals, range(len(goals)), chains, points_of(goals), method_of("PGS"), options)
        self.gaps = ContactGaps(skeleton, self.stage.space, contacts)
        self.touching, self._reach = TOUCHING * skeleton.length, REACH * skeleton.length
        self._weight = WEIGHT / skeleton.length
        self.owned = _owned(skeleton, self.stage, self.gaps)
        lengths, angles = self.stage.tasks.weights
        weights = np.maximum(lengths * skeleton.length, angles / ROTATION_LENGTH)
        self.weights = np.where(weights > 0.0, weights, 1.0)
        sided = self.stage.tasks.one_sided
        self._sided = np.zeros(self.stage.tasks.all, dtype=bool) if sided is None else sided

    def with_holds(self, stages: Stages) -> "Apart":
        """The same contacts for stages that differ by their joints' holds and gains only."""
        other = copy(self)
        other._stages, other.stage = stages, self.stage.with_holds(stages.skeleton)
        return other

    def solve_into(self, arrays: FrameArrays) -> None:
        """Push bodies apart in solved frames where they overlap."""
        self._push_where_they_overlap(arrays)

    def follow_into(self, arrays: FrameArrays, before: Pose) -> None:
        """Push bodies apart in one solved frame where they overlap, from the pose (1, J, ...) of the frame before."""
        self._push_where_they_overlap(arrays, before)

    def overlaps(self, arrays: FrameArrays) -> np.ndarray:
        """The deepest overlaps (F,) of solved frames [length units], beyond those of the rest pose; 0 for none."""
        deepest = np.zeros(len(arrays))
        answers = self._answers(arrays)
        deepest[answers.frames] = answers.depths.max(-1, initial=0.0)
        return deepest

    def directions(self, arrays: FrameArrays) -> tuple[np.ndarray, np.ndarray]:
        """Which bodies overlap in answers, (F, K), and in which directions the first would leave, (F, K, 3).

        For measurements.
        """
        answers = self._answers(arrays)
        gap = self.gaps.at(answers.reached, answers.request.targets)
        return gap.gaps < self.gaps.least, gap.normals

    def _answers(self, arrays: FrameArrays) -> "_Answers":
        """The answers of those frames that have one."""
        stage, frames = self.stage, np.flatnonzero(np.isfinite(arrays.rotations).all((1, 2)))
        targets, _, links, _ = self._stages.inputs(arrays, frames)
        pose = frames_of(Pose(arrays.rotations[frames], arrays.translations[frames]), frames.size)
        links = with_still_slides(stage, pose, links)
        state = stage.space.state(pose, frames.size)
        kinematics = stage.tasks.kinematics(state, links)
        return _Answers(frames, pose, Request(state, targets, links), kinematics, self._depths(kinematics, targets))

    def _depths(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """How much less than their least the gaps are, (F, K); 0 for wide ones."""
        least = self.gaps.least
        return np.maximum(least - self.gaps.at(kinematics, targets, least.max(initial=0.0)).gaps, 0.0)

    def _push_where_they_overlap(self, arrays: FrameArrays, before: Pose | None = None) -> None:
        answers = self._answers(arrays)
        for row in np.flatnonzero(answers.depths.max(-1, initial=0.0) > self.touching).tolist():
            self._push(arrays, answers.take(np.array([row])), before)

    def _push(self, arrays: FrameArrays, answer: "_Answers", before: Pose | None) -> None:
        """Push the bodies of one frame apart; `before` (1, J, ...): in steps from this pose."""
        tasks, space, reached, wanted = self.stage.tasks, self.stage.space, answer.reached, answer.request.targets
        held = tasks.shifted(wanted, reached, wanted, -np.ones((1, len(self.stage.goals))))
        held = held._replace(shares=self._shares(answer.depths[0]))
        request = replace(answer.request, targets=held)
        missed = tasks.errors(reached, held)  # of goals without a place or rotation: the answer's misses stay
        point, depths, pull = Point(request.base, reached, missed), answer.depths, 0.0
        if before is not None:
            point = evaluate(tasks, space.state(carried(self.stage, before, answer.pose), 1), request)
            depths, pull = self._depths(point.kinematics, held), BACK
        counts = np.zeros(tasks.all + self.gaps.count, dtype=bool)
        for step in range(STEPS):
            aims = self.gaps.least - max(0.0, 1.0 - (step + 1) / RAISING) * depths[0]
            d, counts = self._step(point, request, missed, aims, pull, counts)
            d *= LONGEST / max(float(space.sizes(d).max()), LONGEST)
            point = evaluate(tasks, space.step(point.state, d), request)
        iterations = arrays.iterations[answer.frames] + STEPS
        pushed = posed(self.stage, point.state, answer.pose)
        arrays.answer(answer.frames, self._stages.report(pushed, [(self.stage, point)], iterations, wanted))

    def _shares(self, depths: np.ndarray) -> np.ndarray:
        """Factors (1, G) of the goals' weights, from the overlaps (K,) of an answer."""
        gaps, of_capsules = self.gaps, np.zeros(self.owned.shape[1])
        np.maximum.at(of_capsules, gaps.first, depths)
        np.maximum.at(of_capsules, gaps.pairs[:, 1], depths[: len(gaps.pairs)])
        depth = (self.owned * of_capsules).max(-1, initial=0.0) / (SUNK * self.stage.skeleton.length)
        return ((HELD + (LEFT - HELD) * np.minimum(depth, 1.0)) / self.weights)[None]

    def _step(
        self, point: Point, request: Request, missed: np.ndarray, aims: np.ndarray, pull: float, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """A step (1, n), and the rows that count in it: (all + K,) bool of the goals' rows and of the gaps.

        missed : (1, all) error rows that are left. aims : (K,) of the gaps. counts : of the step before.
        """
        tasks, targets, weight, space = self.stage.tasks, request.targets, self._weight, self.stage.space
        reluctance, gradient = self.stage.settings.reluctance, None
        if pull:
            away = space.difference(point.state, request.base)
            gradient = pull * space.pull_gradient(point.state, away, reluctance)
        gap = self.gaps.at(point.kinematics, targets, aims.max(initial=0.0) + self._reach)
        lacking = aims - gap.gaps[0]
        near = np.flatnonzero(lacking > -self._reach)
        columns = tasks.columns(point.state, point.kinematics)
        rows = np.concatenate([
            tasks.jacobian(point.state, point.kinematics, targets)[0],
            weight * self.gaps.jacobian(gap, columns, point.kinematics, near)[0],
        ])  # fmt: skip
        error = np.concatenate([
            (tasks.signed_errors(point.kinematics, targets) - missed)[0], weight * lacking[near],
        ])  # fmt: skip
        sided = np.concatenate([self._sided, np.ones(near.size, dtype=bool)])
        numbers = np.concatenate([np.arange(tasks.all), tasks.all + near])
        taking = ~sided | (error > 0.0) | counts[numbers]
        d = self._damped(point.state, rows[taking], error[taking], gradient, pull)
        for _ in range(ROUNDS):
            breaks = ~sided | (error - rows @ d[0] > 0.0)
            if np.array_equal(breaks, taking):
                break
            taking = breaks
            d = self._damped(point.state, rows[taking], error[taking], gradient, pull)
        counts = np.zeros_like(counts)
        counts[numbers[taking & sided]] = True
        return d, counts

    def _damped(
        self, state: State, rows: np.ndarray, error: np.ndarray, gradient: np.ndarray | None, pull: float
    ) -> np.ndarray:
        """The damped step (1, n) inside the limits, for rows (R, n), errors (R,) and the pull's gradient (1, n)."""
        space = self.stage.space
        system = LinearSystem(
            space, state.x, rows[None], error[None], gradient, np.array([DAMPING + pull]),
            self.stage.settings.reluctance, pull,
        )  # fmt: skip
        return step_inside(space, system, pgs.step)


def _owned(skeleton: Skeleton, stage: Stage, gaps: ContactGaps) -> np.ndarray:
    """(G, C) bool: the capsules of each goal's own bodies, the two nearest to its effector that serve no other goal."""
    owned = np.zeros((len(stage.goals), len(gaps.capsules.joint)), dtype=bool)
    alone = stage.counted.sum(0) == 1
    for g, goal in enumerate(stage.goals):
        path = skeleton.path(int(goal.joint))
        with_bodies = [j for j in path if alone[j] and stage.chains[g, j] and (gaps.capsules.joint == j).any()]
        owned[g] = np.isin(gaps.capsules.joint, with_bodies[-2:])
    return owned


class Pushes(Protocol):
    """What pushes the bodies of solved frames apart."""

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Apart`."""
        ...

    def follow_into(self, arrays: FrameArrays, before: Pose) -> None:
        """See `Apart`."""
        ...


class MotionApart:
    """A `Motion` whose bodies are pushed apart.

    Its answers without contacts follow each other; the steps that push begin at the frame before. A frame whose answer
    without contacts is that of the frame before is that frame again.
    """

    def __init__(self, motion: Motion, apart: Pushes) -> None:
        self._motion, self._apart = motion, apart
        self._free: np.ndarray | None = None  # rotations of the last answer without contacts
        self._last: Batch | None = None

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`."""
        for frame in range(len(arrays)):
            self._step(arrays.part(frame, frame + 1))

    def _step(self, frame: FrameArrays) -> None:
        """The next frame."""
        before = self.pose
        self._motion.solve_into(frame)
        free = frame.rotations.copy()
        if not np.isfinite(free).all():
            return
        if self._last is not None and self._free is not None and np.array_equal(free, self._free):
            frame.answer(slice(None), self._last)
        elif before is None:
            self._apart.solve_into(frame)
        else:
            self._apart.follow_into(frame, Pose(before.rotations[None], before.translations[None]))
        self._free, self._last = free, frame.batch()

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        self.restart()
        self._motion.begin(pose)

    def restart(self) -> None:
        """See `Motion`."""
        self._motion.restart()
        self._free = self._last = None

    @property
    def pose(self) -> Pose | None:
        """See `Motion`."""
        last = self._last
        return self._motion.pose if last is None else Pose(last.rotations[0], last.translations[0])
