# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through of tails, hair, ears and spare limbs: bones that lag behind a motion, swing over, and come to rest.

The bones are chains of pendulums (`pendulums.py`). The answer is a property of the motion over the range, not of the
order in which frames are visited.
"""

from collections.abc import Callable, Generator

import numpy as np

from ...algebra import quaternion
from .chains import Chain, Spring
from .keep_out import Bodies
from .pendulums import hang


def follow_through(
    chain: Chain, spring: Spring, rate: float, loop: bool, amount: float = 1.0,
    inside: Callable[[int, np.ndarray], np.ndarray] = lambda bone, turns: turns, bodies: Bodies | None = None,
) -> np.ndarray:  # fmt: skip
    """The turns (F, B, 4) of each bone beyond its own motion, about its own axes.

    rate : frames a second. loop : whether the last frame is the first one again, but for a steady drift. amount : 0 to
    1, of the answer. inside : keeps turns (F, 4) of a bone inside its limits. bodies : capsules that bones stay out of.
    """
    steps = following(chain, spring, rate, loop, amount, inside, bodies)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def following(
    chain: Chain, spring: Spring, rate: float, loop: bool, amount: float,
    inside: Callable[[int, np.ndarray], np.ndarray], bodies: Bodies | None,
) -> Generator[float, None, np.ndarray]:  # fmt: skip
    """As `follow_through`, in steps; yields the progress from 0 to 1."""
    swings = yield from hang(chain, spring, rate, loop, bodies)
    turns, extra = chain.turns.copy(), np.empty_like(chain.turns)
    for bone, parent in enumerate(chain.parents.tolist()):
        if parent >= 0 and chain.carried[bone]:
            turn = quaternion.product(turns[:, parent], quaternion.conjugate(chain.turns[:, parent]))
            turns[:, bone] = quaternion.product(turn, chain.turns[:, bone])
        own = quaternion.product(quaternion.relative(turns[:, bone], swings[:, bone]), turns[:, bone])
        extra[:, bone] = inside(bone, quaternion.exp(amount * quaternion.log(own)))
        turns[:, bone] = quaternion.product(swings[:, bone], turns[:, bone])
    return extra
