# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals, and their targets frame by frame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..algebra import quaternion
from .errors import InvalidGoal, UnknownJoint
from .numbers import array, has_items, is_whole, number, shown, vector
from .skeleton import Skeleton, check_skeleton

LEAST_QUATERNION = 1e-6  # length below which a quaternion is not taken as a rotation
MOST_PRIORITY = 10**9


@dataclass(frozen=True)
class Goal:
    """A position, a rotation or both that a joint should reach.

    Parameters
    ----------
    joint : name or index of the joint that carries the effector.
    position : (3,) target of the effector in the skeleton's frame; None for a goal without a position.
    rotation : (4,) `w x y z`, target orientation of the joint in the skeleton's frame; None for a goal without one.
    offset : (3,) position of the effector in the joint's frame.
    position_weight, rotation_weight : >= 0; a weight of 2 makes an error count like one twice as large.
    priority : goals of a higher priority are served first.
    chain : names or indices of the joints that the goal may move; None for the joint and all above it.
    pole : (3,) a point toward which the middle of the chain should bend; None for no pole.
    pole_angle : [rad] angle of the bend from the pole, about the line from the chain's root to its end.
    rotation_follows : 0 to 1, how far the target's rotation turns with the limb above the joint: with 1, a hand stands
        to its forearm as the target stands to the forearm at rest; with 0, `rotation` is in the skeleton's frame.
    limb_rest : (4,) orientation at rest of the joint above, in the skeleton's frame; None for that of its rest pose.

    Examples
    --------
    >>> hand = ik.Goal("hand", position=(0.5, 1.0, 0.3), chain=["shoulder", "elbow"])
    >>> look = ik.Goal("head", rotation=(1, 0, 0, 0), rotation_weight=0.5)
    >>> hand.joint, look.position
    ('hand', None)
    """

    joint: Any  # int | str; an index once resolved
    position: Sequence[float] | None = None
    rotation: Sequence[float] | None = None
    offset: Sequence[float] = (0.0, 0.0, 0.0)
    position_weight: float = 1.0
    rotation_weight: float = 1.0
    priority: int = 0
    chain: Sequence[Any] | None = None
    pole: Sequence[float] | None = None
    pole_angle: float = 0.0
    rotation_follows: float = 0.0
    limb_rest: Sequence[float] | None = None


def resolve_goals(skeleton: Skeleton, goals: Sequence[Goal]) -> list[Goal]:
    """The goals with joints as indices and copies of their arrays; `InvalidGoal` for one that does not fit."""
    check_skeleton(skeleton)
    if isinstance(goals, (Goal, str)) or not has_items(goals):
        raise InvalidGoal(f"goals: expected a list of Goal, got {shown(goals)}")
    return [_resolve(skeleton, goal, f"goal {index}") for index, goal in enumerate(goals)]


def _resolve(skeleton: Skeleton, goal: Goal, where: str) -> Goal:
    """One goal, checked, with joints as indices. The caller may write to its own arrays afterwards."""
    if not isinstance(goal, Goal):
        raise InvalidGoal(f"{where}: expected a Goal, got {shown(goal)}")
    try:
        joint = skeleton.index(goal.joint)
    except UnknownJoint as error:
        raise InvalidGoal(f"{where}: {error}") from None
    where += f" (joint {skeleton.names[joint]!r})"
    if goal.position is None and goal.rotation is None:
        raise InvalidGoal(f"{where}: asks for nothing; give it a position, a rotation or both")
    own: dict[str, Any] = {"joint": joint, "chain": _resolve_chain(skeleton, goal.chain, joint, where)}
    for name, size in [("offset", 3), ("position", 3), ("pole", 3), ("rotation", 4), ("limb_rest", 4)]:
        if getattr(goal, name) is not None or name == "offset":
            own[name] = tuple(vector(getattr(goal, name), size, f"{where} {name}", InvalidGoal).tolist())
    for name in ("rotation", "limb_rest"):
        if name in own and np.linalg.norm(own[name]) < LEAST_QUATERNION:
            raise InvalidGoal(f"{where} {name}: expected a quaternion w x y z, got {list(own[name])}")
    for name in ("position_weight", "rotation_weight", "pole_angle"):
        value = number(getattr(goal, name))
        if not np.isfinite(value):
            raise InvalidGoal(f"{where}: {name} = {shown(getattr(goal, name))}; expected a finite number")
        if name != "pole_angle" and value < 0.0:
            raise InvalidGoal(f"{where}: {name} = {value!r}; expected 0 or more")
    follows = number(goal.rotation_follows)
    if not 0.0 <= follows <= 1.0:
        raise InvalidGoal(f"{where}: rotation_follows = {shown(goal.rotation_follows)}; expected 0 to 1")
    if not is_whole(goal.priority, -MOST_PRIORITY, MOST_PRIORITY):
        raise InvalidGoal(f"{where}: priority = {shown(goal.priority)}; expected a whole number")
    return replace(goal, **own)


def _resolve_chain(skeleton: Skeleton, chain: Sequence[int | str] | None, carrier: int, where: str) -> list[int] | None:
    """The indices of a goal's chain."""
    if chain is None:
        return None
    if isinstance(chain, str) or not (has_items(chain) and hasattr(chain, "__len__")):
        raise InvalidGoal(f"{where}: chain = {shown(chain)}; expected a list of joints, names or indices")
    joints: list[int] = []
    for joint in chain:
        try:
            index = skeleton.index(joint)
        except UnknownJoint as error:
            raise InvalidGoal(f"{where} chain: {error}") from None
        if not skeleton.ancestors[carrier, index]:
            raise InvalidGoal(f"{where}: chain holds {joint!r}, which is neither the joint nor above it")
        joints.append(index)
    return joints


class Targets(NamedTuple):
    """Targets of the goals, frame by frame: `positions` (F, G, 3), `rotations` (F, G, 4), `poles` (F, G, 3).

    `shares` (F, G) scales the goals' rows, below 1 for goals that yield to the others; None for 1.
    """

    positions: np.ndarray
    rotations: np.ndarray
    poles: np.ndarray
    shares: np.ndarray | None = None

    def copy(self) -> "Targets":
        """A copy with its own arrays."""
        shares = None if self.shares is None else self.shares.copy()
        return Targets(self.positions.copy(), self.rotations.copy(), self.poles.copy(), shares)

    def take(self, frames: np.ndarray | slice) -> "Targets":
        """The targets of some of the frames."""
        shares = None if self.shares is None else self.shares[frames]
        return Targets(self.positions[frames], self.rotations[frames], self.poles[frames], shares)

    def of_goals(self, indices: np.ndarray) -> "Targets":
        """The targets of some of the goals."""
        shares = None if self.shares is None else self.shares[:, indices]
        return Targets(self.positions[:, indices], self.rotations[:, indices], self.poles[:, indices], shares)


def no_rotations(goals: Sequence[Goal]) -> np.ndarray | None:
    """Identity rotations (G, 4) if no goal has a rotation; None if one does."""
    return None if any(goal.rotation is not None for goal in goals) else np.tile(quaternion.IDENTITY, (len(goals), 1))


def check_targets(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    positions: ArrayLike | None,
    rotations: ArrayLike | None,
    poles: ArrayLike | None = None,
    single: bool = False,
) -> Targets:
    """Checked targets of F frames; `InvalidGoal` names the goal and the frame that are wrong.

    Parameters
    ----------
    goals : resolved. positions : (F, G, 3), None if no goal has one. rotations : (F, G, 4), likewise; rows of goals
        without a rotation are not used.
    poles : (F, G, 3), None for the goals' own.
    single : whether the arrays are those of one frame, without the leading axis.
    """
    count = len(goals)
    for name, values in [("position", positions), ("rotation", rotations)]:
        asking = next((g for g, goal in enumerate(goals) if getattr(goal, name) is not None), None)
        if values is None and asking is not None:
            raise InvalidGoal(f"{_called(skeleton, goals, asking)} asks for a {name}: {name}s are required")
    places = None if positions is None else _frames("positions", positions, (count, 3), single)
    turns = None if rotations is None else _frames("rotations", rotations, (count, 4), single)
    either = places if turns is None else turns
    if either is None:
        raise InvalidGoal("positions and rotations: got None for both")
    if places is None:
        places = np.zeros((len(either), count, 3))
    if turns is None:
        turns = np.tile(quaternion.IDENTITY, (len(either), count, 1))
    if len(places) != len(turns):
        raise InvalidGoal(f"positions of {len(places)} frames but rotations of {len(turns)}; expected the same number")
    turns = _unit_rotations(skeleton, goals, turns)
    if poles is None:
        own = np.array([(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in goals], dtype=float)
        return Targets(places, turns, np.broadcast_to(own.reshape(-1, 3), places.shape))
    ends = _frames("poles", poles, (count, 3), single)
    if len(ends) != len(places):
        raise InvalidGoal(f"poles of {len(ends)} frames but positions of {len(places)}; expected the same number")
    return Targets(places, turns, ends)


def _called(skeleton: Skeleton, goals: Sequence[Goal], index: int) -> str:
    """The name of a resolved goal in messages."""
    return f"goal {index} (joint {skeleton.names[skeleton.index(goals[index].joint)]!r})"


def _frames(name: str, value: object, shape: tuple[int, int], single: bool) -> np.ndarray:
    """`value` as a new finite array (F, *shape); `single`: it is that of one frame, without the leading axis."""
    expected = str(shape) if single else f"(frames, {shape[0]}, {shape[1]})"
    try:
        values = array(value)
    except ValueError:
        raise InvalidGoal(f"{name}: expected numbers of shape {expected}, got {shown(value)}") from None
    if values.ndim != 3 - single or values.shape[-2:] != shape:
        raise InvalidGoal(f"{name}: expected shape {expected}, got {values.shape}")
    values = values[None] if single else values
    bad = np.argwhere(~np.isfinite(values).all(-1))
    if len(bad):
        frame, goal = bad[0]
        raise InvalidGoal(f"{name} of goal {goal}, frame {frame}: got {values[frame, goal].tolist()}")
    return values


def _unit_rotations(skeleton: Skeleton, goals: Sequence[Goal], rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (F, G, 4); `InvalidGoal` for a zero quaternion of a goal with a rotation."""
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    asking = np.array([goal.rotation is not None for goal in goals], dtype=bool)
    zero = np.argwhere((length[..., 0] < LEAST_QUATERNION) & asking)
    if len(zero):
        frame, goal = zero[0]
        raise InvalidGoal(
            f"rotations of {_called(skeleton, goals, goal)}, frame {frame}: expected a quaternion w x y z, "
            f"got {rotations[frame, goal].tolist()}"
        )
    return quaternion.normalize(rotations)
