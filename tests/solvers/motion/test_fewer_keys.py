# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys: within the bound at all samples, exact where the motion is a cubic, and few."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from solvers.motion import Keys, Part, few_keys, fit_keys


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


def alone(values: np.ndarray, bound: float, **more) -> Part:
    """A part each of whose channels may be off by a bound."""
    count, width = values.shape
    effects = np.zeros((width, count, width, 3))
    effects[range(width), :, range(width), 0] = 1.0 / bound
    return Part(values, effects, np.arange(width), **more)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 90), st.integers(1, 4), st.sampled_from([1, 2]), st.floats(0.001, 0.5))
def test_a_random_motion_is_within_the_bound(seed: int, frames: int, width: int, step: int, bound: float) -> None:
    draw = np.random.default_rng(seed)
    count = (frames - 1) * step + 1
    times = np.cumsum(draw.uniform(0.5, 1.5, count))
    values = np.cumsum(draw.normal(scale=0.2, size=(count, width)), 0)
    keys = few_keys(times, [alone(values, bound)], step)[0]
    assert keys.samples[0] == 0 and keys.samples[-1] == count - 1 and (keys.samples % step == 0).all()
    assert (np.diff(keys.samples) > 0).all()
    assert keys.kept[[0, -1]].all() and keys.kept.any(1).all()
    assert np.abs(shown(times, keys) - values).max() <= bound * (1.0 + 1e-6) + 1e-5
    assert np.abs(keys.values[[0, -1]] - values[[0, -1]]).max() < 1e-12  # what comes before and after goes on from them
    assert np.abs(shown(times, keys) - keys.shown(times)).max() < 1e-9


def test_a_cubic_needs_its_ends_only_and_a_wave_is_keyed_at_its_extremes() -> None:
    times = np.arange(0.0, 24.5, 0.5)
    cubic = np.stack([0.01 * times**3 - 0.2 * times**2, 3.0 - times], -1)
    assert few_keys(times, [alone(cubic, 1e-3)], 2)[0].samples.tolist() == [0, 48]
    times = np.arange(0.0, 96.5, 0.5)
    wave = np.sin(2.0 * np.pi * times / 24.0)[:, None]
    assert few_keys(times, [alone(wave, 0.02)], 2)[0].samples.tolist() == [0, *range(12, 181, 24), 192]


def test_keys_go_where_they_must() -> None:
    times = np.arange(0.0, 30.0)
    still = np.zeros((30, 3))
    keys = few_keys(times, [alone(still, 0.1, must=(7, 8, 21))])[0]
    assert keys.samples.tolist() == [0, 7, 8, 21, 29]
    assert keys.kept.all()
    assert few_keys(times[:1], [alone(still[:1], 0.1)])[0].samples.tolist() == [0]


def test_a_channel_has_no_keys_that_only_others_need() -> None:
    times = np.arange(0.0, 60.5, 0.5)
    motion = np.stack([np.sin(times), 0.02 * times, np.cos(0.1 * times)], -1)
    keys, whole = (few_keys(times, [alone(motion, 0.01, limb=limb)], 2)[0] for limb in (None, 0))
    assert np.abs(shown(times, keys) - motion).max() <= 0.01 * (1.0 + 1e-9)
    assert keys.kept[:, 1].sum() == 2 and keys.kept[:, 2].sum() < 0.5 * keys.kept[:, 0].sum()
    assert whole.kept.all() and keys.kept.sum() < 0.6 * whole.kept.sum()


def test_parts_share_what_both_lead_and_use_what_the_other_leaves() -> None:
    """An end that two joints lead stays within its bound, with fewer keys than if each had half of it."""
    draw, count = np.random.default_rng(3), 121
    times = np.arange(count) / 2.0
    swing = np.stack([np.sin(0.8 * times + 1.3 * k) + 0.004 * draw.normal(size=count) for k in range(2)])[..., None]
    def lever(bound: float) -> np.ndarray:
        return np.eye(3)[0] * np.ones((1, count, 1, 3)) / bound

    both = [Part(own, lever(0.02), np.array([0])) for own in swing]
    keys = few_keys(times, both, 2)
    off = sum(shown(times, own) - motion for own, motion in zip(keys, swing, strict=True))
    assert 0.015 < np.abs(off).max() <= 0.02 * (1.0 + 1e-9)
    halves = [few_keys(times, [Part(own, lever(0.01), np.array([0]))], 2)[0] for own in swing]
    assert sum(own.kept.sum() for own in keys) < sum(own.kept.sum() for own in halves)


def fitted(times: np.ndarray, parts: list[Part], limits: np.ndarray) -> list[Keys]:
    steps = fit_keys(times, parts, limits)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value


def test_lower_limits_change_keys_only_around_them() -> None:
    times = np.arange(121.0)
    motion = np.stack([np.sin(0.9 * times), np.cos(0.7 * times)], -1)
    parts, limits = [alone(motion, 0.05, limb=0)], np.ones((121, 2))
    keys = fitted(times, parts, limits)[0]
    limits[58:63] = 0.2
    new = fitted(times, parts, limits)[0]
    off = np.abs(shown(times, new) - motion)
    assert off.max() <= 0.05 * (1.0 + 1e-4) and off[58:63].max() <= 0.01 * (1.0 + 1e-4)
    assert np.abs(shown(times, new) - shown(times, keys))[[*range(30), *range(90, 121)]].max() < 1e-3
