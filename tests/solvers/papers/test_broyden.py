# SPDX-License-Identifier: GPL-3.0-or-later
"""Broyden's updated Jacobians: the secant equation, the least change, and the number of Jacobians computed.

Convergence, and the independence of frames in a batch, are tested in `test_newton.py`.
"""

import numpy as np
import pytest
from measures import goal_errors
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from skeletons import LEFT, RIGHT, chain, random_pose, torso
from workloads import coordinates, hand, posed, targets

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


def test_it_computes_fewer_jacobians_than_it_takes_steps() -> None:
    """Counted on hands that are solved one by one, each of which meets its goals."""
    skeleton, goals = hand()
    x = coordinates(skeleton, np.random.default_rng(1), 8, share=0.5)
    positions, rotations = targets(skeleton, goals, x)
    problem = ik.prepare(skeleton, goals, "BROYDEN", ik.Options(tolerance=2e-4, rotation_tolerance=1e-2))
    tasks, counted = problem.stages[0].tasks, []
    exact = tasks.jacobian
    tasks.jacobian = lambda *given: counted.append(1) or exact(*given)
    ends = [problem(p, r, posed(skeleton, 0 * x[0])) for p, r in zip(positions, rotations, strict=True)]
    assert all(end.converged for end in ends)
    assert len(counted) < 0.8 * sum(end.iterations for end in ends)


def test_far_from_reach_it_ends_where_nothing_is_left_to_gain() -> None:
    """For free balls and contradicting goals SciPy, starting from the answer, gains almost nothing."""
    skeleton = chain(4)
    goals = [ik.Goal(3, (1.0, 1.0, 0.5), (1, 2, -1, 0.5), (0, 1, 0)), ik.Goal(2, (-1.0, 0.5, 0.2), (1, 0, 1, 0))]
    options = ik.Options(iterations=300, tolerance=0, rotation_tolerance=0, pull=0)
    found = ik.solve(skeleton, goals, solver="BROYDEN", options=options).pose
    space = ik.prepare(skeleton, goals).stages[0].space

    def cost(d: np.ndarray) -> float:
        turned = space.step(space.state(found), d[None]).rotations[0]
        errors = [goal_errors(skeleton, ik.Pose(turned, found.translations), goal) for goal in goals]
        return 0.5 * sum((distance / skeleton.length) ** 2 + (0.25 * angle) ** 2 for distance, angle in errors)

    least = minimize(cost, np.zeros(space.n), method="BFGS").fun
    assert cost(np.zeros(space.n)) > 1e-3
    assert cost(np.zeros(space.n)) <= least * (1 + 1e-5)
