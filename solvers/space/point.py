# SPDX-License-Identifier: GPL-3.0-or-later
"""The request of a batch of frames, and the point in joint space that it has reached."""

from dataclasses import dataclass

import numpy as np

from ..model.goals import Targets
from .joint_space import State
from .tasks import Kinematics, Tasks


@dataclass
class Point:
    """The states of F frames, with their world transforms and error rows (F, m)."""

    state: State
    kinematics: Kinematics
    error: np.ndarray

    def take(self, frames: np.ndarray) -> "Point":
        """Some of the frames."""
        kinematics = Kinematics(*(part[frames] for part in self.kinematics))
        return Point(self.state.take(frames), kinematics, self.error[frames])

    def put(self, frames: np.ndarray, other: "Point") -> None:
        """Overwrite some of the frames, in place."""
        self.state.rotations[frames], self.state.x[frames] = other.state.rotations, other.state.x
        self.error[frames] = other.error
        for mine, theirs in zip(self.kinematics, other.kinematics, strict=True):
            mine[frames] = theirs

    def copy(self) -> "Point":
        """An independent copy."""
        return self.take(np.arange(len(self.error)))


@dataclass
class Request:
    """The request of F frames: base pose of the pull, targets, links (None for the skeleton's own)."""

    base: State
    targets: Targets
    links: np.ndarray | None

    def take(self, frames: np.ndarray) -> "Request":
        """Some of the frames."""
        links = self.links if self.links is None or len(self.links) == 1 else self.links[frames]
        return Request(self.base.take(frames), self.targets.take(frames), links)

    def repeated(self, times: int) -> "Request":
        """A single frame several times."""
        return self if times == 1 else self.take(np.zeros(times, dtype=np.intp))


def evaluate(tasks: Tasks, state: State, frames: Request) -> Point:
    """The point of a state, with its transforms and errors."""
    kinematics = tasks.kinematics(state, frames.links)
    return Point(state, kinematics, tasks.errors(kinematics, frames.targets))
