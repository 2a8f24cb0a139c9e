# SPDX-License-Identifier: GPL-3.0-or-later
"""Straight chains, and the arc from which they are solved.

A straight chain is singular: no small motion brings its end nearer to its root, and the nearest answer may bend to any
side and changes sides as the target passes the chain's line. So in the base pose of the pull straight chains are bent
to a slight arc, always to the same side, and a solve that misses a goal with its chain straight is repeated from that
arc.

A chain qualifies if all its joints serve only one goal, none slides, and none has a preferred bend, which would make it
a limb (`limb.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import Pose, Skeleton
from .joint_space import JointSpace
from .limb import kept_bend
from .tasks import Kinematics

ARC = float(np.radians(40.0))  # bend of a whole chain
STRAIGHT, BENT = 0.05, 0.2  # [rad] bent by less a chain is straight, bent by more than the second it stays as it is
IN_LINE = 1e-5  # of a chain's length: a target no nearer to the root than that leaves the chain straight
NO_BONE = 1e-9  # of the skeleton's length: a shorter bone has no direction
LEVEL = 0.1  # largest cosine of the angle between a bone and an axis about which it can bend
ACROSS = 0.9  # cosine of the angle between a bone and its joint's X axis, above which the Z axis is used
SAME_ROOM = 1e-6  # [rad] the chain bends against its axis only if that side has more room by this
PARALLEL = 0.99  # cosine of the angle between two axes that count as one


@dataclass(frozen=True)
class Arc:
    """The bend of a straight chain about one axis.

    goal : of the chain. points : joints at the ends of its bones, from its root; the effector comes after them.
    turned : joints that bend it. shares : of `ARC`, by which each of these turns, negative for the root. hinged :
    whether each is a hinge. reference : the joint in whose frame `axis` (3,) is. aim : share of the way to its target
    by which the root turns the chain, 0 if it cannot turn.
    """

    goal: int
    points: tuple[int, ...]
    turned: tuple[int, ...]
    shares: tuple[float, ...]
    hinged: tuple[bool, ...]
    reference: int
    axis: np.ndarray
    aim: float


def find_arcs(
    skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray, space: JointSpace
) -> list[Arc]:  # fmt: skip
    """The arcs of chains of at least two bones that are straight at rest, none of them held."""
    matrices, places = skeleton.at_rest
    moved = set(space.joint.tolist())
    special = skeleton.preferred.any(-1) | skeleton.slides
    special[list(skeleton.detached)] = True
    served = chains[[not goal.weighs for goal in goals]].sum(0).tolist()
    bends: list[tuple[int, _Bend]] = []
    for index, goal in enumerate(goals):
        above = (chains[index] & skeleton.ancestors[goal.joint]).tolist()
        path = [j for j in skeleton.order if above[j] and j in moved]
        if not goal.has_place or special[path].any():
            continue
        alone = [j for j in path if served[j] == 1]
        tip = places[goal.joint] + matrices[goal.joint] @ np.asarray(goal.offset, dtype=float)
        found = _bend_of(skeleton, alone, matrices, np.concatenate([places, tip[None]]))
        bends += [(index, found)] if found is not None else []
    if not bends:
        return []
    sides = _sides(skeleton, space, [found for _, found in bends])
    return [_arc(skeleton, goal, found, side) for (goal, found), side in zip(bends, sides, strict=True)]


def held(arcs: Sequence[Arc], skeleton: Skeleton) -> list[Arc]:
    """The arcs as the holds of their joints leave them: held chains bend less."""
    kept = [kept_bend(skeleton.hold[list(arc.turned)]) for arc in arcs]
    return [
        replace(arc, shares=tuple(part * share for share in arc.shares), aim=part * arc.aim)
        for arc, part in zip(arcs, kept, strict=True)
    ]


@dataclass(frozen=True)
class _Bend:
    """A straight chain at rest, and the axis that most of its joints can bend about.

    points, turned, shares, reference : as in `Arc`. axis (3,) : in the frame of the reference. turns : (K, 3) rotation
    vectors of the turned joints in their own frames. rooted : whether the first joint that turns is the chain's root.
    """

    points: tuple[int, ...]
    turned: list[int]
    shares: np.ndarray
    reference: int
    axis: np.ndarray
    turns: np.ndarray
    rooted: bool


def _bend_of(skeleton: Skeleton, path: list[int], matrices: np.ndarray, places: np.ndarray) -> _Bend | None:
    """The bend of the joints on a path at rest; None if it has less than two bones, is not straight, or cannot bend.

    places : (J + 1, 3) positions of the joints, then of the effector.
    """
    groups: list[list[int]] = []  # joints at the same position
    least = NO_BONE * skeleton.length
    for joint in path:
        if groups and math.dist(places[joint], places[groups[-1][0]]) <= least:
            groups[-1].append(joint)
        else:
            groups.append([joint])
    if groups and math.dist(places[-1], places[groups[-1][0]]) <= least:
        groups.pop()
    if len(groups) < 2:
        return None
    corners = places[[*(group[0] for group in groups), -1]]
    line = np.diff(corners, axis=0)
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    if np.arccos(np.clip((line[:-1] * line[1:]).sum(-1), -1.0, 1.0)).sum() >= BENT:
        return None
    members = [(joint, number) for number, group in enumerate(groups) for joint in group]
    joints = [joint for joint, _ in members]
    own = (matrices[joints] @ skeleton.axis[joints, :, None])[..., 0]  # of hinges, at rest
    axes = _axes(skeleton, joints, own, matrices[joints[0]], line[0])
    along = np.abs(own @ np.array([axis for _, axis in axes]).T) >= PARALLEL
    best: dict[int, int] = {}  # the joint of each group that turns about the best axis
    inner, reference, axis = 0, -1, np.zeros(3)
    for (joint, world), parallel in zip(axes, along.T, strict=True):
        turning: dict[int, int] = {}
        for (member, number), turns in zip(members, parallel, strict=True):
            if skeleton.balls[member] or (skeleton.hinges[member] and turns):
                turning.setdefault(number, member)
        count = len(turning) - (0 in turning)
        if count > inner:
            best, inner, reference, axis = turning, count, joint, world
    if not inner:
        return None
    turned, shares = list(best.values()), np.array([1.0 / inner if number else -0.5 for number in best])
    turns = (ARC * shares)[:, None] * (axis @ matrices[turned])
    hinges = np.flatnonzero(skeleton.hinges[turned])
    about = skeleton.axis[turned][hinges]
    turns[hinges] = (turns[hinges] * about).sum(-1, keepdims=True) * about
    points = tuple(group[0] for group in groups)
    return _Bend(points, turned, shares, reference, axis @ matrices[reference], turns, 0 in best)


def _axes(
    skeleton: Skeleton, joints: list[int], own: np.ndarray, root: np.ndarray, line: np.ndarray
) -> list[tuple[int, np.ndarray]]:
    """Axes perpendicular to a line about which a chain may bend, each with the joint in whose frame it is fixed.

    own : (K, 3) the axes of its joints. root : (3, 3) the frame of its first joint.
    """
    level = np.abs(own @ line) <= LEVEL
    found = [
        (joint, axis) for joint, axis, fits in zip(joints, own, level, strict=True) if fits and skeleton.hinges[joint]
    ]
    across = root[:, 0 if abs(root[:, 0] @ line) < ACROSS else 2]
    across = across - (across @ line) * line
    return [*found, (joints[0], across / math.sqrt(across @ across))]


def _sides(skeleton: Skeleton, space: JointSpace, bends: Sequence[_Bend]) -> list[float]:
    """The side to which the limits let each chain bend further: 1 about its axis, -1 against it.

    No joint belongs to two chains, so they are all bent at once.
    """
    joints, turns = np.concatenate([bend.turned for bend in bends]), np.concatenate([bend.turns for bend in bends])
    both = np.stack([turns, -turns])
    rotations = np.tile(quaternion.IDENTITY, (2, len(skeleton), 1))
    rotations[:, joints] = quaternion.exp(both)
    inside = space.state(Pose(rotations, np.zeros((2, len(skeleton), 3))), 2).rotations[:, joints]
    lengths = np.maximum(np.linalg.norm(turns, axis=-1), 1e-300)
    room = (quaternion.log(inside) * both).sum(-1) / lengths  # [rad] of each joint, forward and back
    first = np.cumsum([0, *(len(bend.turned) for bend in bends[:-1])])
    forward, back = np.add.reduceat(room, first, axis=-1).tolist()
    return [-1.0 if away > ahead + SAME_ROOM else 1.0 for ahead, away in zip(forward, back, strict=True)]


def _arc(skeleton: Skeleton, goal: int, bend: _Bend, side: float) -> Arc:
    """The arc of a goal's chain."""
    turned = bend.turned
    aim = 1.0 - float(skeleton.stiffness[turned[0]]) if bend.rooted else 0.0
    hinged = tuple(skeleton.hinges[turned].tolist())
    shares = tuple(bend.shares.tolist())
    return Arc(goal, bend.points, tuple(turned), shares, hinged, bend.reference, side * bend.axis, aim)


def bend(
    rotations: np.ndarray, kinematics: Kinematics, targets: Targets, arcs: Sequence[Arc], axes: np.ndarray,
    share_of_arc: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Rotations (F, J, 4) with straight chains bent to arcs and turned toward their targets; `kinematics` are theirs.

    If it did not point at its target, an arc would have to bend to the other side for one far from the chain's line.

    axes : (J, 3) of the skeleton's joints. share_of_arc : (F,) of the way to its arc that each chain is bent.
    """
    bent = rotations.copy()
    for arc in arcs:
        line, lengths = _bones(kinematics, arc)
        chord = (line * lengths[..., None]).sum(1)
        axis = (kinematics.matrices[:, arc.reference] @ arc.axis[:, None])[..., 0]
        chord /= np.maximum(np.linalg.norm(chord, axis=-1, keepdims=True), 1e-300)
        axis = axis - (axis * chord).sum(-1, keepdims=True) * chord
        size = np.linalg.norm(axis, axis=-1, keepdims=True)
        axis = np.where(size > LEVEL, axis / np.maximum(size, LEVEL), 0.0)
        crossed = quaternion.cross(line[:, :-1], line[:, 1:])
        total = np.arctan2(np.linalg.norm(crossed, axis=-1), (line[:, :-1] * line[:, 1:]).sum(-1)).sum(-1)
        already = (crossed.sum(1) * axis).sum(-1)
        straight = share_of_arc * np.clip((BENT - total) / (BENT - STRAIGHT), 0.0, 1.0)
        missing = straight * (ARC - already)
        if arc.aim:
            root = arc.turned[0]
            turn = quaternion.between(chord, targets.positions[:, arc.goal] - kinematics.positions[:, root])
            own = (quaternion.log(turn)[:, None] @ kinematics.matrices[:, root])[:, 0] * (arc.aim * straight)[:, None]
            if arc.hinged[0]:
                own = (own @ axes[root])[:, None] * axes[root]
            bent[:, root] = quaternion.product(rotations[:, root], quaternion.exp(own))
        for joint, share, hinged in zip(arc.turned, arc.shares, arc.hinged, strict=True):
            own = (axis[:, None] @ kinematics.matrices[:, joint])[:, 0]
            if hinged:
                own = np.sign(own @ axes[joint])[:, None] * axes[joint]
            turn = quaternion.exp((share * missing)[:, None] * own)
            bent[:, joint] = quaternion.product(bent[:, joint], turn)
    return bent


def stuck(kinematics: Kinematics, targets: Targets, arcs: Sequence[Arc]) -> np.ndarray:
    """Frames (F,) in which a chain lies in one line, folded or not, although its target is nearer than its length."""
    in_line = np.zeros(len(kinematics.positions), dtype=bool)
    for arc in arcs:
        line, lengths = _bones(kinematics, arc)
        astray = np.linalg.norm(quaternion.cross(line[:, :-1], line[:, 1:]), axis=-1).sum(-1)
        away = np.linalg.norm(targets.positions[:, arc.goal] - kinematics.positions[:, arc.points[0]], axis=-1)
        in_line |= (astray < STRAIGHT) & (away < (1.0 - IN_LINE) * lengths.sum(-1))
    return in_line


def _bones(kinematics: Kinematics, arc: Arc) -> tuple[np.ndarray, np.ndarray]:
    """Directions (F, B, 3) and lengths (F, B) of a chain's bones."""
    corners = np.concatenate([kinematics.positions[:, arc.points], kinematics.effectors[:, arc.goal, None]], 1)
    bones = np.diff(corners, axis=1)
    lengths = np.linalg.norm(bones, axis=-1)
    return bones / np.maximum(lengths, 1e-300)[..., None], lengths
