# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of some frames of a clip, and the linear system of a step.

    minimise  1/2 |e|^2 + smoothness + bounds

over steps of all unknowns in all frames. `e` are the error rows of the goals as a frame's solve has them, with its
weights, priorities, poles and soft couplings, shifted by what was missed before (method of multipliers: Hestenes 1969,
Powell 1969), so that goals which can be met are met exactly although they are springs.
"""

from dataclasses import dataclass

import numpy as np

from ..model.goals import Targets
from ..space.joint_space import JointSpace, State
from ..space.tasks import Tasks
from . import banded
from .bounds import Bounds
from .smoothness import Smoothness

LEAST_CURVATURE = 1e-5  # [1 / rad^2] added to the diagonal that damps a step


@dataclass
class Shifts:
    """Multipliers: `rows` (F, m) of the goals' errors, `bounds` (F, k) of the unknowns' limits."""

    rows: np.ndarray
    bounds: np.ndarray


class System:
    """The linear system of a step: gradient (F, k) and the band's blocks (F, k, k), of the unknowns with room."""

    def __init__(self, gradient: np.ndarray, blocks: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self._gradient, self._blocks = gradient, blocks

    def step(self, damping: float) -> np.ndarray:
        """The step (F, k); `numpy.linalg.LinAlgError` if the damping is too small for rounding."""
        diagonal, first, second = self._blocks
        damped, own = diagonal.copy(), np.arange(self._gradient.shape[1])
        damped[:, own, own] += damping * (LEAST_CURVATURE + diagonal[:, own, own])
        return banded.solve(damped, first, second, -self._gradient)


class Problem:
    """Some frames of a clip, for one stage.

    Attributes
    ----------
    base : (F) the motion that the joints stay near. held : numbers of frames at the beginning and the end that do not
        move.
    """

    def __init__(
        self, tasks: Tasks, space: JointSpace, smoothness: Smoothness, bounds: Bounds, base: State, targets: Targets,
        links: np.ndarray | None, held: tuple[int, int] = (0, 0),
    ) -> None:  # fmt: skip
        self.tasks, self.space, self.smoothness, self.bounds = tasks, space, smoothness, bounds
        self.base, self._targets, self._links, self.held = base, targets, links, held
        frames = len(targets.positions)
        self._wanted = np.zeros((frames, tasks.all)) if targets.wanted is None else targets.wanted
        self._moving = slice(held[0], frames - held[1])
        unknowns = space.unknowns
        expand = np.eye(space.n) if unknowns is None else unknowns.matrix
        self._expand = None if unknowns is None and bounds.open.all() else expand[:, bounds.open]  # (n, open)
        self._reduce = None if unknowns is None else expand
        joint = np.searchsorted(space.moved, space.joint)
        column = np.concatenate([np.arange(block.stop - block.start) for block in space.blocks])
        self._slot = 3 * joint + column
        self._rows, self._columns = np.nonzero(joint[:, None] == joint)
        self._entries = joint[self._rows], column[self._rows], column[self._columns]

    def no_shifts(self) -> Shifts:
        """Multipliers before the first step."""
        frames = len(self._wanted)
        return Shifts(np.zeros((frames, self.tasks.all)), np.zeros((frames, len(self.bounds.keep))))

    def cost(self, state: State, shifts: Shifts) -> float:
        """The cost of all frames."""
        error = self.tasks.errors(self.tasks.kinematics(state, self._links), self._shifted(shifts))
        bounds = self.bounds.cost(self.bounds.excess(state.x, shifts.bounds))
        return 0.5 * float((error * error).sum()) + bounds + self.smoothness.cost(state, self.base)

    def system(self, state: State, shifts: Shifts) -> System:
        """The system of a step from a state."""
        tasks, kinematics, targets = self.tasks, self.tasks.kinematics(state, self._links), self._shifted(shifts)
        error, jacobian = tasks.errors(kinematics, targets), tasks.jacobian(state, kinematics, targets)
        if tasks.one_sided is not None:
            jacobian[~((error > 0.0) | ~tasks.one_sided)] = 0.0
        flipped = np.swapaxes(jacobian, -1, -2)
        terms = self.smoothness.terms(state, self.base)
        gradient = terms.gradient.reshape(len(error), -1)[:, self._slot] - (flipped @ error[..., None])[..., 0]
        blocks = [flipped @ jacobian, *(np.zeros((len(part), *flipped.shape[1:2] * 2)) for part in terms[2:])]
        for block, part in zip(blocks, terms[1:], strict=True):
            joint, own, other = self._entries
            block[:, self._rows, self._columns] += part[:, joint, own, other]
        if self._reduce is not None:
            gradient = gradient @ self._reduce
            blocks = [self._reduce.T @ block @ self._reduce for block in blocks]
        self.bounds.add(self.bounds.excess(state.x, shifts.bounds), gradient, blocks[0])
        if not self.bounds.open.all():
            gradient = gradient[:, self.bounds.open]
            blocks = [block[:, self.bounds.open][:, :, self.bounds.open] for block in blocks]
        begin, end = self._moving.start, self._moving.stop
        return System(gradient[begin:end], (
            blocks[0][begin:end], blocks[1][begin : max(end - 1, begin)], blocks[2][begin : max(end - 2, begin)],
        ))  # fmt: skip

    def moved(self, state: State, step: np.ndarray) -> State:
        """The state after a step of the unknowns with room."""
        d = np.zeros((len(self._wanted), self.space.n))
        d[self._moving] = step if self._expand is None else step @ self._expand.T
        return self.space.step(state, d)

    def longest(self, step: np.ndarray) -> float:
        """The longest step of an unknown [rad], for slides [skeleton lengths]."""
        return float(np.abs(step / self._units()).max(initial=0.0))

    def learn(self, state: State, shifts: Shifts) -> tuple[Shifts, float]:
        """The next multipliers, and the largest error row of goals and limits in the frames that move."""
        tasks = self.tasks
        signed = tasks.signed_errors(tasks.kinematics(state, self._links), self._targets._replace(wanted=self._wanted))
        rows = shifts.rows + signed
        rows[:, tasks.m :] = 0.0
        missed = signed
        if tasks.one_sided is not None:
            rows = np.where(tasks.one_sided, np.maximum(rows, 0.0), rows)
            missed = np.where(tasks.one_sided, np.maximum(signed, 0.0), signed)
        outside = np.abs(self.bounds.excess(state.x, np.zeros_like(shifts.bounds)))[self._moving]
        worst = max(
            np.abs(missed[self._moving, : tasks.m]).max(initial=0.0), (outside / self.bounds.units).max(initial=0.0)
        )
        return Shifts(rows, self.bounds.excess(state.x, shifts.bounds)), float(worst)

    def _units(self) -> np.ndarray:
        return self.bounds.units[self.bounds.open]

    def _shifted(self, shifts: Shifts) -> Targets:
        return self._targets._replace(wanted=self._wanted - shifts.rows)
