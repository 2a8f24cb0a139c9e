# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a skeleton: goals, and the rows of error and Jacobian that they become.

One sign everywhere: `J d = e` with `e = target - current` (Kenwright eq. 23; his eq. 26 ends the other way round).
Positions are divided by the skeleton's length and rotations are counted as `ROTATION_LENGTH` of it a radian, so that
metres and radians can be compared and a rig in centimetres solves like one in metres.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from . import dual_quaternion, quaternion
from .errors import InvalidGoal
from .joint_space import JointSpace, State
from .poles import Pole, PoleTasks
from .skeleton import Skeleton, vector

ROTATION_LENGTH = 0.25  # [skeleton lengths / rad]
YIELD_EXCESS = 0.01  # of a chain's reach beyond it, at which a goal counts half
YIELD_FLOOR = 0.02  # what it counts at least
YIELD_REACH = 0.05  # of a chain's reach beyond it, from which a target further off is drawn in
PRIORITY_STEP = 30.0  # weight of one priority over the next lower
PRIORITY_SPAN = 1000.0  # and of the highest over the lowest, at most: beyond it the squares lose their digits


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


class Kinematics(NamedTuple):
    """A state's world transforms (F, J, 8) and what the errors and Jacobians read from them."""

    matrices: np.ndarray  # (F, J, 3, 3)
    positions: np.ndarray  # (F, J, 3)
    rotations: np.ndarray  # (F, J, 4)
    effectors: np.ndarray  # (F, G, 3)


class Tasks:
    """The rows of all goals: positions, then rotations, then poles. `m` rows, weights included.

    Attributes
    ----------
    moves : (G, n) 1 where a degree of freedom belongs to the goal's chain and acts on it.
    weights : (2, G) what a length and what a radian of each goal count; 0 where not asked for.
    placed : (P,) goals that ask for a position, in the order of their rows.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        goals: Sequence[Goal],
        space: JointSpace,
        chains: np.ndarray,
        poles: Sequence[Pole] = (),
    ) -> None:
        self.skeleton, self.space = skeleton, space
        self.count = len(goals)
        self.length = skeleton.length
        self.joint = np.array([goal.joint for goal in goals], dtype=np.intp)
        self.moves = chains[:, space.joint].astype(float)
        scale = priority_weights([goal.priority for goal in goals])
        self._at = np.array([g for g, goal in enumerate(goals) if goal.position is not None], dtype=np.intp)
        self._turned = np.array([g for g, goal in enumerate(goals) if goal.rotation is not None], dtype=np.intp)
        self.placed = self._at
        self._offsets = np.array([goal.offset for goal in goals], dtype=float).reshape(-1, 3)
        self._position_weight = (
            np.array([scale[g] * goals[g].position_weight for g in map(int, self._at)]) / self.length
        )
        self._rotation_weight = ROTATION_LENGTH * np.array(
            [scale[g] * goals[g].rotation_weight for g in map(int, self._turned)]
        )
        self.weights = np.zeros((2, self.count))
        self.weights[0, self._at], self.weights[1, self._turned] = self._position_weight, self._rotation_weight
        self.m = 3 * (len(self._at) + len(self._turned))  # rows without the poles'
        self.poles = PoleTasks(poles, self.moves, skeleton, self.joint, space.joint) if poles else None
        self._position_moves = (self.moves[self._at] * self._position_weight[:, None])[:, None, :]
        # a rotation of a detached segment does not follow from joints above it
        same = skeleton.segment[self.joint[self._turned]][:, None] == skeleton.segment[space.joint]
        self._rotation_moves = (self.moves[self._turned] * same * self._rotation_weight[:, None] * space.turns)[
            :, None, :
        ]
        self._slides = ~space.turns
        self._levers = skeleton.levers(self.joint[self._at], space.joint) if skeleton.detached else None

    def kinematics(self, state: State, links: np.ndarray | None) -> Kinematics:
        """World transforms of a state; `links` as in `Skeleton.transforms`."""
        world = self.skeleton.transforms(state.rotations, self.space.slides(state.x), links)
        matrices, positions = dual_quaternion.placement(world)
        effectors = positions[:, self.joint] + (matrices[:, self.joint] @ self._offsets[..., None])[..., 0]
        return Kinematics(matrices, positions, world[..., :4], effectors)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Error rows (F, m), `target - current`; rotations as `log(target conj(current))`, the short way."""
        frames = len(kinematics.positions)
        parts: list[np.ndarray] = []
        if self._at.size:
            away = targets.positions[:, self._at] - kinematics.effectors[:, self._at]
            parts.append((away * self._position_weight[:, None]).reshape(frames, -1))
        if self._turned.size:
            turn = self.rotation_errors(kinematics, targets)
            parts.append((turn * self._rotation_weight[:, None]).reshape(frames, -1))
        if targets.shares is not None:
            parts = [part * shares for part, shares in zip(parts, self._row_shares(targets.shares), strict=True)]
        if self.poles:
            parts.append(self.poles.errors(kinematics.positions, kinematics.effectors, targets.poles))
        return np.concatenate(parts, -1) if len(parts) > 1 else parts[0]

    def rotation_errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) from the goals' joints to their targets, in the skeleton's frame."""
        current = kinematics.rotations[:, self.joint[self._turned]]
        return quaternion.log(quaternion.product(targets.rotations[:, self._turned], quaternion.conjugate(current)))

    def jacobian(self, state: State, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """`J` (F, m, n) with `e(state + d) ~ e - J d`: velocity columns `(u ; u x (effector - p))` (Amino)."""
        columns = self.space.axes(state, kinematics.matrices)  # (F, J, 3, 3)
        axes = self.space.rows(columns)  # u (F, 3, n)
        moments = self.space.rows(quaternion.skew(kinematics.positions) @ columns)  # p x u, the twist's linear part
        if self._slides.any():
            moments[:, :, self._slides] = axes[:, :, self._slides]
            axes = np.where(self._slides, 0.0, axes)
        rows = np.empty((len(axes), self.m + (len(self.poles.poles) if self.poles else 0), self.space.n))
        split = 3 * len(self._at)
        if self._at.size:
            effectors = kinematics.effectors[:, self._at]
            if self._levers is None:  # u x (e - p) = p x u - e x u
                moved = moments[:, None] - quaternion.skew(effectors) @ axes[:, None]
            else:
                away = (self._levers >= 0)[..., None]
                points = np.where(away, kinematics.positions[:, self._levers], effectors[:, :, None])  # (F, P, n, 3)
                moved = moments[:, None] - np.swapaxes(cross(points, np.swapaxes(axes, -1, -2)[:, None]), -1, -2)
            np.multiply(moved, self._position_moves, out=rows[:, :split].reshape(moved.shape))
        if self._turned.size:
            turned = rows[:, split : self.m]
            turned[...] = (axes[:, None] * self._rotation_moves).reshape(turned.shape)
        if targets.shares is not None:
            rows[:, : self.m] *= np.concatenate(self._row_shares(targets.shares), -1)[..., None]
        if self.poles:
            rows[:, self.m :] = self.poles.jacobian(
                kinematics.positions, kinematics.effectors, targets.poles, np.swapaxes(axes, -1, -2),
                np.swapaxes(moments, -1, -2),
            )  # fmt: skip
        return rows

    def pose_rows(self, shares: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Of the goals that ask for a rotation and a position: rows (P, 6), rotation first, and weights (F or 1, P, 2).

        `shares` as in `Targets`. A goal of which one part weighs nothing asks for the other alone.
        """
        both, at, turned = np.intersect1d(self._at, self._turned, return_indices=True)
        rows = 3 * np.stack([len(self._at) + turned, at], -1)[..., None] + np.arange(3)
        weights = np.stack([self._rotation_weight[turned], self._position_weight[at]], -1)
        count = (weights > 0.0).all(-1)
        scale = np.ones((1, both.size)) if shares is None else shares[:, both]
        return rows.reshape(-1, 6)[count], (weights * scale[..., None])[:, count]

    def _row_shares(self, shares: np.ndarray) -> list[np.ndarray]:
        """Shares (F, G) of the goals as shares of the position rows and of the rotation rows, where there are any."""
        return [np.repeat(shares[:, goals], 3, axis=-1) for goals in (self._at, self._turned) if goals.size]

    def within(self, error: np.ndarray, tolerance: float, rotation_tolerance: float) -> np.ndarray:
        """Frames (F,) all of whose goals are met to `tolerance` [length units] and `rotation_tolerance` [rad]."""
        square = (error[:, : self.m].reshape(len(error), -1, 3) ** 2).sum(-1)
        bound = np.concatenate([self._position_weight * tolerance,
                                self._rotation_weight * rotation_tolerance])  # fmt: skip
        return (square <= bound * bound).all(-1)

    def report(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Plain errors of all goals: distances (F, G) [length units] and angles (F, G) [rad]; 0 where not asked."""
        frames = len(kinematics.positions)
        distances, angles = np.zeros((2, frames, self.count))
        if self._at.size:
            away = targets.positions[:, self._at] - kinematics.effectors[:, self._at]
            distances[:, self._at] = np.sqrt((away * away).sum(-1))
        if self._turned.size:
            turn = self.rotation_errors(kinematics, targets)
            angles[:, self._turned] = np.sqrt((turn * turn).sum(-1))
        return distances, angles


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a x b` of (..., 3) arrays; `numpy.cross` costs ten times as much on small ones."""
    c = np.empty(np.broadcast_shapes(a.shape, b.shape))
    c[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    c[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    c[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return c


class Yielding:
    """Which goals yield to others because their targets lie beyond their chain's reach.

    A sum of squares lets a goal that cannot be met drag down one that can. How far a target lies beyond a chain's
    length depends on the target alone, so the shares, and with them the answer, change as smoothly as it does.
    Chains that slide, or whose root another goal moves, have no fixed reach and never yield.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], space: JointSpace, chains: np.ndarray) -> None:
        movable = np.zeros(len(skeleton), dtype=bool)
        movable[space.joint] = True
        sliding = np.zeros(len(skeleton), dtype=bool)
        sliding[space.joint[~space.turns]] = True
        self._goals: list[int] = []
        self._top: list[int] = []
        paths: list[np.ndarray] = []
        extra: list[float] = []
        for index, goal in enumerate(goals):
            top = next((j for j in skeleton.order if chains[index, j] and movable[j]), None)
            if goal.position is None or top is None or (skeleton.ancestors[top] & movable).sum() > 1:
                continue
            if (sliding & skeleton.ancestors[goal.joint]).any():
                continue
            self._goals.append(index)
            self._top.append(top)
            paths.append(
                skeleton.ancestors[goal.joint] & skeleton.ancestors[:, top] & (np.arange(len(skeleton)) != top)
            )
            extra.append(float(np.linalg.norm(goal.offset)))
        self._paths, self._extra = np.array(paths, dtype=float).reshape(len(paths), len(skeleton)).T, np.array(extra)
        self._alone = len(goals) < 2 or not self._goals

    def targets(self, positions: np.ndarray, links: np.ndarray, targets: Targets) -> Targets:
        """The targets as the solve should see them: those out of reach drawn in to just beyond it, at lower shares.

        positions : (F, J, 3) of the joints in any pose. links : (F or 1, J, 8) as in `Skeleton.transforms`.
        """
        if self._alone:
            return targets
        offsets = 2.0 * np.sqrt((links[..., 4:] ** 2).sum(-1))  # |d| = |t| / 2
        reach = np.maximum(offsets @ self._paths + self._extra, 1e-12)
        root = positions[:, self._top]
        away = targets.positions[:, self._goals] - root
        ratio = np.sqrt((away * away).sum(-1)) / reach
        if ratio.max(initial=0.0) <= 1.0:
            return targets
        drawn, shares = targets.positions.copy(), np.ones(targets.positions.shape[:2])
        # others to the last digit as they are: a frame's answer must not depend on what else is in its batch
        far = root + away * ((1.0 + YIELD_REACH) / np.maximum(ratio, 1e-12))[..., None]
        drawn[:, self._goals] = np.where((ratio > 1.0 + YIELD_REACH)[..., None], far, drawn[:, self._goals])
        excess = np.maximum(ratio - 1.0, 0.0) / YIELD_EXCESS
        shares[:, self._goals] = np.maximum(1.0 / (1.0 + excess * excess), YIELD_FLOOR)
        return targets._replace(positions=drawn, shares=shares)


def priority_weights(priorities: Sequence[int]) -> np.ndarray:
    """Row weights (G,) of goals of these priorities: `PRIORITY_STEP` a level, `PRIORITY_SPAN` in all at most."""
    levels = sorted(set(priorities))
    step = min(PRIORITY_STEP, PRIORITY_SPAN ** (1.0 / max(len(levels) - 1, 1)))
    return np.array([step ** levels.index(priority) for priority in priorities])
