# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain projected Gauss-Seidel sweeps against Kenwright's algorithm 1, written out number by number."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from skeletons import chain

import solvers as ik
from solvers.iterate.linear_step import LinearSystem
from solvers.papers import gauss_seidel

pytestmark = pytest.mark.compiled
JOINTS = 5
LIMIT = 0.3  # [rad]


def system(limit: float | None, damping: float = 0.0) -> LinearSystem:
    """A random problem of three frames, at different places inside the limits."""
    limits = None if limit is None else ik.Range(-limit, limit)
    skeleton = chain(JOINTS, "hinge", axis=(1, 0, 0), limits=limits)
    space = ik.prepare(skeleton, [ik.Goal(JOINTS - 1, (0, 0, 0))]).stages[0].space
    generator = np.random.default_rng(4)
    x = generator.uniform(-0.2, 0.2, (3, JOINTS))
    jacobian, error = generator.normal(size=(3, 3, JOINTS)), generator.normal(size=(3, 3))
    return LinearSystem(space, x, jacobian, error, None, np.full(3, damping), np.ones(JOINTS))


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("limit", [None, LIMIT])
def test_a_step_is_the_algorithm_of_the_paper(limit: float | None, damping: float) -> None:
    """Single unknowns in turn, `d_i = (b_i - sum A_ij d_j) / A_ii`, each clipped to its limits at once."""
    problem = system(limit, damping)
    found = gauss_seidel.step(problem)
    bound = np.inf if limit is None else limit
    clipped = False
    for frame, x in enumerate(problem.x):
        jacobian = problem.jacobian[frame]
        a = jacobian.T @ jacobian + (damping or 1e-4) * np.eye(JOINTS)
        b = jacobian.T @ problem.error[frame]
        d = np.zeros(JOINTS)
        for _ in range(gauss_seidel.SWEEPS):
            for i in range(JOINTS):
                free = d[i] + (b[i] - a[i] @ d) / a[i, i]
                d[i] = np.clip(x[i] + free, -bound, bound) - x[i]
                clipped |= bool(abs(d[i] - free) > 1e-9)
        assert_allclose(found[frame], d, atol=1e-9)
    assert clipped == (limit is not None)
