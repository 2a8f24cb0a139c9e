# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that tremble are steadied inside a tube: less acceleration, nowhere further, ends and jumps kept."""

import numpy as np
import pytest
from scipy.optimize import minimize

from solvers.motion import steady_path


def _acceleration(path: np.ndarray) -> float:
    """The root mean square of second differences."""
    return float(np.sqrt((np.diff(path, 2, axis=0) ** 2).sum(-1).mean()))


def _smooth(frames: int = 250) -> np.ndarray:
    time = np.linspace(0.0, 6.0, frames)
    return np.stack([np.sin(time), np.cos(0.7 * time), 0.3 * time], -1)


def _trembling(by: float, seed: int = 0) -> np.ndarray:
    smooth, generator = _smooth(), np.random.default_rng(seed)
    noise = generator.normal(size=smooth.shape)
    noise /= np.linalg.norm(noise, axis=-1, keepdims=True)
    return smooth + by * generator.uniform(size=(len(smooth), 1)) * noise


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_5_mm_is_lost_within_6_mm(seed: int) -> None:
    path = _trembling(0.005, seed)
    found = steady_path(path, 0.006)
    assert np.linalg.norm(found - path, axis=-1).max() <= 0.006
    assert np.array_equal(found[[0, -1]], path[[0, -1]])
    assert _acceleration(found) < 0.1 * _acceleration(path)
    assert _acceleration(found) < 1.2 * _acceleration(_smooth())


@pytest.mark.parametrize("frames", [60, 250])
@pytest.mark.parametrize("noise", [0.003, 0.03])
def test_a_distance_as_large_as_the_noise_brings_the_path_nearer_to_the_true_one(frames: int, noise: float) -> None:
    true = _smooth(frames)
    path = true + np.random.default_rng(4).normal(size=true.shape) * noise / np.sqrt(3.0)
    found = steady_path(path, noise)
    assert np.linalg.norm(found - true) < 0.8 * np.linalg.norm(path - true)
    assert _acceleration(found - true) < 0.2 * _acceleration(path - true)


def test_it_is_the_steadiest_path_in_its_tube() -> None:
    path, reach = np.random.default_rng(1).normal(size=(14, 2)), 0.6

    def squares(inner: np.ndarray) -> float:
        return float((np.diff(np.concatenate([path[:1], inner.reshape(-1, 2), path[-1:]]), 2, axis=0) ** 2).sum())

    def room(inner: np.ndarray) -> np.ndarray:
        return reach**2 - ((inner.reshape(-1, 2) - path[1:-1]) ** 2).sum(-1)

    best = minimize(squares, path[1:-1].ravel(), method="SLSQP", constraints=[{"type": "ineq", "fun": room}],
                    options={"maxiter": 500, "ftol": 1e-12})  # fmt: skip
    found = squares(steady_path(path, reach)[1:-1].ravel())
    assert best.fun - 1e-6 <= found <= 1.002 * best.fun


def test_no_distance_leaves_all_to_the_bit() -> None:
    path = _trembling(0.005)
    assert np.array_equal(steady_path(path, 0.0), path)


def test_a_jump_and_both_its_sides_stay() -> None:
    path = _trembling(0.005)
    path[120:] += 2.0
    found = steady_path(path, 0.01, jump=0.5)
    assert np.array_equal(found[119:121], path[119:121])
    assert _acceleration(found[:120]) < 0.3 * _acceleration(path[:120])
    assert _acceleration(found[120:]) < 0.3 * _acceleration(path[120:])


def test_held_frames_stay() -> None:
    path = _trembling(0.005)
    assert np.array_equal(steady_path(path, 0.01, held=(2, 2))[[0, 1, -2, -1]], path[[0, 1, -2, -1]])


@pytest.mark.parametrize("frames", range(6))
def test_short_and_still_paths(frames: int) -> None:
    path = np.ones((frames, 3))
    assert np.array_equal(steady_path(path, 0.1), path)
    assert steady_path(np.random.default_rng(frames).normal(size=(frames, 3)), 0.1).shape == path.shape
