# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys: within the bound at all samples, exact where the motion is a cubic, and few."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from solvers.clip import Keys, few_keys


def shown(times: np.ndarray, keys: Keys) -> np.ndarray:
    """The cubics at the times, by SciPy."""
    values = np.empty((len(times), keys.values.shape[1]))
    for k in range(len(keys.samples) - 1):
        begin, end = keys.samples[k : k + 2]
        slopes = [keys.slopes[k, 1], keys.slopes[k + 1, 0]]
        spline = CubicHermiteSpline(times[[begin, end]], keys.values[k : k + 2], slopes)
        values[begin : end + 1] = spline(times[begin : end + 1])
    return values


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 90), st.integers(1, 4), st.sampled_from([1, 2]), st.floats(0.001, 0.5))
def test_a_random_motion_is_within_the_bound(seed: int, frames: int, width: int, step: int, bound: float) -> None:
    draw = np.random.default_rng(seed)
    count = (frames - 1) * step + 1
    times = np.cumsum(draw.uniform(0.5, 1.5, count))
    values = np.cumsum(draw.normal(scale=0.2, size=(count, width)), 0)
    keys = few_keys(times, values, lambda at, own: np.abs(own - values[at]).max(-1) / bound, step)
    assert keys.samples[0] == 0 and keys.samples[-1] == count - 1 and (keys.samples % step == 0).all()
    assert (np.diff(keys.samples) > 0).all()
    assert np.abs(shown(times, keys) - values).max() <= bound * (1.0 + 1e-6) + 1e-5


def test_a_cubic_needs_its_ends_only_and_a_wave_is_keyed_at_its_extremes() -> None:
    times = np.arange(0.0, 24.5, 0.5)
    cubic = np.stack([0.01 * times**3 - 0.2 * times**2, 3.0 - times], -1)
    keys = few_keys(times, cubic, lambda at, own: np.abs(own - cubic[at]).max(-1) / 1e-3, 2)
    assert keys.samples.tolist() == [0, 48]
    times = np.arange(0.0, 96.5, 0.5)
    wave = np.sin(2.0 * np.pi * times / 24.0)[:, None]
    keys = few_keys(times, wave, lambda at, own: np.abs(own - wave[at]).max(-1) / 0.02, 2)
    assert keys.samples.tolist() == [0, *range(12, 181, 24), 192]


def test_keys_go_where_they_must() -> None:
    times = np.arange(0.0, 30.0)
    still = np.zeros((30, 3))
    keys = few_keys(times, still, lambda at, own: np.abs(own - still[at]).max(-1) / 0.1, 1, must=(7, 8, 21))
    assert keys.samples.tolist() == [0, 7, 8, 21, 29]
    assert few_keys(times[:1], still[:1], lambda at, own: np.zeros(len(own))).samples.tolist() == [0]
