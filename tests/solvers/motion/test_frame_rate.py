# SPDX-License-Identifier: GPL-3.0-or-later
"""The rate that a motion was made for, from falls by the laws of mechanics and from walks by formulas."""

import numpy as np
import pytest
from walking import LOWER, UPPER, walk

from solvers.motion import likely_rate

LEG = UPPER + LOWER
RATES = (24, 30, 60, 120)
GRAVITY = 9.81 * LEG / 0.82  # of a person with such legs


def jumps(rate: float, gravity: float = GRAVITY, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Feet (F, 2, 2, 3) and hips (F, 3) of three jumps of different heights with a bend of the knees between."""
    random = np.random.default_rng(seed)
    hips, feet = list[float](), list[float]()
    for rise in random.uniform(0.2, 0.45, 3):
        stand = np.linspace(0.0, 1.0, round(0.8 * rate))
        hips += (LEG - 0.25 * np.sin(np.pi * stand) ** 2).tolist()
        feet += [0.0] * len(stand)
        times = np.arange(1, round(2.0 * np.sqrt(2.0 * rise / gravity) * rate)) / rate
        up = np.sqrt(2.0 * gravity * rise) * times - 0.5 * gravity * times**2
        hips += (LEG + up).tolist()
        feet += (up + 0.1 * np.sin(np.pi * times / times[-1])).tolist()
    hips += [LEG] * round(0.5 * rate)
    feet += [0.0] * round(0.5 * rate)
    count = len(hips)
    points = np.zeros((count, 2, 2, 3))
    points[..., 0] += np.array([0.1, -0.1])[:, None]
    points[..., 1] += np.array([-0.06, 0.14])
    points[..., 2] = np.array(feet)[:, None, None]
    points += 2e-4 * random.normal(size=points.shape)
    return points, np.stack([np.zeros(count), np.zeros(count), np.array(hips)], -1) + 2e-4 * random.normal(
        size=(count, 3)
    )


def steps(rate: float) -> tuple[np.ndarray, np.ndarray]:
    """A walk of steps of 0.45 m, for which people take 0.8 s; those of the formulas are hastier."""
    legs, _ = walk(6.0, round(0.8 / 0.5 * rate))
    return np.stack([leg.points for leg in legs], 1), np.mean([leg.hip for leg in legs], axis=0)


@pytest.mark.parametrize("made", RATES)
@pytest.mark.parametrize("played", RATES)
def test_falls_tell_the_rate(made: int, played: int) -> None:
    for seed in range(5):
        assert likely_rate(*jumps(made, seed=seed), LEG, played) == (None if made == played else made)


@pytest.mark.parametrize("made", RATES)
@pytest.mark.parametrize("played", RATES)
def test_steps_tell_rates_that_are_far_off(made: int, played: int) -> None:
    found = likely_rate(*steps(made), LEG, played)
    if max(made / played, played / made) >= 2.0:
        assert found is not None
        assert max(found / made, made / found) < 1.4
    else:
        assert found is None


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_size_of_the_unit_does_not_count(size: float) -> None:
    points, hips = jumps(60)
    assert likely_rate(points * size, hips * size, LEG * size, 24) == 60


def test_motions_without_falls_and_steps_tell_nothing() -> None:
    """Climbing lifts both feet for long; a body that sways, and one that stands still, lift none."""
    random = np.random.default_rng(2)
    times = np.linspace(0.0, 20.0, 600)
    climb = np.interp(times, [0.0, 4.0, 8.0, 12.0, 16.0, 20.0], [0.0, 0.6, 1.4, 1.3, 0.5, 0.0])
    sway = 0.2 * np.sin(1.3 * times)
    for height, side in ((climb, 0.0 * times), (0.0 * times, sway), (0.0 * times, 0.0 * times)):
        points = np.zeros((600, 2, 2, 3)) + 1e-3 * random.normal(size=(600, 2, 2, 3))
        points[..., 0] += np.array([0.1, -0.1])[:, None]
        points[..., 2] += height[:, None, None]
        hips = np.stack([side, 0.0 * times, LEG + height], -1)
        for played in (24, 30, 60, 120):
            assert likely_rate(points, hips, LEG, played) is None
