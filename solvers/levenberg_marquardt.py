# SPDX-License-Identifier: GPL-3.0-or-later
"""The outer iteration that every Jacobian solver shares: Levenberg-Marquardt over frames in one batch.

    minimise  1/2 |e(q)|^2 + 1/2 pull v^T D v,   v = how far q is from the base pose

A step is accepted only if this cost falls, and the damping follows the gain ratio of actual to predicted decrease.
(Kenwright's fixed delta does not hold still on unreachable targets.) Where a pull is given, a few pull-free steps
end the solve, so that the pull decides which answer is taken but costs no accuracy.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .goals import Targets, Tasks
from .joint_space import JointSpace, State
from .linear_step import LinearSystem

Inner = Callable[[LinearSystem], np.ndarray]

_POLISH_STEPS = 3
_POLISH_DAMPING = 1e-8
_DAMPING_RANGE = (1e-12, 1e4)


@dataclass
class Settings:
    """What the outer iteration needs to know; lengths in units of the skeleton's length."""

    iterations: int
    tolerance: float
    rotation_tolerance: float
    damping: float | None  # None adapts
    first_damping: float
    pull: float
    settle: float  # [rad] with a pull: stop when no joint steps further
    reluctance: np.ndarray  # (n,)


@dataclass
class Frames:
    """The frames still at work: where each is, what it asks for, and how hard it is damped."""

    index: np.ndarray  # (F,) into the whole batch
    state: State
    base: State
    targets: Targets
    links: np.ndarray | None
    damping: np.ndarray  # (F,)

    def take(self, keep: np.ndarray) -> "Frames":
        """Some of the frames."""
        links = self.links if self.links is None or len(self.links) == 1 else self.links[keep]
        return Frames(self.index[keep], self.state.take(keep), self.base.take(keep), self.targets.take(keep), links,
                      self.damping[keep])  # fmt: skip


@dataclass
class Minimum:
    """Where F frames ended: `state`, `iterations` (F,), `cost` (F,)."""

    state: State
    iterations: np.ndarray
    cost: np.ndarray


def minimise(tasks: Tasks, space: JointSpace, inner: Inner, settings: Settings, frames: Frames) -> Minimum:
    """Run every frame until it meets the tolerances and has settled, gains nothing more, or is out of iterations."""
    count = len(frames.index)
    done = Minimum(State(frames.state.rotations.copy(), frames.state.x.copy()), np.zeros(count, dtype=int),
                   np.full(count, np.inf))  # fmt: skip

    def leave(work: Frames, cost: np.ndarray, which: np.ndarray) -> None:
        at = work.index[which]
        done.state.rotations[at], done.state.x[at] = work.state.rotations[which], work.state.x[which]
        done.cost[at] = cost[which]

    work = frames
    kinematics = tasks.kinematics(work.state, work.links)
    error = tasks.errors(kinematics, work.targets)
    cost, v = _cost(space, settings, error, work)
    if not settings.pull:
        finished = tasks.within(error, settings.tolerance, settings.rotation_tolerance)
    else:
        finished = np.zeros(count, dtype=bool)
    stalled = np.zeros(count, dtype=int)
    for _ in range(settings.iterations):
        if finished.any():
            leave(work, cost, finished)
            keep = ~finished
            if not keep.any():
                return done
            work = work.take(keep)
            kinematics = type(kinematics)(*(part[keep] for part in kinematics))
            error, cost, stalled = error[keep], cost[keep], stalled[keep]
            v = None if v is None else v[keep]
        done.iterations[work.index] += 1
        system = LinearSystem(
            space, work.state.x, tasks.jacobian(work.state, kinematics, work.targets), error,
            None if v is None else settings.pull * space.pull_gradient(work.state, v, settings.reluctance),
            settings.pull + work.damping, settings.reluctance,
        )  # fmt: skip
        d = inner(system)
        predicted = 0.5 * (error * error).sum(-1) - system.value(d) + 0.5 * work.damping * (settings.reluctance * d * d).sum(-1)
        tried = Frames(work.index, space.step(work.state, d), work.base, work.targets, work.links, work.damping)
        tried_kinematics = tasks.kinematics(tried.state, work.links)
        tried_error = tasks.errors(tried_kinematics, work.targets)
        tried_cost, tried_v = _cost(space, settings, tried_error, tried)
        better = tried_cost < cost
        ratio = (cost - tried_cost) / np.maximum(predicted, 1e-300)
        if settings.damping is None:
            factor = np.where(better, np.where(ratio > 0.7, 0.2, np.where(ratio < 0.25, 3.0, 1.0)), 6.0)
            lowest = max(_DAMPING_RANGE[0], 0.03 * settings.pull)
            damping = np.clip(work.damping * factor, lowest, _DAMPING_RANGE[1])
        else:
            damping = work.damping
        gain = (cost - tried_cost) / np.maximum(cost, 1e-300)
        longest = np.abs(d).max(-1)
        if better.all():
            state, kinematics, error, cost, v = tried.state, tried_kinematics, tried_error, tried_cost, tried_v
        else:
            state = State(np.where(better[:, None, None], tried.state.rotations, work.state.rotations),
                          np.where(better[:, None], tried.state.x, work.state.x))  # fmt: skip
            kinematics = type(kinematics)(*(
                np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
                for new, old in zip(tried_kinematics, kinematics, strict=True)
            ))  # fmt: skip
            error = np.where(better[:, None], tried_error, error)
            cost = np.where(better, tried_cost, cost)
            v = None if v is None else np.where(better[:, None], tried_v, v)
        work = Frames(work.index, state, work.base, work.targets, work.links, damping)
        within = tasks.within(error, settings.tolerance, settings.rotation_tolerance)
        stalled = np.where(better & (gain > 1e-6), 0, np.where(better, stalled + 1, stalled))
        finished = (stalled >= 3) | (longest < 1e-9)
        if settings.pull:
            finished |= better & (longest < settings.settle)
        else:
            finished |= within
    leave(work, cost, np.ones(len(work.index), dtype=bool))
    return done


def _cost(space: JointSpace, settings: Settings, error: np.ndarray, work: Frames) -> tuple[np.ndarray, np.ndarray | None]:
    """The cost (F,) and, where there is a pull, the distance (F, n) from the base pose."""
    cost = 0.5 * (error * error).sum(-1)
    if not settings.pull:
        return cost, None
    v = space.difference(work.state, work.base)
    return cost + 0.5 * settings.pull * (settings.reluctance * v * v).sum(-1), v
