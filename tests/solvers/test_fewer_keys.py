# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys: within the bound at all samples, exact where the motion is a cubic, and few."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from solvers.clip import Keys, few_keys


def shown(times: np.ndarray, keys: Keys) -> np.ndarray:
    """The cubics of each channel at the times, by SciPy."""
    values = np.empty((len(times), keys.values.shape[1]))
    for channel in range(values.shape[1]):
        for first, last in pairwise(np.flatnonzero(keys.kept[:, channel])):
            begin, end = keys.samples[[first, last]]
            slopes = [keys.slopes[first, 1, channel], keys.slopes[last, 0, channel]]
            spline = CubicHermiteSpline(times[[begin, end]], keys.values[[first, last], channel], slopes)
            values[begin : end + 1, channel] = spline(times[begin : end + 1])
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
    assert keys.kept[[0, -1]].all() and keys.kept.any(1).all()
    assert np.abs(shown(times, keys) - values).max() <= bound * (1.0 + 1e-6) + 1e-5
    assert np.abs(shown(times, keys) - keys.shown(times)).max() < 1e-9


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
    assert keys.kept.all()
    assert few_keys(times[:1], still[:1], lambda at, own: np.zeros(len(own))).samples.tolist() == [0]


def test_a_channel_has_no_keys_that_only_others_need() -> None:
    times = np.arange(0.0, 60.5, 0.5)
    motion = np.stack([np.sin(times), 0.02 * times, np.cos(0.1 * times)], -1)
    def miss(at: slice, own: np.ndarray) -> np.ndarray:
        return np.abs(own - motion[at]).max(-1) / 0.01

    keys, whole = few_keys(times, motion, miss, 2), few_keys(times, motion, miss, 2, whole=True)
    assert np.abs(shown(times, keys) - motion).max() <= 0.01 * (1.0 + 1e-9)
    assert keys.kept[:, 1].sum() == 2 and keys.kept[:, 2].sum() < 0.5 * keys.kept[:, 0].sum()
    assert whole.kept.all() and keys.kept.sum() < 0.6 * whole.kept.sum()
