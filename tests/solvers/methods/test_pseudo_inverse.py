# SPDX-License-Identifier: GPL-3.0-or-later
"""PINV, SVD, TSVD, SDLS and TRANSPOSE against NumPy's pseudo-inverse and plain loops, and what each is for."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from skeletons import chain
from test_linear_step import DAMPED, STEPS, system
from workloads import body, coordinates, hand, motion, posed, targets

import solvers as ik
from solvers.iterate.linear_step import LinearSystem, free_step, least_norm
from solvers.papers import pinv, sdls, svd, transpose, tsvd

pytestmark = pytest.mark.compiled
FAMILY = [name for name in STEPS if name not in DAMPED]
family = pytest.mark.parametrize("name", FAMILY)


def problem(seed: int, rows: int, damping: float = 0.0, pulled: bool = False, frames: int = 3) -> LinearSystem:
    """A random problem of a chain of four free balls, 12 degrees of freedom, with small errors."""
    generator = np.random.default_rng(seed)
    free = system(seed, chain(4), frames=frames)
    v = generator.normal(size=(frames, 12))
    return replace(
        free, jacobian=generator.normal(size=(frames, rows, 12)), error=0.01 * generator.normal(size=(frames, rows)),
        damping=np.full(frames, damping), gradient=1e-3 * free.reluctance * v if pulled else None,
        pull=1e-3 if pulled else 0.0,
    )  # fmt: skip


# -- the inverses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 6, 12, 15])
def test_pinv_is_numpys_pseudo_inverse_in_the_reluctances_metric(rows: int) -> None:
    """`D^-1/2 (J D^-1/2)^+ e`: fewer rows than degrees of freedom, as many, and more."""
    asked = problem(rows, rows)
    scale = 1 / np.sqrt(asked.reluctance)
    expected = scale * (np.linalg.pinv(asked.jacobian * scale) @ asked.error[..., None])[..., 0]
    assert_allclose(pinv.step(asked), expected, rtol=1e-6, atol=1e-9)


def test_pinv_of_a_singular_matrix_meets_what_can_be_met() -> None:
    """Two equal rows with different right-hand sides give their mean, as in NumPy."""
    matrix = np.array([[[1.0, 2, 0], [1, 2, 0], [0, 0, 1]]])
    error = np.array([[1.0, 3, 0.5]])
    expected = np.linalg.pinv(matrix[0]) @ error[0]
    assert_allclose(least_norm(matrix, error, np.zeros(1))[0], expected, rtol=1e-3)


@pytest.mark.parametrize("rows", [4, 15])
def test_svd_is_damped_least_squares_with_a_damping_of_k(rows: int) -> None:
    """`k^2 = lambda^2`, given or the default."""
    for damping in (0.0, 0.3):
        asked = problem(rows, rows, damping)
        expected = free_step(replace(asked, damping=np.full(3, damping or svd.DAMPING)))
        assert_allclose(svd.step(asked), expected, rtol=1e-8, atol=1e-12)


def with_values(values: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left vectors, a matrix (1, 4, 6) of these singular values, and right vectors."""
    generator = np.random.default_rng(0)
    u, _ = np.linalg.qr(generator.normal(size=(4, 4)))
    v, _ = np.linalg.qr(generator.normal(size=(6, 4)))
    return u, (u * values @ v.T)[None], v


def test_tsvd_leaves_out_what_is_below_epsilon_and_inverts_the_rest() -> None:
    """Of 1, 0.1, 0.002 and 0 the default epsilon keeps two; one of 0.5 keeps one; the largest is always kept."""
    u, matrix, v = with_values([1, 0.1, 0.002, 0])
    for damping, values in [(0.0, [1, 0.1]), (0.25, [1]), (9.0, [1])]:
        kept = len(values)
        for error in (u[:, 0] + u[:, 1], u[:, 2], u[:, 3], u.sum(1)):
            expected = v[:, :kept] @ (u[:, :kept].T @ error / values)
            assert_allclose(tsvd.inverse(matrix, error[None], np.array([damping]))[0], expected, atol=1e-9)


def buss_and_kim(jacobian: np.ndarray, error: np.ndarray, most: float) -> np.ndarray:
    """Selectively damped least squares by loops over singular vectors, effectors and joints."""
    u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
    effectors, joints = len(jacobian) // 3, jacobian.shape[1]
    total = np.zeros(joints)
    for i in range(len(sigma)):
        if sigma[i] < 1e-10:
            continue
        moved = sum(np.linalg.norm(u[3 * e : 3 * e + 3, i]) for e in range(effectors))
        swept = 0.0
        for e in range(effectors):
            for j in range(joints):
                swept += abs(vt[i, j]) * np.linalg.norm(jacobian[3 * e : 3 * e + 3, j]) / sigma[i]
        gamma = most * min(1.0, moved / swept)
        turn = u[:, i] @ error / sigma[i] * vt[i]
        longest = max(abs(turn))
        total += turn * gamma / longest if longest > gamma else turn
    longest = max(abs(total))
    return total * most / longest if longest > most else total


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("size", [1e-3, 0.3, 10.0])
def test_sdls_is_what_its_authors_print(seed: int, size: float) -> None:
    """Two effectors and five joints: small errors that nothing clamps, and large ones that every clamp limits."""
    generator = np.random.default_rng(seed)
    jacobian, error = generator.normal(size=(6, 5)), size * generator.normal(size=6)
    found = sdls.inverse(jacobian[None], error[None], np.zeros(1))[0]
    assert_allclose(found, buss_and_kim(jacobian, error, np.pi / 4), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_transposes_step_is_the_best_along_its_direction(seed: int) -> None:
    """It is SciPy's line minimum of the linear model along `J^T e`; each repetition gains."""
    generator = np.random.default_rng(seed)
    matrix, error = generator.normal(size=(1, 4, 6)), generator.normal(size=(1, 4))
    down = matrix[0].T @ error[0]
    best = minimize_scalar(lambda alpha: ((error[0] - alpha * matrix[0] @ down) ** 2).sum()).x
    step, moved = transpose.scaled_transpose(matrix, error)
    assert_allclose(step[0], best * down, rtol=1e-6)
    assert_allclose(moved[0], matrix[0] @ step[0])
    left = error - (matrix @ transpose.repeated(matrix, error, np.zeros(1))[..., None])[..., 0]
    assert np.linalg.norm(left) < np.linalg.norm(error - moved) < np.linalg.norm(error)


# -- limits -----------------------------------------------------------------------------------------------------------


@family
def test_joints_that_all_are_held_stay(name: str) -> None:
    asked = system(5, chain(2, kind="hinge", axis=(1, 0, 0), limits=ik.Range(-2, 2)), pulled=False)
    asked = replace(asked, x=np.array([[2.0, 2.0]]), jacobian=np.ones((1, 1, 2)), error=np.ones((1, 1)))
    assert_allclose(STEPS[name](asked), 0, atol=1e-12)


# -- at work ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FAMILY, "BROYDEN"])
@pytest.mark.parametrize(("make", "tolerance"), [(hand, 2e-4), (body, 1e-3)], ids=["hand", "body"])
def test_coherent_motion_is_met_in_every_frame(make, tolerance: float, name: str) -> None:
    """A smooth motion inside the limits, each frame solved from the one before."""
    skeleton, goals = make()
    x = motion(coordinates(skeleton, np.random.default_rng(1), 2, share=0.7), 20)[:12]
    positions, rotations = targets(skeleton, goals, x)
    options = ik.Options(tolerance=tolerance, rotation_tolerance=1e-2, iterations=200)
    ends = ik.solve_frames(skeleton, goals, positions, rotations, posed(skeleton, x[0]), name, options)
    assert all(end.converged for end in ends)
