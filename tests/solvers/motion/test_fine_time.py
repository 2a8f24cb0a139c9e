# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion between its frames: polynomials are met exactly, what stands stands, and contacts end between frames."""

import numpy as np
import pytest
import walking
from numpy.polynomial import Polynomial

from solvers.algebra import quaternion
from solvers.motion import find_contacts, fine_time, plant_feet

LENGTH = walking.UPPER + walking.LOWER


@pytest.mark.parametrize(("rate", "count"), [(12, 10), (23.976, 5), (25, 5), (30, 4), (60, 2), (120, 1), (240, 1)])
def test_frames_are_times_of_a_grid_of_about_120_a_second(rate: float, count: int) -> None:
    assert fine_time.steps(rate) == count
    values = np.random.default_rng(1).normal(size=(9, 2, 3))
    found = fine_time.finer(values, count)
    assert found.shape == (8 * count + 1, 2, 3)
    assert found[::count] == pytest.approx(values)


def test_a_polynomial_of_the_fifth_degree_is_met_between_frames() -> None:
    curve = Polynomial([0.3, -1.0, 0.2, 0.1, -0.02, 0.003])
    found = fine_time.finer(curve(np.arange(12.0))[:, None], 5)[:, 0]
    inside = slice(2 * 5, -2 * 5)
    assert found[inside] == pytest.approx(curve(np.arange(len(found)) / 5)[inside], abs=1e-9)


def test_what_stands_on_frames_stands_between_them() -> None:
    """However fast it came; without the bound it swings there."""
    places = np.zeros((12, 3))
    places[:5, 0] = 0.2 * np.arange(5)[::-1]
    assert np.abs(fine_time.finer(places, 4)[4 * 4 :]).max() > 1e-3
    assert np.abs(fine_time.finer(places, 4, 1e-4)[4 * 4 :]).max() == 0.0


def test_signs_of_rotations_mean_nothing() -> None:
    turns = quaternion.exp(0.2 * np.arange(10)[:, None] * np.array([0.3, 0.8, -0.5]))
    flipped = turns * np.random.default_rng(2).choice([-1.0, 1.0], (10, 1))
    wanted = quaternion.exp(0.05 * np.arange(37)[:, None] * np.array([0.3, 0.8, -0.5]))
    assert quaternion.angle(fine_time.finer_turns(flipped, 4), wanted)[8:-8] == pytest.approx(0.0, abs=1e-5)


def test_contacts_begin_and_end_where_they_were_found_if_that_is_less_than_a_frame_away() -> None:
    mask = np.array([0, 1, 1, 0, 0, 1, 0], dtype=bool)
    found = np.zeros(25, dtype=bool)
    found[2:11] = True  # less than a frame before and after the first run
    found[13:16] = True  # touches no frame of the mask
    found[22:24] = True  # beside the second run, not at it
    wanted = np.zeros(25, dtype=bool)
    wanted[2:11], wanted[20] = True, True
    assert np.array_equal(fine_time.finer_mask(mask, 4, found), wanted)
    wanted[2:4], wanted[9:11] = False, False
    assert np.array_equal(fine_time.finer_mask(mask, 4), wanted)
    assert np.array_equal(fine_time.finer_mask(mask, 4, np.ones(25, dtype=bool))[::4], mask)


def test_heights_beside_unknown_ones_are_not_known() -> None:
    found = fine_time.finer_heights(np.array([0.0, 1.0, np.nan, 2.0]), 2)
    assert found == pytest.approx([0.0, 0.5, 1.0, np.nan, np.nan, np.nan, 2.0], nan_ok=True)


@pytest.mark.parametrize("kind", ["x0.9", "x1.1", "drift", "turn"])
@pytest.mark.parametrize(("rate", "most"), [(60.0, 1e-3), (30.0, 4e-3), (24.0, 8e-3)])
def test_the_same_motion_is_mended_alike_at_every_rate(kind: str, rate: float, most: float) -> None:
    """The same formulas, seen at another rate and at 120 frames a second: contacts, hips and joints of the legs."""
    each = round(120 / rate)
    seen = {fps: walking.sliding(walking.walk(rate=fps)[0], kind, fps) for fps in (120.0, rate)}
    found, places = {}, {}
    for fps, legs in seen.items():
        points, hips = np.stack([leg.points for leg in legs], 1), 0.5 * (legs[0].hip + legs[1].hip)
        found[fps] = find_contacts(points, hips, fps, LENGTH)
        answer = plant_feet(legs, [found[fps][:, 0], found[fps][:, 1]], fps)
        after = [walking.moved(leg, answer.hips, turns) for leg, turns in zip(legs, answer.turns, strict=True)]
        places[fps] = np.stack([[leg.hip, leg.knee, leg.ankle] for leg in after])
    count = min(len(found[rate]), len(found[120.0]))
    differs = found[rate][:count] != found[120.0][:count]
    for ends in differs.reshape(count, -1).T:  # no stretch of them is longer than a frame
        stretches = np.convolve(ends, np.ones(each + 1), "valid")
        assert stretches.max() <= each
    off = np.linalg.norm(places[rate] - places[120.0][:, :, ::each], axis=-1)
    assert off.max() < most
    assert np.median(off) < 0.25 * most
