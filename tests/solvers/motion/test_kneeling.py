# SPDX-License-Identifier: GPL-3.0-or-later
"""Knees that rest are found and stay where they are, with feet that stand and hips that sway meanwhile."""

import numpy as np
import pytest
import walking

from solvers.algebra import quaternion
from solvers.motion import FOOT_POINT, KNEE_POINT, Leg, bends, find_contacts, fine_time, kneeling, plant_feet

SLIDES = ("x0.9", "drift", "noise")
LENGTH = walking.UPPER + walking.LOWER
KINDS = (FOOT_POINT, FOOT_POINT, KNEE_POINT)


def points(legs: list[Leg]) -> np.ndarray:
    """The places (F, 2, 3, 3) of heels, balls, and what is lowest of knees."""
    knees = [leg.knee - [0.0, 0.0, walking.KNEE] for leg in legs]
    return np.stack([np.concatenate([leg.points, knee[:, None]], 1) for leg, knee in zip(legs, knees, strict=True)], 1)


def times(legs: list[Leg], rate: float, ground: float | None = None) -> np.ndarray:
    return find_contacts(points(legs), 0.5 * (legs[0].hip + legs[1].hip), rate, LENGTH, ground, KINDS)


def planted(legs: list[Leg], found: np.ndarray, rate: float, heights: list[np.ndarray]) -> list[Leg]:
    answer = plant_feet(legs, [found[:, 0], found[:, 1]], rate, heights)
    return [walking.moved(leg, answer.hips, turns) for leg, turns in zip(legs, answer.turns, strict=True)]


def largest_step(places: np.ndarray, rests: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(places, axis=0), axis=-1)[rests[1:] & rests[:-1]].max())


@pytest.mark.parametrize("ground", [None, 0.0])
@pytest.mark.parametrize("kind", ["none", *SLIDES])
def test_knees_that_rest_are_found(kind: str, ground: float | None) -> None:
    for rate in (30.0, 120.0):
        legs, true = walking.kneel(rate=rate)
        found = fine_time.on_frames(times(walking.sliding(legs, kind, rate), rate, ground), rate)
        for k in (1, 2):
            own, wanted = found[:, :, k], true[:, :, k]
            assert 2.0 * (own & wanted).sum() / (own.sum() + wanted.sum()) > 0.94


def test_knees_of_a_walk_do_not_rest_and_hide_no_contacts() -> None:
    legs, _ = walking.walk()
    found = times(legs, 30.0)
    feet = find_contacts(points(legs)[:, :, :2], 0.5 * (legs[0].hip + legs[1].hip), 30.0, LENGTH)
    assert not found[:, :, 2].any() and np.array_equal(found[:, :, :2], feet)


@pytest.mark.parametrize("kind", SLIDES)
def test_knees_that_rest_stay_where_they_are(kind: str) -> None:
    """To a tenth of a millimetre a frame, and balls to a third; hips and knees step as they did, and a little more."""
    original, _ = walking.kneel()
    legs = walking.sliding(original, kind)
    found = times(legs, 30.0)
    rests = fine_time.on_frames(found, 30.0)
    for k, (was, leg, mended) in enumerate(zip(original, legs, planted(legs, found, 30.0, []), strict=True)):
        assert largest_step(leg.knee, rests[:, k, 2]) > 1e-3
        assert largest_step(mended.knee, rests[:, k, 2]) < 1e-4
        assert largest_step(mended.points[:, 1], rests[:, k, 1]) < 3e-4
        steps = [np.linalg.norm(np.diff(one.hip, axis=0), axis=-1).max() for one in (was, leg, mended)]
        assert steps[2] < 1.05 * max(steps[:2])
        steps = [np.abs(np.diff(bends(one))).max() for one in (was, leg, mended)]
        assert steps[2] < max(steps[:2]) + np.radians(1.0)


def test_knees_rest_as_high_as_the_ground_is() -> None:
    """On a step of 6 cm under the knees, 3 cm over where they are and 6 cm over the toes."""
    legs, true = walking.kneel()
    found = fine_time.finer_mask(true, fine_time.steps(30.0))
    heights = np.where(true[:, 0], 0.0, np.nan_to_num(points(legs)[:, 0, :, 2]))
    heights[:, 2] = walking.KNEE + 0.03
    for k, leg in enumerate(planted(legs, found, 30.0, [heights, heights])):
        rests = true[:, k, 2]
        assert leg.knee[rests, 2] == pytest.approx(walking.KNEE + 0.03, abs=1e-3)
        assert leg.points[rests, 1, 2] == pytest.approx(0.0, abs=1e-3)


def test_an_ankle_is_as_far_as_it_has_to_be_from_knee_and_ball() -> None:
    draw = np.random.default_rng(2)
    knee, pivot, aim = draw.normal(size=(3, 50, 3))
    far = np.linalg.norm(pivot - knee, axis=-1)
    lower, apart = 0.8 * far, 0.7 * far
    found = kneeling.between(knee, lower, pivot, apart, aim)
    assert np.linalg.norm(found - knee, axis=-1) == pytest.approx(lower)
    assert np.linalg.norm(found - pivot, axis=-1) == pytest.approx(apart)
    assert kneeling.between(knee, lower, pivot, apart, found) == pytest.approx(found)
    beyond = kneeling.between(knee, 0.5 * far, pivot, 0.2 * far, aim)
    assert beyond == pytest.approx(0.5 * (knee + pivot))


def test_an_almost_straight_leg_is_hardly_turned_for_its_knee() -> None:
    """Its knee would be beside the leg's line in any case; that of a bent leg comes to where it is wanted."""
    hip, ankle = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.4]]), np.zeros((2, 3))
    knee, wanted = np.array([[0.01, 0.0, 0.5], [0.4, 0.0, 0.2]]), np.array([[-0.004, 0.01, 0.5], [0.0, 0.4, 0.2]])
    turns = kneeling.swivel(hip, ankle, knee, wanted)
    assert np.degrees(np.linalg.norm(turns[0])) < 2.0
    assert turns[1] == pytest.approx([0.0, 0.0, 0.5 * np.pi])


def test_a_heel_that_stands_a_moment_before_the_ball_does_not_throw_the_foot() -> None:
    """Feet come down under knees that rest, 5 cm higher than they were: feet turn for it, about their balls."""
    legs, true = walking.kneel()
    found = fine_time.finer_mask(true, fine_time.steps(30.0))
    begin = int(found[:, 0, 2].argmax()) + 40
    found[:begin, :, :2] = False
    found[begin : begin + 12, :, 0], found[begin, :, 1] = True, False
    heights = np.where(true[:, 0], 0.0, np.nan_to_num(points(legs)[:, 0, :, 2]))
    heights[:, 2] = walking.KNEE + 0.05
    for leg, after in zip(legs, planted(legs, found, 30.0, [heights, heights]), strict=True):
        steps = [np.degrees(quaternion.angle(one.turns[1:, 2], one.turns[:-1, 2])).max() for one in (leg, after)]
        assert steps[1] < steps[0] + 3.0
