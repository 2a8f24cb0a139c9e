# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum of a clip's cost: Levenberg-Marquardt steps over all its frames, damped where a frame needs it.

A step is too long in few frames at a time, where a limb is almost straight or reaches a limit. So each frame has a
damping of its own: that of frames near those that miss goals or limits more grows, and the others move on.
"""

import numpy as np

from ..space.joint_space import State
from .problem import Problem
from .watch import Watch, unwatched

ITERATIONS = 25
TRIES = 8  # of a step, each more damped, before there is none
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-5, 1e6
GROW, SHRINK = 30.0, 0.2
WORSE = 0.03  # of the mean cost of a frame: what a frame may miss more before its damping grows
REACH = 4  # frames on each side of such a frame, whose damping grows as well
LONGEST_STEP = 1.0  # [rad] of one step: a system predicts nothing further away
SETTLED = 1e-3  # [rad] the longest step at the end
LEAST_GAIN = 1e-2  # of the cost: what the last step gains at most, and was not too long in any frame


def minimise(problem: Problem, state: State, watch: Watch = unwatched) -> tuple[State, int]:
    """The state of least cost near a state, and the number of steps taken."""
    (misses, rest), beyond, count = problem.costs(state), np.zeros(1), 0
    cost, damping = float(misses.sum()) + rest, np.full(len(misses), FIRST_DAMPING)
    for iteration in range(ITERATIONS):
        watch(iteration / ITERATIONS)
        system, longest, before, better, worse = problem.system(state), np.inf, cost, False, np.zeros(1, dtype=bool)
        for _ in range(TRIES):
            try:
                step = system.step(damping[problem.moving], beyond)
            except np.linalg.LinAlgError:
                damping *= GROW
                continue
            longest = problem.longest(step)
            step *= min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP))
            beyond = system.beyond(step)
            trial = problem.moved(state, system, step)
            trial_misses, rest = problem.costs(trial)
            trial_cost = float(trial_misses.sum()) + rest
            worse = _beside(trial_misses - misses > WORSE * cost / len(misses))
            better = trial_cost <= cost
            grows = worse if better or worse.any() else np.ones_like(worse)
            damping *= np.where(grows, GROW, SHRINK if better else 1.0)
            damping = np.clip(damping, LEAST_DAMPING, MOST_DAMPING)
            if better:
                state, misses, cost = trial, trial_misses, trial_cost
            if better or longest < SETTLED:
                break
        count += 1
        if longest < SETTLED or not better or (before - cost < LEAST_GAIN * cost and not worse.any()):
            break
    return state, count


def _beside(frames: np.ndarray) -> np.ndarray:
    """Frames (F,) bool, and those near them."""
    return np.convolve(frames, np.ones(2 * REACH + 1))[REACH : REACH + len(frames)] > 0.5
