# SPDX-License-Identifier: GPL-3.0-or-later
"""Broyden's updated Jacobians: the secant equation and the least change.

Convergence, and the independence of frames in a batch, are tested in `test_newton.py`.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from skeletons import LEFT, RIGHT, random_pose, torso

import solvers as ik
from solvers.group.stage import Stage
from solvers.model.goals import Targets
from solvers.papers import broyden
from solvers.space.point import Point, Request, evaluate

REACH = [ik.Goal(LEFT, (0.5, 0.8, 0.4), (1, 0.3, 0.2, 0.1)), ik.Goal(RIGHT, (-0.6, 0.6, 0.2))]


def standing(seed: int = 0, frames: int = 3) -> tuple[Stage, Point, Request]:
    """A torso of free balls with two hands' goals, in a random pose."""
    skeleton = torso()
    stage = ik.prepare(skeleton, REACH, "BROYDEN").stages[0]
    state = stage.space.state(random_pose(skeleton, np.random.default_rng(seed)), frames)
    places = np.tile([goal.position for goal in REACH], (frames, 1, 1)).astype(float)
    turns = np.tile([1.0, 0, 0, 0], (frames, 2, 1))
    asked = Request(state, Targets(places, turns, np.zeros((frames, 2, 3))), None)
    return stage, evaluate(stage.tasks, state, asked), asked


def test_secant_is_the_least_change_that_explains_a_step() -> None:
    """`J d = de` holds, and SciPy finds no smaller change of J, in the metric, for which it does."""
    generator = np.random.default_rng(0)
    before, d, change = generator.normal(size=(1, 2, 4)), generator.normal(size=(1, 4)), generator.normal(size=(1, 2))
    weight = np.array([1.0, 2.0, 4.0, 0.5])
    after = broyden.secant(before, d, change, weight)
    assert_allclose(after[0] @ d[0], change[0])

    def size(update: np.ndarray) -> float:
        return float((update.reshape(2, 4) ** 2 / weight).sum())

    explains = {"type": "eq", "fun": lambda update: (before[0] + update.reshape(2, 4)) @ d[0] - change[0]}
    least = minimize(size, np.zeros(8), constraints=explains, options={"ftol": 1e-14})
    assert size(after - before) == pytest.approx(least.fun, rel=1e-6)


def test_a_step_that_does_not_move_leaves_the_jacobian_as_it_is() -> None:
    before = np.ones((1, 2, 3))
    assert_allclose(broyden.secant(before, np.zeros((1, 3)), np.zeros((1, 2)), np.ones(3)), before)


@pytest.mark.parametrize("size", [1e-4, 0.3])
def test_what_is_learnt_explains_the_step_taken_by_turned_balls_as_well(size: float) -> None:
    """After a step the columns belong to the balls' turned axes, and give the same change of the error for the same
    step."""
    stage, point, frames = standing()
    model = broyden.Secant(stage.tasks, stage.space, stage.settings)
    before = model.jacobian(point, frames).copy()
    d = size * np.random.default_rng(1).normal(size=(3, stage.space.n))
    after = evaluate(stage.tasks, stage.space.step(point.state, d), frames)
    change = point.error - after.error
    taken, good = np.array([True, True, False]), np.zeros(3, dtype=bool)
    assert model.learn(d, change, taken, good).all()
    learnt = model.jacobian(after, frames)
    assert_allclose((learnt @ d[..., None])[:2, :, 0], change[:2], atol=1e-12)
    assert_allclose(learnt[2], before[2])  # it has not moved
    steps = 1e-6 * np.eye(stage.space.n)[:, None].repeat(3, 1)
    errors = [
        [evaluate(stage.tasks, stage.space.step(after.state, way * s), frames).error for s in steps] for way in (-1, 1)
    ]
    truth = np.moveaxis(np.subtract(*errors), 0, -1) / 2e-6
    assert np.linalg.norm((learnt - truth)[:2]) < np.linalg.norm((before - truth)[:2])
    # the two that have moved are learnt, so a poor step has them computed
    assert list(model.learn(d, change, good, ~good)) == [False, False, True]
    computed = stage.tasks.jacobian(after.state, after.kinematics, frames.targets)
    assert_allclose(model.jacobian(after, frames)[:2], computed[:2])
