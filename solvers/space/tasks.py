# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of error and Jacobian that goals become.

One sign everywhere: `J d = e` with `e = target - current` (Kenwright eq. 23; his eq. 26 ends the other way round).
Positions are divided by the skeleton's length and rotations are counted as `ROTATION_LENGTH` of it a radian, so that
metres and radians can be compared and a rig in centimetres solves like one in metres.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import Skeleton
from .joint_space import JointSpace, State
from .poles import Pole, PoleTasks

ROTATION_LENGTH = 0.25  # [skeleton lengths / rad]
PRIORITY_STEP = 30.0  # weight of one priority over the next lower
PRIORITY_SPAN = 1000.0  # and of the highest over the lowest, at most: beyond it the squares lose their digits


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
    offsets : (G, 3) the effectors' places in their joints' frames.
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
        self.offsets = np.array([goal.offset for goal in goals], dtype=float).reshape(-1, 3)
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
        effectors = positions[:, self.joint] + (matrices[:, self.joint] @ self.offsets[..., None])[..., 0]
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

    def row_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (G,) of each goal's position rows and rotation rows; 0 where there are none."""
        position, rotation = np.zeros((2, self.count))
        position[self._at], rotation[self._turned] = self._position_weight, self._rotation_weight
        return position, rotation

    def within(self, error: np.ndarray, tolerance: float, rotation_tolerance: float) -> np.ndarray:
        """Request (F,) all of whose goals are met to `tolerance` [length units] and `rotation_tolerance` [rad]."""
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


def priority_weights(priorities: Sequence[int]) -> np.ndarray:
    """Row weights (G,) of goals of these priorities: `PRIORITY_STEP` a level, `PRIORITY_SPAN` in all at most."""
    levels = sorted(set(priorities))
    step = min(PRIORITY_STEP, PRIORITY_SPAN ** (1.0 / max(len(levels) - 1, 1)))
    return np.array([step ** levels.index(priority) for priority in priorities])
