# SPDX-License-Identifier: GPL-3.0-or-later
"""The error rows of a stage's goals in many frames, and their Jacobian: with the compiled kernel where there is one."""

from typing import Protocol

import numpy as np

from ..compiled.clip import CompiledRows, CompiledStage
from ..model.goals import Targets
from ..space.joint_space import State
from ..space.tasks import Tasks


class Rows(Protocol):
    """The rows of some frames, at any states of theirs."""

    def at(self, state: State) -> np.ndarray:
        """Error rows (F, all), with the room of one-sided tasks as values below 0."""
        ...

    def linear(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """`at`, and the Jacobian (F, all, n)."""
        ...


class NumpyRows:
    """`Rows` with NumPy."""

    def __init__(self, tasks: Tasks, targets: Targets, links: np.ndarray | None) -> None:
        self._tasks, self._targets, self._links = tasks, targets._replace(wanted=None), links

    def at(self, state: State) -> np.ndarray:
        """See `Rows`."""
        return self._tasks.signed_errors(self._tasks.kinematics(state, self._links), self._targets)

    def linear(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """See `Rows`."""
        kinematics = self._tasks.kinematics(state, self._links)
        rows = self._tasks.signed_errors(kinematics, self._targets)
        return rows, self._tasks.jacobian(state, kinematics, self._targets)


def rows_of(tasks: Tasks, targets: Targets, links: np.ndarray | None, compiled: CompiledStage | None) -> Rows:
    """The rows of some frames. targets : of the stage's goals. links : (F or 1, J, 8). compiled : of the same stage."""
    return NumpyRows(tasks, targets, links) if compiled is None else CompiledRows(compiled, targets, links)
