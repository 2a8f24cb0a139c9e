# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in the air go along the falls of mechanics again, where frames of a flight are broken."""

import numpy as np
import pytest
import walking

from solvers.motion import fine_time, flights, plant_feet

GRAVITY, LEG = 9.81, walking.UPPER + walking.LOWER
START, END = 20, 38  # frames of the flight at 30 a second, 0.6 s


def leap(rate: float = 30.0) -> tuple[np.ndarray, np.ndarray]:
    """The centre of mass (F, 3) of a body that leaps forward from level ground to level ground, and where it stands."""
    times = np.arange(round(60 * rate / 30.0)) / rate
    begin, end = START / 30.0, END / 30.0
    inside = np.clip(times - begin, 0.0, end - begin)
    up = 0.5 * GRAVITY * inside * (end - begin - inside)
    stands = (times <= begin + 1e-9) | (times >= end - 1e-9)
    return np.stack([0.0 * times, 2.0 * inside, 0.9 + up], -1), stands


def touching(frames: int = 60, rate: float = 30.0) -> np.ndarray:
    """The times of the fine grid at which the body stands, up to a frame at 30 a second."""
    count = fine_time.steps(rate)
    return leap(rate * count)[1][: round(frames * rate / 30.0 - 1) * count + 1]


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
def test_frames_that_are_off_go_back_to_the_curve_and_others_stay(rate: float) -> None:
    """A third of a flight is up to 15 cm off, to one side: the rest tells where it was."""
    true, stands = leap(rate)
    broken, first, last = true.copy(), round(26 * rate / 30.0), round(32 * rate / 30.0)
    broken[first:last] += [0.1, 0.0, -0.15]
    found = flights(broken, touching(rate=rate), rate, GRAVITY, LEG)
    moves = fine_time.on_frames(found.moves, rate)
    in_air = ~np.isnan(moves[:, 0])
    assert (found.found, found.others) == (1, 0)
    assert in_air[first:last].all() and not in_air[stands].any()
    assert (broken + moves)[in_air] == pytest.approx(true[in_air], abs=2e-3)


@pytest.mark.parametrize("backward", [False, True])
def test_a_motion_may_end_or_begin_in_the_air(backward: bool) -> None:
    """Frames of its last third of a second are off to one side, the last of all too; who lands there is let alone."""
    true, _ = leap()
    way = slice(None, None, -1) if backward else slice(None)
    for frames in ([26, 27, 33, 34, 35], [29, 30]):
        broken = true[:36].copy()
        broken[frames] += [0.12, 0.0, 0.0]
        found = flights(broken[way], touching(36)[way], 30.0, GRAVITY, LEG)
        assert (found.found, found.others) == (1, 0)
        moved = (broken[way] + np.nan_to_num(fine_time.on_frames(found.moves, 30.0)))[way]
        assert moved == pytest.approx(true[:36], abs=2e-3)
    lands = true[:36].copy()
    lands[33:, 2] += [0.02, 0.05, 0.09]
    moves = fine_time.on_frames(flights(lands[way], touching(36)[way], 30.0, GRAVITY, LEG).moves, 30.0)[way]
    assert np.nanmax(np.abs(moves)) < 0.02 and np.isnan(moves[34:]).all()


def test_a_true_flight_stays() -> None:
    true, _ = leap()
    found = flights(true, touching(), 30.0, GRAVITY, LEG)
    assert np.nanmax(np.abs(fine_time.on_frames(found.moves, 30.0))) < 1e-4


def test_what_does_not_fall_is_no_flight() -> None:
    """A body that is carried through the air, one that falls as on the moon, and one of which too little is seen."""
    true, stands = leap()
    carried = np.where(stands[:, None], true, [0.0, 0.0, 0.9] + true * [1.0, 1.0, 0.0])
    assert flights(carried, touching(), 30.0, GRAVITY, LEG)[1:] == (0, 1)
    assert flights(true, touching(), 30.0, GRAVITY / 6.0, LEG)[1:] == (0, 1)
    assert flights(true[:26], touching(26), 30.0, GRAVITY, LEG)[1:] == (0, 0)


def test_hips_move_as_they_are_told_and_feet_stand_meanwhile() -> None:
    """The hips are 2 cm lower for ten frames of a walk; feet on the ground stay, others go along."""
    legs, true = walking.walk()
    count = fine_time.steps(30.0)
    contacts, hips = fine_time.finer_mask(true, count), np.full(((len(true) - 1) * count + 1, 3), np.nan)
    hips[40 * count : 50 * count] = [0.0, 0.0, -0.02]
    answer = plant_feet(legs, [contacts[:, 0], contacts[:, 1]], 30.0, hips=hips)
    assert answer.hips[40:50] == pytest.approx(np.tile([0.0, 0.0, -0.02], (10, 1)), abs=1e-4)
    for k, (leg, turns) in enumerate(zip(legs, answer.turns, strict=True)):
        after = walking.moved(leg, answer.hips, turns).points
        assert np.abs(after - leg.points)[true[:, k]].max() < 1e-4
