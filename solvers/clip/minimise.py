# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum of a clip's cost: Levenberg-Marquardt steps over all its frames."""

import numpy as np

from ..space.joint_space import State
from .problem import Problem
from .watch import Watch, unwatched

ITERATIONS = 25
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-9, 1e3
GROW, SHRINK = 10.0, 0.1  # the second rejected step in a row grows it by the square, the third by the cube
LONGEST_STEP = 1.0  # [rad] of one step: a system predicts nothing further away
SHARES = (1.0, 0.3)  # of a step, that are tried before another one is computed
SETTLED = 1e-3  # [rad] the longest step at the end
LEAST_GAIN = 1e-2  # of the cost: what the last step gains at most


def minimise(problem: Problem, state: State, watch: Watch = unwatched) -> tuple[State, int]:
    """The state of least cost near a state, and the number of steps taken."""
    cost, damping, count = problem.cost(state), FIRST_DAMPING, 0
    for iteration in range(ITERATIONS):
        watch(iteration / ITERATIONS)
        system, longest, grow = problem.system(state), np.inf, GROW
        before, stuck = cost, True
        while stuck and damping < MOST_DAMPING and longest >= SETTLED:
            try:
                step = system.step(damping)
            except np.linalg.LinAlgError:
                damping, grow = damping * grow, grow * GROW
                continue
            longest = problem.longest(step)
            step *= min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP))
            for share in SHARES:
                trial = problem.moved(state, system, share * step)
                trial_cost = problem.cost(trial)
                if trial_cost <= cost:
                    state, cost, stuck = trial, trial_cost, False
                    break
            if stuck:
                damping, grow = damping * grow, grow * GROW
        count += 1
        damping = min(max(damping * SHRINK, LEAST_DAMPING), MOST_DAMPING * SHRINK)
        if longest < SETTLED or before - cost < LEAST_GAIN * cost:
            break
    return state, count
