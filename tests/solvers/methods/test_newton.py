# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's second derivatives against differences of the cost, its convergence, and SciPy's optimum."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from measures import goal_errors
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from skeletons import chain, random_pose, seeds, skeletons
from test_linear_step import dense, system
from workloads import coordinates, hand, posed, targets

import solvers as ik
from solvers.algebra import twist_swing
from solvers.group.stage import Stage
from solvers.iterate.linear_step import LinearSystem
from solvers.model.goals import Targets
from solvers.papers import curvature, newton
from solvers.space.joint_space import State
from solvers.space.point import Request, evaluate

pytestmark = pytest.mark.compiled
PULL = 0.3
STEP = 2e-4

# -- second derivatives -----------------------------------------------------------------------------------------------


def stages(skeleton: ik.Skeleton, generator: np.random.Generator) -> list[Stage]:
    """The stages of a solve of one to three goals."""
    goals = [
        ik.Goal(
            int(generator.integers(len(skeleton))), (0, 0, 0) if what != 1 else None,
            (1, 0, 0, 0) if what != 0 else None, offset=generator.normal(size=3),
            position_weight=generator.choice([0.5, 2.0]), rotation_weight=generator.choice([0.5, 2.0]),
        )
        for what in generator.integers(3, size=generator.integers(1, 4))
    ]  # fmt: skip
    return [stage for stage in ik.prepare(skeleton, goals).stages if stage.space.n]


def costs(stage: Stage, state: State, frames: Request, steps: np.ndarray) -> np.ndarray:
    """`1/2 |e|^2 + 1/2 pull v^T D v` (F,) after steps (F, n) from one state."""
    zeros = np.zeros(len(steps), dtype=int)
    after = stage.space.step(state.take(zeros), steps)
    v = stage.space.difference(after, frames.base.take(zeros))
    error = evaluate(stage.tasks, after, frames.take(zeros)).error
    return 0.5 * (error**2).sum(-1) + 0.5 * PULL * (reluctance(stage) * v**2).sum(-1)


def reluctance(stage: Stage) -> np.ndarray:
    """A metric (n,) that is equal within each joint."""
    return 1.0 + 0.5 * (stage.space.joint % 3)


@settings(max_examples=30)
@given(skeletons(), seeds)
def test_second_derivatives_are_those_of_the_cost(skeleton: ik.Skeleton, seed: int) -> None:
    """The whole Hessian by central differences, for free and limited balls, hinges, slides, detached joints and
    a pull."""
    generator = np.random.default_rng(seed)
    for stage in stages(skeleton, generator):
        space, goals = stage.space, len(stage.goals)
        base, state = (space.state(random_pose(skeleton, generator)) for _ in range(2))
        rotations = generator.normal(size=(1, goals, 4))
        rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
        shares = generator.uniform(0.3, 1, (1, goals))
        asked = Targets(generator.normal(size=(1, goals, 3)), rotations, np.zeros((1, goals, 3)), shares)
        frames = Request(base, asked, None)
        point, v, weight = evaluate(stage.tasks, state, frames), space.difference(state, base), reluctance(stage)
        turn = np.linalg.norm(stage.tasks.rotation_errors(point.kinematics, asked), axis=-1).max(initial=0.0)
        if turn > 3.0:  # by half a turn the short way changes
            continue
        problem = LinearSystem(
            space, state.x, stage.tasks.jacobian(state, point.kinematics, asked), point.error,
            PULL * space.pull_gradient(state, v, weight), np.array([PULL]), weight, PULL,
        )  # fmt: skip
        found = curvature.Curvature(stage.tasks, space)(point, frames, problem, v)[0]
        found += problem.jacobian[0].T @ problem.jacobian[0] + PULL * np.diag(weight)
        n = space.n
        ways = STEP * np.eye(n)
        pairs = [a * ways[:, None] + b * ways for a, b in [(1, 1), (1, -1), (-1, 1), (-1, -1)]]
        both, first, second, none = (costs(stage, state, frames, p.reshape(-1, n)).reshape(n, n) for p in pairs)
        expected = (both - first - second + none) / (4 * STEP**2)
        assert_allclose(found, expected, atol=1e-6 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("swing", [2.0, 0.04, 1e-7])
def test_rates_of_twist_swing_coordinates(swing: float) -> None:
    """The symmetric part of the derivatives of `body_jacobian`, far from the axis, near it and on it."""
    x = np.random.default_rng(0).uniform(-1, 1, (20, 3)) * (3, swing, swing)
    step = 1e-5 * np.eye(3)
    change = [(twist_swing.body_jacobian(x + s) - twist_swing.body_jacobian(x - s)) / 2e-5 for s in step]
    by = np.swapaxes(np.stack(change, 1), -1, -2)  # (20, i, j, 3): column j by x_i
    found = curvature.rates(x, twist_swing.body_jacobian(x))
    assert_allclose(found, 0.5 * (by + np.swapaxes(by, 1, 2)), atol=1e-8)


# -- the step ---------------------------------------------------------------------------------------------------------


def curved(seed: int, size: float) -> LinearSystem:
    """A random problem with second derivatives of comparable size."""
    generator = np.random.default_rng(seed)
    problem = system(seed)
    matrix = size * generator.normal(size=(problem.space.n,) * 2)
    return replace(problem, curvature=(matrix + matrix.T)[None])


def test_where_the_cost_is_convex_the_step_solves_newtons_equation() -> None:
    """`(J^T J + K + s D) d = J^T e - g`, by dense algebra."""
    problem = system(1)
    problem.curvature = np.diag(np.random.default_rng(0).uniform(0.1, 1, problem.space.n))[None]
    hessian, down = dense(problem, 0)
    assert_allclose(newton.modified_step(problem)[0], np.linalg.solve(hessian + problem.curvature[0], down), rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_where_the_cost_curves_downward_the_step_leads_down_all_the_same(seed: int) -> None:
    """The step has a positive product with the descent, and a strongly damped one lowers the model inside the
    limits."""
    problem = curved(seed, 3.0)
    assert np.linalg.eigvalsh(dense(problem, 0)[0] + problem.curvature[0])[0] < 0
    down = problem.descent(np.zeros_like(problem.x))
    assert (down * newton.modified_step(problem)).sum() > 0
    short = replace(problem, damping=np.array([1e4]))
    d = newton.step(short)
    after = problem.x + d
    assert_allclose(problem.space.project(after.copy()), after, atol=1e-12)
    assert np.abs(d).max() > 0
    assert problem.decrease(d)[0] > 0


# -- convergence ------------------------------------------------------------------------------------------------------

FAR = [ik.Goal(5, (3.0, 4.0, 2.0), (1, 0.5, 0.2, 0)), ik.Goal(3, (-2.0, 1.0, 1.0))]  # nothing meets these


def distances(solver: str, damping: float | None, start: ik.Pose, end: ik.Pose) -> np.ndarray:
    """The distance from the best pose at first and after each of four steps."""
    skeleton, found = chain(6, kind="hinge", axis=(1, 2, -2)), []
    for count in range(5):
        options = ik.Options(iterations=count, tolerance=0, rotation_tolerance=0, damping=damping, pull=0)
        found.append(ik.solve(skeleton, FAR, start, solver, options).pose.rotations - end.rotations)
    return np.linalg.norm(found, axis=(1, 2))


@pytest.mark.parametrize("seed", [2, 3])
def test_out_of_reach_newton_squares_its_error_where_gauss_newton_takes_a_share_off(seed: int) -> None:
    """From the same start near the answer the orders of convergence are two and one."""
    skeleton = chain(6, kind="hinge", axis=(1, 2, -2))
    options = ik.Options(iterations=300, tolerance=0, rotation_tolerance=0, pull=0)
    best = ik.solve(skeleton, FAR, solver="NEWTON", options=options).pose
    by = 2 * np.arccos(best.rotations[:, 0]) * np.sign(best.rotations[:, 1:] @ skeleton.axis[0])
    start = posed(skeleton, by + 0.02 * np.random.default_rng(seed).uniform(-1, 1, 6))
    gauss, whole = distances("DLS", None, start, best), distances("NEWTON", 1e-9, start, best)
    assert whole[0] > 1e-3
    assert (gauss[1:] > 0.5 * gauss[:-1]).all()
    # the first step finds that Gauss-Newton's does not help
    assert whole[2] < 2 * whole[1] ** 2
    assert whole[3] < 2 * whole[2] ** 2 + 1e-6  # the cost tells poses apart to about 3e-7, by the processor's rounding


def test_far_targets_take_newton_a_fraction_of_the_steps() -> None:
    """Hands with targets a third too far, against their limits: half of DLS's steps, with no higher cost."""
    skeleton, goals = hand()
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    positions, rotations = targets(skeleton, goals, coordinates(skeleton, np.random.default_rng(3), 10))
    options = ik.Options(iterations=100, warm_start=False)
    taken, cost = {}, {}
    for solver in ("DLS", "NEWTON"):
        ends = ik.solve_frames(skeleton, goals, 1.3 * positions, rotations, posed(skeleton, 0.5 * (lo + hi)), solver,
                               options)  # fmt: skip
        taken[solver] = np.median([end.iterations for end in ends])
        cost[solver] = np.median([squares(skeleton, end) for end in ends])
    assert taken["NEWTON"] <= 0.5 * taken["DLS"]
    assert cost["NEWTON"] <= cost["DLS"] * (1 + 1e-6)


def squares(skeleton: ik.Skeleton, solution: ik.Solution) -> float:
    """The cost of a solve: squared errors, a radian counting as a quarter of the skeleton's length."""
    turns = 0.25 * solution.rotation_errors
    return float((solution.position_errors**2).sum() / skeleton.length**2 + (turns**2).sum())


def unit(vector: np.ndarray) -> np.ndarray:
    """A random unit vector."""
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("solver", ["NEWTON", "BROYDEN"])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_pose_inside_the_limits_is_scipys(solver: str, seed: int) -> None:
    """For contradicting goals out of reach of limited hinges L-BFGS-B, from the answer, gains almost nothing."""
    generator = np.random.default_rng(seed)
    limits = ik.Range(-0.6, 0.5)
    skeleton = ik.Skeleton([
        ik.Joint(f"joint {i}", i - 1, "hinge", (0, 1.0 if i else 0, 0), axis=generator.normal(size=3), limits=limits)
        for i in range(8)
    ])  # fmt: skip
    far = [size * unit(generator.normal(size=3)) for size in (6, 3)]
    goals = [ik.Goal(7, far[0], generator.normal(size=4)), ik.Goal(4, far[1])]  # each within its chain's length

    def cost(x: np.ndarray) -> float:
        errors = [goal_errors(skeleton, posed(skeleton, x), goal) for goal in goals]
        return 0.5 * sum((distance / skeleton.length) ** 2 + (0.25 * angle) ** 2 for distance, angle in errors)

    options = ik.Options(iterations=300, pull=0, tolerance=0, rotation_tolerance=0)
    found = ik.solve(skeleton, goals, solver=solver, options=options).pose.rotations
    x = 2 * np.arctan2((found[:, 1:] * skeleton.axis).sum(-1), found[:, 0])
    least = minimize(cost, x, method="L-BFGS-B", bounds=[(-0.6, 0.5)] * 8, options={"ftol": 1e-15}).fun
    assert cost(x) > 1e-3
    assert cost(x) <= least * (1 + 1e-5)
