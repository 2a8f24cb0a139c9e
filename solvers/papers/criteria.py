# SPDX-License-Identifier: GPL-3.0-or-later
"""Criteria `g(q)` that choose among the poses that meet the goals; smaller is better."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..space.joint_space import JointSpace, State
from ..space.point import Request
from ..space.tasks import Tasks

DELTA = 1e-4  # [rad], slides [skeleton lengths]: of the central differences
LEAST = 1e-12  # of a squared singular value, which keeps the logarithm finite


class Criterion(Protocol):
    """A function of the states of one frame."""

    def value(self, state: State) -> float:
        """Its value at a state (1,)."""
        ...

    def gradient(self, state: State) -> np.ndarray:
        """Its gradients (B, n) at B states."""
        ...


@dataclass(frozen=True)
class NearBase:
    """`1/2 v^T W v`, `v` the difference from a base pose: the pull's.

    base : (1,) state. weights : (n,) W.
    """

    space: JointSpace
    base: State
    weights: np.ndarray

    def value(self, state: State) -> float:
        """Its value at a state (1,)."""
        v = self.space.difference(state, self.base)
        return 0.5 * float((self.weights * v * v).sum())

    def gradient(self, state: State) -> np.ndarray:
        """Its gradients (B, n) at B states."""
        base = self.base.take(np.zeros(len(state.rotations), dtype=np.intp))
        return self.space.pull_gradient(state, self.space.difference(state, base), self.weights)


@dataclass(frozen=True)
class Manipulability:
    """`-1/2 log det(J J^T)` of the goals' rows: minus the logarithm of Yoshikawa's manipulability (1985).

    It is least where the effectors can move well in all directions. Gradients are central differences.
    """

    tasks: Tasks
    space: JointSpace
    frame: Request

    def value(self, state: State) -> float:
        """Its value at a state (1,)."""
        return float(self._values(state)[0])

    def gradient(self, state: State) -> np.ndarray:
        """Its gradients (B, n) at B states."""
        count, n = len(state.rotations), self.space.n
        steps = np.tile(np.diag(DELTA * self.space.units), (count, 1))
        every = np.repeat(np.arange(count), n)
        ahead, behind = (
            self._values(self.space.step(state.take(every), sign * steps)).reshape(count, n) for sign in (1.0, -1.0)
        )
        return (ahead - behind) / (2.0 * DELTA * self.space.units)

    def _values(self, state: State) -> np.ndarray:
        many = self.frame.take(np.zeros(len(state.rotations), dtype=np.intp))
        jacobian = self.tasks.jacobian(state, self.tasks.kinematics(state, many.links), many.targets)[:, : self.tasks.m]
        squares = np.linalg.svd(jacobian, compute_uv=False) ** 2
        return -0.5 * np.log(squares + LEAST).sum(-1)
