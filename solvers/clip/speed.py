# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that turn faster than their targets make them: a cost of a clip.

    1/2 w max(0, |v_f| - s_f)^2,   v_f = log(R_f^-1 R_(f+1))

`s` is the speed that a frame's goals force, and some more. So a joint that its goals leave free does not sweep around
within a few frames where the frames' own answers do, and is otherwise as they have it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..space.joint_space import State
from .problem import Clip, Problem
from .smoothness import Smoothness

WEIGHT = 0.9  # w [1 / rad^2], times the root of that of accelerations: they are those of the time's square
FREE = np.radians(3.0)  # [rad] of a step that is free for any joint
FORCED = 1.0  # times the step that goals force
TINY = 1e-9  # [skeleton lengths] of a goal's step: less is none


@dataclass(frozen=True)
class Speed:
    """The cost of F frames. weight : w. allowed : (F,) s, of the steps from a frame to the next."""

    smoothness: Smoothness
    weight: float
    allowed: np.ndarray

    @classmethod
    def of(cls, smoothness: Smoothness, steps: np.ndarray) -> "Speed":
        """The cost beside a smoothness. steps : (F,) that the goals force."""
        return cls(smoothness, WEIGHT * smoothness.weight**0.5, FREE + FORCED * steps)

    def part(self, frames: slice) -> "Speed":
        """See `Term`."""
        return replace(self, smoothness=self.smoothness.part(frames), allowed=self.allowed[frames])

    def cost(self, state: State) -> float:
        """See `Term`."""
        _, _, over = self._over(state)
        return 0.5 * self.weight * float((over * over).sum())

    def add(self, state: State, gradient: np.ndarray, blocks: Sequence[np.ndarray]) -> None:
        """See `Term`."""
        v, length, over = self._over(state)
        fast = np.flatnonzero(over.any(1))
        if not fast.size:
            return
        v, length, over = v[fast], np.maximum(length[fast], 1e-9)[..., None], over[fast][..., None]
        way = v / length
        along = way[..., :, None] * way[..., None, :]
        hessian = self.weight * (over > 0.0)[..., None] * (
            along + (over / length)[..., None] * (np.eye(3) - along)
        )
        own, rates = self.smoothness, self.smoothness.rates(state.take(np.union1d(fast, fast + 1)))
        at = np.searchsorted(np.union1d(fast, fast + 1), fast)
        left = own.inverse(v)
        parts = -left @ rates[at], np.swapaxes(left, -1, -2) @ rates[at + 1]
        force = self.weight * over * way
        for frames, part in zip((fast, fast + 1), parts, strict=True):
            flipped = np.swapaxes(part, -1, -2)
            own.put(gradient, frames, (flipped @ force[..., None])[..., 0])
            own.put_blocks(blocks[0], frames, flipped @ hessian @ part)
        own.put_blocks(blocks[1], fast, np.swapaxes(parts[1], -1, -2) @ hessian @ parts[0])

    def over(self, state: State) -> np.ndarray:
        """By how much (F,) [rad] the fastest joint's step to the next frame exceeds what is allowed."""
        return np.append(self._over(state)[2].max(-1, initial=0.0), 0.0)

    def _over(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The steps (F - 1, K, 3), their lengths, and by how much these exceed what is allowed."""
        v = self.smoothness.steps(state.take(slice(0, -1)), state.take(slice(1, None)))
        length = np.sqrt((v * v).sum(-1))
        return v, length, np.maximum(length - self.allowed[: len(v), None], 0.0)


def forced(clip: Clip, state: State) -> np.ndarray:
    """The largest step (F,) [rad] of a joint from each frame to the next that meets the goals with the least turns.

    A goal that is missed is missed alike in both frames: a jump of what the frames' own answers miss forces no step.
    0 where rounding does not tell it: weights may differ by a hundred orders of magnitude.
    """
    return next(_forced(clip, state, (1,)))[0]


def usual(clip: Clip, state: State) -> tuple[np.ndarray, np.ndarray]:
    """As `forced`, without what straight limbs make of single frames; and the most that it may be (F,) [rad].

    The step is the shorter one of that to the next frame and of that back, and the median of those beside. It may be
    more where goals are faster than beside, as in a punch: as much as joints there turn for each bit of their way.
    """
    (after, moved), (before, _) = _forced(clip, state, (1, -1))
    steps, moved = np.minimum(after[:-1], before[1:]), np.maximum(moved[:-1], TINY)
    least = _median(steps, 1)
    return np.append(least, 0.0), np.append(np.maximum(least, moved * _median(steps / moved, 2)), 0.0)


def _forced(clip: Clip, state: State, ways: tuple[int, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The steps (F,) to the next frame (1) or the one before (-1), and how far goals move (F,), as errors count."""
    now = Problem(clip)
    system, errors = now.system(state), now.errors(state)
    for way in ways:
        to = np.clip(np.arange(len(clip)) + way, 0, len(clip) - 1)
        links = clip.links if clip.links is None or len(clip.links) == 1 else clip.links[to]
        targets = clip.targets.take(to)._replace(wanted=clip.targets.wanted)
        moved = Problem(replace(clip, targets=targets, links=links)).errors(state) - errors
        try:
            step = system.correction(moved)
        except np.linalg.LinAlgError:
            step = np.zeros((len(clip), 1))
        steps = np.abs(step / clip.bounds.units[clip.bounds.open]).max(-1, initial=0.0)
        yield np.where(np.isfinite(steps), steps, 0.0), np.sqrt((moved**2).sum(-1))


def _median(values: np.ndarray, beside: int) -> np.ndarray:
    """The median (F,) of each value (F,) and as many on each side."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, beside, mode="edge"), 2 * beside + 1)
    return np.median(around, axis=-1)
