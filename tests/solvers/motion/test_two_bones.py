# SPDX-License-Identifier: GPL-3.0-or-later
"""How high a body is that goes on its arms too, by its arms as far as they carry, and legs that stand on their tips."""

import numpy as np

from solvers.algebra import quaternion
from solvers.motion.two_bones import Span, Support, higher, lifted, reach_on_tip

UP = np.array([0.0, 0.0, 1.0])
COUNT = 21
SHARES = np.linspace(0.0, 1.0, COUNT)


def span(ahead: float, high: float, bone: float) -> Span:
    """From an end to the joint over it, in all frames."""
    return Span(np.tile([ahead, 0.0, high], (COUNT, 1)), bone, bone)


LEGS = [span(0.1, 0.7, 0.4), span(-0.2, 0.65, 0.4)]
LONG, SHORT = span(0.1, 0.5, 0.6), span(0.1, 0.7, 0.3)  # arms that are bent too much, or out of reach
WANTED = span(0.05, 0.57, 0.3)
NONE, ALL = np.zeros(COUNT), np.ones(COUNT)


def test_arms_alone_lift_the_body_until_their_elbows_are_bent_as_they_should_be() -> None:
    for arm in (LONG, SHORT):
        found = lifted(LEGS, [NONE, NONE], [Support(arm, WANTED, ALL)], UP)
        assert np.allclose(found, higher([WANTED], [arm], UP), atol=1e-6)
        assert np.sign(found[0]) == (1.0 if arm is LONG else -1.0)


def test_a_leg_that_stands_reaches_its_foot() -> None:
    for stands in ([ALL, NONE], [NONE, ALL], [ALL, ALL]):
        found = lifted(LEGS, stands, [Support(LONG, WANTED, SHARES)], UP)
        free = lifted(LEGS, [NONE, NONE], [Support(LONG, WANTED, SHARES)], UP)
        assert (found[1:] > 0.0).all()
        assert (found[1:] < 0.9 * free[1:]).all()
        for leg, stand in zip(LEGS, stands, strict=True):
            if stand is ALL:
                assert np.linalg.norm(leg.higher(found, UP).line, axis=-1).max() < leg.length
    assert np.linalg.norm(LEGS[0].higher(free, UP).line, axis=-1).max() > 1.2 * LEGS[0].length


def test_the_body_stays_where_nothing_is_on_the_ground_and_goes_over_without_a_jump() -> None:
    assert np.abs(lifted(LEGS, [ALL, ALL], [Support(LONG, WANTED, NONE)], UP)).max() < 1e-6
    for stand, share in ((ALL, SHARES), (SHARES, ALL), (SHARES, 1.0 - SHARES)):
        found = lifted(LEGS, [stand, 0.5 * stand], [Support(LONG, WANTED, share)], UP)
        assert np.abs(np.diff(found)).max() < 0.35 * np.ptp(found)
        assert np.ptp(found) > 0.05


def test_a_leg_on_its_tip_reaches_it_and_opens_knee_and_ankle_alike() -> None:
    """Legs of many proportions, bent as a dog's: the tip is at its place, and no joint of an opened leg bends over."""
    random = np.random.default_rng(5)
    count = 200
    knee, ankle, swing = random.uniform(0.3, 1.6, count), random.uniform(0.2, 1.4, count), random.uniform(-1, 1, count)
    axis = np.tile([1.0, 0.0, 0.0], (count, 1))
    turns = [quaternion.exp(angle[:, None] * axis) for angle in (swing, swing + knee, swing + knee - ankle)]
    for lengths in random.uniform(0.2, 0.7, (5, 3)):
        lines = [np.array([0.0, 0.0, -length]) for length in lengths]
        place = sum(quaternion.rotate(turn, line) for turn, line in zip(turns, lines, strict=True))
        before = np.linalg.norm(place, axis=-1)
        distance = before + random.uniform(0.0, 0.999, count) * (lengths.sum() - before)
        way = quaternion.rotate(quaternion.exp(random.uniform(-1, 1, (count, 3))), place)
        tips = (distance / before)[:, None] * way
        found = reach_on_tip(np.zeros((count, 3)), turns, lines, axis, tips)
        new = sum(quaternion.rotate(turn, line) for turn, line in zip(found, lines, strict=True))
        assert np.abs(new - tips).max() < 1e-6
        for pair, angle in ((found[:2], knee), (found[1:], -ankle)):
            left = quaternion.log(quaternion.relative(*pair))[:, 0] / angle
            assert left.min() > 0.0
            assert left.max() < 1.0 + 1e-6
