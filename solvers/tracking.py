# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracking: targets followed by their velocity, one linear step a frame.

    dq/dt = J^# (v + k e) + kappa (I - J^# J) (q_base - q)

(Amino, "Proportional Position Control" and "Nullspace Projection"; he prints `J^+ v + K_p e`, in which the second term
has no inverse.) `v` is the velocity of the target, `e` the error, `J^#` the inverse of one of the solvers. Feeding `v`
forward makes the effectors keep up with a moving target; the gain `k` takes back what error there is, so that nothing
jumps. Every frame costs the same, and nothing is iterated.

In a frame of length `dt` the target moves evenly. The law above is then integrated exactly, not by Euler's rule, so
that no gain is too high: with `a = exp(-k dt)`, the effector is asked to move by `v dt + (1 - a) e`. Without the
velocity it would obey `k e` alone and stay behind by `v / k`: it moves by `v dt (1 - (1 - a) / (k dt)) + (1 - a) e`.
"""

import time
from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np

from .api import Prepared, prepare
from .group.stage import Stage, carried, of_goals, posed
from .iterate.descent import LONGEST_STEP
from .iterate.linear_step import LinearSystem, dot
from .methods import dls, pgs, pinv, sdls, svd, tsvd
from .model.errors import InvalidOptions, UnknownSolver
from .model.goals import Goal, Targets
from .model.options import Options
from .model.skeleton import Pose, Skeleton
from .model.solution import Solution
from .space.point import Point, stand

GAIN, BASE_GAIN = 10.0, 2.0  # [1/s]
RATE = 24.0  # [frames/s]
LEAST_DAMPING, NO_DAMPING = 1e-5, 1e-12
DAMPED = {"PGS": pgs.step, "DLS": dls.step}
INVERTED = {"PINV": pinv.step, "SVD": svd.step, "TSVD": tsvd.step, "SDLS": sdls.step}
STEPS: dict[str, Callable[[LinearSystem], np.ndarray]] = {**DAMPED, **INVERTED}


def track(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: np.ndarray,
    rotations: np.ndarray,
    pose: Pose | None = None,
    solver: str = "DLS",
    gain: float = GAIN,
    rate: float = RATE,
    options: Options | None = None,
    feed_forward: bool = True,
    base_gain: float = BASE_GAIN,
) -> list[Solution]:
    """Follow a motion by velocities, inside all limits: smooth, and at the same small cost in every frame.

    The first frame is `pose` as it is (default: rest), brought inside the limits. An error that it has dies away as
    `exp(-gain t)`; solve the first frame beforehand to begin with none. Unlike `solve_frames` a frame is not iterated
    until it is met, and a target that jumps is caught up with in its time.

    Parameters
    ----------
    positions : (F, G, 3). rotations : (F, G, 4). solver : one of `STEPS`.
    gain : [1/s] with which errors are taken back; infinite for all at once. rate : [1/s] frames a second.
    options : `damping` None grows with how far a step has to go; a number is kept as it is. With a `pull` the pose is
        led to its base (`bias`) without moving the effectors. `iterations` and `restarts` are of no use here.
    feed_forward : whether the targets' velocity is used; without it effectors trail behind by `velocity / gain`.
    base_gain : [1/s] with which the pose is led to its base, where there is a pull.

    Raises `UnknownSolver` for solvers whose step is not one of a linear system, `InvalidOptions` for gains and rates.
    """
    for name, value, least in [("gain", gain, 0.0), ("rate", rate, 1e-9), ("base_gain", base_gain, 0.0)]:
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) >= least:
            raise InvalidOptions(f"{name} = {value!r}; expected a number, {'0 or more' if least == 0.0 else 'above 0'}")
    if not np.isfinite(rate):
        raise InvalidOptions(f"rate = {rate!r}; expected a finite number")
    prepared = prepare(skeleton, goals, solver, options)
    if solver not in STEPS:
        raise UnknownSolver(f"solver {solver!r} has no linear step to track with; those that do are {', '.join(STEPS)}")
    law = _Law(solver, prepared.options, float(gain), 1.0 / float(rate), feed_forward, float(base_gain))
    targets, start = prepared.targets(positions, rotations), prepared.start(pose)
    solutions: list[Solution] = []
    current = start
    for frame in range(len(targets.positions)):
        began = time.perf_counter()
        then = targets.take(slice(frame, frame + 1))
        now = targets.take(slice(frame - 1, frame)) if frame else None
        current, points = _advance(prepared, law, current, start, now, then)
        batch = prepared.numpy.report(current, points, np.array([0 if now is None else 1]), then)
        solutions.append(batch.solution(0, time.perf_counter() - began))
    return solutions


class _Law:
    """By how much a stage's degrees of freedom move in a frame."""

    def __init__(
        self, solver: str, options: Options, gain: float, dt: float, feed_forward: bool, base_gain: float
    ) -> None:
        self._step, self._damped, self._damping = STEPS[solver], solver in DAMPED, options.damping
        self.share = -np.expm1(-gain * dt)
        behind = self.share / (gain * dt) if gain > 0.0 else 1.0
        self.lead = 1.0 if feed_forward else 1.0 - behind
        self._back = -np.expm1(-base_gain * dt)

    def step(self, stage: Stage, point: Point, asked: np.ndarray, v: np.ndarray, targets: Targets) -> np.ndarray:
        """The step (1, n) that moves the effectors as `asked` (1, m), inside the limits; `v` (1, n) leads to the base.

        The damping grows with what is asked, which bounds the step (Sugihara 2011), and with the error: the second
        derivatives that a linear step leaves out are multiplied by it, and where a target stays out of reach an
        undamped step sways to and fro.

        The system's gradient is that of a pull which takes the share `_back` of the way where the goals leave it free:
        for damped steps that depends on the damping, since they weigh it against that.
        """
        reluctance = stage.settings.reluctance
        damping = np.full(1, self._damping or 0.0)
        if self._damped and self._damping is None:
            damping = (
                LEAST_DAMPING + 0.5 * dot(asked, asked) + 0.5 * self.share * np.sqrt(dot(point.error, point.error))
            )
        elif self._damped:
            damping = np.maximum(damping, NO_DAMPING)
        gradient = None
        if stage.settings.pull:
            strength = damping[:, None] if self._damped else 1.0
            gradient = strength * self._back * stage.space.pull_gradient(point.state, v, reluctance)
        jacobian = stage.tasks.jacobian(point.state, point.kinematics, targets)
        d = self._step(LinearSystem(stage.space, point.state.x, jacobian, asked, gradient, damping, reluctance, 1.0))
        longest = np.abs(d * stage.space.turns).max(initial=0.0)
        return d * min(1.0, LONGEST_STEP / max(longest, 1e-300))


def _advance(
    prepared: Prepared, law: _Law, previous: Pose, start: Pose, now: Targets | None, then: Targets
) -> tuple[Pose, list[Point]]:
    """The pose one frame on from `previous`, and where the stages stand: from the targets `now` to those of `then`.

    With no `now` it is the first frame: `previous`, inside the limits.
    """
    pose, points = start, list[Point]()
    for index, stage in enumerate(prepared.stages):
        warm = carried(stage, previous, pose)
        wanted = of_goals(then, stage.indices)
        if now is None:
            point, _ = stage.stand(warm, pose, wanted)
        else:
            point, frames = stage.stand(warm, pose, of_goals(now, stage.indices))
            following = stage.frames(pose, wanted, frames.links, point.kinematics.positions)
            # what other stages have moved is taken back whole, of the error before that a share
            before = point if not index else stage.stand(previous, previous, of_goals(now, stage.indices))[0]
            asked = law.lead * stage.tasks.target_motion(frames.targets, following.targets)
            asked += point.error - (1.0 - law.share) * before.error
            v = stage.space.difference(point.state, frames.base)
            d = law.step(stage, point, asked, v, frames.targets)
            point = stand(stage.tasks, stage.space.step(point.state, d), following)
        points.append(point)
        pose = posed(stage, point.state, pose)
    return pose, points
