# SPDX-License-Identifier: GPL-3.0-or-later
"""The request of a batch of frames, and the point in joint space that it has reached."""

from dataclasses import dataclass

import numpy as np

from ..model.goals import Targets
from .joint_space import State
from .lanes import Lanes
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

    def gather(self, lanes: Lanes, frames: np.ndarray) -> "Point":
        """Points whose lanes are taken from the frames `frames` (F, L), lane by lane."""
        joint, freedom = frames[:, lanes.joints], frames[:, lanes.freedoms.of]
        goal, row = frames[:, lanes.goals], frames[:, lanes.rows.of[: self.error.shape[-1]]]
        at, joints = self.kinematics, np.arange(len(lanes.joints))
        x, effectors, error = (
            np.take_along_axis(part, index.reshape(*index.shape, *[1] * (part.ndim - 2)), 0)
            for part, index in ((self.state.x, freedom), (at.effectors, goal), (self.error, row))
        )
        matrices, positions = at.matrices[joint, joints], at.positions[joint, joints]
        world = Kinematics(matrices, positions, at.rotations[joint, joints], effectors, x)
        return Point(State(self.state.rotations[joint, joints], x), world, error)

    def where(self, lanes: Lanes, mask: np.ndarray, other: "Point") -> "Point":
        """A point with the lanes `mask` (F, L) from this one and the rest from the other."""
        joint, goal = mask[:, lanes.joints], mask[:, lanes.goals]
        row, freedom = mask[:, lanes.rows.of[: self.error.shape[-1]]], mask[:, lanes.freedoms.of]
        at = self.kinematics
        return Point(
            State(np.where(joint[..., None], self.state.rotations, other.state.rotations),
                  np.where(freedom, self.state.x, other.state.x)),
            Kinematics(np.where(joint[..., None, None], at.matrices, other.kinematics.matrices),
                       np.where(joint[..., None], at.positions, other.kinematics.positions),
                       np.where(joint[..., None], at.rotations, other.kinematics.rotations),
                       np.where(goal[..., None], at.effectors, other.kinematics.effectors),
                       np.where(freedom, at.coordinates, other.kinematics.coordinates)),
            np.where(row, self.error, other.error),
        )  # fmt: skip

    def copy(self) -> "Point":
        """An independent copy."""
        return self.take(np.arange(len(self.error)))


@dataclass
class Request:
    """The request of F frames: base pose of the pull, targets, links (None for the skeleton's own).

    `lanes` (F, L) bool: the lanes to solve, while the others keep their state; None for all.
    """

    base: State
    targets: Targets
    links: np.ndarray | None
    lanes: np.ndarray | None = None

    def take(self, frames: np.ndarray) -> "Request":
        """Some of the frames."""
        links = self.links if self.links is None or len(self.links) == 1 else self.links[frames]
        lanes = None if self.lanes is None else self.lanes[frames]
        return Request(self.base.take(frames), self.targets.take(frames), links, lanes)


def stand(tasks: Tasks, state: State, frames: Request) -> Point:
    """The point of a state, with its transforms and errors."""
    kinematics = tasks.kinematics(state, frames.links)
    return Point(state, kinematics, tasks.errors(kinematics, frames.targets))
