# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes bodies apart in frames whose answers overlap: contacts come after limits and before goals.

An answer without contacts is a continuous function of the targets. From it the least gaps are raised in steps from the
present overlap to none, so that bodies leave each other along the shortest way; multipliers then make the gaps exact
(augmented Lagrangian). The pose stays the nearest one to that answer: a pull leads back to it, and goals hold their
effectors where it has brought them. So frames depend on their own inputs only, and nothing jumps where contact begins.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..iterate.descent import ANY, Settings
from ..methods.table import METHODS
from ..model.contacts import Contacts
from ..model.frames import FrameArrays, Motion
from ..model.goals import Goal, Targets
from ..model.options import Options
from ..model.skeleton import Pose, Skeleton
from ..space.joint_space import State
from ..space.point import Point, Request, stand
from ..space.tasks import Kinematics
from .settings import PULL
from .stage import Stage, frames_of, posed
from .stages import Stages
from .starts import with_still_slides

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the way from the overlap to the least gap
SHARE_ITERATIONS, MULTIPLIERS, MULTIPLIER_ITERATIONS, LAST_ITERATIONS = 12, 3, 20, 3
BACK = 1e-3  # pull to the free answer: less lets joints swing that push nothing, more lets goals give way
SETTLED = 1e-7  # [rad] longest step: a figure at rest against itself must not tremble
TOUCHING = 1e-7  # [skeleton lengths] less overlap counts as none
AT_ONCE = 32  # frames


class Apart:
    """The contacts of a prepared solve. Holds no state of a solve."""

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray, options: Options, contacts: Contacts,
        stages: Stages,
    ) -> None:  # fmt: skip
        self._stages = stages
        options = replace(options, pull=PULL, bias="START", unit_angle=None)
        self._stage = Stage(
            skeleton, goals, range(len(goals)), chains, METHODS["PGS"], options, contacts=contacts
        )  # fmt: skip
        first = self._stage.settings._replace(
            settle=SETTLED, unsettled=ANY, damping=None, first_damping=BACK, pull=BACK, iterations=SHARE_ITERATIONS
        )
        self._first, self._exact = first, first._replace(iterations=MULTIPLIER_ITERATIONS)
        self._last = first._replace(pull=0.0, iterations=LAST_ITERATIONS, first_damping=1e-6)
        self._touching = TOUCHING * skeleton.length

    def solve_into(self, arrays: FrameArrays) -> None:
        """Push bodies apart in solved frames where they overlap."""
        for begin in range(0, len(arrays), AT_ONCE):
            self._some(arrays.part(begin, min(begin + AT_ONCE, len(arrays))))

    def overlaps(self, arrays: FrameArrays) -> np.ndarray:
        """The deepest overlaps (F,) of solved frames [length units], beyond those of the rest pose; 0 for none."""
        finite = np.flatnonzero(np.isfinite(arrays.rotations).all((1, 2)))
        deepest = np.zeros(len(arrays))
        if finite.size and self._stage.gaps is not None and self._stage.gaps.count:
            *_, reached, targets = self._placed(arrays, finite)
            deepest[finite] = np.maximum(self._lacking(reached, targets), 0.0).max(-1)
        return deepest

    def _some(self, arrays: FrameArrays) -> None:
        finite = np.flatnonzero(np.isfinite(arrays.rotations).all((1, 2)))
        if not finite.size or self._stage.gaps is None or not self._stage.gaps.count:
            return
        *_, reached, targets = self._placed(arrays, finite)
        lacking = self._lacking(reached, targets)
        going = np.flatnonzero((lacking > self._touching).any(-1))
        if not going.size:
            return
        some = finite[going]
        point, frames, pose, wanted = self._answers(arrays, some)
        point, iterations = self._pushed(point, frames, lacking[going])
        iterations += arrays.iterations[some]
        pose = posed(self._stage, point.state, pose)
        arrays.answer(some, self._stages.report(pose, [(self._stage, point)], iterations, wanted))

    def _answers(self, arrays: FrameArrays, finite: np.ndarray) -> tuple[Point, Request, Pose, Targets]:
        """The points of answers, their request with goals held where the answers have brought them, and the targets."""
        stage = self._stage
        pose, state, links, reached, targets = self._placed(arrays, finite)
        own = stage.gaps.least if stage.gaps is not None else np.zeros(0)
        held = stage.tasks.shifted(targets, reached, targets, -np.ones((finite.size, len(stage.goals))))
        frames = Request(state, held._replace(gaps=np.tile(own, (finite.size, 1))), links)
        return stand(stage.tasks, state, frames), frames, pose, targets

    def _placed(
        self, arrays: FrameArrays, finite: np.ndarray
    ) -> tuple[Pose, State, np.ndarray | None, Kinematics, Targets]:
        """Where answers have brought the bodies; whether they overlap needs no Jacobian."""
        stage = self._stage
        targets, _, links, _ = self._stages.inputs(arrays, finite)
        pose = frames_of(Pose(arrays.rotations[finite], arrays.translations[finite]), finite.size)
        links = with_still_slides(stage, pose, links)
        state = stage.space.state(pose, finite.size)
        return pose, state, links, stage.tasks.kinematics(state, links), targets

    def _lacking(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """How far the gaps (F, K) are below their least; below 0 for those with room."""
        gaps = self._stage.gaps
        assert gaps is not None
        return gaps.least - gaps.at(kinematics, targets).gaps

    def _pushed(self, point: Point, frames: Request, depth: np.ndarray) -> tuple[Point, np.ndarray]:
        """Frames pushed apart and the iterations (F,); depth : (F, K) how far gaps are below their least."""
        stage, depth, iterations = self._stage, np.maximum(depth, 0.0), np.zeros(len(depth), dtype=int)
        assert stage.gaps is not None
        least, multipliers = stage.gaps.least, np.zeros_like(depth)

        def run(settings: Settings, gaps: np.ndarray) -> Point:
            request = replace(frames, targets=frames.targets._replace(gaps=gaps))
            minimum = stage.minimise(settings, stand(stage.tasks, point.state, request), request)
            iterations[:] += minimum.iterations.sum(-1)
            return minimum.point

        for share in SHARES:
            point = run(self._first, least - (1.0 - share) * depth)
        for _ in range(MULTIPLIERS):
            multipliers = np.maximum(multipliers + self._lacking(point.kinematics, frames.targets), 0.0)
            point = run(self._exact, least + multipliers)
        multipliers = np.maximum(multipliers + self._lacking(point.kinematics, frames.targets), 0.0)
        return run(self._last, least + multipliers), iterations


class MotionApart:
    """A `Motion` whose bodies are pushed apart; each frame follows the answer without contacts of the one before."""

    def __init__(self, motion: Motion, apart: Apart) -> None:
        self._motion, self._apart = motion, apart

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`."""
        self._motion.solve_into(arrays)
        self._apart.solve_into(arrays)

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        self._motion.begin(pose)

    def restart(self) -> None:
        """See `Motion`."""
        self._motion.restart()

    @property
    def pose(self) -> Pose | None:
        """See `Motion`."""
        return self._motion.pose
