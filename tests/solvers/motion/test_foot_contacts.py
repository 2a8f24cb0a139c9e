# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts between keys are those of a walk by formulas, wherever the figure is, however large, and in a mirror."""

import numpy as np
import pytest
import walking

from solvers.algebra import quaternion
from solvers.motion import Leg, in_betweens, runs
from solvers.motion.foot_contacts import contact_odds, ground, in_reach, stances

UP = np.array([0.0, 0.0, 1.0])
KEYS = np.arange(36, 421, 48)  # frames of 120 a second: the walk does not repeat on them
WALK = walking.key_poses(KEYS / 120.0)
TIMES = np.arange(KEYS[0], KEYS[-1] + 1, 4) / 120.0


def test_a_foot_stands_when_the_walk_has_it_stand() -> None:
    """The captured people, of whom it is learnt, roll otherwise than these formulas: only most frames are the same."""
    _, contacts = walking.walk(rate=120.0)
    true = contacts[KEYS[0] : KEYS[-1] + 1 : 4, ::-1]  # left and right
    odds = contact_odds(WALK, TIMES)
    assert ((odds > 0.0).any(-1) == true.any(-1)).mean() > 0.9
    assert ((odds > 0.0) == true).mean() > 0.8


def test_it_is_the_same_anywhere_turned_and_larger() -> None:
    turn, way = quaternion.exp(1.1 * UP), np.array([5.0, -2.0, 3.0])
    moved = WALK._replace(
        hips=way + 3.0 * quaternion.rotate(turn, WALK.hips), lines=quaternion.rotate(turn, WALK.lines),
        feet=way + 3.0 * quaternion.rotate(turn, WALK.feet), leg=3.0 * WALK.leg,
    )  # fmt: skip
    assert contact_odds(moved, TIMES) == pytest.approx(contact_odds(WALK, TIMES), abs=1e-6)


def test_in_a_mirror_the_feet_change_places() -> None:
    flip = np.array([-1.0, 1.0, 1.0])
    lines = WALK.lines * flip
    lines[:, -1] *= -1.0
    mirrored = WALK._replace(hips=WALK.hips * flip, lines=lines, feet=WALK.feet[:, ::-1] * flip)
    assert contact_odds(mirrored, TIMES) == pytest.approx(contact_odds(WALK, TIMES)[:, ::-1], abs=1e-6)


def test_each_time_depends_on_the_four_keys_around_it_alone() -> None:
    feet = WALK.feet.copy()
    feet[4:] += 0.3
    before = TIMES[WALK.times[2] > TIMES]
    whole = contact_odds(WALK, before)
    assert contact_odds(WALK._replace(feet=feet), before) == pytest.approx(whole, abs=1e-9)
    assert contact_odds(WALK, before[5:6])[0] == pytest.approx(whole[5], abs=1e-9)


def test_who_stands_still_stands_all_the_time() -> None:
    still = WALK._replace(**{name: np.repeat(getattr(WALK, name)[:1], len(KEYS), 0)
                             for name in ("hips", "lines", "feet")})  # fmt: skip
    low = still.feet[0, ..., 2] < 0.01
    assert low.any()
    assert (contact_odds(still, TIMES)[:, low] > 0.0).all()


def test_the_spline_changes_as_fast_as_it_says() -> None:
    rows, missing = in_betweens.windows(np.arange(len(KEYS) - 1), len(KEYS))
    spans, step = in_betweens.spans_of(WALK.times[rows]), 1e-6
    shares = np.broadcast_to(np.linspace(0.1, 0.9, 5), (len(rows), 5))
    before, here, after = (in_betweens.hermite(WALK.hips[rows], spans, missing, shares + by)
                           for by in (-step, 0.0, step))  # fmt: skip
    changes = (after[0] - before[0]) / (2.0 * step * spans[:, 1, None, None])
    assert here[1] == pytest.approx(changes, abs=1e-6)


def test_a_stance_keeps_to_its_keys_and_needs_none() -> None:
    """A foot that runs past: a stance between two keys stands where it is in the mean, near frames alone."""
    feet = np.zeros((25, 2, 2, 3))
    feet[..., 1] = 0.05 * np.arange(25)[:, None, None]
    odds = np.full((25, 2, 2), -5.0)
    odds[4:9, 0], odds[10:15, 1] = 2.0, 2.0
    found = stances(odds, feet, np.array([0, 12, 24]), 0.9, 30.0)
    assert runs(found[:, 0, 0]) == [(4, 9)]
    assert runs(found[:, 1, 1]) == [(10, 15)]
    odds[4:9, 0] = -0.3
    assert not stances(odds, 5.0 * feet, np.array([0, 12, 24]), 0.9, 30.0)[:, 0].any()


def test_a_foot_that_is_elsewhere_at_the_next_key_steps_between_them() -> None:
    """It lifts off where it stands least surely; each stance has one key, and so one place."""
    feet = np.zeros((25, 2, 2, 3))
    feet[13:, 0, :, 1] = 0.2
    odds = np.full((25, 2, 2), 9.0)
    odds[14:19] = 3.0
    odds[16] = 2.0
    found = stances(odds, feet, np.array([0, 12, 24]), 0.9, 30.0)
    assert found[:, 1].all()
    first, second = runs(found[:, 0, 0])
    assert first[1] in range(13, 17)
    assert second[0] in range(17, 22)
    odds[:, 0] = np.linspace(9.0, 3.0, 25)[:, None]
    late = stances(odds, feet, np.array([0, 12, 24]), 0.9, 30.0)
    assert [end - begin < 22 for begin, end in runs(late[:, 0, 0])] == [True, True]  # also where that is at a key


def test_a_foot_that_comes_down_fast_stands_a_little_earlier() -> None:
    """On two frames that are too far from its place, if it may stand there, and not after it lifts off."""
    odds, feet = np.full((25, 2, 2), -5.0), np.zeros((25, 2, 2, 3))
    feet[:, 0, :, 1] = 0.3 * np.maximum(12.0 - np.arange(25), 0.0)[:, None]
    odds[9:, 0] = 0.5
    found = stances(odds, feet, np.array([0, 12, 24]), 0.9, 30.0)
    assert np.flatnonzero(found[:, 0, 0]).tolist() == list(range(10, 25))
    feet, odds = feet[::-1], odds[::-1]
    late = stances(odds, feet, np.array([0, 12, 24]), 0.9, 30.0)
    assert np.flatnonzero(late[:, 0, 0]).tolist() == list(range(13))


def test_a_stance_without_a_key_ends_where_its_leg_does_not_reach() -> None:
    """Hips go on by 6 cm a frame, 0.8 m up, with feet right below them; the leg has the length of the root of 0.8."""
    hip = np.stack([0.06 * np.arange(25), np.zeros(25), np.full(25, 0.8)], -1)
    knee, ankle = hip + np.array([0.0, 0.2, -0.4]), hip - 0.8 * UP
    leg = Leg(hip, knee, ankle, np.tile(quaternion.IDENTITY, (25, 3, 1)), np.zeros(3), np.zeros(3))
    stands = np.zeros((25, 2, 2), dtype=bool)
    stands[2:23] = True
    found = in_reach(stands, [leg, leg], np.array([0, 24]))
    assert np.flatnonzero(found[:, 1, 0]).tolist() == list(range(6, 19))  # up to 0.4 m from the middle
    assert (in_reach(stands, [leg, leg], np.array([0, 12, 24])) == stands).all()


def test_the_ground_is_as_low_as_feet_at_the_keys_around_where_one_stands() -> None:
    feet = np.zeros((5, 2, 2, 3))
    feet[..., 2] = np.array([0.3, 0.2, 0.4, 0.5, 0.1])[:, None, None]
    keys, stands = np.arange(0, 50, 10), np.zeros((41, 2, 2), dtype=bool)
    poses = WALK._replace(feet=feet)
    assert np.isneginf(ground(poses, stands, keys)).all()  # legs that dangle
    stands[2:5, 1, 0] = True
    found = ground(poses, stands, keys)
    assert found[:20] == pytest.approx(0.2)
    assert np.isneginf(found[21:]).all()
