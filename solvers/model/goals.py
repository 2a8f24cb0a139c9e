# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals, and their targets frame by frame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..algebra import dual_quaternion, quaternion
from .errors import InvalidGoal, UnknownJoint
from .kinds import GOAL_KINDS, SETTINGS, KindSettings
from .names import suggestions
from .numbers import LARGEST, array, direction, has_items, is_whole, number, shown, vector
from .skeleton import Skeleton, check_skeleton

LEAST_QUATERNION = 1e-6  # length below which a quaternion is not taken as a rotation


@dataclass(frozen=True)
class Goal(KindSettings):
    """A position, a rotation or both that a joint should reach, or what another kind of goal asks for.

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
    kind : a name in `GOAL_KINDS`; `KindSettings` in `model/kinds.py` says what the other kinds ask, and has the fields
        that only they read, which are keywords.
    target_joint : name or index of a joint that carries the target: `position` and `rotation` are in its frame. None
        for a target in the skeleton's frame. For the kinds that take it; the goal moves the joints above both unless it
        has a chain. A `REACH` goal with one closes a loop; it has no pole, and its rotation does not follow.
    side : a name; None for the kind's first one.
    points : (K, 3) further target points, in the skeleton's frame.
    masses : (joint, (3,) centre in the joint's frame, mass) of each body part; None: each bone by its length.

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
    kind: str = "REACH"
    side: str | None = None
    points: Any = None  # (K, 3) numbers
    masses: Sequence[tuple[Any, Sequence[float], float]] | None = None
    target_joint: Any = None  # int | str; an index once resolved

    @property
    def reaches(self) -> bool:
        """Whether the goal is for a position, a rotation or both in the skeleton's frame."""
        return self.kind == "REACH" and self.target_joint is None

    @property
    def is_carried(self) -> bool:
        """Whether the goal is for a position, a rotation or both in the frame of another joint: it closes a loop."""
        return self.kind == "REACH" and self.target_joint is not None

    @property
    def has_place(self) -> bool:
        """Whether the effector should reach a position in the skeleton's frame."""
        return self.reaches and self.position is not None

    @property
    def has_turn(self) -> bool:
        """Whether the joint should reach a rotation in the skeleton's frame."""
        return self.reaches and self.rotation is not None

    @property
    def weighs(self) -> bool:
        """Whether it is the centre of mass that the goal is about."""
        return GOAL_KINDS[self.kind].weighs


class Effectors:
    """What resolved goals ask for: joints (G,), offsets (G, 3), and as (G,) bool what `Goal` has by these names.

    looks : whether a goal turns its joint to a place in the skeleton's frame.
    """

    def __init__(self, goals: Sequence[Goal]) -> None:
        self.joints = np.array([goal.joint for goal in goals], dtype=np.intp)
        self.offsets = np.array([goal.offset for goal in goals], dtype=float).reshape(-1, 3)
        self.reaches = np.array([goal.reaches for goal in goals], dtype=bool)
        self.has_place = np.array([goal.has_place for goal in goals], dtype=bool)
        self.has_turn = np.array([goal.has_turn for goal in goals], dtype=bool)
        self.looks = np.array([goal.kind == "LOOK_AT" and goal.target_joint is None for goal in goals], dtype=bool)


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
    if not isinstance(goal.kind, str) or goal.kind not in GOAL_KINDS:
        raise InvalidGoal(f"{where}: kind {shown(goal.kind)} is not known; the kinds are "
                          f"{suggestions(str(goal.kind), GOAL_KINDS, '{}')}")  # fmt: skip
    kind = GOAL_KINDS[goal.kind]
    carried = _resolve_target_joint(skeleton, goal, joint, where)
    if goal.kind == "REACH" and goal.position is None and goal.rotation is None:
        raise InvalidGoal(f"{where}: asks for nothing; give it a position, a rotation or both")
    for name in kind.needs:
        if getattr(goal, name) is None:
            raise InvalidGoal(f"{where}: a {goal.kind} goal needs {name}")
    own: dict[str, Any] = {"joint": joint, "target_joint": carried}
    own["chain"] = _resolve_chain(skeleton, goal, [joint] if carried is None else [joint, carried], where)
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
    own.update(_resolve_kind(skeleton, goal, where))
    follows = number(goal.rotation_follows)
    if not 0.0 <= follows <= 1.0:
        raise InvalidGoal(f"{where}: rotation_follows = {shown(goal.rotation_follows)}; expected 0 to 1")
    if not is_whole(goal.priority, -LARGEST, LARGEST):
        raise InvalidGoal(f"{where}: priority = {shown(goal.priority)}; expected a whole number")
    if goal.kind != "REACH":  # what another kind does not take must not shape the solve
        unread = {name: None for name in ("position", "rotation", "pole", "points") if name not in kind.takes}
        own.update(unread, rotation_follows=0.0)
    return replace(goal, **own)


def _resolve_target_joint(skeleton: Skeleton, goal: Goal, joint: int, where: str) -> int | None:
    """The index of the joint that carries a goal's target; None for a target in the skeleton's frame."""
    if goal.target_joint is None:
        return None
    if "target_joint" not in GOAL_KINDS[goal.kind].takes:
        kinds = ", ".join(name for name, kind in GOAL_KINDS.items() if "target_joint" in kind.takes)
        raise InvalidGoal(f"{where}: a {goal.kind} goal takes no target_joint; the kinds that do are {kinds}")
    try:
        index = skeleton.index(goal.target_joint)
    except UnknownJoint as error:
        raise InvalidGoal(f"{where} target_joint: {error}") from None
    if index == joint:
        raise InvalidGoal(f"{where}: target_joint is the goal's own joint; expected another one")
    if goal.is_carried and (goal.pole is not None or goal.rotation_follows):
        name = "pole" if goal.pole is not None else "rotation_follows"
        raise InvalidGoal(f"{where}: a goal with target_joint takes no {name}")
    return index


def _resolve_kind(skeleton: Skeleton, goal: Goal, where: str) -> dict[str, Any]:
    """The fields of a goal that other kinds than `REACH` read, checked."""
    kind = GOAL_KINDS[goal.kind]
    own: dict[str, Any] = {"side": kind.sides[0] if kind.sides and goal.side is None else goal.side}
    if kind.sides and own["side"] not in kind.sides:
        raise InvalidGoal(f"{where}: side = {shown(goal.side)}; expected one of {', '.join(kind.sides)}")
    for name, setting in SETTINGS.items():
        if setting.sort == "axis":
            least = LEAST_QUATERNION if name in kind.takes else 0.0
            own[name] = direction(getattr(goal, name), least, f"{where} {name}", InvalidGoal)
            continue
        value, positive = number(getattr(goal, name)), name in kind.takes and not kind.signed
        if not np.isfinite(value) or (positive and value < 0.0):
            expected = "0 or more" if positive else "a finite number"
            raise InvalidGoal(f"{where}: {name} = {shown(getattr(goal, name))}; expected {expected}")
    if goal.points is not None:
        try:
            points = array(goal.points)
        except ValueError:
            points = np.zeros((0, 3))
        if points.ndim != 2 or points.shape[-1] != 3 or not len(points) or not np.isfinite(points).all():
            raise InvalidGoal(f"{where} points: expected one or more points x y z, got {shown(goal.points)}")
        own["points"] = tuple((float(x), float(y), float(z)) for x, y, z in points)
    if kind.weighs and own["side"] == "WITHIN" and goal.points is None:
        raise InvalidGoal(f"{where}: a {goal.kind} goal within an area needs points, the corners of the area")
    if kind.weighs:
        own["masses"] = _bones(skeleton) if goal.masses is None else _resolve_masses(skeleton, goal.masses, where)
    return own


def _bones(skeleton: Skeleton) -> tuple[tuple[int, tuple[float, ...], float], ...]:
    """Body parts between the joints, each as heavy as it is long; one at the first joint if they have no length."""
    offsets = dual_quaternion.translation(skeleton.links)
    lengths = np.linalg.norm(offsets, axis=-1)
    found = [
        (int(above), tuple((0.5 * offset).tolist()), float(length))
        for above, offset, length in zip(skeleton.parent, offsets, lengths, strict=True) if above >= 0 and length > 0.0
    ]  # fmt: skip
    return tuple(found) or ((0, (0.0, 0.0, 0.0), 1.0),)


def _resolve_masses(skeleton: Skeleton, masses: Any, where: str) -> tuple[tuple[int, tuple[float, ...], float], ...]:
    """Body parts with joints as indices."""
    found: list[tuple[int, tuple[float, ...], float]] = []
    for part in masses:
        try:
            joint, centre, mass = part
            index = skeleton.index(joint)
        except (TypeError, ValueError) as error:
            raise InvalidGoal(f"{where} masses: expected (joint, centre, mass), got {shown(part)}: {error}") from None
        size = number(mass)
        if not (np.isfinite(size) and size > 0.0):
            raise InvalidGoal(f"{where} masses: expected a mass above 0, got {shown(mass)}")
        place = vector(centre, 3, f"{where} masses centre", InvalidGoal)
        found.append((index, tuple(place.tolist()), size))
    if not found:
        raise InvalidGoal(f"{where} masses: expected at least one body part, got none")
    return tuple(found)


def _resolve_chain(skeleton: Skeleton, goal: Goal, carriers: list[int], where: str) -> list[int] | None:
    """The indices of a goal's chain. The centre of mass may be moved by any joint.

    carriers : the joints of the effector and, if one carries it, of the target.
    """
    chain = goal.chain
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
        if not goal.weighs and not skeleton.ancestors[carriers, index].any():
            raise InvalidGoal(f"{where}: chain holds {joint!r}, which is neither the joint nor above it")
        joints.append(index)
    return joints


class Targets(NamedTuple):
    """Targets of the goals, frame by frame: `positions` (F, G, 3), `rotations` (F, G, 4), `poles` (F, G, 3).

    `shares` (F, G) scales the goals' rows, below 1 for goals that yield to the others; None for 1. `points` (F, P, 3)
    are those of all goals, one goal after the other, then those that place obstacles; None if there are none.
    `wanted` (F, R) are the error rows that the goals of a stage should end with; None for 0.
    """

    positions: np.ndarray
    rotations: np.ndarray
    poles: np.ndarray
    shares: np.ndarray | None = None
    points: np.ndarray | None = None
    wanted: np.ndarray | None = None

    def copy(self) -> "Targets":
        """A copy with its own arrays."""
        optional = (None if part is None else part.copy() for part in self[3:])
        return Targets(self.positions.copy(), self.rotations.copy(), self.poles.copy(), *optional)

    def take(self, frames: np.ndarray | slice) -> "Targets":
        """The targets of some of the frames."""
        optional = (None if part is None else part[frames] for part in self[3:])
        return Targets(self.positions[frames], self.rotations[frames], self.poles[frames], *optional)

    def of_goals(self, indices: np.ndarray) -> "Targets":
        """The targets of some of the goals, with all points: a stage knows which are its own."""
        shares = None if self.shares is None else self.shares[:, indices]
        parts = self.positions[:, indices], self.rotations[:, indices], self.poles[:, indices]
        return Targets(*parts, shares, self.points)


def points_of(goals: Sequence[Goal]) -> list[slice]:
    """The points of each goal among those of all."""
    ends = np.cumsum([0, *(0 if goal.points is None else len(goal.points) for goal in goals)]).tolist()
    return [slice(begin, end) for begin, end in pairwise(ends)]


def own_points(goals: Sequence[Goal]) -> np.ndarray:
    """The points (P, 3) that resolved goals were made with."""
    return np.array([point for goal in goals for point in goal.points or ()], dtype=float).reshape(-1, 3)


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
    points: ArrayLike | None = None,
    placing: np.ndarray | None = None,
) -> Targets:
    """Checked targets of F frames; `InvalidGoal` names the goal and the frame that are wrong.

    Parameters
    ----------
    goals : resolved. positions : (F, G, 3), None if no goal has one. rotations : (F, G, 4), likewise; rows of goals
        without a rotation are not used.
    poles : (F, G, 3), None for the goals' own.
    points : (F, P, 3) of goals and obstacles, None for their own.
    single : whether the arrays are those of one frame, without the leading axis.
    placing : (4 O, 3) points of obstacles, which follow the goals' own.
    """
    count = len(goals)
    for name, values in [("position", positions), ("rotation", rotations)]:
        asking = next((g for g, goal in enumerate(goals) if getattr(goal, name) is not None), None)
        if values is None and asking is not None:
            raise InvalidGoal(f"{_called(skeleton, goals, asking)} asks for a {name}: {name}s are required")
    places = None if positions is None else _frames("positions", positions, (count, 3), single)
    turns = None if rotations is None else _frames("rotations", rotations, (count, 4), single)
    either = places if turns is None else turns
    corners = own_points(goals) if placing is None else np.concatenate([own_points(goals), placing])
    if either is None and len(corners) and (points is not None or single):
        frames = 1 if single else len(array(points))
        either = places = np.zeros((frames, count, 3))
    if either is None:
        raise InvalidGoal("positions and rotations: got None for both")
    if places is None:
        places = np.zeros((len(either), count, 3))
    if turns is None:
        turns = np.tile(quaternion.IDENTITY, (len(either), count, 1))
    if len(places) != len(turns):
        raise InvalidGoal(f"positions of {len(places)} frames but rotations of {len(turns)}; expected the same number")
    turns = _unit_rotations(skeleton, goals, turns)
    more = None
    if len(corners) and points is None:
        more = np.broadcast_to(corners, (len(places), *corners.shape))
    elif len(corners):
        more = _frames("points", points, corners.shape, single)
        if len(more) != len(places):
            raise InvalidGoal(f"points of {len(more)} frames but positions of {len(places)}; expected the same number")
    if poles is None:
        own = np.array([(0.0, 0.0, 0.0) if goal.pole is None else goal.pole for goal in goals], dtype=float)
        return Targets(places, turns, np.broadcast_to(own.reshape(-1, 3), places.shape), points=more)
    ends = _frames("poles", poles, (count, 3), single)
    if len(ends) != len(places):
        raise InvalidGoal(f"poles of {len(ends)} frames but positions of {len(places)}; expected the same number")
    return Targets(places, turns, ends, points=more)


def label(skeleton: Skeleton, index: int, goal: Goal) -> tuple[int, str]:
    """A resolved goal's name in messages: its number, and its joint's name."""
    return index, skeleton.names[skeleton.index(goal.joint)]


def _called(skeleton: Skeleton, goals: Sequence[Goal], index: int) -> str:
    """The name of a resolved goal in messages."""
    number, joint = label(skeleton, index, goals[index])
    return f"goal {number} (joint {joint!r})"


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
