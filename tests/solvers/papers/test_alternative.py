# SPDX-License-Identifier: GPL-3.0-or-later
"""ALTERNATIVE: its Jacobian, whose levers end at the goals, and the answers of the solver."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from measures import degrees_of
from numpy.testing import assert_allclose
from skeletons import chain, pointed, pointer, pointing, random_pose, scipy_rotation, seeds, skeletons
from standing import pose_of, standing

import solvers as ik
from solvers.iterate.descent import Model, Settings
from solvers.papers.alternative import GoalLevers
from solvers.space.point import Point, Request

SETTINGS = Settings(1, 0.0, 0.0, None, 0.0, 0.0, 0.0, np.ones(1), np.ones(1), ik.Options())


def models(skeleton: ik.Skeleton, goals: list[ik.Goal], start: ik.Pose) -> tuple[GoalLevers, Model, Point, Request]:
    """The solver's model and the usual one, with a point and a request to evaluate them at."""
    tasks, space, point, frames = standing(skeleton, goals, start)
    return GoalLevers(tasks, space, SETTINGS), Model(tasks, space, SETTINGS), point, frames


@pytest.mark.parametrize("kind", ["ball", "hinge", "prismatic"])
def test_a_column_is_how_a_goal_moves_that_is_fastened_to_the_joint(kind: str) -> None:
    """Columns match finite differences, by SciPy, of a point fastened to each joint; below a slide all points move
    equally."""
    skeleton = ik.Skeleton([
        ik.Joint("root", -1, "ball", (0, 0, 0)),
        ik.Joint("middle", 0, kind, (0, 1, 0), axis=(1, 2, -2) if kind != "ball" else None),
        ik.Joint("tip", 1, "ball", (0, 1, 0.3)),
    ])  # fmt: skip
    start, place = random_pose(skeleton, np.random.default_rng(1), 0.6), np.array([0.4, 1.1, -0.7])
    model, _, point, frames = models(skeleton, [ik.Goal(2, place, offset=(0, 0.5, 0))], start)
    space, step = model.space, 1e-6
    columns = []
    for k in range(space.n):
        moved = []
        for sign in (1, -1):
            d = np.zeros((1, space.n))
            d[0, k] = sign * step
            pose = pose_of(space, space.step(point.state, d), start)
            before, after = ik.forward(skeleton, start), ik.forward(skeleton, pose)
            j = space.joint[k]
            fastened = scipy_rotation(before.rotations[j]).inv().apply(place - before.positions[j])
            moved.append(after.positions[j] + scipy_rotation(after.rotations[j]).apply(fastened))
        columns.append((moved[0] - moved[1]) / (2 * step) / skeleton.length)
    assert_allclose(model.jacobian(point, frames)[0], np.transpose(columns), atol=1e-8)


@settings(max_examples=20)
@given(skeletons(most=7), seeds)
def test_the_downhill_direction_is_that_of_the_usual_jacobian(skeleton: ik.Skeleton, seed: int) -> None:
    """`J_g^T e = J^T e`, with positions, rotations, poles, chains and detached joints."""
    generator, goals = np.random.default_rng(seed), []
    for _ in range(2):
        joint = int(generator.integers(len(skeleton)))
        goals.append(ik.Goal(
            joint, generator.normal(size=3), generator.normal(size=4) if generator.integers(2) else None,
            offset=generator.normal(size=3), pole=generator.normal(size=3) if generator.integers(2) else None,
        ))  # fmt: skip
    start = random_pose(skeleton, generator)
    pulled, usual, point, frames = models(skeleton, goals, ik.Pose(start.rotations, np.zeros_like(start.translations)))
    down = [(model.jacobian(point, frames)[0].T @ point.error[0]) for model in (pulled, usual)]
    assert_allclose(*down, atol=1e-12 * max(1.0, float(np.abs(down[1]).max(initial=0.0))))


@pytest.mark.parametrize("distance", [0.8, 1.0, 2.0, 5.0])
def test_a_goal_far_away_is_seen_at_a_long_lever(distance: float) -> None:
    """One step of a pointer of length 1 is `sin(phi) / r` for a goal at distance r; the pseudo-inverse has `r
    sin(phi)`."""
    phi = 20.0
    target = distance * np.array(pointing(phi))
    options = ik.Options(iterations=1, pull=0.0)
    for solver, expected in [("ALTERNATIVE", 1 / distance), ("PINV", min(distance, 1 / math.sin(math.radians(phi))))]:
        solution = ik.solve(pointer(None), [ik.Goal(0, target, offset=(1, 0, 0))], pointed(0), solver, options)
        turned = math.radians(degrees_of(solution.pose))
        if solver == "ALTERNATIVE" or expected * math.sin(math.radians(phi)) < 2 * math.radians(phi):
            assert turned == pytest.approx(expected * math.sin(math.radians(phi)), abs=1e-9)


def reach_of_a_limited_chain(seed: int) -> tuple[ik.Skeleton, ik.Pose, list[ik.Goal]]:
    """A chain of balls or of hinges with limits that are far from even, a start, and a place that it can reach."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(3, 7))
    skeleton = chain(count, limits=ik.TwistSwing((-2, 2), (-1.5, 0.5), (-0.5, 1.5)))
    if seed % 2:
        skeleton = ik.Skeleton([
            *(ik.Joint(f"{i}", i - 1, "hinge", (0, float(i > 0), 0), axis=axis, limits=ik.Range(-0.5, 1.5))
              for i, axis in enumerate(generator.normal(size=(count, 3)))),
            ik.Joint("tip", count - 1, "fixed", (0, 1, 0)),
        ])  # fmt: skip
    space = ik.prepare(skeleton, [ik.Goal(len(skeleton) - 1, (0, 0, 0))]).stages[0].space
    still = np.zeros((len(skeleton), 3))
    start, wanted = (ik.Pose(space.state(random_pose(skeleton, generator, 0.6)).rotations[0], still) for _ in range(2))
    return skeleton, start, [ik.Goal(len(skeleton) - 1, ik.forward(skeleton, wanted).positions[-1])]


@pytest.mark.parametrize(("solver", "most"), [("ALTERNATIVE", 5), ("PINV", 12)])
def test_with_a_pull_and_limits_places_in_reach_are_reached(solver: str, most: int) -> None:
    """Steps that limits cut until they lead uphill do not end the way: else 11 and 23 of 160 places are missed.

    How many are missed that damped steps reach differs by a few between processors, whose sums round differently.
    """
    missed = 0
    for bias in ("START", "MIDDLE"):
        options = ik.Options(pull=1e-4, bias=bias, iterations=200)
        for seed in range(80):
            skeleton, start, goals = reach_of_a_limited_chain(seed)
            if not ik.solve(skeleton, goals, start, solver, options).converged:
                missed += ik.solve(skeleton, goals, start, "DLS", options).converged
    assert missed <= most
