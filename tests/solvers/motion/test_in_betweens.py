# SPDX-License-Identifier: GPL-3.0-or-later
"""In-betweens go through the keys smoothly, wherever the figure is and however large, and swing legs as walks do."""

import numpy as np
import pytest
import walking
from numpy.polynomial.polynomial import polyfit

from solvers.algebra import quaternion
from solvers.motion import fine_time, in_betweens, plant_feet, raise_feet, runs
from solvers.motion.in_betweens import PARTS, KeyPoses

UP = np.array([0.0, 0.0, 1.0])
LEG = walking.UPPER + walking.LOWER


def strange(seed: int = 1, count: int = 6) -> KeyPoses:
    """Poses that nobody takes, at uneven times."""
    random = np.random.default_rng(seed)
    lines = random.normal(size=(count, 21, 3))
    lines /= np.linalg.norm(lines, axis=-1, keepdims=True)
    turns = quaternion.exp(random.normal(scale=0.6, size=(count, len(PARTS), 3)))
    times = np.cumsum(random.uniform(0.2, 0.8, count))
    return KeyPoses(times, np.arange(len(PARTS)), turns, random.normal(size=(count, 3)), lines,
                    random.normal(size=(count, 2, 2, 3)), 0.9)  # fmt: skip


NOTHING = in_betweens.load() | {name: np.zeros_like(in_betweens.load()[name]) for name in ("last", "last_add")}
WALK = walking.key_poses(np.array([0.5, 0.9, 1.2, 1.6, 2.1, 2.5]))


@pytest.mark.parametrize("poses", [WALK, strange()])
def test_keys_stay_and_velocities_go_through_them(poses: KeyPoses) -> None:
    at = in_betweens.in_betweens(poses, poses.times)
    assert quaternion.angle(at.turns, poses.turns).max() < 1e-7
    assert at.hips == pytest.approx(poses.hips, abs=1e-12)
    step = 1e-6
    inner = poses.times[1:-1]
    before, here, after = (in_betweens.in_betweens(poses, inner + by) for by in (-step, 0.0, step))
    assert (after.hips - here.hips) / step == pytest.approx((here.hips - before.hips) / step, abs=1e-3)
    turned = [quaternion.log(quaternion.product(b.turns, quaternion.conjugate(a.turns))) / step
              for a, b in ((before, here), (here, after))]  # fmt: skip
    assert turned[1] == pytest.approx(turned[0], abs=2e-3)


def test_each_pose_depends_on_the_keys_alone() -> None:
    times = np.linspace(WALK.times[0], WALK.times[-1], 41)
    whole = in_betweens.in_betweens(WALK, times)
    for row in (3, 17, 40):
        one = in_betweens.in_betweens(WALK, times[row : row + 1])
        assert one.turns[0] == pytest.approx(whole.turns[row], abs=1e-12)


def test_it_is_the_same_anywhere_turned_and_larger() -> None:
    """Moved over the ground, turned about the vertical, and three times as large; keys of other signs, too."""
    turn, way = quaternion.exp(1.1 * UP), np.array([5.0, -2.0, 0.0])
    signs = np.random.default_rng(2).choice([-1.0, 1.0], (len(WALK.times), len(PARTS), 1))
    moved = WALK._replace(
        turns=signs * quaternion.product(turn, WALK.turns), hips=way + 3.0 * quaternion.rotate(turn, WALK.hips),
        lines=quaternion.rotate(turn, WALK.lines), feet=way + 3.0 * quaternion.rotate(turn, WALK.feet), leg=3.0 * LEG,
    )  # fmt: skip
    times = np.linspace(WALK.times[0], WALK.times[-1], 23)
    one, other = in_betweens.in_betweens(WALK, times), in_betweens.in_betweens(moved, times)
    assert quaternion.angle(other.turns, quaternion.product(turn, one.turns)).max() < 1e-6
    assert other.hips == pytest.approx(way + 3.0 * quaternion.rotate(turn, one.hips), abs=1e-6)


def test_who_stands_still_stays_still() -> None:
    still = WALK._replace(**{name: np.repeat(getattr(WALK, name)[:1], len(WALK.times), 0)
                             for name in ("turns", "hips", "lines", "feet")})  # fmt: skip
    found = in_betweens.in_betweens(still, np.linspace(0.5, 2.5, 30))
    assert quaternion.angle(found.turns, still.turns[:1]).max() < 2e-3
    assert np.abs(found.hips - still.hips[0]).max() < 1e-3 * LEG


def test_without_what_is_learnt_it_is_the_spline_of_catmull_and_rom() -> None:
    """A cubic, with the velocity at each key of the parabola through three. Keys half a minute apart get it too."""
    poses = strange()
    poses = poses._replace(times=60.0 * poses.times)
    times = poses.times[2] + np.linspace(0.0, 1.0, 7) * (poses.times[3] - poses.times[2])
    fits = [polyfit(poses.times[k - 1 : k + 2], poses.hips[k - 1 : k + 2], 2) for k in (2, 3)]
    slopes = [fit[1] + 2.0 * fit[2] * poses.times[k] for fit, k in zip(fits, (2, 3), strict=True)]
    span = poses.times[3] - poses.times[2]
    s = ((times - poses.times[2]) / span)[:, None]
    cubic = ((1 + 2 * s) * (1 - s) ** 2 * poses.hips[2] + s * s * (3 - 2 * s) * poses.hips[3]
             + span * s * (1 - s) * ((1 - s) * slopes[0] - s * slopes[1]))  # fmt: skip
    assert in_betweens.in_betweens(poses, times, NOTHING).hips == pytest.approx(cubic, abs=1e-9)
    assert in_betweens.in_betweens(poses, times).hips == pytest.approx(cubic, abs=1e-9)


def test_what_has_equal_keys_does_not_swing_out_before_it_moves() -> None:
    rests, goes, beyond = [0.3, 1.0], [2.0, -1.0], [2.5, 0.0]
    values = np.array([[rests, rests, rests, goes], [rests, rests, goes, beyond]])
    spans, shares = np.full((2, 3), 0.4), np.tile(np.linspace(0.0, 1.0, 9), (2, 1))
    found, changes = in_betweens.hermite(values, spans, np.zeros((2, 2)), shares)
    assert (found[0] == values[0, 0]).all()
    assert (changes[1, 0] == 0.0).all()


def test_arms_of_who_spins_are_left_to_their_curves_and_legs_are_not() -> None:
    """From two keys before a turn by more than 120 degrees to two after it; a walk does not turn so far."""
    assert (in_betweens.trust(walking.key_poses(np.arange(9) * 0.4)) == 1.0).all()
    turns = np.tile(quaternion.IDENTITY, (9, len(PARTS), 1))
    turns[5:] = quaternion.exp(np.radians([0.0, 0.0, 130.0]))
    found = in_betweens.trust(walking.key_poses(np.arange(9) * 0.4)._replace(turns=turns))
    above = ("spine", "neck", "collar", "arm", "forearm", "hand")
    arms = [number for number, part in enumerate(PARTS) if part in above]
    assert (found[:, arms] == np.array([1, 1, 1, 0, 0, 0, 0, 1, 1.0])[:, None]).all()
    assert (np.delete(found, arms, 1) == 1.0).all()


def test_a_walk_is_nearer_to_its_formulas_than_the_spline() -> None:
    """Keyed five times in two strides: what is learnt from captured people swings these legs, which it has not seen."""
    times = np.arange(60, 301) / 120.0
    true = walking.key_poses(times)
    keys = walking.key_poses(np.arange(60, 301, 48) / 120.0)
    legs = [*range(11, 14), *range(19, 22)]
    learnt, spline = (quaternion.angle(in_betweens.in_betweens(keys, times, own).turns, true.turns)[:, legs].mean()
                      for own in (None, NOTHING))  # fmt: skip
    assert learnt < 0.75 * spline


def test_planted_feet_stand_where_they_do_on_kept_frames() -> None:
    """On those nothing moves; between two of them in a stance, which differ, heel and ball go straight."""
    legs, contacts = walking.walk()
    sliding = walking.sliding(legs, "drift")
    kept = np.arange(5, 115, 10)
    times = fine_time.finer_mask(contacts, fine_time.steps(30.0))
    answer = plant_feet(sliding, [times[:, 0], times[:, 1]], 30.0, kept=kept)
    assert not answer.hips[kept].any()
    for number, (leg, turns) in enumerate(zip(sliding, answer.turns, strict=True)):
        assert (turns[kept] == leg.turns[kept]).all()
        points = walking.moved(leg, answer.hips, turns).points
        checked = 0
        for begin, end in runs(contacts[:, number, 1]):
            own = kept[(kept >= begin) & (kept < end)]
            if len(own) > 1:
                checked += 1
                wanted = np.stack([np.interp(np.arange(own[0], own[-1] + 1), own, leg.points[own, 1, axis])
                                   for axis in range(3)], -1)  # fmt: skip
                assert np.abs(points[own[0] : own[-1] + 1, 1] - wanted).max() < 2e-3
        assert checked


@pytest.mark.parametrize("rate", [24.0, 60.0])
def test_raised_feet_stay_above_the_ground_and_the_rest_of_the_leg_follows_smoothly(rate: float) -> None:
    leg, kept, ground = walking.walk(rate=rate)[0][0], np.array([0, 20, 40]), np.full(round(4.0 * rate), 0.04)
    raised = walking.moved(leg, np.zeros_like(leg.hip), raise_feet(leg, ground, rate, kept))
    between = np.setdiff1d(np.arange(len(ground)), kept)
    assert leg.points[..., 2].min() < 0.01
    assert raised.points[between, :, 2].min() > 0.04 - 1e-9
    assert (raised.turns[kept] == leg.turns[kept]).all()
    assert (raised.turns[:, 2] == leg.turns[:, 2]).all()
    high = leg.points[..., 2].min(1) > 0.09
    assert high.any()
    assert np.abs(raised.points - leg.points)[high].max() < 0.01
    assert raise_feet(leg, np.full(len(ground), -np.inf), rate, kept) is leg.turns
