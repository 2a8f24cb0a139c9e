# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: capsules along the bones that keep apart from each other and from obstacles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import quaternion
from .convex import Convex
from .errors import InvalidOptions
from .numbers import is_whole, number, shown, vector
from .skeleton import Skeleton

POINTS = 4  # target points that place an obstacle
NEAR = 2  # most bodies between two, along the bones, that are near: where they overlap at rest, they may as they like


@dataclass(frozen=True)
class Capsule:
    """A bone's body: all points within `radius` of a segment that is fixed to a joint.

    Parameters
    ----------
    joint : name or index. start, end : (3,) in the joint's own frame [length units]. radius : [length units].

    Examples
    --------
    >>> ik.Capsule("forearm", (0, 0, 0), (0, 0.25, 0), 0.04).radius
    0.04
    """

    joint: Any  # int | str; an index once resolved
    start: Sequence[float]
    end: Sequence[float]
    radius: float


@dataclass(frozen=True)
class Plane:
    """An obstacle that fills one side of a plane, as a floor does: capsules stay where its normal points.

    Parameters
    ----------
    point : (3,) on the plane. normal : (3,) of any length but 0. Both in the skeleton's frame.

    Examples
    --------
    >>> ik.Plane((0, 0, 0.5)).points()[3].tolist()
    [0.0, 0.0, 1.5]
    """

    point: Sequence[float] = (0.0, 0.0, 0.0)
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    def points(self) -> np.ndarray:
        """(4, 3): a point on the plane, and three that lie one length unit from it, the last along the normal."""
        point = vector(self.point, 3, "plane point", InvalidOptions)
        normal = vector(self.normal, 3, "plane normal", InvalidOptions)
        length = np.linalg.norm(normal)
        if length < 1e-12:
            raise InvalidOptions("plane normal: expected a direction, got a zero vector")
        across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        axes = np.stack([across, np.cross(normal, across), normal])
        return np.concatenate([point[None], point + axes / np.linalg.norm(axes, axis=-1, keepdims=True)])


@dataclass(frozen=True)
class Box:
    """A box that capsules stay out of.

    Parameters
    ----------
    centre, size : (3,) [length units]. rotation : `w x y z`. In the skeleton's frame.

    Examples
    --------
    >>> ik.Box((0, 1, 0), (2, 4, 6)).points().tolist()
    [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.0, 1.0, 3.0]]
    """

    centre: Sequence[float]
    size: Sequence[float]
    rotation: Sequence[float] = (1.0, 0.0, 0.0, 0.0)

    def points(self) -> np.ndarray:
        """(4, 3): its centre, and the centres of the faces in the directions of its axes."""
        centre, size = (vector(getattr(self, name), 3, f"box {name}", InvalidOptions) for name in ("centre", "size"))
        if (size <= 0.0).any():
            raise InvalidOptions(f"box size: expected three lengths above 0, got {size.tolist()}")
        turn = vector(self.rotation, 4, "box rotation", InvalidOptions)
        if np.linalg.norm(turn) < 1e-6:
            raise InvalidOptions(f"box rotation: expected a quaternion w x y z, got {turn.tolist()}")
        axes = quaternion.to_matrix(quaternion.normalize(turn)).T
        return np.concatenate([centre[None], centre + 0.5 * size[:, None] * axes])


@dataclass(frozen=True)
class Contacts:
    """The bodies of a solve that nothing passes through.

    Two capsules that overlap in the rest pose may overlap as much in any pose. Capsules of one joint or of neighbouring
    bones, capsules with one or two bones between them that overlap in the rest pose, and capsules that no goal moves
    relative to each other, do not count as pairs.

    Parameters
    ----------
    capsules : of the skeleton's joints. obstacles : each a `Plane`, a `Box` or a `Convex`. Four target points place
        each of them in each frame, after the points of all goals (`points()` of an obstacle has its own).
    pairs : of numbers of capsules that keep apart; None for all, an empty list for none.
    margin : [length units] least gap.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 1)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    >>> floor = ik.Contacts([ik.Capsule("arm", (0, 0, 0), (0, 1, 0), 0.1)], [ik.Plane()])
    >>> solution = ik.solve(arm, [ik.Goal("hand", position=(0, 0.3, 0))], contacts=floor)
    >>> round(float(ik.forward(arm, solution.pose).positions[1, 2]), 3)
    0.1
    """

    capsules: Sequence[Capsule]
    obstacles: Sequence[Plane | Box | Convex] = ()
    pairs: Sequence[tuple[int, int]] | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        for one in self.capsules:
            if not isinstance(one, Capsule):
                raise InvalidOptions(f"capsules: expected Capsule, got {shown(one)}")
            if not 0.0 < number(one.radius) < np.inf:
                raise InvalidOptions(
                    f"capsule of {one.joint!r}: radius = {shown(one.radius)}; expected a length above 0"
                )
        for other in self.obstacles:
            if not isinstance(other, (Plane, Box, Convex)):
                raise InvalidOptions(f"obstacles: expected Plane, Box or Convex, got {shown(other)}")
        if not 0.0 <= number(self.margin) < np.inf:
            raise InvalidOptions(f"contacts.margin = {shown(self.margin)}; expected a length, 0 or more")
        most = len(self.capsules) - 1
        for pair in () if self.pairs is None else self.pairs:
            if len(pair) != 2 or not all(is_whole(one, 0, most) for one in pair) or pair[0] == pair[1]:
                raise InvalidOptions(f"contacts.pairs: expected two numbers of capsules, got {shown(pair)}")

    def points(self) -> np.ndarray:
        """The points (4 O, 3) that place the obstacles where they were made."""
        return np.concatenate([np.zeros((0, 3)), *[one.points() for one in self.obstacles]])


class CapsuleArrays:
    """Capsules as arrays: `joint` (C,), `start` and `end` (C, 3), `radius` (C,)."""

    def __init__(self, skeleton: Skeleton, capsules: Sequence[Capsule]) -> None:
        self.joint = np.array([skeleton.index(one.joint) for one in capsules], dtype=np.intp)
        start, end = (
            [vector(getattr(one, name), 3, f"capsule of {one.joint!r} {name}", InvalidOptions) for one in capsules]
            for name in ("start", "end")
        )
        self.start, self.end = np.array(start).reshape(-1, 3), np.array(end).reshape(-1, 3)
        self.radius = np.array([float(one.radius) for one in capsules])


def pairs_of(
    skeleton: Skeleton, contacts: Contacts, joint: np.ndarray, moved: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(K, 2) numbers of the capsules that may keep apart, and (K,) bool, those with few bodies between them.

    joint : (C,) of capsules. moved : joints that a solve moves.
    """
    count = len(joint)
    every = [(i, k) for i in range(count) for k in range(i)]
    chosen = every if contacts.pairs is None else [(int(i), int(k)) for i, k in contacts.pairs]
    bodies, kept = set(joint.tolist()), list[tuple[int, int, int]]()
    for i, k in chosen:
        one, other = int(joint[i]), int(joint[k])
        above = skeleton.ancestors[[one, other]]
        between: set[int] = set(np.flatnonzero(above[0] ^ above[1]).tolist())
        common = np.flatnonzero(above[0] & above[1])
        path = set(between)
        if common.size:
            path.add(int(common[np.argmax(skeleton.ancestors[common].sum(-1))]))
        crossed = len((path & bodies) - {one, other}) if common.size else 2
        if one != other and crossed and between & set(moved.tolist()):
            kept.append((i, k, crossed))
    rows = np.array(kept, dtype=np.intp).reshape(-1, 3)
    return rows[:, :2], rows[:, 2] <= NEAR
