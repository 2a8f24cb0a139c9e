# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that sit down on a chair or on the floor are found by what carries them, and seats that slide are kept."""

import numpy as np
import pytest

from solvers.algebra import quaternion
from solvers.motion import TrunkPlaces, find_backs, find_seats, fine_time, rested

LEG, RATE = 0.87, 30.0
FEET = np.array([[0.1, 0.0, 0.0], [0.1, 0.2, 0.0], [-0.1, 0.0, 0.0], [-0.1, 0.2, 0.0]])


def sit(height: float, back: float, weight: float, drift: float = 0.0) -> tuple[np.ndarray, ...]:
    """A seat (F, 3) that goes down to a height behind the feet and up again, the weight, and the feet (F, 4, 3).

    weight : how far ahead of the seat it is. drift : of the whole body, in metres a second.
    """
    times = np.arange(150) / RATE
    down = np.clip(np.minimum(times, 5.0 - times) - 0.5, 0.0, 1.0)
    down = down * down * (3.0 - 2.0 * down)
    way = np.stack([0.0 * times, drift * times, 0.0 * times], -1)
    seat = way + np.stack([0.0 * times, 0.05 - (back + 0.05) * down, 0.87 - (0.87 - height) * down], -1)
    return seat, seat + np.array([0.0, weight, 0.25]), way[:, None] + FEET, down >= 1.0


def found(seat: np.ndarray, weight: np.ndarray, points: np.ndarray, ground: np.ndarray | None = None) -> np.ndarray:
    stands = np.ones((fine_time.steps(RATE) * (len(seat) - 1) + 1, 4), dtype=bool)
    return fine_time.on_frames(find_seats(seat, weight, points, stands, RATE, LEG, ground), RATE)


@pytest.mark.parametrize("drift", [0.0, 0.03])
@pytest.mark.parametrize(("height", "back"), [(0.45, 0.4), (0.05, 0.7)])
def test_who_sits_on_a_chair_or_on_the_floor_sits(height: float, back: float, drift: float) -> None:
    *body, true = sit(height, back, 0.1, drift)
    sits = found(*body)
    assert 2.0 * (sits & true).sum() / (sits.sum() + true.sum()) > 0.9


def test_who_squats_or_stands_does_not_sit() -> None:
    """Nor does who kneels: the weight is over what stands. On a known ground the seat on it counts alone."""
    *squat, true = sit(0.3, 0.2, 0.25)
    assert not found(*squat).any()
    assert found(*squat, np.full(150, 0.3))[true].all()
    *stands, _ = sit(0.87, -0.05, 0.0)
    assert not found(*stands).any()


def seated(seat: np.ndarray, hips: np.ndarray, sits: np.ndarray, *ground: object) -> np.ndarray:
    """The moves of the hips of who sits and does not lie."""
    return rested(TrunkPlaces(seat, hips, hips), hips, sits, np.zeros_like(sits), RATE, LEG, *ground)[0]


def test_a_seat_keeps_its_place_on_the_ground() -> None:
    seat, _, _, true = sit(0.45, 0.4, 0.1, 0.03)
    hips = seat + np.array([0.0, 0.0, 0.08])
    moved = seat + seated(seat, hips, true)
    assert np.isnan(moved[~true]).all() and np.ptp(moved[true], axis=0) == pytest.approx(0.0, abs=1e-12)
    assert moved[true].mean(0) == pytest.approx(seat[true].mean(0))
    for ground, height in ((0.5, 0.6), (0.4, 0.53)):
        moved = hips + seated(seat, hips, true, np.where(true, ground, np.nan), 0.1)
        assert moved[true, 2] == pytest.approx(height), "on the ground, or over it as it was"
    moved = seat + seated(seat, hips, true, np.where(true, 0.0, np.nan), 0.1)
    assert moved[true].mean(0) == pytest.approx(seat[true].mean(0)), "who sits on a chair does not sit on the floor"


def lie(drift: float, shake: float) -> tuple[TrunkPlaces, np.ndarray, np.ndarray]:
    """A body that sits down behind its feet and lies down, with times at which the seat rests, and the back.

    drift : of all of it [m/s]. shake : of the trunk's turn [rad].
    """
    times = np.arange(240) / RATE
    down, back = (np.clip(np.minimum(times - begin, 8.0 - begin - times), 0.0, 1.0) for begin in (0.5, 2.0))
    down, back = (one * one * (3.0 - 2.0 * one) for one in (down, back))
    way = np.stack([0.0 * times, drift * times, 0.0 * times], -1)
    seat = way + np.stack([0.0 * times, -0.6 * down, 0.87 - 0.82 * down], -1)
    tilt = np.stack([0.5 * np.pi * back, 0.0 * back, 0.0 * back], -1)
    tilt += shake * np.random.default_rng(3).normal(size=tilt.shape)
    spine = seat + np.array([0.0, 0.0, 0.12])
    line = quaternion.rotate(quaternion.exp(tilt), np.tile([0.0, 0.0, 0.4], (240, 1)))
    return TrunkPlaces(seat, spine + line, spine), down >= 1.0, back >= 1.0


def after(trunk: TrunkPlaces, hips: np.ndarray, turns: np.ndarray) -> TrunkPlaces:
    """Where the trunk is whose hips have moved and whose spine has turned."""
    line = quaternion.rotate(quaternion.exp(turns), trunk.back - trunk.spine)
    return TrunkPlaces(trunk.seat + hips, trunk.spine + hips + line, trunk.spine + hips)


@pytest.mark.parametrize(("drift", "shake"), [(0.0, 0.0), (0.03, 0.0), (0.03, 0.01)])
def test_who_lies_keeps_seat_and_back_where_they_are(drift: float, shake: float) -> None:
    """Of a trunk that shakes the spine turns, no further than it shakes, and neither end slides."""
    trunk, sits, lies = lie(drift, shake)
    moved = after(trunk, *rested(trunk, trunk.seat, sits, lies, RATE, LEG))
    assert np.ptp(moved.seat[sits], axis=0) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(moved.back[lies], axis=0) == pytest.approx(0.0, abs=1e-3 + 0.2 * shake)
    _, turns = rested(trunk, trunk.seat, sits, lies, RATE, LEG)
    assert np.linalg.norm(turns, axis=-1).max() <= 1e-3 + 5.0 * shake


def test_a_back_alone_is_held_by_the_hips_and_nothing_jumps() -> None:
    """The seat leaves the ground while the body lies on, as in a bridge."""
    trunk, sits, lies = lie(0.03, 0.01)
    sits[110:140] = False
    hips, turns = rested(trunk, trunk.seat, sits, lies, RATE, LEG)
    moved = after(trunk, hips, turns)
    assert np.ptp(moved.back[lies], axis=0) == pytest.approx(0.0, abs=3e-3)
    steps = np.linalg.norm(np.diff(hips[sits | lies], axis=0), axis=-1)
    assert steps.max() < 0.03


def test_a_back_on_the_ground_lies_and_one_over_hands_or_knees_does_not() -> None:
    trunk, _, lies = lie(0.02, 0.0)
    points = np.tile(FEET, (240, 1, 1))
    found = fine_time.on_frames(find_backs(trunk.back, points, RATE, LEG), RATE)
    assert 2.0 * (found & lies).sum() / (found.sum() + lies.sum()) > 0.9
    assert not find_backs(trunk.back + np.array([0.0, 0.0, 0.3]), points, RATE, LEG).any()
    assert find_backs(trunk.back + np.array([0.0, 0.0, 0.5]), points, RATE, LEG, np.full(240, 0.5)).any(), "on a bed"
