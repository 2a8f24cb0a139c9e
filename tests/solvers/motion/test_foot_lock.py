# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that are known from formulas are found under slides, and planted feet stand without harm to the legs."""

import numpy as np
import pytest
import walking

from solvers.algebra import quaternion
from solvers.motion import Leg, bends, find_contacts, find_holds, fine_time, plant_feet
from solvers.motion.contacts import tidy

SLIDES = ("x0.9", "x1.1", "drift", "noise")
LENGTH = walking.UPPER + walking.LOWER


def found(legs: list[Leg], rate: float = 30.0, ground: float | None = None) -> np.ndarray:
    points = np.stack([leg.points for leg in legs], 1)
    return on_frames(find_contacts(points, 0.5 * (legs[0].hip + legs[1].hip), rate, LENGTH, ground), rate)


def on_frames(mask: np.ndarray, rate: float = 30.0) -> np.ndarray:
    return fine_time.on_frames(mask, rate)


def f1(one: np.ndarray, other: np.ndarray) -> float:
    return 2.0 * (one & other).sum() / (one.sum() + other.sum())


def planted(legs: list[Leg], contacts: np.ndarray, rate: float = 30.0) -> list[Leg]:
    contacts = fine_time.finer_mask(contacts, fine_time.steps(rate))
    answer = plant_feet(legs, [contacts[:, 0], contacts[:, 1]], rate)
    return [walking.moved(leg, answer.hips, turns) for leg, turns in zip(legs, answer.turns, strict=True)]


def largest_step(leg: Leg, contacts: np.ndarray) -> float:
    """How far heel or ball moves at most from one frame of a contact to the next."""
    steps = np.linalg.norm(np.diff(leg.points, axis=0), axis=-1)
    return float(steps[contacts[1:] & contacts[:-1]].max())


def accelerations(leg: Leg) -> float:
    turned = quaternion.log(quaternion.relative(leg.turns[:-1], leg.turns[1:]))
    return float(np.sqrt((np.diff(turned, axis=0) ** 2).sum(-1).mean()))


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("rolls", [False, True])
def test_contacts_are_those_of_the_formulas(rate: float, rolls: bool) -> None:
    legs, true = walking.walk(rate=rate, rolls=rolls)
    assert f1(found(legs, rate), true) > 0.93
    assert f1(found(legs, rate, ground=0.0), true) > 0.93


@pytest.mark.parametrize("kind", [*SLIDES, "x0.75"])
def test_a_slide_hides_no_contacts(kind: str) -> None:
    legs, _ = walking.walk()
    assert f1(found(walking.sliding(legs, kind)), found(legs)) >= (0.9 if kind == "noise" else 0.95)


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
def test_noise_hides_no_contacts_at_any_rate(rate: float) -> None:
    """Each frame shakes by a millimetre: at 120 frames a second that is faster than a step, from frame to frame."""
    legs, true = walking.walk(rate=rate)
    shake = np.random.default_rng(7).normal(scale=1e-3, size=(2, *legs[0].hip.shape))
    shaken = [walking.moved(leg, own) for leg, own in zip(legs, shake, strict=True)]
    assert f1(found(shaken, rate), true) > 0.9


@pytest.mark.parametrize("kind", ["x0.9", "drift"])
def test_contacts_do_not_depend_on_the_first_frame(kind: str) -> None:
    legs = walking.sliding(walking.walk()[0], kind)
    whole = found(legs)
    for first in (1, 7, 20, 41):
        cut = [leg._replace(hip=leg.hip[first:], knee=leg.knee[first:], ankle=leg.ankle[first:],
                            turns=leg.turns[first:]) for leg in legs]  # fmt: skip
        assert np.array_equal(found(cut)[3:], whole[first + 3 :])


def test_steps_have_contacts_however_high_they_lead() -> None:
    """Up a slope of one in four, to a metre over the first place: the contacts are those of level ground."""
    legs, _ = walking.walk()
    points, hips = np.stack([leg.points for leg in legs], 1), 0.5 * (legs[0].hip + legs[1].hip)
    way = 0.25 * np.array([0.0, 0.0, 1.0])
    climbing = points + points.mean(2, keepdims=True)[..., 1:2] * way, hips + hips[:, 1:2] * way
    assert f1(on_frames(find_contacts(*climbing, 30.0, LENGTH)), found(legs)) > 0.9


def test_a_foot_that_rises_slowly_does_not_stand_in_the_air() -> None:
    """Both feet stand on a known ground for a second; then one rises, more slowly than feet slide, and stays."""
    legs, true = walking.walk()
    stands = int(np.flatnonzero(true[:, 0].all(-1))[2])
    points, hips = np.stack([leg.points for leg in legs], 1)[stands], legs[0].hip[stands]
    rise = 0.3 * LENGTH * np.clip((np.arange(160) - 30) / 90.0, 0.0, 1.0)
    points, hips = np.repeat(points[None], 160, 0), np.repeat(hips[None], 160, 0)
    points[:, 1] = points[:, 0] + [0.2, 0.0, 0.0]
    points[:, 0, :, 2] += rise[:, None]
    contacts = on_frames(find_contacts(points, hips, 30.0, LENGTH, ground=0.0))
    assert contacts[:, 1].all() and contacts[:30, 0].all()
    assert not contacts[rise > 0.06 * LENGTH, 0].any()


def test_each_stance_may_slide_its_own_way() -> None:
    """A figure that turns slowly about a far place slides faster the further it has gone."""
    legs, _ = walking.walk()
    points, hips = np.stack([leg.points for leg in legs], 1), 0.5 * (legs[0].hip + legs[1].hip)
    turned = quaternion.exp(0.04 * np.arange(len(hips))[:, None] / 30.0 * np.array([0.0, 0.0, 1.0]))
    sliding = quaternion.rotate(turned[:, None, None], points), quaternion.rotate(turned, hips)
    assert f1(on_frames(find_contacts(*sliding, 30.0, LENGTH)), found(legs)) > 0.97


@pytest.mark.parametrize("kind", SLIDES)
def test_planted_feet_stand_and_legs_stay_as_they_were(kind: str) -> None:
    """Still to a hundredth of a millimetre; knees turn little, nothing far from a contact, and nothing jerks."""
    worst = 0.9 if kind == "noise" else 1.01
    original, _ = walking.walk()
    legs = walking.sliding(original, kind)
    contacts = found(legs)
    after = planted(legs, contacts)
    for k, (was, leg, mended) in enumerate(zip(original, legs, after, strict=True)):
        assert largest_step(leg, contacts[:, k]) > 1e-3
        assert largest_step(mended, contacts[:, k]) < 1e-5
        knees = np.degrees(np.abs(bends(leg) - bends(mended)))
        assert np.median(knees) < 2.0
        near = np.convolve(contacts[:, k].any(-1), np.ones(13), "same") > 0.0
        assert np.degrees(quaternion.angle(leg.turns, mended.turns))[~near].max(initial=0.0) < 3.0
        assert accelerations(mended) < worst * accelerations(leg)
        pops = [np.abs(np.diff(bends(one), 2)).max() for one in (was, leg, mended)]
        assert pops[2] < max(pops[:2]) + np.radians(3.0)


def test_feet_that_are_laid_flat_turn_no_faster() -> None:
    """Feet whose toes rise and sink by 2 degrees while they stand are still after it, and their legs are not jerked."""
    legs, true = walking.walk()
    times = np.arange(len(true))[:, None] / 30.0
    pitch = np.radians(2.0) * np.sin(2.0 * np.pi * 1.3 * times) * np.array([1.0, 0.0, 0.0])
    for k, leg in enumerate(legs):
        turns = leg.turns.copy()
        turns[:, 2] = quaternion.product(quaternion.exp(pitch), turns[:, 2])
        legs[k] = leg._replace(turns=turns)
    for k, (leg, after) in enumerate(zip(legs, planted(legs, true), strict=True)):
        assert largest_step(after, true[:, k]) < 1e-5
        assert accelerations(after) < 1.01 * accelerations(leg)


def test_a_walk_that_does_not_slide_stays() -> None:
    legs, true = walking.walk()
    for leg, mended in zip(legs, planted(legs, true), strict=True):
        assert np.abs(leg.ankle - mended.ankle).max() < 1e-6
        assert np.abs(leg.turns - mended.turns).max() < 1e-6


def test_without_contacts_nothing_moves() -> None:
    legs = walking.sliding(walking.walk()[0], "drift")
    for leg, mended in zip(legs, planted(legs, np.zeros((len(legs[0].hip), 2, 2), dtype=bool)), strict=True):
        assert np.abs(leg.ankle - mended.ankle).max() < 1e-9


def test_hips_give_where_a_planted_leg_would_be_too_short() -> None:
    """A leg that is straight while its foot is pulled 3 cm away: no knee snaps, and the foot arrives."""
    legs, _ = walking.walk()
    frames = len(legs[0].hip)
    straight = [walking.moved(leg, np.array([0.0, 0.0, 0.0])) for leg in legs]
    contacts = np.zeros((frames, 2, 2), dtype=bool)
    contacts[40:60, 0] = True
    pulled = straight[0]
    pulled = walking.moved(pulled, np.where(np.arange(frames) < 50, 0.03, -0.03)[:, None] * np.array([0.0, 1.0, 0.0]))
    after = planted([pulled, straight[1]], contacts)
    assert largest_step(after[0], contacts[:, 0]) < 1e-5
    assert np.isfinite(after[1].ankle).all()


@pytest.mark.parametrize("rate", [30.0, 60.0])
def test_short_gaps_are_closed_and_short_contacts_dropped(rate: float) -> None:
    """Gaps of two frames at 30 a second, and contacts of fewer than three; those that the ends cut stay."""
    each = int(rate / 30.0)
    mask = np.repeat([True, False, False] + 4 * [True] + 3 * [False] + 2 * [True] + 5 * [False] + [True], each)
    wanted = np.repeat(7 * [True] + 10 * [False] + [True], each)
    assert np.array_equal(tidy(mask, rate), wanted)


def test_a_short_contact_at_either_end_stays() -> None:
    """It may be the rest of a long one."""
    for mask in ([True] + 6 * [False], 6 * [False] + 2 * [True], [False] + 6 * [True], 6 * [True] + [False]):
        assert np.array_equal(tidy(np.array(mask), 30.0), mask)


@pytest.mark.parametrize("kind", SLIDES)
def test_a_walk_that_is_played_backward_is_planted_alike(kind: str) -> None:
    """No frame is treated in another way than its mirror image in time, those at the ends neither."""
    legs = walking.sliding(walking.walk()[0], kind)
    contacts = found(legs)
    contacts[:5, 0], contacts[-5:, 1] = True, True  # feet stand at the ends too
    back = [leg._replace(hip=leg.hip[::-1], knee=leg.knee[::-1], ankle=leg.ankle[::-1], turns=leg.turns[::-1])
            for leg in legs]  # fmt: skip
    for one, other in zip(planted(legs, contacts), planted(back, contacts[::-1]), strict=True):
        assert one.ankle == pytest.approx(other.ankle[::-1], abs=1e-4)
        assert one.knee == pytest.approx(other.knee[::-1], abs=1e-4)


@pytest.mark.parametrize("kind", ["drift", "noise"])
def test_signs_of_quaternions_mean_nothing(kind: str) -> None:
    legs = walking.sliding(walking.walk()[0], kind)
    contacts = found(legs)
    draw = np.random.default_rng(5)
    flipped = [leg._replace(turns=leg.turns * draw.choice([-1.0, 1.0], (*leg.turns.shape[:2], 1))) for leg in legs]
    for one, other in zip(planted(legs, contacts), planted(flipped, contacts), strict=True):
        assert one.ankle == pytest.approx(other.ankle, abs=1e-9)
        assert quaternion.angle(one.turns, other.turns) == pytest.approx(0.0, abs=1e-6)


def test_few_frames_have_no_contacts() -> None:
    assert not find_contacts(np.zeros((2, 1, 1, 3)), np.zeros((2, 3)), 30.0, 1.0).any()


def test_hands_that_hold_are_found_where_the_body_moves_or_the_ground_is_near() -> None:
    """A foot that stands while the hip goes on is like a hand that holds; one that hangs from a body at rest is not."""
    legs, true = walking.walk()
    points, roots = np.stack([leg.points for leg in legs], 1), np.stack([leg.hip for leg in legs], 1)
    assert f1(on_frames(find_holds(points, roots, 30.0, LENGTH, -9.0)), true) > 0.8
    at_rest = np.tile(points[:1], (60, 1, 1, 1)), np.tile(roots[:1], (60, 1, 1))
    assert not find_holds(*at_rest, 30.0, LENGTH, -9.0).any()
    assert find_holds(*at_rest, 30.0, LENGTH, points[0, ..., 2].max() - 0.05).all()


def test_heights_of_a_ground_are_those_of_the_stances() -> None:
    """On steps of 2 cm each, heel and ball of a foot stand as high as the step is."""
    legs, true = walking.walk(rolls=False)
    steps = [0.02 * np.round(leg.points[..., 1].mean(-1) / walking.STRIDE)[:, None] * np.ones(2) for leg in legs]
    contacts = fine_time.finer_mask(true, fine_time.steps(30.0))
    answer = plant_feet(legs, [contacts[:, 0], contacts[:, 1]], 30.0, steps)
    for k, (leg, turns, step) in enumerate(zip(legs, answer.turns, steps, strict=True)):
        after = walking.moved(leg, answer.hips, turns).points[..., 2]
        assert after[true[:, k]] == pytest.approx(step[true[:, k]], abs=2e-3)


def test_a_ball_that_stands_as_the_heel_rises_goes_on_with_its_stance() -> None:
    """Each stance is as with a heel and a ball that stand together for a while, or hips would jump between them."""
    legs, true = walking.walk()
    fine = fine_time.finer_mask(true, fine_time.steps(30.0))
    after = fine.copy()
    after[..., 1] &= ~fine[..., 0]
    slides = walking.sliding(legs, "back")
    together, apart = (plant_feet(slides, [one[:, 0], one[:, 1]], 30.0).hips for one in (fine, after))
    steps = [np.linalg.norm(np.diff(hips, axis=0), axis=-1).max() for hips in (together, apart)]
    assert steps[1] < 1.3 * steps[0]


def test_hips_whose_moves_cost_more_stay_and_the_feet_stand_as_still() -> None:
    legs, contacts = walking.walk()
    sliding = walking.sliding(legs, "x0.9")
    fine = fine_time.finer_mask(contacts, fine_time.steps(30.0))
    usual, dear = (plant_feet(sliding, [fine[:, 0], fine[:, 1]], 30.0, hips_cost=cost) for cost in (1.0, 30.0))
    assert np.abs(dear.hips).max() < 0.5 * np.abs(usual.hips).max()
    for number, (leg, turns) in enumerate(zip(sliding, dear.turns, strict=True)):
        assert largest_step(walking.moved(leg, dear.hips, turns), contacts[:, number]) < 2e-3
