# SPDX-License-Identifier: GPL-3.0-or-later
"""Shakes taken out of motions whose clean form is known: quiet where they rest, sharp where they strike."""

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from solvers.algebra import quaternion
from solvers.motion import many_bands, shakes


def _end(steps: Generator[float, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def _strike(times: np.ndarray, begin: float = 2.0, length: float = 0.3) -> np.ndarray:
    """The angles (F,) of an arm that sways slowly, and once strikes out and back."""
    share = np.clip((times - begin) / length, 0.0, 1.0)
    return 0.2 * np.sin(2.0 * np.pi * 0.3 * times) + 1.2 * np.sin(np.pi * share) ** 2


def _turned(angles: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Quaternions (F, S, 4) about one axis, further turned by rotation vectors (F, S, 3)."""
    turn = quaternion.exp(angles[:, None, None] * np.array([0.6, 0.0, 0.8]))
    return quaternion.product(np.broadcast_to(turn, (*noise.shape[:2], 4)), quaternion.exp(noise))


def _motion(rate: float, size: float, series: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (F,), angles (F,) and noisy quaternions (F, S, 4) of strikes. size : of the noise along an axis [rad]."""
    times = np.arange(0.0, 4.0, 1.0 / rate)
    angles = _strike(times)
    noise = size * np.random.default_rng(seed).normal(size=(len(times), series, 3))
    return times, angles, _turned(angles, noise)


def _angles(values: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """By how much (F, S) quaternions differ from turns by angles (F,) [rad]."""
    return quaternion.angle(quaternion.normalize(values), _turned(angles, np.zeros((*values.shape[:2], 3))))


def test_systems_are_solved_as_dense_ones_are() -> None:
    """Answers and the band of the inverse, of several systems and sizes."""
    rng = np.random.default_rng(1)
    for frames in (1, 2, 3, 4, 9):
        bands, right = rng.normal(size=(4, frames, 2)), rng.normal(size=(frames, 2, 3))
        bands[0] = 9.0 + np.abs(bands[0])
        own = many_bands.factors(bands)
        found, inverse = many_bands.solve(*own, right), many_bands.inverse_bands(*own)
        for one in range(2):
            dense = sum(np.diag(bands[k, : frames - k, one], k) for k in range(min(4, frames)))
            dense = dense + np.triu(dense, 1).T
            assert found[:, one] == pytest.approx(np.linalg.solve(dense, right[:, one]))
            for k in range(min(4, frames)):
                assert inverse[k, : frames - k, one] == pytest.approx(np.diag(np.linalg.inv(dense), k))


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0])
def test_the_noise_is_measured_whatever_the_frame_rate(rate: float) -> None:
    """Beside a strike, and in single frames that jump."""
    size = np.radians(1.0)
    *_, values = _motion(rate, size)
    assert shakes.noise_levels(values, rate) == pytest.approx(0.5 * size, rel=0.25)


@pytest.mark.parametrize("rate", [24.0, 60.0])
def test_rest_becomes_quiet_and_a_strike_keeps_its_height_and_time(rate: float) -> None:
    size = np.radians(1.0)
    times, angles, values = _motion(rate, size)
    found = _end(shakes.without_shakes(values, rate)).values
    before, after = _angles(values, angles), _angles(found, angles)
    rest = np.abs(times - 2.15) > 0.5
    assert np.sqrt((after[rest] ** 2).mean()) < 0.55 * np.sqrt((before[rest] ** 2).mean())
    assert np.sqrt((after[~rest] ** 2).mean()) < np.sqrt((before[~rest] ** 2).mean())
    jerk, own = (np.abs(np.diff(one[rest[:]][: int(1.5 * rate)], 3, axis=0)).mean() for one in (values, found))
    assert own < 0.1 * jerk
    height = 2.0 * np.arccos(np.abs(quaternion.normalize(found)[..., 0]))
    top = int(np.argmax(angles))
    assert np.abs(np.argmax(height, axis=0) - top).max() <= 1
    assert height.max(0) == pytest.approx(angles[top], rel=0.05)


def test_a_motion_without_shakes_stays() -> None:
    """At any scale, slow and fast parts of it."""
    times, angles, values = _motion(30.0, 0.0, 1)
    assert _angles(_end(shakes.without_shakes(values, 30.0)).values, angles).max() < 0.01 * np.ptp(angles)
    path = np.stack([times, np.sin(times), _strike(times), 0.0 * times], -1)[:, None]
    for scale in (1e-3, 1.0, 1e3):
        found = _end(shakes.without_shakes(scale * path, 30.0)).values
        assert found == pytest.approx(scale * path, abs=0.015 * scale)


def test_the_answer_turns_with_the_space_and_grows_with_the_scale() -> None:
    """Turned before and after, moved and scaled."""
    _, _, values = _motion(30.0, 0.02, 2)
    found = _end(shakes.without_shakes(values, 30.0)).values
    first, second = quaternion.exp(np.array([[0.3, -1.0, 0.4], [1.5, 0.2, -0.7]]))
    turned = quaternion.product(first, quaternion.product(values, second))
    again = _end(shakes.without_shakes(turned, 30.0)).values
    assert again == pytest.approx(quaternion.product(first, quaternion.product(found, second)), abs=1e-9)
    moved = _end(shakes.without_shakes(7.0 + 50.0 * values, 30.0)).values
    assert moved == pytest.approx(7.0 + 50.0 * found, abs=1e-6)


def test_frames_that_jump_are_found_and_bridged() -> None:
    """One frame and two together, far off, also amid a swing; a strike is none, nor is the beginning of a fast way."""
    times, angles, values = _motion(30.0, np.radians(0.3), 1)
    wrong = [20, 21, 90]
    jumping = values.copy()
    jumping[wrong, 0] = quaternion.product(jumping[wrong, 0], quaternion.exp(np.array([0.0, 1.5, 0.6])))
    report = _end(shakes.without_shakes(jumping, 30.0))
    assert np.flatnonzero(report.jumped[:, 0]).tolist() == wrong
    assert np.degrees(_angles(report.values, angles)[wrong]).max() < 1.0
    swing = _turned(_strike(times, length=0.8), np.zeros((len(times), 1, 3)))
    swing[70, 0] = quaternion.product(swing[70, 0], quaternion.exp(np.array([0.0, 0.3, 0.1])))
    assert np.flatnonzero(_end(shakes.without_shakes(swing, 30.0)).jumped[:, 0]).tolist() == [70]
    step = np.where(times < 2.0, 0.0, 1.0)
    starts = np.stack([step, np.maximum(times - 2.0, 0.0), 0 * times, 0 * times], -1)[:, None]
    assert not _end(shakes.without_shakes(starts, 30.0)).jumped.any()
    rounded = np.ones((60, 1, 4)) + 1e-7 * (np.arange(60) % 7 == 3)[:, None, None]
    assert not _end(shakes.without_shakes(rounded, 30.0)).jumped.any()


def test_shakes_hide_few_jumps() -> None:
    """Of jumps of 10 degrees in a swing that shakes by 1 degree four of five are found, and no other frame."""
    noise = np.radians(1.0) / np.sqrt(3.0) * np.random.default_rng(1).normal(size=(120, 200, 3))
    values = _turned(0.3 * np.sin(np.pi * np.arange(120) / 30.0), noise)
    values[60] = quaternion.product(values[60], quaternion.exp(np.radians(10.0) * np.array([0.0, 0.6, 0.8])))
    found = shakes.jumps(values, shakes.noise_levels(values, 30.0))
    assert found[60].mean() > 0.8
    assert found.sum() == found[60].sum()


def test_amount_scales_what_is_taken_out() -> None:
    """With 0 nothing is, and with more the rest becomes quieter."""
    _, _, values = _motion(30.0, 0.02, 3)
    assert np.array_equal(_end(shakes.without_shakes(values, 30.0, 0.0)).values, values)
    rough = [np.abs(np.diff(_end(shakes.without_shakes(values, 30.0, amount)).values, 3, axis=0)).sum()
             for amount in (0.5, 1.0, 2.0)]  # fmt: skip
    assert rough[0] > rough[1] > rough[2]


def test_short_and_still_motions_stay() -> None:
    for frames in (1, 2, 3, 4, 7):
        still = np.ones((frames, 2, 4))
        assert np.array_equal(_end(shakes.without_shakes(still, 30.0)).values, still)
