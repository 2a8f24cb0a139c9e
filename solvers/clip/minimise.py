# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum of a clip's cost: Levenberg-Marquardt steps over all its frames, with multipliers after each."""

import numpy as np

from ..space.joint_space import State
from .problem import Problem

ITERATIONS = 40
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-4, 1e-9, 1e6
GROW, SHRINK = 10.0, 0.1
LONGEST_STEP = 1.0  # [rad] of one step: a system predicts nothing further away
MULTIPLIERS_FROM = 3  # iterations before, in which the motion finds its shape
SETTLED = 2e-5  # [rad] the longest step at the end
MET = 1e-6  # [skeleton lengths or rad] the largest error row at the end


def minimise(problem: Problem, state: State) -> tuple[State, int]:
    """The state of least cost near a state, and the number of steps taken."""
    shifts, damping = problem.no_shifts(), FIRST_DAMPING
    cost, count = problem.cost(state, shifts), 0
    for iteration in range(ITERATIONS):
        system, longest = problem.system(state, shifts), np.inf
        while damping < MOST_DAMPING:
            try:
                step = system.step(damping)
            except np.linalg.LinAlgError:
                damping *= GROW
                continue
            longest = problem.longest(step)
            trial = problem.moved(state, step * min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP)))
            trial_cost = problem.cost(trial, shifts)
            if trial_cost <= cost:
                state, cost = trial, trial_cost
                break
            if longest < SETTLED:
                break
            damping *= GROW
        count += 1
        damping = min(max(damping * SHRINK, LEAST_DAMPING), MOST_DAMPING * SHRINK)
        if iteration >= MULTIPLIERS_FROM:
            shifts, missed = problem.learn(state, shifts)
            if longest < SETTLED and missed < MET:
                break
            cost = problem.cost(state, shifts)
    return state, count
