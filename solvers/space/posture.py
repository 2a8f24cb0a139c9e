# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions and orientations of joints during a sweep, updated after each joint's turn.

A turn moves only the joints below, so only these are updated. A detached segment (whose head does not inherit rotation)
is carried along by its head and keeps its orientation.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..algebra import quaternion
from ..model.skeleton import JOINT_KINDS, JointKind, Skeleton
from .joint_space import JointSpace, State
from .point import Point, Request
from .tasks import Tasks

LEAST_ARM = 1e-12  # of the skeleton's length: a point nearer to a joint counts as lying on it


@dataclass
class Visit:
    """One joint of a sweep, and the goals, joints and points that it moves.

    block : its degrees of freedom. share : the part of each turn that it makes, 1 - stiffness.
    goals : goals in whose chains it is and whose effectors it moves. levers : per goal, the joint that carries the turn
        to the effector, -1 for the effector itself.
    turning : goals in whose chains it is and whose orientations it turns. turn_shares : of their weights, below 1 for
        goals whose rotations follow a limb that it turns.
    turned, swept : joints that turn with it, and the points of a `Posture` that rotate about it.
    carried : detached heads below it, each with the points that move with the head.
    """

    joint: int
    block: slice
    kind: JointKind
    share: float
    goals: np.ndarray
    levers: np.ndarray
    turning: np.ndarray
    turn_shares: np.ndarray
    turned: np.ndarray
    swept: np.ndarray
    carried: list[tuple[int, np.ndarray]]

    def alone(self, which: np.ndarray) -> "Visit":
        """The same joint for the positions of some of its goals only."""
        return replace(self, goals=self.goals[which], levers=self.levers[which], turning=self.turning[:0],
                       turn_shares=self.turn_shares[:0])  # fmt: skip


def visits(tasks: Tasks, space: JointSpace) -> list[Visit]:
    """The joints that move or turn a goal's effector, from the roots to the tips."""
    skeleton = tasks.skeleton
    places, turns = (weight > 0.0 for weight in tasks.weights)
    levers = skeleton.levers(tasks.joint, np.arange(len(skeleton)))
    order: list[Visit] = []
    fixed = np.ones(tasks.count)  # share of each goal's rotation that a joint above its own turns
    fixed[tasks.carry.goals] -= tasks.carry.follows
    blocks = {int(space.joint[block.start]): block for block in space.blocks}
    for joint in (joint for joint in skeleton.order if joint in blocks):
        block = blocks[joint]
        in_chain = tasks.moves[:, block.start] > 0.0
        goals = np.flatnonzero(in_chain & places)
        same = skeleton.segment[tasks.joint] == skeleton.segment[joint]
        share = np.where(tasks.joint == joint, 1.0, fixed)
        turning = np.flatnonzero(in_chain & turns & same & bool(space.turns[block.start]) & (share > 0.0))
        if not goals.size and not turning.size:
            continue
        order.append(Visit(
            joint, block, JOINT_KINDS[skeleton.kinds[joint]], 1.0 - float(skeleton.stiffness[joint]), goals,
            levers[goals, joint], turning, share[turning], *_below(skeleton, joint, tasks.joint),
        ))  # fmt: skip
    return order


def _below(
    skeleton: Skeleton, joint: int, carriers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, np.ndarray]]]:
    """Joints that turn with a joint, points that do, and the detached heads that it only moves, with their points.

    carriers : (G,) joints that hold the goals' effectors.
    """
    points = np.concatenate([np.arange(len(skeleton)), carriers])
    same = skeleton.ancestors[:, joint] & (skeleton.segment == skeleton.segment[joint])
    carried = [
        (head, np.flatnonzero(skeleton.ancestors[points, head]))
        for head in skeleton.detached if same[skeleton.parent[head]]
    ]  # fmt: skip
    return np.flatnonzero(same), np.flatnonzero(same[points]), carried


class Posture:
    """States of F frames with the positions and orientations of their joints, updated joint by joint.

    A frame's answer does not depend, to the last bit, on the number of other frames: so parts are taken by `take`,
    whose memory layout is the same for any number, and no matrix product has the frames as rows.

    Attributes
    ----------
    state : a copy of the point's state, changed in place.
    points : (F, J + G, 3) positions of the joints, then of the effectors. matrices : (F, J, 3, 3) orientations of
        joints.
    places, turns : (F or 1, G) weights of the goals' squared distances and angles.
    """

    def __init__(self, tasks: Tasks, point: Point, frames: Request) -> None:
        at, targets = point.kinematics, frames.targets
        self.state = State(point.state.rotations.copy(), point.state.x.copy())
        self.points, self.matrices = np.concatenate([at.positions, at.effectors], 1), at.matrices.copy()
        shares = 1.0 if targets.shares is None else targets.shares
        self.places, self.turns = (tasks.weights[:, None] * shares) ** 2
        self._targets, self._orientations = targets.positions, quaternion.to_matrix(targets.rotations)
        self._carry, self._rotations = tasks.carry, targets.rotations
        self._least_arm = LEAST_ARM * tasks.length
        self._carriers, self._joints, self._axis = tasks.joint, len(tasks.skeleton), tasks.skeleton.axis

    def axis(self, visit: Visit) -> np.ndarray:
        """The world axis (F, 3) of a hinge or a slide."""
        return self.matrices[:, visit.joint] @ self._axis[visit.joint]

    def arms(self, visit: Visit) -> tuple[np.ndarray, np.ndarray]:
        """Vectors from the joint to the lever or effector of each goal (F, P, 3), and to its target (F, P, 3).

        An arm shorter than `LEAST_ARM` is exactly 0, so that rounding gives it no direction.
        """
        origin = self.points[:, None, visit.joint]
        effectors, targets = self.points.take(self._joints + visit.goals, 1), self._targets.take(visit.goals, 1)
        ends = targets - origin
        arms = effectors - origin
        if (visit.levers >= 0).any():
            away = (visit.levers >= 0)[:, None]
            arms = np.where(away, self.points.take(visit.levers, 1, mode="clip") - origin, arms)
            ends = np.where(away, arms + (targets - effectors), ends)
        return np.where(((arms * arms).sum(-1) > self._least_arm**2)[..., None], arms, 0.0), ends

    def orientations(self, visit: Visit) -> tuple[np.ndarray, np.ndarray]:
        """Orientations (F, R, 3, 3) of the goals that a joint turns, and their targets."""
        return self.matrices.take(self._carriers[visit.turning], 1), self.wanted().take(visit.turning, 1)

    def wanted(self) -> np.ndarray:
        """Orientations (F, G, 3, 3) of the goals' targets, as the present pose carries them."""
        carry = self._carry
        if not carry.goals.size:
            return self._orientations
        rotations = np.zeros((*self.matrices.shape[:2], 4))
        rotations[:, carry.limbs] = quaternion.from_matrix(self.matrices.take(carry.limbs, 1))
        return quaternion.to_matrix(carry.carried(rotations, self._rotations))

    def turn(self, visit: Visit, turn: np.ndarray, motion: np.ndarray, x: np.ndarray) -> None:
        """Turn everything below a joint by `turn` (F, 3, 3) and set its motion (F, 4) and coordinates (F, k)."""
        self.state.rotations[:, visit.joint], self.state.x[:, visit.block] = motion, x
        origin, back = self.points[:, None, visit.joint], np.swapaxes(turn, -1, -2)
        for head, points in visit.carried:
            away = self.points[:, None, head] - origin
            self.points[:, points] += away @ back - away
        self.points[:, visit.swept] = origin + (self.points.take(visit.swept, 1) - origin) @ back
        self.matrices[:, visit.turned] = turn[:, None] @ self.matrices.take(visit.turned, 1)

    def move(self, space: JointSpace, visit: Visit, motion: np.ndarray) -> None:
        """Set a joint's motion (F, 4), or the nearest one inside its limits.

        The turn in the skeleton's frame is made from a unit quaternion, so that rounding in the matrices does not grow
        from joint to joint, which would lengthen a chain of a hundred joints.
        """
        old, world = self.state.rotations[:, visit.joint], self.matrices[:, visit.joint]
        motion, x = space.nearest(visit.block, motion)
        turn = quaternion.relative(old[:, None], motion[:, None])[:, 0]
        turn[:, 1:] = (world @ turn[:, 1:, None])[..., 0]
        self.turn(visit, quaternion.to_matrix(quaternion.normalize(turn)[:, None])[:, 0], motion, x)

    def slide(self, visit: Visit, axis: np.ndarray, x: np.ndarray) -> None:
        """Slide a joint to coordinate `x` (F, 1) along its world `axis` (F, 3)."""
        shift = ((x - self.state.x[:, visit.block]) * axis)[:, None]
        self.state.x[:, visit.block] = x
        self.points[:, visit.swept] += shift
        for _, points in visit.carried:
            self.points[:, points] += shift
