# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a skeleton: goals, and where their targets are, frame by frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from .errors import InvalidGoal
from .skeleton import Skeleton, vector


@dataclass(frozen=True)
class Goal:
    """A place or an orientation that a joint should reach.

    Parameters
    ----------
    joint : index of the joint that carries the effector.
    position : (3,) where the effector should be, in the skeleton's frame; None: not asked for.
    rotation : (4,) `w x y z`, how the joint should be turned in the skeleton's frame; None: not asked for.
    offset : (3,) the effector's place in the joint's frame.
    position_weight, rotation_weight : >= 0; a weight of 2 makes an error count like one twice as large.
    priority : goals of a higher priority are served first.
    chain : indices of the joints that the goal may move; None for the joint and all above it.
    pole : (3,) a point toward which the middle of the chain should bend; None: not asked for.
    pole_angle : [rad] by which the bend is turned from the pole, about the line from the chain's root to its end.
    """

    joint: int
    position: Sequence[float] | None = None
    rotation: Sequence[float] | None = None
    offset: Sequence[float] = (0.0, 0.0, 0.0)
    position_weight: float = 1.0
    rotation_weight: float = 1.0
    priority: int = 0
    chain: Sequence[int] | None = None
    pole: Sequence[float] | None = None
    pole_angle: float = 0.0

    def check(self, skeleton: Skeleton, index: int) -> None:
        """Raise `InvalidGoal` unless the goal makes sense on this skeleton."""
        count, where = len(skeleton), f"goal {index}"
        if not isinstance(self, Goal):
            raise InvalidGoal(f"{where}: expected a Goal, got {self!r}")
        if not isinstance(self.joint, (int, np.integer)) or not 0 <= self.joint < count:
            raise InvalidGoal(f"{where}: joint = {self.joint!r}; expected an index from 0 to {count - 1}")
        where += f" (joint {skeleton.names[self.joint]!r})"
        if self.position is None and self.rotation is None:
            raise InvalidGoal(f"{where}: asks for nothing; give it a position, a rotation or both")
        vector(self.offset, 3, f"{where} offset", InvalidGoal)
        if self.position is not None:
            vector(self.position, 3, f"{where} position", InvalidGoal)
        if self.pole is not None:
            vector(self.pole, 3, f"{where} pole", InvalidGoal)
        if self.rotation is not None:
            rotation = vector(self.rotation, 4, f"{where} rotation", InvalidGoal)
            if np.linalg.norm(rotation) < 1e-6:
                raise InvalidGoal(f"{where} rotation: expected a quaternion w x y z, got {rotation.tolist()}")
        for name in ("position_weight", "rotation_weight", "pole_angle"):
            number = getattr(self, name)
            if not _is_number(number):
                raise InvalidGoal(f"{where}: {name} = {number!r}; expected a finite number")
            if name != "pole_angle" and number < 0.0:
                raise InvalidGoal(f"{where}: {name} = {number!r}; expected 0 or more")
        if not isinstance(self.priority, (int, np.integer)):
            raise InvalidGoal(f"{where}: priority = {self.priority!r}; expected a whole number")
        if self.chain is not None and not hasattr(self.chain, "__len__"):
            raise InvalidGoal(f"{where}: chain = {self.chain!r}; expected indices of joints")
        for joint in () if self.chain is None else self.chain:
            if not (
                isinstance(joint, (int, np.integer)) and 0 <= joint < count and skeleton.ancestors[self.joint, joint]
            ):
                raise InvalidGoal(f"{where}: chain holds {joint!r}, which is neither the joint nor above it")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


class Targets(NamedTuple):
    """What the goals ask for, frame by frame: `positions` (F, G, 3), `rotations` (F, G, 4), `poles` (F, G, 3).

    `shares` (F, G) scales the goals' rows, below 1 for goals that yield to the others; None for none.
    """

    positions: np.ndarray
    rotations: np.ndarray
    poles: np.ndarray
    shares: np.ndarray | None = None

    def take(self, frames: np.ndarray | slice) -> "Targets":
        """The targets of some of the frames."""
        shares = None if self.shares is None else self.shares[frames]
        return Targets(self.positions[frames], self.rotations[frames], self.poles[frames], shares)
