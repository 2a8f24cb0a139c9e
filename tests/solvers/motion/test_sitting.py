# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that sit down on a chair or on the floor are found by what carries them, and seats that slide are kept."""

import numpy as np
import pytest

from solvers.motion import find_seats, fine_time, seated

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


def test_a_seat_keeps_its_place_on_the_ground() -> None:
    seat, _, _, true = sit(0.45, 0.4, 0.1, 0.03)
    hips = seat + np.array([0.0, 0.0, 0.08])
    moved = seat + seated(seat, hips, true, LEG)
    assert np.isnan(moved[~true]).all() and np.ptp(moved[true], axis=0) == pytest.approx(0.0, abs=1e-12)
    assert moved[true].mean(0) == pytest.approx(seat[true].mean(0))
    for ground, height in ((0.5, 0.6), (0.4, 0.53)):
        moved = hips + seated(seat, hips, true, LEG, np.where(true, ground, np.nan), 0.1)
        assert moved[true, 2] == pytest.approx(height), "on the ground, or over it as it was"
    moved = seat + seated(seat, hips, true, LEG, np.where(true, 0.0, np.nan), 0.1)
    assert moved[true].mean(0) == pytest.approx(seat[true].mean(0)), "who sits on a chair does not sit on the floor"
