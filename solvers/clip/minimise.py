# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum of a clip's cost: Levenberg-Marquardt steps over all its frames, with multipliers after each."""

import numpy as np

from ..space.joint_space import State
from .problem import MET, Problem
from .watch import Watch, unwatched

ITERATIONS = 25
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-9, 1e3
GROW, SHRINK = 10.0, 0.1  # the second rejected step in a row grows it by the square, the third by the cube
LONGEST_STEP = 1.0  # [rad] of one step: a system predicts nothing further away
MULTIPLIERS_FROM = 3  # iterations before, in which the motion finds its shape
SETTLED = 5e-5  # [rad] the longest step at the end


def minimise(problem: Problem, state: State, watch: Watch = unwatched) -> tuple[State, int]:
    """The state of least cost near a state, and the number of steps taken."""
    shifts, damping = problem.no_shifts(), FIRST_DAMPING
    cost, count = problem.cost(state, shifts), 0
    for iteration in range(ITERATIONS):
        watch(iteration / ITERATIONS)
        system, longest, grow = problem.system(state, shifts), np.inf, GROW
        stuck = True
        while stuck and damping < MOST_DAMPING and longest >= SETTLED:
            try:
                step = system.step(damping)
            except np.linalg.LinAlgError:
                damping, grow = damping * grow, grow * GROW
                continue
            longest = problem.longest(step)
            share = min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP))
            trial = problem.moved(state, shifts, system, share * step)
            trial_cost = problem.cost(trial, shifts)
            if trial_cost <= cost:
                state, cost, stuck = trial, trial_cost, False
            else:
                damping, grow = damping * grow, grow * GROW
        count += 1
        damping = min(max(damping * SHRINK, LEAST_DAMPING), MOST_DAMPING * SHRINK)
        if iteration >= MULTIPLIERS_FROM:
            shifts, missed = problem.learn(state, shifts)
            if longest < SETTLED and missed < MET:
                break
            cost = problem.cost(state, shifts)
    return state, count
