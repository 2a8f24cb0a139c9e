# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion that follows its targets with a lag, like a servo: tracking without feed forward, solved exactly."""

from dataclasses import dataclass, field, replace

import numpy as np

from .api import Prepared, prepare
from .group.lag import lag
from .group.stage import Stage, carried, posed
from .group.stages import first_pose
from .group.starts import begin
from .model.errors import InvalidOptions
from .model.frames import FrameArrays
from .model.numbers import number, shown
from .model.skeleton import Pose, Skeleton
from .space.point import Point
from .tracking import STEPS

OTHERS_STEP = "PGS"  # steps for solvers without a linear step


@dataclass(frozen=True)
class _State:
    """A pose (1, J, ...), before bodies were pushed apart, and each stage's error rows; none if it was only given.

    unknown : (U,) joints without a pose, which start from the frame's start pose.
    """

    pose: Pose
    errors: tuple[np.ndarray, ...] = ()
    unknown: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def of(self, skeleton: Skeleton, other: Skeleton, rows: list[int]) -> "_State":
        """The state for another skeleton, with the pose of joints of the same name and kind.

        rows : numbers of error rows of each stage. The errors are kept if these are the same.
        """
        joints = zip(other.joints, other.kinds, strict=True)
        numbers = {(joint.name, kind): number for number, (joint, kind) in enumerate(joints)}
        at = [numbers.get((joint.name, kind), -1) for joint, kind in zip(skeleton.joints, skeleton.kinds, strict=True)]
        pose = Pose(*(part[:, at] for part in self.pose))
        unknown = np.flatnonzero(np.array(at) < 0)
        same = not unknown.size and [error.shape[-1] for error in self.errors] == rows
        return _State(pose, self.errors if same else (), unknown)


class TrackedMotion:
    """A `Motion` that removes errors at a rate: what is left of one after `t` seconds is `exp(-gain t)` of it.

    A target that moves evenly is followed at a distance of `velocity / gain`. The first frame is solved afresh; each
    other one is a step from the frame before it (`group/lag.py`), inside all limits. Joints that the goals leave free
    move to the start pose of the frame at the same rate. Links and start poses may change from frame to frame. Solvers
    without a linear step take those of `PGS`.

    Parameters
    ----------
    prepared : the goals. gain : [1/s]. seconds : [s] the time from one frame to the next.

    Attributes
    ----------
    gain, seconds : may be changed between frames. prepared : the goals.

    Raises
    ------
    InvalidOptions : for a gain or a time that is no number of 0 or more.

    Examples
    --------
    >>> rail = ik.Skeleton([ik.Joint("cart", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0))])
    >>> prepared = ik.prepare(rail, [ik.Goal("cart", position=(0, 0, 0))], options=ik.Options(damping=1e-9))
    >>> motion, frame = ik.TrackedMotion(prepared, gain=2.0, seconds=0.1), prepared.arrays()
    >>> motion.begin(rail.rest_pose())
    >>> frame.positions[:] = (1, 0, 0)
    >>> for _ in range(10):
    ...     motion.solve_into(frame)
    >>> round(float(frame.position_errors[0, 0]), 4) == round(float(np.exp(-2.0)), 4)
    True
    """

    def __init__(self, prepared: Prepared, gain: float, seconds: float) -> None:
        for name, value in (("gain", gain), ("seconds", seconds)):
            if not 0.0 <= number(value) < np.inf:
                raise InvalidOptions(f"{name} = {shown(value)}; expected a finite number, 0 or more")
        self.prepared, self.gain, self.seconds = prepared, gain, seconds
        steps = prepared.solver in STEPS
        self._stepped = prepared if steps else prepare(
            prepared.skeleton, prepared.goals, OTHERS_STEP, replace(prepared.options, unit_angle=None),
            prepared.contacts,
        )  # fmt: skip
        self._state: _State | None = None
        self._before: _State | None = None

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`."""
        finite = self._stepped.numpy.finite(arrays)
        for index in range(len(arrays)):
            frame = arrays.part(index, index + 1)
            if not finite[index]:
                arrays.answer_nothing(slice(index, index + 1))
                continue
            self._before = self._state
            if self._state is None:
                (self.prepared.compiled or self.prepared.numpy).solve_into(frame)
                self._state = self._stood(frame)
            else:
                self._state = self._step(frame, self._state)
            if self.prepared.apart is not None:
                self.prepared.apart.solve_into(frame)

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        self._state = self._before = _State(first_pose(self.prepared.skeleton, pose))

    def restart(self) -> None:
        """See `Motion`."""
        self._state = self._before = None

    def back(self) -> None:
        """Forget the last frame: the next one is solved from the frame before it."""
        self._state = self._before

    def take_over(self, other: "TrackedMotion") -> None:
        """Go on from where another motion is, for joints of the same name and kind; others begin at the start pose."""
        here, there = self.prepared.skeleton, other.prepared.skeleton
        rows = [stage.tasks.all for stage in self._stepped.stages]
        self._state, self._before = (
            None if state is None else state.of(here, there, rows) for state in (other._state, other._before)
        )

    @property
    def pose(self) -> Pose | None:
        """See `Motion`."""
        return None if self._state is None else Pose(*(part[0].copy() for part in self._state.pose))

    def _stood(self, frame: FrameArrays) -> _State:
        """The state of a frame that was solved afresh."""
        stages, pose = self._stepped.numpy, Pose(frame.rotations.copy(), frame.translations.copy())
        targets, start, links, _ = stages.inputs(frame, slice(None))
        points = (begin(one, pose, start, targets.of_goals(one.indices), links)[0] for one in stages.stages)
        return _State(pose, tuple(point.error for point in points))

    def _step(self, frame: FrameArrays, state: _State) -> _State:
        """Answer one frame, `seconds` after a state; returns the next state."""
        stages = self._stepped.numpy
        targets, start, links, _ = stages.inputs(frame, slice(None))
        for part, own in zip(state.pose, start, strict=True):
            part[:, state.unknown] = own[:, state.unknown]
        alone, pose = start, start
        for stage in stages.stages:
            alone = carried(stage, state.pose, alone)
        points, iterations = list[tuple[Stage, Point]](), 0
        for index, stage in enumerate(stages.stages):
            previous = carried(stage, state.pose, pose) if index else alone
            point, count = lag(
                stage, previous, pose, targets.of_goals(stage.indices), links,
                state.errors[index] if state.errors else None, alone, self.gain, self.seconds,
            )  # fmt: skip
            points.append((stage, point))
            pose, iterations = posed(stage, point.state, pose), iterations + count
        frame.answer(slice(None), stages.report(pose, points, np.array([iterations]), targets))
        return _State(Pose(*map(np.array, pose)), tuple(point.error for _, point in points))
