# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs of the kinds of tasks: their setup, and the kinematics that errors and Jacobians read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra import dual_quaternion, quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from ..joint_space import JointSpace
from ..poles import Pole

ROTATION_LENGTH = 0.25  # [skeleton lengths / rad]
PRIORITY_STEP = 6.0  # weight of one priority over the next lower: more makes descents slow
PRIORITY_SPAN = 1000.0  # largest weight of the highest over the lowest: beyond it the squares lose their digits


class Setup(NamedTuple):
    """The G goals of a stage, and the n degrees of freedom that may move."""

    skeleton: Skeleton
    goals: Sequence[Goal]
    space: JointSpace
    poles: Sequence[Pole]
    joint: np.ndarray  # (G,) joint that carries each effector
    moves: np.ndarray  # (G, n) 1 where a degree of freedom belongs to the goal's chain
    scale: np.ndarray  # (G,) weight of each goal's priority
    points: Sequence[slice]  # (G) of the goals' points among those of all stages
    moved: np.ndarray  # (G, n) bool, degrees of freedom of the goal's chain and of joints coupled to it

    def some(self, numbers: np.ndarray) -> list[Goal]:
        """Some of the goals."""
        return [self.goals[int(g)] for g in numbers]


class Kinematics(NamedTuple):
    """A state's world transforms and coordinates, as errors and Jacobians read them."""

    matrices: np.ndarray  # (F, J, 3, 3)
    positions: np.ndarray  # (F, J, 3)
    rotations: np.ndarray  # (F, J, 4)
    effectors: np.ndarray  # (F, G, 3)
    coordinates: np.ndarray  # (F, n) of the joints


class Columns(NamedTuple):
    """The velocities of the degrees of freedom, as twists about the origin: `v(x) = moments + axes x x`."""

    axes: np.ndarray  # (F, 3, n) u, 0 for slides
    moments: np.ndarray  # (F, 3, n) p x u, the direction for slides


class Target(NamedTuple):
    """The target of one goal of one frame, in the skeleton's frame; as in `Targets`."""

    position: np.ndarray  # (3,)
    rotation: np.ndarray  # (4,)
    points: np.ndarray  # (K, 3)


class Points:
    """P points fixed to joints, and the degrees of freedom that move them.

    Attributes
    ----------
    joint : (P,) that carry them. offsets : (P, 3) in the joints' frames. moves : (P, n) 1 where a degree of freedom may
        move the point, else 0.
    """

    def __init__(self, setup: Setup, joint: np.ndarray, offsets: np.ndarray, chains: np.ndarray) -> None:
        """`chains` (P, n): 1 where a degree of freedom belongs to the chain of the point's goal."""
        skeleton, space = setup.skeleton, setup.space
        self.joint, self.offsets = joint, offsets
        self.moves = chains * skeleton.ancestors[joint][:, space.joint]
        self.levers = skeleton.levers(joint, space.joint)
        self._detached = bool(skeleton.detached)

    def at(self, kinematics: Kinematics) -> np.ndarray:
        """World positions (F, P, 3)."""
        turned = kinematics.matrices[:, self.joint] @ self.offsets[..., None]
        return kinematics.positions[:, self.joint] + turned[..., 0]

    def columns(self, columns: Columns, kinematics: Kinematics, at: np.ndarray) -> np.ndarray:
        """Velocities (F, P, 3, n) of the points, which are `at` (F, P, 3)."""
        return velocities(columns, kinematics, at, self.levers, self._detached) * self.moves[:, None, :]


class TargetFrames:
    """The targets of some goals: in the skeleton's frame, or carried by joints of the same skeleton.

    Attributes
    ----------
    moves : (T, n) 1 where a degree of freedom may move the target's place. turns : (T, n) bool, may turn it.
    """

    def __init__(self, setup: Setup, goals: np.ndarray) -> None:
        self._goals = goals
        joint = [-1 if goal.target_joint is None else int(goal.target_joint) for goal in setup.some(goals)]
        self._carried = np.flatnonzero(np.array(joint, dtype=np.intp) >= 0)
        carriers, carried = np.array(joint, dtype=np.intp)[self._carried], goals[self._carried]
        self._points = Points(setup, carriers, np.zeros((len(carriers), 3)), setup.moves[carried])
        self.moves = np.zeros((len(goals), setup.space.n))
        self.moves[self._carried] = self._points.moves
        self.turns = np.zeros(self.moves.shape, dtype=bool)
        self.turns[self._carried] = turning(setup, carried, carriers)

    def at(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """World positions (F, T, 3)."""
        places = targets.positions[:, self._goals]
        if self._carried.size:
            own = kinematics.matrices[:, self._points.joint] @ places[:, self._carried, :, None]
            places[:, self._carried] = kinematics.positions[:, self._points.joint] + own[..., 0]
        return places

    def turned(self, kinematics: Kinematics, targets: Targets, axes: np.ndarray) -> np.ndarray:
        """World directions (F, T, 3) of axes (T, 3) of the targets."""
        lines = quaternion.rotate(targets.rotations[:, self._goals], axes)
        if self._carried.size:
            own = kinematics.matrices[:, self._points.joint] @ lines[:, self._carried, :, None]
            lines[:, self._carried] = own[..., 0]
        return lines

    def rotations(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """World orientations (F, T, 4)."""
        turns = targets.rotations[:, self._goals]
        if self._carried.size:
            carriers = kinematics.rotations[:, self._points.joint]
            turns[:, self._carried] = quaternion.product(carriers, turns[:, self._carried])
        return turns

    def less(self, moved: np.ndarray, columns: Columns, kinematics: Kinematics, at: np.ndarray) -> np.ndarray:
        """Velocities `moved` (F, T, 3, n) less those of the targets, which are `at` (F, T, 3); changed in place."""
        if self._carried.size:
            moved[:, self._carried] -= self._points.columns(columns, kinematics, at[:, self._carried])
        return moved

    def pack(self, index: int, tips: Points | None = None) -> dict[str, Any]:
        """The kernel's data of one goal's effector, of `tips` (T), and of its target: see `dqik_task`."""
        if index not in self._carried:
            return {"levers": None if tips is None else tips.levers[index]}
        row = int(np.searchsorted(self._carried, index))
        packed = {"levers": None, "carrier": self._points.joint[row]}
        if tips is not None:
            packed["levers"] = np.stack([tips.levers[index], self._points.levers[row]])
            packed["moves"] = np.stack([tips.moves[index], self._points.moves[row]]) > 0.0
        return packed


def velocities(
    columns: Columns, kinematics: Kinematics, points: np.ndarray, levers: np.ndarray, detached: bool
) -> np.ndarray:
    """Velocity columns `u x (X - p)` (Amino) of points X (F, P, 3), as (F, P, 3, n).

    levers : (P, n) as in `Skeleton.levers`. For joints above a detached segment the segment's head takes the point's
    place, since they only move it.
    """
    axes, moments = columns
    if detached:
        away = (levers >= 0)[..., None]
        carried = np.where(away, kinematics.positions[:, levers], points[:, :, None])  # (F, P, n, 3)
        return moments[:, None] - np.swapaxes(quaternion.cross(carried, np.swapaxes(axes, -1, -2)[:, None]), -1, -2)
    return moments[:, None] - quaternion.skew(points) @ axes[:, None]  # u x (X - p) = p x u - X x u


def turning(setup: Setup, goals: np.ndarray, joint: np.ndarray | None = None) -> np.ndarray:
    """Degrees of freedom (T, n) bool of the chains of goals (T,) that turn joints (T,); None: the goals' own."""
    skeleton, space, joint = setup.skeleton, setup.space, setup.joint[goals] if joint is None else joint
    above = skeleton.ancestors[joint][:, space.joint]
    same = skeleton.segment[joint][:, None] == skeleton.segment[space.joint]  # a detached segment keeps its orientation
    return (setup.moves[goals] > 0.0) & space.turns & above & same


def effector(goal: Goal, world: np.ndarray) -> np.ndarray:
    """The place (3,) of a goal's effector in a pose with these transforms (J, 8)."""
    return dual_quaternion.transform(world[goal.joint], np.asarray(goal.offset, dtype=float))


def of_kind(setup: Setup, kind: str | None) -> np.ndarray:
    """The numbers of the stage's goals of one kind."""
    return np.array([g for g, goal in enumerate(setup.goals) if goal.kind == kind], dtype=np.intp)


def points_in(targets: Targets) -> np.ndarray:
    """The points (F, P, 3) of all goals."""
    return np.zeros((len(targets.positions), 0, 3)) if targets.points is None else targets.points


def weights_of(setup: Setup, goals: np.ndarray, unit: str | None) -> np.ndarray:
    """The weights (T,) of a unit of error of goals that miss in lengths or angles."""
    if unit == "length":
        own = np.array([goal.position_weight for goal in setup.some(goals)]) / setup.skeleton.length
    else:
        own = ROTATION_LENGTH * np.array([goal.rotation_weight for goal in setup.some(goals)])
    return setup.scale[goals] * own


def one_point(setup: Setup, goals: np.ndarray) -> Points:
    """The effectors of some goals."""
    offsets = np.array([goal.offset for goal in setup.some(goals)], dtype=float).reshape(-1, 3)
    return Points(setup, setup.joint[goals], offsets, setup.moves[goals])


def priority_weights(priorities: Sequence[int]) -> np.ndarray:
    """Row weights (G,) of goals of these priorities: `PRIORITY_STEP` per level, `PRIORITY_SPAN` in all at most."""
    levels = sorted(set(priorities))
    step = min(PRIORITY_STEP, PRIORITY_SPAN ** (1.0 / max(len(levels) - 1, 1)))
    return np.array([step ** levels.index(priority) for priority in priorities])
