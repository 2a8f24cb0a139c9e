# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through against what is known of pendulums and springs, and what must hold for any motion."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.algebra import quaternion
from solvers.motion import Bodies, Chain, Spring, follow_through, keep_out

DOWN = np.array([0.0, 0.0, -1.0])
FREE = float(np.pi)  # no bound


def _led(heads: np.ndarray, turns: np.ndarray, count: int = 1, length: float = 1.0) -> Chain:
    """Straight bones in a row, whose first head is led (F, 3) and whose row points down, turned by `turns` (F, 4)."""
    ways = length * quaternion.rotate(turns, DOWN)[:, None]
    starts = heads[:, None] + ways * np.arange(count)[:, None]
    return Chain(np.arange(count) - 1, np.repeat(turns[:, None], count, 1), starts, starts + ways, np.ones(count, bool))


def _still(frames: int, count: int = 1, length: float = 1.0, turn: np.ndarray = quaternion.IDENTITY) -> Chain:
    return _led(np.zeros((frames, 3)), np.tile(turn, (frames, 1)), count, length)


def _ways(chain: Chain, extra: np.ndarray) -> np.ndarray:
    """The ways (F, B, 3) from heads to tips of bones with these turns beyond their own motion, by their definition."""
    turns, found = chain.turns.copy(), np.empty_like(chain.heads)
    for bone, parent in enumerate(chain.parents.tolist()):
        carried = chain.turns[:, bone]
        if parent >= 0 and chain.carried[bone]:
            own = quaternion.relative(chain.turns[:, parent], chain.turns[:, bone])
            carried = quaternion.product(turns[:, parent], own)
        turns[:, bone] = quaternion.product(carried, extra[:, bone])
        way = quaternion.rotate(quaternion.conjugate(chain.turns[:, bone]), chain.tails[:, bone] - chain.heads[:, bone])
        found[:, bone] = quaternion.rotate(turns[:, bone], way)
    return found


def _stopped(frames: int, rate: float, speed: float, stop: float) -> np.ndarray:
    """Places (F, 3) of what goes along X and stands from a time on."""
    times = np.arange(frames) / rate
    return np.minimum(times - stop, 0.0)[:, None] * [speed, 0.0, 0.0]


@pytest.mark.parametrize("speed", [0.02, 3.0, 8.0])
@pytest.mark.parametrize("frequency", [0.5, 1.5, 6.0])
def test_a_pendulum_swings_in_the_time_that_its_angle_gives(frequency: float, speed: float) -> None:
    """`T = T0 / agm(1, cos(angle / 2))` (Gauss); what carries it stands at once, and nothing brakes it."""
    rate = 100.0 * frequency
    heads = _stopped(800, rate, speed * frequency / 1.5, 0.2 / frequency)
    way = _ways(chain := _led(heads, np.tile(quaternion.IDENTITY, (800, 1))), follow_through(
        chain, Spring(frequency, 0.0, 0.0, gravity=1.0, bound=FREE), rate, loop=False))[:, 0]  # fmt: skip
    assert np.abs(way[:10] - DOWN).max() < 1e-6  # it hangs while it goes steadily
    angle = np.arctan2(way[:, 0], -way[:, 2])[100:]
    zeros = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    times = (zeros + angle[zeros] / (angle[zeros] - angle[zeros + 1])) / rate
    one, other = 1.0, np.cos(0.5 * np.abs(angle).max())
    for _ in range(20):
        one, other = 0.5 * (one + other), np.sqrt(one * other)
    assert np.diff(times).mean() == pytest.approx(1.0 / (frequency * one), rel=0.01)
    assert np.abs(angle[-200:]).max() == pytest.approx(np.abs(angle[:200]).max(), rel=0.01)  # no energy is lost


def test_two_bones_that_hang_have_the_modes_of_a_double_pendulum() -> None:
    """Of equal masses and lengths: `w^2 (2 -+ sqrt 2) l / g`, of which the slower one is what is asked for."""
    frequency, rate = 1.2, 120.0
    chain = _led(_stopped(900, rate, 0.02, 0.1), np.tile(quaternion.IDENTITY, (900, 1)), 2)
    way = _ways(chain, follow_through(chain, Spring(frequency, 0.0, 0.0, gravity=1.0), rate, loop=False))[60:, :, 0]
    times, slow = np.arange(len(way)) / rate, 2.0 * np.pi * frequency
    waves = [wave(w * times) for w in (slow, slow * (1.0 + np.sqrt(2.0))) for wave in (np.sin, np.cos)]
    _, left, *_ = np.linalg.lstsq(np.stack(waves, 1), way, rcond=None)
    assert np.sqrt(left / (way * way).sum(0)).max() < 0.03
    assert np.abs(way).max() > 1e-3


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0.5, 20.0))
def test_what_is_still_hangs_along_gravity_however_it_is_posed(seed: int, count: int, frequency: float) -> None:
    draw = np.random.default_rng(seed)
    down = draw.normal(size=3)
    down /= np.linalg.norm(down)
    turn = quaternion.exp(draw.uniform(-1.0, 1.0, 3))
    chain = replace(_still(4, count, 0.3, turn), carried=draw.random(count) < 0.5)
    if quaternion.rotate(turn, DOWN) @ down < -0.9:
        return  # upside down is a balance too
    way = _ways(chain, follow_through(chain, Spring(frequency, gravity=1.0, down=tuple(down), bound=FREE), 24.0, False))
    assert np.degrees(np.arccos(np.clip(way @ down / 0.3, -1.0, 1.0))).max() < 3.0


@settings(max_examples=5, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(-1.2, 1.2), st.floats(0.5, 5.0), st.floats(0.01, 100.0))
def test_gravity_is_the_share_by_which_a_bone_hangs(gravity: float, tilt: float, frequency: float, size: float) -> None:
    """A bone that is still points along `(1 - gravity) pose + gravity down`."""
    turn = quaternion.exp(np.array([0.0, tilt, 0.0]))
    chain = _still(30, 1, size, turn)
    way = _ways(chain, follow_through(chain, Spring(frequency, gravity=gravity), 24.0, loop=False))[-1, 0]
    expected = (1.0 - gravity) * quaternion.rotate(turn, DOWN) + gravity * DOWN
    assert way / size == pytest.approx(expected / np.linalg.norm(expected), abs=0.01)


def test_wind_and_the_air_of_a_steady_motion_hold_a_bone_at_their_angles() -> None:
    """`tan = wind / gravity`, and `tan = 2 damping drag v / (w L)` of the air's share of the damping."""
    blown = _ways(chain := _still(60), follow_through(
        chain, Spring(2.0, gravity=1.0, wind=(0.7, 0.0, 0.0)), 24.0, loop=False))[-1, 0]  # fmt: skip
    assert blown[0] / -blown[2] == pytest.approx(0.7, rel=0.01)
    rate, speed, spring = 30.0, 3.0, Spring(1.0, 0.6, drag=0.8, gravity=1.0)
    heads = np.arange(200.0)[:, None] / rate * [speed, 0.0, 0.0]
    chain = _led(heads, np.tile(quaternion.IDENTITY, (200, 1)))
    trailed = _ways(chain, follow_through(chain, spring, rate, loop=False))[-1, 0]
    assert -trailed[0] / -trailed[2] == pytest.approx(2.0 * 0.6 * 0.8 * speed / (2.0 * np.pi), rel=0.01)


@pytest.mark.parametrize("gravity", [0.0, 1.0])
@pytest.mark.parametrize("damping", [0.1, 0.4])
def test_swings_fade_as_the_damping_says(damping: float, gravity: float) -> None:
    """Small ones, by `exp(-2 pi damping / sqrt(1 - damping^2))` from one to the next."""
    frequency, rate = 1.5, 240.0
    chain = _led(_stopped(700, rate, 0.05, 0.1), np.tile(quaternion.IDENTITY, (700, 1)))
    spring = Spring(frequency, damping, 0.5, gravity)
    angle = _ways(chain, follow_through(chain, spring, rate, loop=False))[60:, 0, 0]
    peaks = angle[1:-1][(angle[1:-1] > angle[:-2]) & (angle[1:-1] > angle[2:]) & (angle[1:-1] > 1e-7)]
    assert peaks[1] / peaks[0] == pytest.approx(np.exp(-2.0 * np.pi * damping / np.sqrt(1.0 - damping**2)), rel=0.05)


def _wandering(seed: int, loops: bool = False) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A smooth way and turns of a body of size 1, at times in seconds; a loop closes after two seconds."""
    draw = np.random.default_rng(seed)
    waves = np.pi * np.arange(1, 5) if loops else np.pi * draw.uniform(0.3, 4.0, 4)
    wide, phases = draw.normal(size=(4, 6)) / waves[:, None], draw.uniform(0.0, 6.3, (4, 6))

    def at(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = (wide * np.sin(waves[:, None] * times[:, None, None] + phases)).sum(1)
        return found[:, :3], quaternion.exp(found[:, 3:])

    return at


@pytest.mark.parametrize(("seed", "gravity", "count"), [(0, 0.0, 3), (1, 0.5, 1), (2, 0.8, 4), (3, 0.8, 2)])
def test_frame_rates_and_units_swing_alike(seed: int, gravity: float, count: int) -> None:
    """The same motion at 24, 30, 60 and 120 frames a second, in metres and centimetres."""
    motion, found = _wandering(seed), []
    spring = Spring(1.5, 0.5, 0.25, gravity, bound=1.0)
    for rate, size in ((120.0, 1.0), (24.0, 1.0), (30.0, 1.0), (60.0, 1.0), (24.0, 100.0)):
        heads, turns = motion(np.arange(3.0 * rate + 1.0) / rate)
        chain = _led(size * heads, turns, count, 0.15 * size)
        ways = _ways(chain, follow_through(chain, spring, rate, loop=False)) / (0.15 * size)
        found.append(ways[:: round(rate / 6.0)])
    apart = np.degrees(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(np.array(found) - found[0], axis=-1), 0.0, 1.0)))
    assert apart.max() < 5.0
    assert found[4] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.parametrize(("seed", "frequency", "damping", "gravity", "drag"), [
    (0, 1.0, 0.3, 0.0, 0.25), (1, 3.0, 0.5, 0.8, 0.0), (2, 2.0, 1.2, 0.5, 0.8),
])  # fmt: skip
def test_loops_close_and_repeat(seed: int, frequency: float, damping: float, gravity: float, drag: float) -> None:
    spring = Spring(frequency, damping, drag, gravity)
    heads, turns = _wandering(seed, loops=True)(np.arange(49.0) / 24.0)
    heads += np.arange(49.0)[:, None] * [0.02, 0.01, 0.0]  # goes forward
    one = follow_through(_led(heads, turns, 3, 0.2), spring, 24.0, loop=True)
    assert quaternion.angle(one[0], one[-1]) == pytest.approx(0.0, abs=1e-6)
    onward = np.concatenate([heads[:-1], heads + heads[-1] - heads[0]])
    two = follow_through(_led(onward, np.concatenate([turns[:-1], turns]), 3, 0.2), spring, 24.0, loop=True)
    assert quaternion.angle(two[:49], two[48:]).max() < 0.01
    assert quaternion.angle(one, two[:49]).max() < 0.01


def test_what_stands_still_stays_and_what_moves_lags_more_toward_the_tip() -> None:
    extra = follow_through(_still(30, 3), Spring(), 24.0, loop=False)
    assert extra == pytest.approx(np.broadcast_to(quaternion.IDENTITY, extra.shape), abs=1e-9)

    angle = np.concatenate([np.zeros(10), np.linspace(0.0, 1.0, 8), np.ones(110)])  # turns by 1 rad, and stands
    turns = quaternion.exp(angle[:, None] * [0.0, 1.0, 0.0])
    chain = _led(np.zeros((len(angle), 3)), turns, 3, 0.2)
    extra = follow_through(chain, Spring(3.0, 0.3, 0.25), 24.0, loop=False)
    lag = quaternion.log(extra)[..., 1]
    behind = np.cumsum(lag, 1)[12]  # of the whole bone, two frames after the root began
    assert 0.0 > behind[0] > behind[1] > behind[2]
    assert lag[20:45].sum(-1).max() > 0.02  # it swings over
    assert np.abs(lag[-1]).max() < 0.01  # and comes to rest


def test_a_bone_that_inherits_no_rotation_keeps_its_own_direction() -> None:
    """A strong wind turns bones up to the bound: from what they hang on, or from their own direction in the world."""
    chain, bound = _still(40, 2), 0.15
    for carried, expected in ((True, 2.0 * bound), (False, bound)):
        own = Chain(chain.parents, chain.turns, chain.heads, chain.tails, np.array([True, carried]))
        spring = Spring(2.0, wind=(5.0, 0.0, 0.0), bound=bound)
        ways = _ways(own, follow_through(own, spring, 24.0, loop=False))
        lean = np.arctan2(ways[-1, :, 0], -ways[-1, :, 2])
        assert lean == pytest.approx([bound, expected], abs=1e-6)


@pytest.mark.parametrize("tilt", [0.0, 0.8, 1.6])
def test_what_the_bound_pushes_does_not_turn_what_hangs_on_it(tilt: float) -> None:
    """Wind along the last of three bones, which inherits no rotation, holds it; the others turn as far as they may."""
    chain, bound = _still(20, 3), 0.15
    turn = quaternion.exp(np.array([0.0, tilt, 0.0]))
    chain.turns[:, 2] = turn
    chain.tails[:, 2] = chain.heads[:, 2] + quaternion.rotate(turn, DOWN)
    spring = Spring(2.0, wind=tuple(quaternion.rotate(turn, DOWN)), bound=bound)
    own = replace(chain, carried=np.array([True, True, False]))
    turned = np.linalg.norm(quaternion.log(follow_through(own, spring, 24.0, loop=False)), axis=-1)
    assert turned[-1, :2] == pytest.approx(bound if tilt else 0.0, abs=1e-6)
    assert turned[-1, 2] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(
    ("seed", "amount", "bound", "gravity"), [(0, 0.3, 0.1, 0.0), (1, 0.7, 0.6, 0.8), (2, 0.0, 1.4, 1.0)]
)
def test_bones_turn_within_the_bound_and_amount_scales(seed: int, amount: float, bound: float, gravity: float) -> None:
    heads, turns = _wandering(seed)(np.arange(60.0) / 24.0)
    chain, spring = _led(heads, turns, 3, 0.2), Spring(1.0, 0.2, 0.5, gravity, bound=bound)
    whole = quaternion.log(follow_through(chain, spring, 24.0, loop=False))
    part = quaternion.log(follow_through(chain, spring, 24.0, loop=False, amount=amount))
    assert np.linalg.norm(whole, axis=-1).max() <= bound + 1e-6
    assert part == pytest.approx(amount * whole, abs=1e-9)


def test_a_body_that_comes_from_afar_pushes_bones_aside_and_lets_them_hang_again() -> None:
    """A bar across the middle of a row, which goes by in half a second; before it is there, nothing has moved."""
    frames, radius = 60, 0.1
    chain = _still(frames, 3, 0.3)
    at = np.concatenate([np.full(6, -2.0), np.linspace(-2.0, 2.0, 24), np.full(30, 2.0)])
    segments = at[:, None, None, None] * [1.0, 0.0, 0.0] + np.array([[0.0, -1.0, -0.6], [0.0, 1.0, -0.6]])
    bodies = Bodies(segments, np.full((3, len(keep_out.ALONG), 1), radius))
    spring = Spring(1.5, 0.7, 0.5, gravity=1.0, bound=FREE)
    ways = _ways(chain, follow_through(chain, spring, 30.0, loop=False, bodies=bodies))
    starts = np.cumsum(ways, 1) - ways
    for start, way, segment in zip(starts, ways, segments, strict=True):
        assert np.linalg.norm(keep_out.offsets(keep_out.places(start, way), segment), axis=-1).min() > radius - 1e-3
    assert ways[:10, :, 2] == pytest.approx(-0.3, abs=1e-9)
    assert ways[..., 0].max() > 0.2
    assert np.abs(ways[-1, :, 0]).max() < 0.05


@pytest.mark.parametrize(("seed", "radius", "gravity"), [(0, 0.05, 0.8), (1, 0.15, 0.0), (2, 0.3, 0.5), (3, 0.1, 1.0)])
def test_bones_stay_out_of_bodies(seed: int, radius: float, gravity: float) -> None:
    """Of two capsules that go with the body, or a little beside it; the row begins outside, beside them."""
    draw = np.random.default_rng(seed)
    heads, turns = _wandering(seed)(np.arange(49.0) / 24.0)
    chain = _led(heads, turns, 4, 0.15)
    at = draw.normal(size=(2, 1, 3))
    at *= (radius + draw.uniform(0.01, 0.2)) / np.linalg.norm(at, axis=-1, keepdims=True)
    along = draw.normal(size=(2, 1, 3))
    along -= (along * at).sum(-1, keepdims=True) * at / (at * at).sum(-1, keepdims=True)  # no end is nearer
    ends = (at + along * np.array([-0.3, 0.3])[:, None]).reshape(-1, 3)
    segments = heads[:, None] + quaternion.rotate(turns[:, None], ends)
    segments = segments.reshape(-1, 2, 2, 3)
    room = np.full((4, len(keep_out.ALONG), 2), radius)
    extra = follow_through(chain, Spring(1.5, gravity=gravity, bound=FREE), 24.0, False, bodies=Bodies(segments, room))
    ways = _ways(chain, extra)
    starts = chain.heads[:, :1] + np.cumsum(ways, 1) - ways
    for frame, (start, way) in enumerate(zip(starts, ways, strict=True)):
        near = np.linalg.norm(keep_out.offsets(keep_out.places(start, way), segments[frame]), axis=-1)
        assert near.min() > radius - 1e-3
