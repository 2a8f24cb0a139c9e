# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of a batch of frames stand while one after the other is turned: what a sweep over joints works on.

A turn moves only what hangs below its joint, so only that is brought up to date. Below a joint that does not inherit
rotation a whole segment is carried along by its head and keeps its orientation.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..algebra import quaternion
from ..model.skeleton import Skeleton
from .joint_space import JointSpace, State
from .point import Point, Request
from .tasks import Tasks

LEAST_ARM = 1e-12  # of the skeleton's length: what is nearer to a joint is where the joint is


@dataclass
class Visit:
    """One joint of a sweep, and what it moves.

    block : its degrees of freedom. share : how much of a turn it takes, 1 less its stiffness.
    goals : goals whose places it moves, and `levers`, per goal the joint that carries the turn to it, -1 for itself.
    turning : goals whose orientations it turns. Both are of its own chains alone.
    turned, swept : joints that turn with it, and the points of a `Posture` that go round it.
    carried : detached heads below it, each with the points that go where the head goes.
    """

    joint: int
    block: slice
    kind: str
    share: float
    goals: np.ndarray
    levers: np.ndarray
    turning: np.ndarray
    turned: np.ndarray
    swept: np.ndarray
    carried: list[tuple[int, np.ndarray]]

    def alone(self, which: np.ndarray) -> "Visit":
        """The same joint, for some of its goals' places alone."""
        return replace(self, goals=self.goals[which], levers=self.levers[which], turning=self.turning[:0])


def visits(tasks: Tasks, space: JointSpace) -> list[Visit]:
    """The joints that have a goal to serve, from the roots to the tips."""
    skeleton = tasks.skeleton
    places, turns = (weight > 0.0 for weight in tasks.weights)
    levers = skeleton.levers(tasks.joint, np.arange(len(skeleton)))
    order: list[Visit] = []
    blocks = {int(space.joint[block.start]): block for block in space.blocks}
    for joint in (joint for joint in skeleton.order if joint in blocks):
        block = blocks[joint]
        own = tasks.moves[:, block.start] > 0.0
        goals = np.flatnonzero(own & places)
        same = skeleton.segment[tasks.joint] == skeleton.segment[joint]
        turning = np.flatnonzero(own & turns & same & bool(space.turns[block.start]))
        if not goals.size and not turning.size:
            continue
        order.append(Visit(
            joint, block, skeleton.kinds[joint], 1.0 - float(skeleton.stiffness[joint]), goals, levers[goals, joint],
            turning, *_below(skeleton, joint, tasks.joint),
        ))  # fmt: skip
    return order


def _below(
    skeleton: Skeleton, joint: int, carriers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, np.ndarray]]]:
    """Joints that turn with a joint, points that do, and the detached heads that only go along with their points.

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
    """States of F frames with the places that follow from them, brought up to date joint by joint.

    A frame's answer does not depend on how many others there are, to the last bit: so parts are taken by `take`, which
    lays them out the same for any number, and no product of matrices has the frames for rows.

    Attributes
    ----------
    state : a copy of the point's, changed in place.
    points : (F, J + G, 3) places of the joints, then of the effectors. matrices : (F, J, 3, 3) orientations of joints.
    places, turns : (F or 1, G) weights of the goals' squared distances and angles.
    """

    def __init__(self, tasks: Tasks, point: Point, frames: Request) -> None:
        at, targets = point.kinematics, frames.targets
        self.state = State(point.state.rotations.copy(), point.state.x.copy())
        self.points, self.matrices = np.concatenate([at.positions, at.effectors], 1), at.matrices.copy()
        shares = 1.0 if targets.shares is None else targets.shares
        self.places, self.turns = (tasks.weights[:, None] * shares) ** 2
        self._targets, self._wanted = targets.positions, quaternion.to_matrix(targets.rotations)
        self._least_arm = LEAST_ARM * tasks.length
        self._carriers, self._joints, self._axis = tasks.joint, len(tasks.skeleton), tasks.skeleton.axis

    def axis(self, visit: Visit) -> np.ndarray:
        """The world axis (F, 3) of a hinge or a slide."""
        return self.matrices[:, visit.joint] @ self._axis[visit.joint]

    def arms(self, visit: Visit) -> tuple[np.ndarray, np.ndarray]:
        """From the joint to what it moves of each goal (F, P, 3), and to where that should be (F, P, 3).

        An arm of no length is zero to the last digit, so that rounding gives it no direction.
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
        """Orientations (F, R, 3, 3) of the goals that a joint turns, and those that they should have."""
        return self.matrices.take(self._carriers[visit.turning], 1), self._wanted.take(visit.turning, 1)

    def turn(self, visit: Visit, turn: np.ndarray, motion: np.ndarray, x: np.ndarray) -> None:
        """Turn what hangs below a joint by `turn` (F, 3, 3); its motion (F, 4) and coordinates (F, k) from now on."""
        self.state.rotations[:, visit.joint], self.state.x[:, visit.block] = motion, x
        origin, back = self.points[:, None, visit.joint], np.swapaxes(turn, -1, -2)
        for head, points in visit.carried:
            away = self.points[:, None, head] - origin
            self.points[:, points] += away @ back - away
        self.points[:, visit.swept] = origin + (self.points.take(visit.swept, 1) - origin) @ back
        self.matrices[:, visit.turned] = turn[:, None] @ self.matrices.take(visit.turned, 1)

    def move(self, space: JointSpace, visit: Visit, motion: np.ndarray) -> None:
        """Give a joint another motion (F, 4), or the nearest one inside its limits.

        The turn in the skeleton's frame is a unit quaternion, so that rounding in the matrices is not multiplied from
        joint to joint: a chain of a hundred joints would grow by it.
        """
        old, world = self.state.rotations[:, visit.joint], self.matrices[:, visit.joint]
        motion, x = space.nearest(visit.block, motion)
        turn = quaternion.relative(old[:, None], motion[:, None])[:, 0]
        turn[:, 1:] = (world @ turn[:, 1:, None])[..., 0]
        self.turn(visit, quaternion.to_matrix(quaternion.normalize(turn)[:, None])[:, 0], motion, x)

    def slide(self, visit: Visit, axis: np.ndarray, x: np.ndarray) -> None:
        """Slide a joint to another coordinate (F, 1) along its world `axis` (F, 3)."""
        shift = ((x - self.state.x[:, visit.block]) * axis)[:, None]
        self.state.x[:, visit.block] = x
        self.points[:, visit.swept] += shift
        for _, points in visit.carried:
            self.points[:, points] += shift
