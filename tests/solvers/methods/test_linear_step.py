# SPDX-License-Identifier: GPL-3.0-or-later
"""One iteration's step: unlimited minimisers by dense algebra, limited ones by SciPy's bounded least squares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import lsq_linear
from skeletons import chain

import solvers as ik
from solvers.iterate.linear_step import LinearSystem, free_step
from solvers.methods import dls, pgs
from solvers.papers import pinv, sdls, svd, transpose, tsvd

COUNT = 12
LO, HI = -0.3, 0.4
STEPS = {
    "PGS": pgs.step, "DLS": dls.step, "PINV": pinv.step, "SVD": svd.step, "TSVD": tsvd.step, "SDLS": sdls.step,
    "TRANSPOSE": transpose.step,
}  # fmt: skip
DAMPED = ("PGS", "DLS")


def system(seed: int, skeleton: ik.Skeleton | None = None, pulled: bool = True, frames: int = 1) -> LinearSystem:
    """A random problem on a chain of limited hinges, some of which are on a limit."""
    skeleton = skeleton or chain(COUNT, kind="hinge", axis=(1, 0, 0), limits=ik.Range(LO, HI))
    space = ik.prepare(skeleton, [ik.Goal(len(skeleton) - 1, position=(0, 0, 0))]).stages[0].space
    generator = np.random.default_rng(seed)
    rows, n = int(generator.integers(1, 9)), space.n
    x = space.project(generator.uniform(-0.5, 0.6, (frames, n)))
    return LinearSystem(
        space, x, generator.normal(size=(frames, rows, n)), 3.0 * generator.normal(size=(frames, rows)),
        0.1 * generator.normal(size=(frames, n)) if pulled else None, 10.0 ** generator.uniform(-4, 0, frames),
        generator.uniform(0.5, 4.0, len(skeleton))[space.joint],
    )  # fmt: skip


def dense(problem: LinearSystem, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Hessian and negative gradient, at 0, of a frame's objective."""
    jacobian = problem.jacobian[frame]
    pull = 0.0 if problem.gradient is None else problem.gradient[frame]
    hessian = jacobian.T @ jacobian + problem.damping[frame] * np.diag(problem.reluctance)
    return hessian, jacobian.T @ problem.error[frame] - pull


@pytest.mark.parametrize("pulled", [False, True])
def test_free_step_solves_the_normal_equations(pulled: bool) -> None:
    """The damped, weighted, pulled least-squares step, frame by frame of a batch."""
    problem = system(0, pulled=pulled, frames=5)
    found = free_step(problem)
    for frame in range(5):
        assert_allclose(found[frame], np.linalg.solve(*dense(problem, frame)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("pulled", [False, True])
def test_free_step_with_some_held_solves_for_the_rest(pulled: bool) -> None:
    """The fixed parts of the step stay, and the others are the minimiser given these."""
    problem = system(1, pulled=pulled)
    free = np.arange(COUNT) % 3 != 0
    fixed = np.where(free, 0.0, 0.2)[None]
    found = free_step(problem, free[None], None, fixed)[0]
    hessian, down = dense(problem, 0)
    expected = np.linalg.solve(hessian[np.ix_(free, free)], (down - hessian @ fixed[0])[free])
    assert_allclose(found[free], expected, rtol=1e-6, atol=1e-9)
    assert_allclose(found[~free], 0.2)


@pytest.mark.parametrize("pulled", [False, True])
def test_free_step_along_ellipses_stays_on_their_tangents(pulled: bool) -> None:
    """A swing pair does not move along its normal, and the step is the minimiser along the tangent."""
    limits = ik.TwistSwing(twist=(-1, 1), swing_x=(-1, 1), swing_z=(-1, 1))
    problem = system(2, chain(4, limits=limits), pulled)
    pairs = problem.space.pairs
    normals = np.zeros((1, len(pairs), 2))
    normals[0, 1] = (0.6, 0.8)
    found = free_step(problem, np.ones((1, 12), dtype=bool), normals)[0]
    across = np.zeros(12)
    across[pairs[1]] = (0.6, 0.8)
    assert across @ found == pytest.approx(0, abs=1e-9)
    hessian, down = dense(problem, 0)
    basis = null_space(across[None])
    expected = basis @ np.linalg.solve(basis.T @ hessian @ basis, basis.T @ down)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_value_descent_and_decrease_agree() -> None:
    """`descent` is the negative gradient of `value`; `decrease` is the fall of `value` without its damping term."""
    problem = system(3)
    d = np.random.default_rng(0).normal(size=(1, COUNT))
    steps = 1e-6 * np.eye(COUNT)
    slopes = [(problem.value(d + step)[0] - problem.value(d - step)[0]) / 2e-6 for step in steps]
    assert_allclose(problem.descent(d)[0], -np.array(slopes), rtol=1e-5, atol=1e-6)
    damped = 0.5 * problem.damping[0] * (problem.reluctance * d[0] ** 2).sum()
    still = problem.value(np.zeros((1, COUNT)))[0]
    assert problem.decrease(d)[0] == pytest.approx(still - (problem.value(d)[0] - damped))


@pytest.mark.parametrize("name", DAMPED)
def test_without_limits_a_step_is_the_exact_one(name: str) -> None:
    """Without active limits PGS and DLS have the same step."""
    problem = system(4, chain(4))
    assert_allclose(STEPS[name](problem)[0], np.linalg.solve(*dense(problem, 0)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_ends_inside_the_limits(name: str) -> None:
    """Hinges are inside their box, limited balls inside box and ellipse, in every frame of a batch."""
    ball = chain(4, limits=ik.TwistSwing(twist=(LO, HI), swing_x=(-0.2, 0.5), swing_z=(0.1, 0.6)))
    for seed in range(30 if name in DAMPED else 10):
        for skeleton in (None, ball):
            problem = system(seed, skeleton, frames=3)
            after = problem.x + STEPS[name](problem)
            assert_allclose(problem.space.project(after.copy()), after, atol=1e-12)


@pytest.mark.parametrize("name", [*DAMPED, "PINV", "TSVD", "TRANSPOSE"])
def test_one_joint_against_its_limit_leaves_the_rest_to_the_others(name: str) -> None:
    """Two hinges should move by 1 together; one may move by 0.1 only, and the other makes the rest."""
    skeleton = chain(2, kind="hinge", axis=(1, 0, 0), limits=ik.Range(-2, 2))
    problem = system(5, skeleton, pulled=False)
    problem = LinearSystem(
        problem.space, np.array([[1.9, 0.0]]), np.ones((1, 1, 2)), np.ones((1, 1)), None, np.array([1e-9]), np.ones(2)
    )
    assert_allclose(STEPS[name](problem), [[0.1, 0.9]], atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_a_step_of_pgs_never_leads_uphill(seed: int) -> None:
    """Also where balls stand on their limits and what the others could gain without these is far away."""
    limits = ik.TwistSwing(twist=(-0.2, 0.5), swing_x=(-0.4, 0.3), swing_z=(-0.3, 0.6))
    problem = replace(system(seed, chain(6, limits=limits), frames=8), damping=np.full(8, 1e-5))
    step = pgs.step(problem)
    assert (problem.value(step) <= problem.value(np.zeros_like(step))).all()


def test_pgs_finds_the_minimum_inside_the_limits() -> None:
    """In four of five problems it equals SciPy's bounded least squares, and is close in all."""
    gaps = []
    for seed in range(200):
        problem = system(seed, pulled=seed % 2 == 0)
        scale = np.sqrt(problem.damping[0] * problem.reluctance)
        pull = np.zeros(COUNT) if problem.gradient is None else problem.gradient[0]
        rows = np.vstack([problem.jacobian[0], np.diag(scale)])
        bounds = np.minimum(LO - problem.x[0], -1e-12), np.maximum(HI - problem.x[0], 1e-12)
        best = lsq_linear(rows, np.append(problem.error[0], -pull / scale), bounds, method="bvls", tol=1e-13).x
        still, least = problem.value(np.zeros((1, COUNT)))[0], problem.value(best[None])[0]
        gaps.append((problem.value(pgs.step(problem))[0] - least) / (still - least))
    assert np.mean(np.array(gaps) < 1e-6) >= 0.8
    assert max(gaps) < 0.2
