# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of some frames of a clip, and the linear system of a step.

    minimise  1/2 |S (e - w)|^2 + terms + bounds

over steps of all unknowns in all frames. `e` are the error rows of the goals as a frame's solve has them, with its
weights, priorities, poles and soft couplings: springs so stiff beside the smoothness that what they miss is found
exactly, frame by frame, afterwards. `w` is what the frame's own answer misses: 0 where it meets its goals.

`S` is 1 but for rows that the frame misses anyway. Those have slack: there a miss hardly changes with the pose, so that
the frames' own answers, each of which misses least, are far from each other. As one motion they miss a little more.
Not all of `w` counts there: a pose that misses less than the frame's own answer then costs less as well.
Which goal yields to which is settled in `w`, so that all goals have as much slack as the one of the largest weight, or
one of a small weight, such as that of hips, would be left behind in fast motion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..compiled.clip import BandMemory, CompiledStage
from ..model.goals import Targets
from ..motion import banded
from ..space.joint_space import JointSpace, State
from ..space.tasks import Tasks
from .bounds import Bounds
from .rows import rows_of
from .smoothness import Smoothness

SLACK = 3.75e4  # S^2 of rows that have slack, in weights of accelerations: what they miss more grows with these alone
DRAWN = 0.3  # of `w`: does not count in rows that have slack, and so draws them on toward their targets
MOST_DRAWN = 3e-3  # [skeleton lengths] by so much at most: a hand far out of reach would pull other goals off
DRAWS = 1e-2  # S^2 times this share, at most: or with much smoothness it would pull other goals and limits along
DAMPS = 1e-4  # [1 / rad^2] added to the diagonal at a damping of 1
LEAST_ROW = 1e-5  # [skeleton lengths^2 / rad^2] added to the diagonal of J J^T
ROUNDED = 1e-13  # of the largest number on that diagonal, added so that those of wild sizes can be inverted


class Term(Protocol):
    """A cost of the joints in all frames, such as `Smoothness`. It reaches over three frames at most, as the band does.

    `add_accelerations` of `smoothness.py` does what `add` has to for costs of second differences.
    """

    def part(self, frames: slice) -> "Term":
        """The term of some of its frames."""
        ...

    def cost(self, state: State) -> float:
        """The costs of all frames."""
        ...

    def add(self, state: State, gradient: np.ndarray, blocks: Sequence[np.ndarray]) -> None:
        """Add gradient and Hessian to `gradient` (F, n) and `blocks` (F, n, n), (F - 1, n, n), (F - 2, n, n)."""
        ...


@dataclass(frozen=True)
class Clip:
    """A stage's F frames: what a `Problem` is made from. links : (F or 1, J, 8). compiled : the stage for the kernel.

    terms : costs beside the goals, the bounds and the smoothness. slack : (F, all) bool, error rows that have slack.
    """

    tasks: Tasks
    space: JointSpace
    smoothness: Smoothness
    bounds: Bounds
    targets: Targets
    links: np.ndarray | None
    compiled: CompiledStage | None
    terms: tuple[Term, ...] = ()
    slack: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.targets.positions)

    def roughness(self, state: State) -> float:
        """What accelerations and terms cost: of two ways to meet the goals, the one that costs less is better."""
        return self.smoothness.acceleration(state) + sum(term.cost(state) for term in self.terms)

    def part(self, begin: int, end: int) -> "Clip":
        """Frames `begin` to `end`."""
        some = slice(begin, end)
        links = self.links if self.links is None or len(self.links) == 1 else self.links[some]
        smoothness, terms = self.smoothness.part(some), tuple(term.part(some) for term in self.terms)
        slack = None if self.slack is None else self.slack[some]
        targets = self.targets.take(some)
        return replace(self, smoothness=smoothness, targets=targets, links=links, terms=terms, slack=slack)


def _slack(clip: Clip) -> tuple[np.ndarray, float]:
    """`S` (all,) of rows that have slack, and the share of `w` that does not count in them."""
    square, every = min(SLACK * clip.smoothness.weight, 1.0), np.ones(clip.tasks.all)
    least = square**0.5
    every[: clip.tasks.m] = least / np.maximum(clip.tasks.relative_weights, least)
    return every, min(DRAWN, DRAWS / max(square, DRAWS))


class System:
    """The linear system of a step: gradient (F, k) and the band's blocks (F, k, k), of the unknowns with room.

    error, jacobian : (F, m), (F, m, k) rows that the gradient contains. y : (F, k) of all unknowns.
    """

    def __init__(
        self, gradient: np.ndarray, blocks: tuple[np.ndarray, np.ndarray, np.ndarray], error: np.ndarray,
        jacobian: np.ndarray, bounds: Bounds, y: np.ndarray, memory: BandMemory,
    ) -> None:  # fmt: skip
        self._gradient, self._blocks, self._error, self._jacobian = gradient, blocks, error, jacobian
        self._bounds, self._y, self._memory, self._open = bounds, y, memory, np.flatnonzero(bounds.open)
        self._units = bounds.units[self._open]
        self._scaled = jacobian * self._units

    def step(self, damping: np.ndarray, beyond: np.ndarray) -> np.ndarray:
        """The step (F, k) with a damping (F,) of each frame; `numpy.linalg.LinAlgError` if that is too small to round.

        beyond : (F, k) of the step before, whose limits count now: so the active set is found from step to step.
        """
        (diagonal, first, second), every, own = self._blocks, np.zeros_like(self._y), np.arange(len(self._open))
        every[:, self._open] = beyond
        gradient, hessian = self._bounds.model(self._y, every, self._bounds.excess(self._y + every))
        if len(self._open) < len(self._bounds.open):
            gradient, hessian = gradient[:, self._open], hessian[:, self._open][:, :, self._open]
        hessian += diagonal
        hessian[:, own, own] += DAMPS * damping[:, None] / self._units**2
        return banded.solve(hessian, first, second, -self._gradient - gradient, self._memory)

    def beyond(self, step: np.ndarray) -> np.ndarray:
        """By how much (F, k) a step exceeds the limits."""
        every = self._y.copy()
        every[:, self._open] += step
        return self._bounds.excess(every)[:, self._open]

    def predicted(self, step: np.ndarray) -> np.ndarray:
        """Error rows (F, m) after a step, as the system has them."""
        return self._error - (self._jacobian @ step[..., None])[..., 0]

    def correction(self, rows: np.ndarray) -> np.ndarray:
        """The shortest step (F, k) that lowers the errors by `rows` (F, m), frame by frame."""
        flipped = np.swapaxes(self._scaled, -1, -2)
        square: np.ndarray = self._scaled @ flipped
        own = np.arange(len(rows[0]))
        least = LEAST_ROW + ROUNDED * np.max(square[:, own, own], -1, initial=0.0, keepdims=True)
        square[:, own, own] += least
        share = np.linalg.solve(square, rows[..., None])
        return self._units * (flipped @ share)[..., 0]


class Problem:
    """The frames of a clip, of which some numbers at the beginning and the end are held. moving : the others."""

    def __init__(self, clip: Clip, held: tuple[int, int] = (0, 0)) -> None:
        self.tasks, self.bounds, self._space, self._compiled = clip.tasks, clip.bounds, clip.space, clip.compiled
        self._terms: tuple[Term, ...] = (clip.smoothness, *clip.terms)
        self._rows = rows_of(clip.tasks, clip.targets, clip.links, clip.compiled)
        wanted = clip.targets.wanted
        self._wanted = np.zeros((len(clip), clip.tasks.all)) if wanted is None else wanted
        self._stiffness = None
        if clip.slack is not None:
            stiffness, drawn = _slack(clip)
            nearer = drawn * np.where(clip.slack, self._wanted, 0.0)
            size = np.sqrt((nearer * nearer).sum(-1, keepdims=True))
            self._wanted = self._wanted - nearer * (MOST_DRAWN / np.maximum(size, MOST_DRAWN))
            self._stiffness = np.where(clip.slack, stiffness, 1.0)
        self._memory, space, bounds = BandMemory(), clip.space, clip.bounds
        self.moving = slice(held[0], len(clip) - held[1])
        unknowns = space.unknowns
        expand = np.eye(space.n) if unknowns is None else unknowns.matrix
        self._expand = None if unknowns is None and bounds.open.all() else expand[:, bounds.open]  # (n, open)
        self._reduce = None if unknowns is None else expand

    def costs(self, state: State) -> tuple[np.ndarray, float]:
        """The costs of goals and limits in each frame (F,), and that of all terms."""
        error = self.errors(state)
        bounds = self.bounds.costs(self.bounds.excess(state.x[:, self.bounds.keep]))
        return 0.5 * (error * error).sum(-1) + bounds, sum(term.cost(state) for term in self._terms)

    def system(self, state: State) -> System:
        """The system of a step from a state."""
        signed, jacobian = self._rows.linear(state)
        error, one_sided = self._counted(signed), self.tasks.one_sided
        if one_sided is not None:
            jacobian[~((error > 0.0) | ~one_sided)] = 0.0
        if self._stiffness is not None:
            jacobian *= self._stiffness[..., None]
        flipped = np.swapaxes(jacobian, -1, -2)
        gradient, (frames, n) = -(flipped @ error[..., None])[..., 0], state.x.shape
        empty = (np.zeros((max(frames - away, 0), n, n)) for away in (1, 2))
        blocks = [np.matmul(flipped, jacobian, order="C"), *empty]
        for term in self._terms:
            term.add(state, gradient, blocks)
        if self._reduce is not None:
            jacobian = jacobian @ self._reduce
            gradient = gradient @ self._reduce
            blocks = [self._reduce.T @ block @ self._reduce for block in blocks]
        y = state.x[:, self.bounds.keep]
        if not self.bounds.open.all():
            gradient, jacobian = gradient[:, self.bounds.open], jacobian[:, :, self.bounds.open]
            blocks = [block[:, self.bounds.open][:, :, self.bounds.open] for block in blocks]
        begin, end = self.moving.start, self.moving.stop
        moving = blocks[0][begin:end], blocks[1][begin : max(end - 1, begin)], blocks[2][begin : max(end - 2, begin)]
        return System(
            gradient[begin:end], moving, error[begin:end], jacobian[begin:end], self.bounds, y[begin:end], self._memory
        )  # fmt: skip

    def moved(self, state: State, system: System, step: np.ndarray) -> State:
        """The state after a step of the unknowns with room, as far as limits let it, and corrected once.

        The correction makes error rows what `system` predicts, so that a step can be long although the poses that meet
        the goals form no plane (second-order correction: Nocedal & Wright, *Numerical Optimization*, 18.3).
        """
        predicted = system.predicted(step)
        state = self._stepped(state, step - system.beyond(step))
        return self._stepped(state, system.correction(self.errors(state)[self.moving] - predicted))

    def _stepped(self, state: State, step: np.ndarray) -> State:
        d = np.zeros((len(self._wanted), self._space.n))
        d[self.moving] = step if self._expand is None else step @ self._expand.T
        return self._space.step(state, d) if self._compiled is None else self._compiled.step(state, d)

    def longest(self, step: np.ndarray) -> float:
        """The longest step of an unknown [rad], for slides [skeleton lengths]."""
        return float(np.abs(step / self.bounds.units[self.bounds.open]).max(initial=0.0))

    def missed(self, state: State) -> float:
        """The largest error row of goals and limits, as they count, in the frames that move."""
        rows = np.abs(self.errors(state)[self.moving, : self.tasks.m])
        outside = np.abs(self.bounds.excess(state.x[:, self.bounds.keep]))[self.moving] / self.bounds.units
        return float(max(rows.max(initial=0.0), outside.max(initial=0.0)))

    def errors(self, state: State) -> np.ndarray:
        """`S (e - w)` (F, all)."""
        return self._counted(self._rows.at(state))

    def _counted(self, signed: np.ndarray) -> np.ndarray:
        """`errors` of rows `e` that have the room of one-sided tasks as values below 0."""
        rows, one_sided = signed - self._wanted, self.tasks.one_sided
        rows = rows if one_sided is None else np.where(one_sided, np.maximum(rows, 0.0), rows)
        return rows if self._stiffness is None else self._stiffness * rows
