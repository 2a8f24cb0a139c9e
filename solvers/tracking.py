# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracking: follows targets by their velocity, with one linear step per frame.

    dq/dt = J^# (v + k e) + (I - J^# J) (kappa (q_base - q) - gradient)

(Amino, "Proportional Position Control" and "Nullspace Projection"; he prints `J^+ v + K_p e`, in which the second term
has no inverse.) `v` is the velocity of the target, `e` the error, `J^#` the inverse of one of the solvers, and
`gradient` that of an optional objective. The feed-forward term `v` makes the effectors keep up with a moving target;
the gain `k` removes errors gradually, so that nothing jumps. There is no iteration: every frame costs the same.

In a frame of length `dt` the target moves at constant velocity. The law above is then integrated exactly, not by
Euler's rule, so that no gain is too high: with `a = exp(-k dt)`, the effector moves by `v dt + (1 - a) e`. Without feed
forward it would obey `k e` alone and lag by `v / k`: it moves by `v dt (1 - (1 - a) / (k dt)) + (1 - a) e`.
"""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .api import prepare
from .group.lag import removed
from .group.stage import Stage, carried, posed
from .group.starts import begin, request
from .iterate.descent import LONGEST_STEP
from .iterate.linear_step import LinearSystem, dot
from .iterate.one_sided import step_inside
from .methods.table import method_of
from .model.angles import column_axes, column_joints
from .model.errors import InvalidOptions, UnknownSolver
from .model.goals import Goal, Targets
from .model.numbers import array, is_flag, number, shown
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Solution
from .space.null_space import Objective
from .space.point import Point, evaluate

GAIN, BASE_GAIN = 10.0, 2.0  # [1/s]
RATE = 24.0  # [frames/s]
LEAST_DAMPING, NO_DAMPING = 1e-5, 1e-12
DAMPED = ("PGS", "DLS")
STEPS = (*DAMPED, "PINV", "SVD", "TSVD", "SDLS")
"""The solvers with a linear step."""


class Tracker:
    """Follows targets by their velocity, step by step, inside all limits.

    Each call of `step` moves the pose by one linear step and costs the same. The pull toward the base pose, if there is
    one, and `objective` act in the null space of the goals.

    Parameters
    ----------
    solver : one of `STEPS`.
    pose : where tracking starts (default: rest), brought inside the limits; also the base pose of a pull.
    options : `damping` None grows with the length of the step; a number is kept as it is. With a `pull` the pose moves
        to its base (`bias`) without moving the effectors. `iterations` and `restarts` have no effect.
    gain : [1/s] rate at which errors decay, as `exp(-gain t)`; infinity removes them in one step.
    feed_forward : whether the targets' velocity is used; without it effectors lag by `velocity / gain`.
    base_gain : [1/s] rate at which the pose moves to its base, if there is a pull.
    objective : a function `Pose -> gradient (n,)` [rad/s or length units/s], in the order of `column_joints`. In the
        null space of the goals the pose moves against it: `z = -gradient dt` (Parent eq. 5.25-5.28; Liegeois 1977).
        `toward_posture` makes one. Joints that no goal may move stay where they are.

    Attributes
    ----------
    pose : the pose of the last step.

    Raises
    ------
    UnknownSolver : for solvers without a linear step. InvalidOptions : for invalid gains or a step's invalid `dt`, and
        for an objective that returns anything but n finite numbers.

    Examples
    --------
    A planar arm whose hand moves along a line while its joints keep away from their limits (Liegeois): the cost is
    the sum of the squares of the angles' distances from the middle, over half the range.

    >>> limits = ik.Range(-2.0, 2.0)
    >>> joints = [ik.Joint(f"hinge {i}", i - 1, "hinge", (min(i, 1), 0, 0), axis=(0, 0, 1), limits=limits)
    ...           for i in range(4)]
    >>> arm = ik.Skeleton([*joints, ik.Joint("hand", 3, "fixed", (1, 0, 0))])
    >>> start = ik.pose_from_angles(arm, [1.5, -1.8, 1.0, 0.5])
    >>> def inside(pose):
    ...     return 2.0 * ik.angles_from_pose(arm, pose) / 2.0**2
    >>> place = ik.forward(arm, start).positions[arm.index("hand")]
    >>> goal = ik.Goal("hand", position=place)
    >>> tracker = ik.Tracker(arm, [goal], pose=start, objective=inside)
    >>> for frame in range(100):
    ...     solution = tracker.step([place - (0.005 * frame, 0, 0)], dt=1 / 30)
    >>> bool(solution.position_errors[0] < 0.01)
    True
    >>> bool(abs(ik.angles_from_pose(arm, tracker.pose)).max() < 1.6)
    True
    """

    def __init__(
        self,
        skeleton: Skeleton,
        goals: Sequence[Goal],
        solver: str = "DLS",
        pose: Pose | None = None,
        options: Options | None = None,
        gain: float = GAIN,
        feed_forward: bool = True,
        base_gain: float = BASE_GAIN,
        objective: Objective | None = None,
    ) -> None:
        self._gain, self._base_gain = _number("gain", gain), _number("base_gain", base_gain)
        if not is_flag(feed_forward):
            raise InvalidOptions(f"feed_forward = {shown(feed_forward)}; expected True or False")
        if objective is not None and not callable(objective):
            raise InvalidOptions(f"objective = {shown(objective)}; expected a function of a pose, or None")
        self._prepared = prepare(skeleton, goals, solver, options)
        solver = self._prepared.solver
        if solver not in STEPS:
            raise UnknownSolver(
                f"solver {solver!r} has no linear step to track with; those that do are {', '.join(STEPS)}"
            )
        self._solver, self._feed_forward, self._objective = solver, feed_forward, objective
        self._start = self._prepared.numpy.start(self._prepared.start(pose))
        self._pose, self._targets = self._start, None
        self._columns = column_joints(skeleton), column_axes(skeleton)

    @property
    def pose(self) -> Pose:
        """A copy of the pose of the last step; before the first, of the start."""
        return Pose(self._pose.rotations[0].copy(), self._pose.translations[0].copy())

    def step(self, positions: ArrayLike | None, rotations: ArrayLike | None = None, dt: float = 1.0 / RATE) -> Solution:
        """Move toward where the targets are `dt` seconds after the last step.

        The targets' velocity is their move since the last step, and 0 on the first step. With `dt = 0` the step only
        applies the limits, and the next velocity is measured from these targets.

        Parameters
        ----------
        positions : (G, 3), None if no goal has one. rotations : (G, 4), likewise. dt : [s].
        """
        began = time.perf_counter()
        seconds = _number("dt", dt)
        if not np.isfinite(seconds):
            raise InvalidOptions(f"dt = {shown(dt)}; expected a finite number")
        return self._advance(self._prepared.targets_of_frame(positions, rotations), seconds, began)

    def follow(self, positions: ArrayLike | None, rotations: ArrayLike | None, dt: float) -> list[Solution]:
        """Follow targets of F frames, (F, G, 3) and (F, G, 4), `dt` seconds apart; the first frame makes no step."""
        targets = self._prepared.targets(positions, rotations)
        solutions: list[Solution] = []
        for frame in range(len(targets.positions)):
            frame_targets = targets.take(slice(frame, frame + 1))
            solutions.append(self._advance(frame_targets, dt if frame else 0.0, time.perf_counter()))
        return solutions

    def _advance(self, targets: Targets, dt: float, began: float) -> Solution:
        """One step to the `targets` of one frame."""
        before = targets if self._targets is None else self._targets
        law = _Law(self._solver, self._prepared.options, self._gain, dt, self._feed_forward, self._base_gain)
        drift = self._drift(dt)
        pose, points = self._start, list[tuple[Stage, Point]]()
        for index, stage in enumerate(self._prepared.stages):
            warm = carried(stage, self._pose, pose)
            now, then = before.of_goals(stage.indices), targets.of_goals(stage.indices)
            if dt == 0.0:
                point, _ = begin(stage, warm, pose, then)
            else:
                moved_by_others = (self._pose, now) if index else None
                point = law.advance(stage, warm, pose, now, then, drift, moved_by_others)
            points.append((stage, point))
            pose = posed(stage, point.state, pose)
        self._pose, self._targets = Pose(pose.rotations.copy(), pose.translations.copy()), targets
        batch = self._prepared.numpy.report(pose, points, np.array([int(dt > 0.0)]), targets)
        return batch.solution(0, time.perf_counter() - began)

    def _drift(self, dt: float) -> np.ndarray | None:
        """The objective's gradient times `dt` (1, J, 3), as vectors in the joints' own frames."""
        if self._objective is None or dt == 0.0:
            return None
        joints, axes = self._columns
        gradient = self._objective(self.pose)
        try:
            gradient = array(gradient)
        except ValueError:
            raise InvalidOptions(f"objective: expected {len(joints)} numbers, got {shown(gradient)}") from None
        if gradient.shape != joints.shape or not np.isfinite(gradient).all():
            raise InvalidOptions(f"objective: expected {len(joints)} finite numbers, got {gradient.tolist()}")
        drift = np.zeros((1, len(self._prepared.skeleton), 3))
        np.add.at(drift[0], joints, dt * gradient[:, None] * axes)
        return drift


def track(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: ArrayLike | None,
    rotations: ArrayLike | None = None,
    pose: Pose | None = None,
    solver: str = "DLS",
    gain: float = GAIN,
    rate: float = RATE,
    options: Options | None = None,
    feed_forward: bool = True,
    base_gain: float = BASE_GAIN,
    objective: Objective | None = None,
) -> list[Solution]:
    """Follow a motion by velocities, inside all limits: smooth, and at the same small cost in every frame.

    The first frame is `pose` (default: rest), brought inside the limits. Its error decays as `exp(-gain t)`; solve the
    first frame beforehand to begin without error. Unlike in `solve_frames`, a frame is not iterated until its goals are
    met, and after a jump of the target the effector catches up over several frames.

    Parameters
    ----------
    positions : (F, G, 3), None if no goal has one. rotations : (F, G, 4), likewise.
    rate : [1/s] frames a second.

    Other parameters, and errors, as for `Tracker`, which takes one frame at a time.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
    ...     ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", 1, "fixed", (0, 1, 0)),
    ... ])
    >>> goal = ik.Goal("hand", position=(0.5, 1.0, 0.3))
    >>> places = [[(0.5, 1.0, 0.3 + 0.01 * frame)] for frame in range(48)]
    >>> frames = ik.track(arm, [goal], places, pose=ik.solve(arm, [goal]).pose)
    >>> bool(max(frame.position_errors[0] for frame in frames) < 0.001)
    True
    """
    if not np.isfinite(_number("rate", rate, 1e-9)):
        raise InvalidOptions(f"rate = {shown(rate)}; expected a finite number")
    tracker = Tracker(skeleton, goals, solver, pose, options, gain, feed_forward, base_gain, objective)
    return tracker.follow(positions, rotations, 1.0 / float(rate))


def _number(name: str, value: object, least: float = 0.0) -> float:
    """`value` as a number not below `least`."""
    if not number(value) >= least:
        expected = "0 or more" if least == 0.0 else "above 0"
        raise InvalidOptions(f"{name} = {shown(value)}; expected a number, {expected}")
    return number(value)


class _Law:
    """The motion of a stage's degrees of freedom in a time step `dt`."""

    def __init__(
        self, solver: str, options: Options, gain: float, dt: float, feed_forward: bool, base_gain: float
    ) -> None:
        step = method_of(solver).step
        assert step is not None
        self._step, self._damped, self._damping = step, solver in DAMPED, options.damping
        self._share, lead = removed(gain, dt)
        self._lead = 1.0 if feed_forward else lead
        self._back, _ = removed(base_gain, dt)

    def advance(
        self, stage: Stage, warm: Pose, start: Pose, now: Targets, then: Targets, drift: np.ndarray | None,
        moved_by_others: tuple[Pose, Targets] | None,
    ) -> Point:  # fmt: skip
        """The point of a stage one step after the pose `warm`, while its targets move from `now` to `then`.

        moved_by_others : the pose and targets before other stages moved this one, if they did.
        """
        point, frames = begin(stage, warm, start, now)
        following = request(stage, start, then, frames.links, point.kinematics.positions)
        # An error that other stages have made is removed at once, the error before that by a share.
        before = point
        if moved_by_others is not None:
            pose, targets = moved_by_others
            before = begin(stage, pose, pose, targets)[0]
        move = self._lead * stage.tasks.target_motion(frames.targets, following.targets, point.kinematics)
        move += point.error - (1.0 - self._share) * before.error
        away = np.zeros_like(point.state.x)
        if stage.settings.pull:
            gains = stage.settings.weights / stage.settings.reluctance
            away += self._back * gains * stage.space.difference(point.state, frames.base)
        if drift is not None:
            away += stage.space.components(drift)
        d = self._linear_step(stage, point, move, away, frames.targets)
        return evaluate(stage.tasks, stage.space.step(point.state, d), following)

    def _linear_step(
        self, stage: Stage, point: Point, move: np.ndarray, away: np.ndarray, targets: Targets
    ) -> np.ndarray:
        """The step (1, n) that moves the effectors by `move` (1, m), and joints by `-away` (1, n) in its null space.

        The damping grows with `move`, which bounds the step (Sugihara 2011), and with the error, because the second
        derivatives that a linear step leaves out are proportional to it: without this the pose oscillates where a
        target stays out of reach.

        A damped step weighs the system's gradient against the damping, so the gradient is multiplied by the damping.
        """
        reluctance = stage.settings.reluctance
        damping = np.full(1, self._damping or 0.0)
        if self._damped and self._damping is None:
            error = np.sqrt(dot(point.error, point.error))
            damping = LEAST_DAMPING + 0.5 * dot(move, move) + 0.5 * self._share * error
        elif self._damped:
            damping = np.maximum(damping, NO_DAMPING)
        gradient = None
        if away.any():
            strength = damping[:, None] if self._damped else 1.0
            gradient = strength * stage.space.pull_gradient(point.state, away, reluctance)
        tasks = stage.tasks
        if tasks.one_sided is not None:  # what has room may use it up
            room = tasks.signed_errors(point.kinematics, targets)
            move = np.where(tasks.one_sided & (room < 0.0), room, move)
        system = LinearSystem(
            stage.space, point.state.x, tasks.jacobian(point.state, point.kinematics, targets), move, gradient,
            damping, reluctance, 1.0, one_sided=tasks.one_sided,
        )  # fmt: skip
        d = step_inside(stage.space, system, self._step)
        longest = np.abs(d * stage.space.turns).max(initial=0.0)
        return d * min(1.0, LONGEST_STEP / max(longest, 1e-300))
