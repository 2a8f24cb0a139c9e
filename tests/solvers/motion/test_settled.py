# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways of a limb's end that change only as far as it goes."""

import numpy as np
import pytest

from solvers.motion import settled


def stepping(rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ways (F, 3) that turn, places (F, 3) of an end that stands, steps and stands for a second each, and when."""
    time = np.arange(0.0, 3.0 + 0.5 / rate, 1.0 / rate)
    ways = 0.2 * np.stack([np.cos(time), np.sin(time), 0.1 * time], -1)
    away = np.clip(time - 1.0, 0.0, 1.0)
    places = np.zeros((len(time), 3))
    places[:, 0] = 2.0 * (away - np.sin(2.0 * np.pi * away) / (2.0 * np.pi))
    return ways, places, (time < 1.0) | (time > 2.0)


def test_what_stands_does_not_slide_and_what_steps_follows() -> None:
    ways, places, stands = stepping(30.0)
    for known in (stands, np.zeros_like(stands)):  # where it stands need not be known
        found = settled(ways, places, 30.0, known)
        for part in (slice(0, 30), slice(62, 91)):
            assert np.ptp(found[part], axis=0).max() < 2e-3 < np.ptp(ways[part], axis=0).max()
            assert np.linalg.norm(found[part].mean(0) - ways[part].mean(0)) < 0.08
        assert np.linalg.norm(found - ways, axis=-1)[40:50].max() < 0.01


def test_the_ways_are_those_of_the_least_cost() -> None:
    """Against the least squares of the same cost, written row by row."""
    ways, places, stands = stepping(10.0)
    share = np.linspace(0.0, 1.0, len(ways))
    speed = np.maximum(np.linalg.norm(np.diff(places, axis=0), axis=-1) * 10.0, 0.03)
    weight = 10.0 * 0.03 / speed**2 * np.minimum(share[1:], share[:-1])
    rows = np.concatenate([np.eye(len(ways)), weight[:, None] * np.diff(np.eye(len(ways)), axis=0)])
    right = np.concatenate([ways, np.zeros((len(ways) - 1, 3))])
    expected = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert np.allclose(settled(ways, places, 10.0, np.zeros_like(stands), share), expected, atol=1e-6)


@pytest.mark.parametrize("rate", [60.0, 120.0])
def test_the_frame_rate_does_not_matter(rate: float) -> None:
    found = []
    for one in (30.0, rate):
        ways, places, stands = stepping(one)
        found.append(settled(ways, places, one, np.zeros_like(stands)))
    assert np.linalg.norm(found[0] - found[1][:: round(rate / 30.0)], axis=-1).max() < 0.01


def test_without_a_share_the_ways_stay() -> None:
    ways, places, stands = stepping(30.0)
    assert np.allclose(settled(ways, places, 30.0, np.zeros_like(stands), np.zeros(len(ways))), ways)
