# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of bones, and what moves them as pendulums (`pendulums.py`) in a step, as matrices of N chains of n bones."""

from dataclasses import dataclass

import numpy as np

from .triples import LEAST

_SHORT = 1e-4  # of the longest bone of a chain: none is taken to be shorter


@dataclass(frozen=True)
class Spring:
    """The spring on which a bone follows, and what else pulls it.

    frequency : swings a second. damping : 0 swings for ever, 1 does not swing over. drag : 0 to 1, the share of the
    damping that brakes against the air instead of against the motion: with it, what moves steadily is trailed too.
    gravity : 0 to 1, how far bones hang `down` (3,), of length 1, instead of keeping their pose. wind : (3,) where it
    blows; of length 1, it holds a bone that hangs wholly at 45 degrees. bound : the most that a bone turns away from
    the motion, in radians.
    """

    frequency: float = 3.0
    damping: float = 0.5
    drag: float = 0.25
    gravity: float = 0.0
    down: tuple[float, float, float] = (0.0, 0.0, -1.0)
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bound: float = float(np.radians(120.0))


@dataclass(frozen=True)
class Chain:
    """The world motion of B bones over F frames, each after the one that it hangs on.

    parents : (B,) the bone among these that each hangs on, -1 for none. turns : (F, B, 4). heads, tails : (F, B, 3).
    carried : (B,) bool, whether the rotation of what a bone hangs on turns it too.
    """

    parents: np.ndarray
    turns: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    carried: np.ndarray

    def depths(self) -> np.ndarray:
        """How many of these bones (B,) each hangs on."""
        found = np.zeros(len(self.parents), dtype=int)
        for bone, parent in enumerate(self.parents.tolist()):
            found[bone] = found[parent] + 1 if parent >= 0 else 0
        return found

    def roots(self) -> np.ndarray:
        """The bone (B,) at which the chain of each begins."""
        found = np.arange(len(self.parents))
        for bone, parent in enumerate(self.parents.tolist()):
            found[bone] = found[parent] if parent >= 0 else bone
        return found

    def groups(self) -> list[np.ndarray]:
        """The numbers (N, n) of the bones of all chains that have n bones, for each n."""
        roots = self.roots()
        order = np.argsort(roots, kind="stable")
        sizes = np.bincount(roots)[roots[order]]
        return [order[sizes == size].reshape(-1, size) for size in np.unique(sizes).tolist()]

    def part(self, bones: np.ndarray) -> "Chain":
        """Whole chains alone, by the numbers of their bones."""
        numbers = np.full(len(self.parents) + 1, -1)
        numbers[bones] = np.arange(len(bones))
        return Chain(numbers[self.parents[bones]], self.turns[:, bones], self.heads[:, bones], self.tails[:, bones],
                     self.carried[bones])  # fmt: skip


class Strands:
    """How N chains of n bones hang together, and how they swing by themselves, as on the first frame, straightened.

    up : (N, n, n), 1 for each bone and the one that it hangs on. apart : (N, n, n) from tips, how far each is from
    where what it hangs on would carry it; roots from the origin. follows : (N, n, 1) the share of the way of what a
    bone hangs on that is along it. carried : (N, n, 1). stiff, weight : (N, n, 1), of springs and of gravity, with
    which the slowest swing of a chain takes 2 pi seconds.
    """

    def __init__(self, chain: Chain, shape: tuple[int, int]) -> None:
        count, size = shape
        first, one = size * np.arange(count)[:, None], np.eye(size)
        parents, ways = chain.parents.reshape(shape), (chain.tails[0] - chain.heads[0]).reshape(count, size, 3)
        self.carried = chain.carried.reshape(count, size, 1).astype(float)
        self.up = ((parents - first)[..., None] == np.arange(size)).astype(float)
        length = np.sqrt((ways * ways).sum(-1, keepdims=True))
        length = np.maximum(length, np.maximum(_SHORT * length.max(1, keepdims=True), LEAST))
        above = self.up @ length
        along = (ways * (self.up @ ways)).sum(-1, keepdims=True) / np.where(above > 0.0, above * above, 1.0)
        self.follows = self.carried * along
        from_head = one - self.up
        self.apart = from_head - self.follows * (self.up @ from_head)
        bearing = _inverse(from_head)  # by bones, what they hang on, and themselves
        below, ends = bearing.swapaxes(1, 2), bearing @ length
        masses = length * (below @ bearing) * length.swapaxes(1, 2)  # of angles
        turns = one - self.carried * self.up  # of joints, by angles
        reach = below * (ends.swapaxes(1, 2) - ends + length)  # of tips from the heads of bones above, if straight
        joint = (reach * reach).sum(-1, keepdims=True)  # the inertia of all that hangs on it
        springs = turns.swapaxes(1, 2) @ (joint * turns)
        hanging = one * (length * below.sum(-1, keepdims=True))
        self.stiff = joint / (length * length) / _slowest(masses, springs)
        self.weight = np.broadcast_to(1.0 / _slowest(masses, hanging), length.shape)


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """The inverses of matrices (N, n, n)."""
    return np.linalg.inv(matrices)


def _slowest(masses: np.ndarray, stiff: np.ndarray) -> np.ndarray:
    """The least eigenvalues (N, 1, 1) of positive definite pairs (N, n, n)."""
    factor = _inverse(np.linalg.cholesky(stiff))
    return 1.0 / np.linalg.eigvalsh(factor @ masses @ factor.swapaxes(1, 2))[:, -1, None, None]


class Forces:
    """The trapezoidal rule for a spring, over `dt` seconds.

    stiff : (N, n, 1). moves : (N, n, n) of tips by tensions, free from each other. parts : (N, n, n) of tips from
    heads by them. steady : (S, N, n, 3) what is added to the speeds in each of S steps, led by `led` (S, N, n, 3), the
    ways in them of where the tips aim.
    """

    def __init__(self, strands: Strands, spring: Spring, dt: float, led: np.ndarray) -> None:
        w, one = 2.0 * np.pi * spring.frequency, np.eye(strands.up.shape[-1])
        self.dt, self.stiff = dt, w * w * (1.0 - spring.gravity) * strands.stiff
        pull = w * w * strands.weight * (spring.gravity * np.array(spring.down) + np.array(spring.wind))
        joint = 2.0 * spring.damping * w * (1.0 - spring.drag) * strands.stiff
        brake = ((0.5 * dt * self.stiff + joint) * strands.apart).swapaxes(1, 2)
        half = 0.5 * dt * (brake @ strands.apart + 2.0 * spring.damping * w * spring.drag * one)
        left, hung = _inverse(one + half), strands.up.swapaxes(1, 2)
        bend = dt * left @ (one - hung)
        self._step = np.concatenate([left @ (one - half), bend, bend @ hung], -1)
        self.steady = left @ (brake @ led + dt * pull)
        self.moves = left @ (hung - one)
        self.parts = (one - strands.up) @ self.moves

    def speeds(self, speeds: np.ndarray, pulls: np.ndarray, couples: np.ndarray, step: int) -> np.ndarray:
        """The speeds (N, n, 3) of tips, free from each other, after a step.

        pulls : (N, n, 3) of the springs on the tips; what a bone hangs on is pulled back by as much. couples :
        (N, n, 3) on both ends of what it hangs on, which hold it against that.
        """
        return self._step @ np.concatenate([speeds, pulls, couples], 1) + self.steady[step]
