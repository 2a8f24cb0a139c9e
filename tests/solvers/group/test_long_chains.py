# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers that sweep over chains of up to a hundred balls, judged by forward kinematics with SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation

import solvers as ik

TARGETS = 5


def balls(count: int) -> ik.Skeleton:
    """A chain along X, of length 1."""
    return ik.Skeleton([ik.Joint(f"ball {i}", i - 1, "ball", (min(i, 1) / count, 0, 0), axis=(1, 0, 0))
                        for i in range(count)])  # fmt: skip


def tip_of(count: int, pose: ik.Pose) -> np.ndarray:
    """The tip of a chain of balls along X, of length 1."""
    place, turned = np.zeros(3), Rotation.identity()
    for own in scipy_rotation(pose.rotations):
        turned *= own
        place = place + turned.apply([1.0 / count, 0, 0])
    return place


@pytest.mark.compiled
@pytest.mark.parametrize("solver", ["FABRIK", "CCD"])
@pytest.mark.parametrize("count", [2, 20, 40, 100])
def test_sweeps_over_long_chains_arrive_where_they_say(solver: str, count: int) -> None:
    """Rounding does not grow from joint to joint; FABRIK meets every target in a few sweeps."""
    skeleton, generator = balls(count), np.random.default_rng(count)
    for _ in range(TARGETS):
        way = generator.normal(size=3)
        goal = ik.Goal(count - 1, generator.uniform(0.3, 0.9) * way / np.linalg.norm(way), offset=(1.0 / count, 0, 0))
        solution = ik.solve(skeleton, [goal], None, solver, ik.Options(tolerance=1e-3, iterations=50))
        off = np.linalg.norm(tip_of(count, solution.pose) - goal.position)
        assert off == pytest.approx(solution.position_errors[0], abs=1e-12)
        if solver == "FABRIK":
            assert off <= 1e-3 * (1 + 1e-9)
            assert solution.iterations < 20


@pytest.mark.parametrize("order", ["ROOT_TO_TIP", "TIP_TO_ROOT"])
def test_orientations_stay_orthonormal_over_many_sweeps(order: str) -> None:
    """The error that CCD reports after a hundred sweeps over a long chain is that of the returned pose."""
    count = 60
    bent = np.tile([np.cos(0.01), 0, 0, np.sin(0.01)], (count, 1))
    goal = ik.Goal(count - 1, (-0.2, 0.4, 0.3), offset=(1.0 / count, 0, 0))
    options = ik.Options(tolerance=1e-9, iterations=100, order=order)
    solution = ik.solve(balls(count), [goal], ik.Pose(bent, np.zeros((count, 3))), "CCD", options)
    off = np.linalg.norm(tip_of(count, solution.pose) - goal.position)
    assert off == pytest.approx(solution.position_errors[0], abs=1e-12)
    assert off < 0.05
