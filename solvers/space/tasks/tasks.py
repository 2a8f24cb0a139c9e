# SPDX-License-Identifier: GPL-3.0-or-later
"""The error rows and Jacobian of all goals: the tasks of all kinds, one kind after the other.

The sign is the same everywhere: `J d = e` with `e = target - current` (Kenwright eq. 23; his eq. 26 has the opposite).
"""

from collections.abc import Sequence

import numpy as np

from ...algebra import dual_quaternion, quaternion
from ...model.carry import Carry
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from ..joint_space import JointSpace, State
from ..poles import Pole
from . import table
from .pole import PoleTasks
from .rotation import RotationTasks
from .setup import ROTATION_LENGTH, Columns, Kinematics, Setup, priority_weights

_UNITS = ("length", "angle")


class Tasks:
    """The tasks of all goals of a stage: first the rows of hard tasks, then of soft ones. Rows include the weights.

    Attributes
    ----------
    kinds : the kinds of tasks, in the order of their rows. rows : per kind, the slice of its rows.
    m : number of rows of hard tasks, which decide whether goals are met. all : number of rows with the soft ones.
    moves : (G, n) 1 where a degree of freedom belongs to the goal's chain and acts on it.
    leads : (G,) bool, goals above the lowest priority; all goals if there is one priority.
    weights : (2, G) of a length and of a radian of each goal; 0 for a goal without a position or rotation.
    offsets : (G, 3) the effectors' positions in their joints' frames.
    placed : (P,) goals with a position, in the order of their rows. oriented : (R,) goals with a rotation, likewise.
    poles : the pole tasks; None if there are none.
    carry : the goals whose rotations follow a limb.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        goals: Sequence[Goal],
        space: JointSpace,
        chains: np.ndarray,
        poles: Sequence[Pole] = (),
        points: Sequence[slice] = (),
        moved: np.ndarray | None = None,
        soft: bool = True,
    ) -> None:
        """`points`: (G) of each goal among those of all stages.

        moved : (G, J) bool, the chains with the joints coupled to them; None if none are. soft : with soft tasks.
        """
        self.skeleton, self.space, self.count, self.length = skeleton, space, len(goals), skeleton.length
        self.joint = np.array([goal.joint for goal in goals], dtype=np.intp)
        self.moves = chains[:, space.joint].astype(float)
        self.offsets = np.array([goal.offset for goal in goals], dtype=float).reshape(-1, 3)
        priority = [goal.priority for goal in goals]
        scale = np.array(priority_weights(priority), dtype=float)
        self.kinds = table.make(Setup(
            skeleton, goals, space, poles, self.joint, self.moves, scale, points or [slice(0, 0)] * self.count,
            (chains if moved is None else moved)[:, space.joint],
        ), soft)  # fmt: skip
        sizes = [kind.size * len(kind.goals) for kind in self.kinds]
        ends = np.cumsum(sizes, dtype=int).tolist()
        self.rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._met = [kind for kind in self.kinds if kind.unit is not None]
        self.m = sum(sizes[: len(self._met)])
        self.all = sum(sizes)
        self.one_sided: np.ndarray | None = self._one_sided()
        self._starts = np.array(
            [rows.start + kind.size * i for kind, rows in self._with_rows() for i in range(len(kind.goals))], dtype=int
        )
        self._bounds = [np.zeros(0), np.zeros(0)]  # per unit, the weights of the tasks with this unit, else 0
        leads = np.array([one > min(priority) for one in priority], dtype=bool)
        self.leads = leads if leads.any() else ~leads
        self._goals = np.concatenate([np.zeros(0, dtype=np.intp), *[kind.goals for kind in self._met]])
        for number, unit in enumerate(_UNITS):
            weights = [kind.weights * (kind.unit == unit) for kind in self._met]
            self._bounds[number] = np.concatenate([np.zeros(0), *weights])
        named = {kind.name: kind for kind in self.kinds}
        self.placed, self.oriented = (
            named[name].goals if name in named else np.zeros(0, dtype=np.intp) for name in ("position", "rotation")
        )
        self.weights = np.zeros((2, self.count))
        for kind in self._met:
            self.weights[_UNITS.index(kind.unit or "length"), kind.goals] = kind.weights
        pole_tasks = named.get("pole")
        self.poles = pole_tasks if isinstance(pole_tasks, PoleTasks) else None
        rotation_tasks = named.get("rotation")
        self._rotation = rotation_tasks if isinstance(rotation_tasks, RotationTasks) else None
        self.carry = Carry(skeleton, []) if self._rotation is None else self._rotation.carry
        self._slides = ~space.turns

    def _with_rows(self) -> list[tuple[table.Kind, slice]]:
        """The hard kinds, with their rows."""
        return list(zip(self._met, self.rows, strict=False))

    @property
    def goal_of_row(self) -> np.ndarray:
        """The goals (m,) of the rows of hard tasks."""
        return np.concatenate([np.zeros(0, dtype=np.intp), *(np.repeat(kind.goals, kind.size) for kind in self._met)])

    @property
    def relative_weights(self) -> np.ndarray:
        """The weights (m,) of the rows of hard tasks, divided by the largest of the same unit."""
        largest = [max(own.max(initial=0.0), np.finfo(float).tiny) for own in self._bounds]
        own = self._bounds[0] / largest[0] + self._bounds[1] / largest[1]
        return np.repeat(own, np.diff(self._starts, append=self.m))

    def _one_sided(self) -> np.ndarray | None:
        """(all,) bool, the rows whose errors count only above 0; None if there are none."""
        mask = np.zeros(self.all, dtype=bool)
        for kind, rows in zip(self.kinds, self.rows, strict=True):
            if kind.one_sided is not None:
                mask[rows] = np.repeat(kind.one_sided, kind.size)
        return mask if mask.any() else None

    def rows_of(self, name: str) -> slice:
        """The rows of one kind; an empty slice if there are no such tasks."""
        return next((rows for kind, rows in zip(self.kinds, self.rows, strict=True) if kind.name == name), slice(0, 0))

    def kinematics(self, state: State, links: np.ndarray | None) -> Kinematics:
        """World transforms of a state; `links` as in `Skeleton.transforms`."""
        world = self.skeleton.transforms(state.rotations, self.space.slides(state.x), links)
        matrices, positions = dual_quaternion.placement(world)
        effectors = positions[:, self.joint] + (matrices[:, self.joint] @ self.offsets[..., None])[..., 0]
        return Kinematics(matrices, positions, world[..., :4], effectors, state.x)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Error rows (F, all), `target - current`, less those wanted; 0 where a one-sided task has room."""
        rows = self.signed_errors(kinematics, targets)
        return rows if self.one_sided is None else np.where(self.one_sided, np.maximum(rows, 0.0), rows)

    def signed_errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """`errors` with the room of one-sided tasks as values below 0: what a step may use up."""
        frames = len(kinematics.positions)
        parts = [
            self._weigh(kind, kind.errors(kinematics, targets), targets.shares).reshape(frames, -1)
            for kind in self.kinds
        ]
        rows = np.concatenate(parts, -1) if len(parts) > 1 else parts[0]
        return rows if targets.wanted is None else rows - targets.wanted

    def target_motion(self, now: Targets, then: Targets, kinematics: Kinematics) -> np.ndarray:
        """Rows (F, all) of the targets' motion from one frame to the next in a pose that stays.

        They have the shares of the first frame.
        """
        now, then = (
            targets._replace(rotations=self.carry.carried(kinematics.rotations, targets.rotations))
            for targets in (now, then)
        )
        frames = len(now.positions)
        parts = [self._weigh(kind, kind.target_motion(now, then), now.shares) for kind in self.kinds]
        return np.concatenate([part.reshape(frames, -1) for part in parts], -1)

    @staticmethod
    def _weigh(kind: table.Kind, errors: np.ndarray, shares: np.ndarray | None) -> np.ndarray:
        """Errors (F, T, size) times weights and, for hard tasks, shares."""
        weighted = errors * kind.weights[:, None]
        return weighted if shares is None or kind.unit is None else weighted * shares[:, kind.goals, None]

    def misses(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, G) of the goals that have a weight: the distance [skeleton lengths] or, if larger, the angle.

        An angle counts as in `RotationTasks`.
        """
        distances, angles = self.report(kinematics, targets)
        weights = self.weights > 0.0
        return np.maximum(weights[0] * distances / self.length, weights[1] * ROTATION_LENGTH * angles)

    def shifted(self, targets: Targets, kinematics: Kinematics, wanted: Targets, shares: np.ndarray) -> Targets:
        """`targets` moved and turned by shares (F, G) of the goals' errors from the targets `wanted`."""
        moved = targets.positions.copy()
        away = wanted.positions[:, self.placed] - kinematics.effectors[:, self.placed]
        moved[:, self.placed] += shares[:, self.placed, None] * away
        if self._rotation is None:
            return targets._replace(positions=moved)
        turns = shares[:, self.oriented, None] * self.rotation_errors(kinematics, wanted)
        return targets._replace(positions=moved, rotations=self._rotation.turned(targets, kinematics, turns))

    def rotation_errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Rotation vectors (F, R, 3) from the goals' joints to their targets, in the skeleton's frame."""
        if self._rotation is None:
            return np.zeros((len(kinematics.positions), 0, 3))
        return self._rotation.errors(kinematics, targets)

    def columns(self, state: State, kinematics: Kinematics) -> Columns:
        """The velocities of the degrees of freedom."""
        columns = self.space.axes(state, kinematics.matrices)  # (F, J, 3, 3)
        axes = self.space.rows(columns)
        moments = self.space.rows(quaternion.skew(kinematics.positions) @ columns)
        if self._slides.any():
            moments[:, :, self._slides] = axes[:, :, self._slides]
            axes = np.where(self._slides, 0.0, axes)
        return Columns(axes, moments)

    def jacobian(self, state: State, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """`J` (F, all, n) with `e(state + d) ~ e - J d`."""
        columns = self.columns(state, kinematics)
        rows = np.empty((len(columns.axes), self.all, self.space.n))
        for kind, part in zip(self.kinds, self.rows, strict=True):
            kind.jacobian(columns, kinematics, targets, rows[:, part])
        if targets.shares is not None:
            for kind, part in self._with_rows():
                rows[:, part] *= np.repeat(targets.shares[:, kind.goals], kind.size, axis=-1)[..., None]
        return rows

    def pose_rows(self, shares: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Rows (P, 6), rotation first, and weights (F or 1, P, 2) of the goals with both a rotation and a position.

        `shares` as in `Targets`. A goal with a weight of 0 for one of them, or whose rotation follows, is left out.
        """
        both, at, turned = np.intersect1d(self.placed, self.oriented, return_indices=True)
        first = self.rows_of("rotation").start + 3 * turned, self.rows_of("position").start + 3 * at
        rows = np.stack(first, -1)[..., None] + np.arange(3)
        weights = self.weights[::-1, both].T
        count = (weights > 0.0).all(-1) & ~np.isin(both, self.carry.goals)
        scale = np.ones((1, both.size)) if shares is None else shares[:, both]
        return rows.reshape(-1, 6)[count], (weights * scale[..., None])[:, count]

    def within(
        self, error: np.ndarray, tolerance: float, rotation_tolerance: float, counted: np.ndarray | None = None
    ) -> np.ndarray:
        """Frames (F,) whose goals are all met to `tolerance` [length units] and `rotation_tolerance` [rad].

        counted : (G,) or (F, G) bool, the goals that count; None for all.
        """
        if not self._starts.size:
            return np.ones(len(error), dtype=bool)
        square = self._squares(error)
        bound = self._bounds[0] * tolerance + self._bounds[1] * rotation_tolerance
        met = square <= bound * bound
        return np.all(met if counted is None else met | ~counted[..., self._goals], axis=-1)

    def square(self, error: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
        """The sums (F,) of the goals' squared errors. counted : as of `within`."""
        if not self._starts.size:
            return np.zeros(len(error))
        square = self._squares(error)
        return square.sum(-1) if counted is None else (square * counted[..., self._goals]).sum(-1)

    def _squares(self, error: np.ndarray) -> np.ndarray:
        """The sums (F, tasks) of each task's squared errors."""
        return np.add.reduceat(error[:, : self.m] ** 2, self._starts, axis=-1)

    def report(self, kinematics: Kinematics, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Unweighted errors of all goals: distances (F, G) [length units] and angles (F, G) [rad]; 0 for none."""
        frames = len(kinematics.positions)
        plain = np.zeros((2, frames, self.count))
        for kind in self._met:
            away = kind.errors(kinematics, targets)
            if kind.one_sided is not None:
                away = np.where(kind.one_sided[:, None], np.maximum(away, 0.0), away)
            unit = plain[_UNITS.index(kind.unit or "length")]
            sizes = np.sqrt((away * away).sum(-1))
            for task, goal in enumerate(kind.goals.tolist()):  # a goal may have several tasks of a kind
                unit[:, goal] = np.maximum(unit[:, goal], sizes[:, task])
        return plain[0], plain[1]
