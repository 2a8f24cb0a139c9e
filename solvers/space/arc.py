# SPDX-License-Identifier: GPL-3.0-or-later
"""Straight chains: the arc that they start from.

A straight chain is singular. No small motion brings its end nearer to its root, and the nearest answer may bend it to
any side, and changes sides as the target passes the chain's line. So the pose that the pull aims at has its straight
chains bent to a slight arc, always to the same side, and a solve that ends with a goal missed and its chain straight is
made again from that arc.

A chain counts if all its joints serve one goal alone, none of them slides, and none has a preferred bend: those make
limbs (`limb.py`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import Pose, Skeleton
from .joint_space import JointSpace
from .limb import kept_bend
from .tasks import Kinematics

ARC = float(np.radians(40.0))  # bend of a whole chain
STRAIGHT, BENT = 0.05, 0.2  # [rad] a chain bent by less counts as straight, one bent by more is left alone
IN_LINE = 1e-5  # of a chain's length: a target no nearer to the root than that leaves the chain straight
NO_BONE = 1e-9  # of the skeleton's length: a bone that is shorter has no direction
LEVEL = 0.1  # cosine of the angle between a bone and an axis that it can bend about, at most
ACROSS = 0.9  # of the angle between a bone and its joint's X axis, from which the Z axis is taken
SAME_ROOM = 1e-6  # [rad] by which the one side must have more room for the chain to bend to the other
PARALLEL = 0.99  # cosine of the angle between two axes that count as one


@dataclass(frozen=True)
class Arc:
    """The bend of a straight chain about one axis.

    goal : which the chain serves. points : joints at the ends of its bones, from its root; the effector comes after
    them. turned : joints that bend it, with the `shares` of `ARC` that they turn by, the root's negative, and whether
    they are hinges. reference : the joint in whose frame `axis` (3,) is. aim : share of the way to its target that the
    chain is turned at its root, 0 where that cannot turn.
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
    skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray, space: JointSpace, pulls: bool
) -> list[Arc]:
    """The arcs of the chains of at least two bones that are straight at rest; with a pull, held ones are slight."""
    rest = skeleton.transforms(skeleton.rest_pose().rotations[None], None)[0]
    matrices, places = dual_quaternion.placement(rest)
    moved = set(space.joint.tolist())
    arcs: list[Arc] = []
    for index, goal in enumerate(goals):
        above = chains[index] & skeleton.ancestors[goal.joint]
        path = [j for j in skeleton.order if above[j] and j in moved]
        special = any(
            skeleton.preferred[j].any() or skeleton.kinds[j] == "prismatic" or j in skeleton.detached for j in path
        )
        if goal.position is None or special:
            continue
        alone = [j for j in path if chains[:, j].sum() == 1]
        tip = places[goal.joint] + matrices[goal.joint] @ np.asarray(goal.offset, dtype=float)
        arc = _arc(skeleton, space, index, alone, matrices, np.concatenate([places, tip[None]]), pulls)
        arcs += [arc] if arc is not None else []
    return arcs


def _arc(
    skeleton: Skeleton, space: JointSpace, goal: int, path: list[int], matrices: np.ndarray, places: np.ndarray,
    pulls: bool,
) -> Arc | None:  # fmt: skip
    """The arc of the joints on a path at rest; None if it has less than two bones, is not straight, or cannot bend.

    places : (J + 1, 3) of the joints, then of the effector.
    """
    groups: list[list[int]] = []  # joints in one place
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
    best: list[tuple[int, int]] = []  # joints that turn about the best axis, each with its group
    axis, reference = np.zeros(3), -1
    for joint, own in _axes(skeleton, groups, matrices, line[0]):
        turning = [
            (next((j for j in group if _turns_about(skeleton, j, matrices[j], matrices[joint] @ own)), -1), number)
            for number, group in enumerate(groups)
        ]
        turning = [(j, number) for j, number in turning if j >= 0]
        if sum(number > 0 for _, number in turning) > sum(number > 0 for _, number in best):
            best, axis, reference = turning, own, joint
    inner = sum(number > 0 for _, number in best)
    if not inner:
        return None
    turned = tuple(joint for joint, _ in best)
    shares = np.array([1.0 / inner if number else -0.5 for _, number in best])
    world = matrices[reference] @ axis
    bends = np.array([share * ARC * (matrices[j].T @ world) for j, share in zip(turned, shares, strict=True)])
    room = _room(skeleton, space, list(turned), bends)
    side = -1.0 if room[1] > room[0] + SAME_ROOM else 1.0
    kept = kept_bend(skeleton.hold[list(turned)]) if pulls else 1.0
    shares *= kept
    aim = 0.0 if best[0][1] else (1.0 - float(skeleton.stiffness[turned[0]])) * kept
    hinged = tuple(skeleton.kinds[j] == "hinge" for j in turned)
    points = tuple(group[0] for group in groups)
    return Arc(goal, points, turned, tuple(shares.tolist()), hinged, reference, side * axis, aim)


def _axes(
    skeleton: Skeleton, groups: list[list[int]], matrices: np.ndarray, line: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Axes square to a line that a chain may bend about, each with the joint in whose frame it is."""
    for joint in [joint for group in groups for joint in group]:
        if skeleton.kinds[joint] == "hinge" and abs(matrices[joint] @ skeleton.axis[joint] @ line) <= LEVEL:
            yield joint, skeleton.axis[joint]
    first = groups[0][0]
    along = matrices[first].T @ line
    own = np.eye(3)[0 if abs(along[0]) < ACROSS else 2]
    own = own - (own @ along) * along
    yield first, own / np.linalg.norm(own)


def _turns_about(skeleton: Skeleton, joint: int, matrix: np.ndarray, axis: np.ndarray) -> bool:
    kind = skeleton.kinds[joint]
    return kind == "ball" or (kind == "hinge" and abs(matrix @ skeleton.axis[joint] @ axis) >= PARALLEL)


def _room(skeleton: Skeleton, space: JointSpace, joints: list[int], bends: np.ndarray) -> np.ndarray:
    """How far (2,) [rad] in all the limits let joints turn by rotation vectors (K, 3) in their own frames, and back."""
    for row, joint in enumerate(joints):
        if skeleton.kinds[joint] == "hinge":
            bends[row] = (bends[row] @ skeleton.axis[joint]) * skeleton.axis[joint]
    both = np.stack([bends, -bends])
    rotations = np.tile(quaternion.IDENTITY, (2, len(skeleton), 1))
    rotations[:, joints] = quaternion.exp(both)
    inside = space.state(Pose(rotations, np.zeros((2, len(skeleton), 3))), 2).rotations[:, joints]
    lengths = np.maximum(np.linalg.norm(bends, axis=-1), 1e-300)
    return ((quaternion.log(inside) * both).sum(-1) / lengths).sum(-1)


def bend(
    rotations: np.ndarray, kinematics: Kinematics, targets: Targets, arcs: Sequence[Arc], axes: np.ndarray,
    shares: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Rotations (F, J, 4), at which `kinematics` stand, with straight chains bent to arcs that point at their targets.

    Otherwise an arc would have to bend to the other side for a target far from the chain's line.

    axes : (J, 3) of the skeleton's joints. shares : (F, A) of the way to its arc that each chain is bent.
    """
    bent = rotations.copy()
    for arc, share_of_arc in zip(arcs, shares.T, strict=True):
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
    """Frames (F,) in which a chain lies in one line, folded or not, although its target is nearer than it is long."""
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
