# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings: joints that move together, as the joints of a finger curl."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .errors import InvalidSkeleton, UnknownJoint
from .numbers import has_items, number, shown

AXES = {"Y": 0, "X": 1, "Z": 2}
"""The coordinates of a ball joint by axis: the twist about its axis, then the two components of the swing."""


@dataclass(frozen=True)
class Coupling:
    """One coordinate of a joint that follows a coordinate of another: `x = factor * x_leader + offset`.

    Parameters
    ----------
    joint, leader : names or indices.
    axis, leader_axis : of ball joints: "Y" is the twist about the joint's axis, "X" and "Z" are the components of its
        swing. Hinges and slides have one coordinate, and the axis says nothing.
    factor, offset : [rad], for slides [length units].
    stiffness : 1 for a relation that always holds; below 1 it gives way to goals, the more the lower it is.

    Examples
    --------
    >>> knuckle = ik.Joint("knuckle", -1, "hinge", (0, 0, 0), axis=(1, 0, 0))
    >>> tip = ik.Joint("tip", 0, "hinge", (0, 1, 0), axis=(1, 0, 0))
    >>> finger = ik.Skeleton([knuckle, tip], couplings=[ik.Coupling("tip", "X", "knuckle", factor=0.5)])
    >>> curled = ik.solve(finger, [ik.Goal("tip", position=(0, 0.6, 0.8))]).pose
    >>> ik.angles_from_pose(finger, curled).round(3).tolist()
    [0.927, 0.464]
    """

    joint: Any  # int | str; an index once resolved
    axis: str
    leader: Any
    leader_axis: str = "X"
    factor: float = 1.0
    offset: float = 0.0
    stiffness: float = 1.0


class JointTree(Protocol):
    """The part of a skeleton that couplings read."""

    names: tuple[str, ...]
    balls: np.ndarray
    freedoms: np.ndarray
    stiffness: np.ndarray
    couplings: tuple[Coupling, ...]

    def __len__(self) -> int: ...

    def index(self, joint: str | int) -> int:
        """The index of a joint."""
        ...


def resolve_couplings(skeleton: JointTree, couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    """The couplings with joints as indices; `InvalidSkeleton` for one that does not fit."""
    if isinstance(couplings, (Coupling, str)) or not has_items(couplings):
        raise InvalidSkeleton(f"couplings: expected a list of Coupling, got {shown(couplings)}")
    found = [_resolve(skeleton, coupling, f"coupling {index}") for index, coupling in enumerate(couplings)]
    exact = [one for one in found if one.stiffness == 1.0]
    leaders: dict[tuple[int, int], tuple[int, int]] = {}
    for one in exact:
        own = coordinate(skeleton, one.joint, one.axis)
        if own in leaders:
            name = skeleton.names[int(one.joint)]
            raise InvalidSkeleton(f"joint {name!r}: two couplings of its axis {one.axis}; remove one, or make it soft")
        leaders[own] = coordinate(skeleton, one.leader, one.leader_axis)
    for one in exact:
        own = coordinate(skeleton, one.joint, one.axis)
        above = leaders[own]
        while above in leaders and above != own:
            above = leaders[above]
        if above == own:
            raise InvalidSkeleton(f"joint {skeleton.names[one.joint]!r}: its couplings run in a circle")
    return tuple(found)


def coordinate(skeleton: JointTree, joint: int, axis: str) -> tuple[int, int]:
    """A joint's coordinate: the joint, and the number of the coordinate among its own."""
    return joint, AXES[axis] if skeleton.balls[joint] else 0


def _resolve(skeleton: JointTree, coupling: Coupling, where: str) -> Coupling:
    if not isinstance(coupling, Coupling):
        raise InvalidSkeleton(f"{where}: expected a Coupling, got {shown(coupling)}")
    own: dict[str, int] = {}
    for name in ("joint", "leader"):
        try:
            own[name] = skeleton.index(getattr(coupling, name))
        except UnknownJoint as error:
            raise InvalidSkeleton(f"{where} {name}: {error}") from None
        joint = skeleton.names[own[name]]
        if not skeleton.freedoms[own[name]] or skeleton.stiffness[own[name]] >= 1.0:
            raise InvalidSkeleton(f"{where}: joint {joint!r} does not move; remove the coupling, or let the joint move")
    for name in ("axis", "leader_axis"):
        if getattr(coupling, name) not in AXES:
            raise InvalidSkeleton(f"{where}: {name} = {shown(getattr(coupling, name))}; expected X, Y or Z")
    for name in ("factor", "offset"):
        if not np.isfinite(number(getattr(coupling, name))):
            raise InvalidSkeleton(f"{where}: {name} = {shown(getattr(coupling, name))}; expected a finite number")
    if not 0.0 <= number(coupling.stiffness) <= 1.0:
        raise InvalidSkeleton(f"{where}: stiffness = {shown(coupling.stiffness)}; expected 0 to 1")
    if coordinate(skeleton, own["joint"], coupling.axis) == coordinate(skeleton, own["leader"], coupling.leader_axis):
        raise InvalidSkeleton(f"{where}: joint {skeleton.names[own['joint']]!r} cannot follow itself")
    return replace(coupling, **own)


def together(skeleton: JointTree) -> np.ndarray:
    """(J, J) bool: joints that are coupled with each other, also through others, and each with itself."""
    linked = np.eye(len(skeleton), dtype=bool)
    for one in skeleton.couplings:
        linked[one.joint, one.leader] = linked[one.leader, one.joint] = True
    while True:
        more = (linked.astype(float) @ linked) > 0.0
        if (more == linked).all():
            return linked
        linked = more
