# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through against the analytic answer of a damped spring, and what must hold for any motion."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.algebra import quaternion
from solvers.motion import Chain, Spring, follow, follow_through


@pytest.mark.parametrize("damping", [0.1, 0.4, 1.0])
def test_a_spring_that_is_let_go_swings_as_the_equation_says(damping: float) -> None:
    """After a step of the motion, `x'' + 2 z w x' + w^2 x = 0`: the trapezoidal rule tends to it with smaller steps."""
    spring, rate, seconds = Spring(1.5, damping, drag=1.0), 2000.0, 2.0
    times = np.arange(int(rate * seconds)) / rate
    motion = np.ones((len(times), 1))
    motion[:2] = 0.0
    w = 2.0 * np.pi * spring.frequency
    if damping < 1.0:
        own = w * np.sqrt(1.0 - damping**2)
        expected = 1.0 - np.exp(-damping * w * times) * (np.cos(own * times) + damping * w / own * np.sin(own * times))
    else:
        expected = 1.0 - np.exp(-w * times) * (1.0 + w * times)
    assert np.abs(follow(motion, spring, rate, loop=False)[:, 0] - expected).max() < 0.02


def test_a_steady_motion_is_trailed_by_the_drag_alone() -> None:
    """`a - x = 2 drag z v / w`."""
    way = 0.1 * np.arange(400.0)[:, None] * [1.0, -2.0, 0.5]
    for drag, loop in ((0.0, False), (0.5, False), (0.5, True)):
        spring = Spring(2.0, 0.5, drag)
        behind = (way - follow(way, spring, 24.0, loop))[-1]
        assert behind == pytest.approx(2.0 * drag * 0.5 * np.array([0.1, -0.2, 0.05]) * 24.0 / (4.0 * np.pi), abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.floats(0.3, 20.0), st.floats(0.05, 1.5), st.floats(0.0, 1.0))
def test_a_loop_closes_and_goes_on_without_a_seam(
    seed: int, period: int, frequency: float, damping: float, drag: float
) -> None:
    """The answer solves the recurrence at its seam as everywhere: two rounds are one round, twice."""
    draw = np.random.default_rng(seed)
    once = draw.normal(size=(period, 2))
    spring = Spring(frequency, damping, drag)
    one = follow(np.concatenate([once, once[:1]]), spring, 24.0, loop=True)
    two = follow(np.concatenate([once, once, once[:1]]), spring, 24.0, loop=True)
    size = 1.0 + np.abs(two).max()
    assert one[0] == pytest.approx(one[-1], abs=1e-9 * size)
    assert two[: period + 1] == pytest.approx(one, abs=1e-9 * size)
    if damping > 0.2 and frequency > 1.0:  # played again and again, the open one tends to it
        rounds = 1500 // period + 1
        many = follow(np.concatenate([once] * rounds), spring, 24.0, loop=False)
        assert many[-period:] == pytest.approx(one[:-1], abs=1e-6 * size)


def _tail(frames: int, seed: int) -> Chain:
    """Three bones of length 1, 0.8 and 0.6 whose root goes about and turns at random."""
    draw = np.random.default_rng(seed)
    ways = np.cumsum(draw.normal(scale=0.1, size=(frames, 3)), 0)
    turns = quaternion.exp(np.cumsum(draw.normal(scale=0.1, size=(frames, 3)), 0))
    lengths, head = (1.0, 0.8, 0.6), ways
    heads, tails = [], []
    for length in lengths:
        heads.append(head)
        head = head + quaternion.rotate(turns, np.array([0.0, length, 0.0]))
        tails.append(head)
    return Chain(np.array([-1, 0, 1]), np.repeat(turns[:, None], 3, 1), np.stack(heads, 1), np.stack(tails, 1),
                 np.ones(3, dtype=bool))  # fmt: skip


def test_what_stands_still_stays_and_what_moves_lags_more_toward_the_tip() -> None:
    still = _tail(1, 0)
    still = Chain(still.parents, *(np.repeat(part, 30, 0) for part in (still.turns, still.heads, still.tails)),
                  still.carried)  # fmt: skip
    extra = follow_through(still, Spring(), 24.0, loop=False)
    assert extra == pytest.approx(np.broadcast_to(quaternion.IDENTITY, extra.shape), abs=1e-12)

    angle = np.concatenate([np.zeros(10), np.linspace(0.0, 1.0, 8), np.ones(80)])  # turns by 1 rad, and stands
    turns = quaternion.exp(angle[:, None] * [0.0, 0.0, 1.0])
    tail = _tail(1, 0)
    along = [quaternion.rotate(turns, np.array([0.0, length, 0.0])) for length in (1.0, 0.8, 0.6)]
    tails = np.cumsum(np.stack(along, 1), 1)
    heads = np.concatenate([np.zeros_like(tails[:, :1]), tails[:, :-1]], 1)
    extra = follow_through(Chain(tail.parents, np.repeat(turns[:, None], 3, 1), heads, tails, tail.carried),
                           Spring(3.0, 0.3, 0.25), 24.0, loop=False)  # fmt: skip
    lag = quaternion.log(extra)[..., 2]
    behind = np.cumsum(lag, 1)[12]  # of the whole bone, two frames after the root began
    assert 0.0 > behind[0] > behind[1] > behind[2]
    assert lag[20:45, 0].max() > 0.02  # it swings over
    assert np.abs(lag[-1]).max() < 0.01  # and comes to rest


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_bone_hangs_where_its_parent_has_gone(seed: int, carried: bool) -> None:
    """It follows as it would alone, at the place and, if it inherits that, with the turn that its parent has now."""
    chain = _tail(40, seed)
    chain = replace(chain, carried=np.array([True, carried, True]))
    extra = follow_through(chain, Spring(2.0), 24.0, loop=False)
    turns = quaternion.product(chain.turns[:, 0], extra[:, 0])  # of the first bone, with its follow-through
    way = quaternion.rotate(quaternion.conjugate(chain.turns[:, 0]), chain.heads[:, 1] - chain.heads[:, 0])
    head = chain.heads[:, 0] + quaternion.rotate(turns, way)
    turn = quaternion.product(quaternion.product(turns, quaternion.conjugate(chain.turns[:, 0])), chain.turns[:, 1])
    turn = turn if carried else chain.turns[:, 1]
    along = quaternion.rotate(quaternion.conjugate(chain.turns[:, 1]), chain.tails[:, 1] - chain.heads[:, 1])
    tail = head + quaternion.rotate(turn, along)
    alone = Chain(np.array([-1]), turn[:, None], head[:, None], tail[:, None], np.ones(1, dtype=bool))
    expected = follow_through(alone, Spring(2.0), 24.0, loop=False)
    assert quaternion.angle(extra[:, 1], expected[:, 0]) == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_bones_are_led_no_further_than_a_third_of_a_turn_and_amount_scales(seed: int, amount: float) -> None:
    chain = _tail(40, seed)
    parts = (part[:, :1] for part in (chain.turns, chain.heads, chain.tails))
    first = Chain(chain.parents[:1], *parts, chain.carried[:1])
    whole = quaternion.log(follow_through(first, Spring(0.5), 24.0, loop=False))
    part = quaternion.log(follow_through(first, Spring(0.5), 24.0, loop=False, amount=amount))
    assert np.linalg.norm(whole, axis=-1).max() <= np.radians(120.0) + 1e-9
    assert part == pytest.approx(amount * whole, abs=1e-9)
