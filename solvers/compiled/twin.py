# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared solve for the kernel: its stages as flat arrays, and frames' questions and answers."""

import math
import os
import threading
from collections.abc import Iterator
from ctypes import byref, c_double
from itertools import pairwise
from typing import Any

import numpy as np

from ..group.stage import ALIKE, Stage
from ..iterate.descent import Settings
from ..model.goals import LEAST_QUATERNION, Targets
from ..model.skeleton import Pose, Skeleton
from ..model.solution import Batch, Solution
from ..space import limb
from ..space.poles import Pole
from . import sweep_arrays
from .contract import (
    FRAME,
    KINDS,
    SOLVERS,
    ChannelsLayout,
    LimbLayout,
    PoleLayout,
    ProblemLayout,
    SettingsLayout,
    SkeletonLayout,
    StageLayout,
)
from .library import Kernel

_BATCH_THREADS = 8  # frames from which a batch is worth a thread more


class Twin:
    """The stages of a prepared solve, as the kernel reads them. Not to be called from two threads at once."""

    def __init__(
        self, library: Kernel, skeleton: Skeleton, stages: list[Stage], goals: int, solver: str, asked: np.ndarray
    ) -> None:
        """`asked` (G, 2) bool: whether each goal's place and rotation count."""
        self._library, self._joints, self._goals = library, len(skeleton), goals
        self._kept: list[Any] = []
        options = stages[0].options if stages else None
        self._skeleton = skeleton
        tree = SkeletonLayout(
            len(skeleton), skeleton.length, self._i(skeleton.order), self._i(skeleton.parent),
            self._u(np.isin(np.arange(len(skeleton)), skeleton.detached)), self._f(skeleton.axis),
        )  # fmt: skip
        parts = (StageLayout * max(len(stages), 1))(*[self._stage(stage, solver) for stage in stages])
        self._kept.append(parts)
        bits = asked[:, 0] + 2 * asked[:, 1] if goals else np.zeros(0)
        self._problem = ProblemLayout(
            tree, len(stages), goals, parts, options.tolerance if options else 0.0,
            options.rotation_tolerance if options else 0.0, self._u(bits),
        )  # fmt: skip
        self._at = byref(self._problem)
        self._size = int(library.work(self._at))
        self._memory = np.zeros(self._size)
        self._residual = np.zeros(sum(stage.tasks.m for stage in stages))
        self._memory_at, self._residual_at = self._memory.ctypes.data, self._residual.ctypes.data
        self._rest = skeleton.rest_pose()
        self.one = FrameArrays(self._joints, self._goals, 1)
        self._answer_at = self.one.arrays["out_rotations"].ctypes.data

    def solve(self, targets: Targets, start: Pose, links: np.ndarray | None) -> Batch:
        """FrameArrays, each afresh; arguments as for `Prepared.solve_batch`."""
        count = len(targets.positions)
        frames = self.one if count == 1 else FrameArrays(self._joints, self._goals, count)
        frames.ask(targets, start, self._skeleton.links if links is None else links)
        share = max(1, min(os.cpu_count() or 1, count // _BATCH_THREADS))
        if share == 1:
            self._library.solve(self._at, frames.address, count, self._memory_at)
            return frames.batch()
        bounds = np.linspace(0, count, share + 1).astype(int)
        threads: list[threading.Thread] = []
        for begin, end in pairwise(bounds.tolist()):
            memory = np.zeros(self._size)
            at = frames.address + begin * FRAME.itemsize
            threads.append(threading.Thread(target=self._run, args=(at, end - begin, memory)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return frames.batch()

    def solve_one(self) -> None:
        """Solve what stands in the arrays of `one` afresh."""
        self._library.solve(self._at, self.one.address, 1, self._memory_at)

    def follow_one(self, previous: Pose, first: bool) -> None:
        """Solve what stands in the arrays of `one` from the frame before, whose pose is contiguous."""
        self._library.track(
            self._at, self.one.address, previous.rotations.ctypes.data, previous.translations.ctypes.data,
            self._residual_at, int(first), self._memory_at,
        )  # fmt: skip

    def ask_one(self, positions: Any, rotations: Any, poles: np.ndarray, pose: Pose | None) -> bool:
        """Fill the arrays of `one`; False where these are not finite arrays of the shapes that they should have.

        False too where a target's quaternion may be zero; otherwise lengths of quaternions do not matter.
        """
        given = (positions, rotations, *(self._rest if pose is None else pose))
        for value, room in zip(given, self.one.asked, strict=False):
            if type(value) is not np.ndarray or value.dtype != room.dtype or value.shape != room.shape:
                return False
            if not math.isfinite(np.vdot(value, value)):
                return False
            room[:] = value
        scalars: list[float] = rotations[:, 0].tolist()
        if min(map(abs, scalars), default=1.0) < LEAST_QUATERNION:
            return False
        self.one.arrays["poles"][0], self.one.arrays["links"][0] = poles, self._skeleton.links
        return len(given) == len(self.one.asked)

    def follow(self, targets: Targets, start: Pose, links: np.ndarray | None, chunk: int) -> Iterator[Batch]:
        """The frames of a motion, `chunk` of them at a time; arguments as for `Prepared.follow`."""
        count = len(targets.positions)
        frames = FrameArrays(self._joints, self._goals, count)
        frames.ask(targets, start, self._skeleton.links if links is None else links)
        residual = np.zeros_like(self._residual)
        for begin in range(0, count, chunk):
            end = min(begin + chunk, count)
            self._library.follow(self._at, frames.address, begin, end, residual.ctypes.data, self._memory_at)
            yield frames.batch(begin, end)

    def write(self, channels: "AnswerChannels") -> bool:
        """Write the rotations that `one` holds into channels; whether that changed any."""
        return bool(self._library.put(channels.at, self._answer_at))

    def _run(self, frames: int, count: int, memory: np.ndarray) -> None:
        self._library.solve(self._at, frames, count, memory.ctypes.data)

    def track(self, previous: Pose, targets: Targets, start: Pose, links: np.ndarray | None, first: bool) -> Batch:
        """One frame from the one before it; arguments as for `Prepared.track`."""
        frames = self.one
        frames.ask(targets, start, self._skeleton.links if links is None else links)
        rotations = np.ascontiguousarray(previous.rotations, dtype=float)
        translations = np.ascontiguousarray(previous.translations, dtype=float)
        self.follow_one(Pose(rotations, translations), first)
        return frames.batch()

    # -- flat arrays --------------------------------------------------------------------------------------------------

    def _keep(self, values: Any, kind: Any) -> int:
        array: np.ndarray = np.array(values, dtype=kind, order="C")
        self._kept.append(array)
        return array.ctypes.data

    def _f(self, values: Any) -> int:
        return self._keep(values, np.float64)

    def _i(self, values: Any) -> int:
        return self._keep(values, np.int32)

    def _u(self, values: Any) -> int:
        return self._keep(values, np.uint8)

    def _settings(self, *settings: Settings) -> Any:
        rows = [(s.iterations, s.tolerance, s.rotation_tolerance, -1.0 if s.damping is None else s.damping,
                 s.first_damping, s.pull, s.settle, s.unsettled) for s in settings]  # fmt: skip
        array = (SettingsLayout * len(rows))(*[SettingsLayout(*row) for row in rows])
        self._kept.append(array)
        return array

    def _limbs(self, limbs: list[limb.Limb]) -> Any:
        array = (LimbLayout * max(len(limbs), 1))(*[
            LimbLayout(part.upper, part.lower, part.end, part.goal, (c_double * 3)(*part.axis),
                  (c_double * 3)(*part.upper_axis), part.bend, part.side) for part in limbs
        ])  # fmt: skip
        self._kept.append(array)
        return array

    def _poles(self, stage: Stage, poles: list[Pole]) -> Any:
        space, skeleton = stage.space, stage.skeleton
        array = (PoleLayout * max(len(poles), 1))()
        for index, pole in enumerate(poles):
            end = stage.goals[pole.goal].joint if pole.end < 0 else pole.end
            points = np.array([pole.root, *pole.middle, end])
            moved = stage.tasks.moves[pole.goal] * skeleton.ancestors[points][:, space.joint]
            swivels = skeleton.kinds[pole.root] == "ball" and pole.root in space.joint
            array[index] = PoleLayout(
                pole.goal, pole.root, pole.end, len(pole.middle), self._i(pole.middle), pole.angle, pole.weight,
                int(swivels), self._u(moved), self._i(skeleton.levers(points, space.joint)),
            )  # fmt: skip
        self._kept.append(array)
        return array

    def _stage(self, stage: Stage, solver: str) -> StageLayout:
        space, tasks, skeleton = stage.space, stage.tasks, stage.skeleton
        goals, count, n = stage.goals, len(stage.goals), space.n
        poles = list(tasks.poles.poles) if tasks.poles else []
        blocks = space.blocks
        joint = np.array([space.joint[block.start] for block in blocks], dtype=int)
        kinds, basis, align, ellipse = stage.space.block_shapes()
        slide = np.full(len(skeleton), -1)
        for index, kind in enumerate(kinds):
            if kind == "prismatic":
                slide[joint[index]] = index
        places = [goal.position is not None for goal in goals]
        turns = [goal.rotation is not None for goal in goals]
        place_row = np.where(places, 3 * (np.cumsum(places) - 1), -1)
        turn_row = np.where(turns, 3 * (sum(places) + np.cumsum(turns) - 1), -1)
        place_weight, turn_weight = tasks.row_weights()
        carriers = np.array([goal.joint for goal in goals])
        inherits = skeleton.segment[carriers][:, None] == skeleton.segment[space.joint]
        acts = (tasks.moves > 0.0) + 2 * ((tasks.moves > 0.0) & inherits & space.turns)
        moved_by = [tasks.moves[pole.goal] > 0.0 for pole in poles]
        fills = np.zeros((tasks.m + len(poles), n), dtype=bool)
        for g in range(count):
            for row in (place_row[g], turn_row[g]):
                if row >= 0:
                    fills[row : row + 3] = tasks.moves[g] > 0.0
        for index, acting in enumerate(moved_by):
            fills[tasks.m + index] = acting
        run_start, runs = _runs(fills)
        together = (fills[:, None] & fills[None]).any(-1) | np.eye(len(fills), dtype=bool)
        partners, first_partner = _partners(fills) if 0 < n < len(fills) else ([np.zeros(0)], np.zeros(0))
        yields = stage.yielding
        settings = stage.phases()
        needed = np.zeros(len(skeleton), dtype=bool)
        for j in [*carriers, *[k for pole in poles for k in (pole.root, *pole.middle, max(pole.end, 0))],
                  *[k for part in stage.limbs for k in (part.upper, part.lower, max(part.end, 0))]]:  # fmt: skip
            needed |= skeleton.ancestors[j]
        movable = np.isin(np.arange(len(skeleton)), joint)
        stand = [j for j in skeleton.order if needed[j] or solver == "CCD"]
        move = [j for j in skeleton.order if needed[j] and (skeleton.ancestors[j] & movable).any()]
        return StageLayout(
            n, len(blocks), count, tasks.m, len(poles), len(stage.limbs), len(space.pairs), len(yields.goals),
            len(stand), len(move), len(stage.still_slides), SOLVERS[solver], int(space.limited),
            int(bool(skeleton.detached)), int(settings.continues), stage.options.restarts,
            int(stage.options.bias == "MIDDLE"), stage.options.seed % 2**64,
            self._i(joint), self._i([KINDS[kind] for kind in kinds]), self._i([block.start for block in blocks]),
            self._u(ellipse), self._i(slide), self._f(basis), self._f(align), self._f(space.lo), self._f(space.hi),
            self._f(settings.reluctance), self._i(space.pairs[:, :1]),
            self._i(stage.indices), self._i(carriers), self._i(place_row), self._i(turn_row),
            self._f([goal.offset for goal in goals]), self._f(place_weight), self._f(turn_weight), self._u(acts),
            self._i(skeleton.levers(carriers, space.joint)), self._poles(stage, poles), self._limbs(stage.limbs),
            self._i(run_start), self._i(runs), self._i(np.argmax(together, axis=1)),
            self._i(np.cumsum([0, *map(len, partners)])), self._i(np.concatenate(partners)), self._i(first_partner),
            self._i(stand), self._i(move), self._i(stage.still_slides), self._i(yields.goals), self._i(yields.top),
            self._u(yields.paths.T > 0.0), self._f(yields.extra),
            len(limb.SWIVELS), len(settings.phases), settings.chosen_after, self._f(limb.SWIVELS),
            math.cos(0.5 * ALIKE),
            self._settings(*settings.phases), self._settings(settings.tracking),
            self._settings(settings.tracking_missed),
            None if settings.polishing is None else self._settings(settings.polishing),
            self._settings(settings.insisting), self._settings(settings.descending), settings.spend,
            sweep_arrays.of_stage(stage, self._kept) if solver == "CCD" else None,
        )  # fmt: skip


def _runs(fills: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs `[from, to)` of rows (runs, 2) that each column of a bool matrix (m, n) fills, after each one's first."""
    edges = np.zeros((fills.shape[1], fills.shape[0] + 2), dtype=np.int8)
    edges[:, 1:-1] = fills.T
    column, row = np.nonzero(edges[:, 1:] != edges[:, :-1])
    counts = np.bincount(column, minlength=fills.shape[1]) // 2
    return np.concatenate([[0], np.cumsum(counts)]), row.reshape(-1, 2)


def _partners(fills: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Which columns of a bool matrix (m, n) share a row with which.

    Those before each one, and, of the columns from the last to the first, the number of the first one for each (n,).
    """
    share = fills.T.astype(np.float32) @ fills + np.eye(fills.shape[1]) > 0.0
    return [np.flatnonzero(row[:k]) for k, row in enumerate(share)], np.argmax(share[::-1, ::-1], axis=1)


class AnswerChannels:
    """Where the rotations of `joints` (S,) go.

    To rows `bones` (S,) of quaternion channels `values` (N, 4) float32, of both signs the one nearer to `reference`
    (S, 4).
    """

    def __init__(self, joints: np.ndarray, bones: np.ndarray, reference: np.ndarray, values: np.ndarray) -> None:
        self._kept = joints.astype(np.int32), bones.astype(np.int32), np.array(reference, dtype=float), values
        self.at = byref(ChannelsLayout(len(joints), *(array.ctypes.data for array in self._kept)))


class FrameArrays:
    """Arrays for F frames' answers, and the table of addresses of these and of what is asked.

    What one frame asks for is copied into `arrays`, which stay; what several ask for is read where it lies.
    """

    def __init__(self, joints: int, goals: int, count: int) -> None:
        asked = {"places": (goals, 3), "turns": (goals, 4), "rotations": (joints, 4), "translations": (joints, 3),
                 "poles": (goals, 3), "links": (joints, 8)}  # fmt: skip
        shapes = {"out_rotations": (joints, 4), "out_translations": (joints, 3), "distances": (goals,),
                  "angles": (goals,)}  # fmt: skip
        self.arrays: dict[str, np.ndarray] = {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
        self.arrays["iterations"] = np.zeros((count, 1), dtype=np.int32)
        self.arrays["converged"] = np.zeros((count, 1), dtype=np.bool_)
        self.arrays["at_limit"] = np.zeros((count, joints), dtype=np.bool_)
        self._count, self._table = count, np.zeros(count, dtype=FRAME)
        if count == 1:
            self.arrays |= {name: np.zeros((1, *shape)) for name, shape in asked.items()}
            self.asked = [self.arrays[name][0] for name in list(asked)[:4]]
        for name, array in self.arrays.items():
            self._point(name, array)
        self.address = self._table.ctypes.data

    def _point(self, name: str, array: np.ndarray) -> None:
        step = array.strides[0] if array.size and len(array) > 1 else 0
        self._table[name] = array.ctypes.data + step * np.arange(self._count)

    def ask(self, targets: Targets, start: Pose, links: np.ndarray) -> None:
        """Note what the frames ask for: arrays with a leading axis of F or 1 frames, links also without."""
        joints = len(start.rotations[0])
        given = {"rotations": start.rotations, "translations": start.translations,
                 "links": links.reshape(-1, joints, 8), "places": targets.positions, "turns": targets.rotations,
                 "poles": targets.poles}  # fmt: skip
        if self._count == 1:
            for name, value in given.items():
                self.arrays[name][:] = value
            return
        self._given = {name: np.ascontiguousarray(value, dtype=float) for name, value in given.items()}
        for name, array in self._given.items():
            self._point(name, array)

    def batch(self, begin: int = 0, end: int | None = None) -> Batch:
        """The answers of some frames; of the only one, as arrays of their own."""
        arrays = {name: array[begin:end] if self._count > 1 else array.copy() for name, array in self.arrays.items()}
        return Batch(
            arrays["out_rotations"], arrays["out_translations"], arrays["distances"], arrays["angles"],
            arrays["iterations"][:, 0].astype(int), arrays["converged"][:, 0], arrays["at_limit"],
        )  # fmt: skip

    def solution(self, seconds: float) -> Solution:
        """The answer of the one frame."""
        arrays = self.arrays
        return Solution(
            Pose(arrays["out_rotations"][0].copy(), arrays["out_translations"][0].copy()),
            arrays["distances"][0].copy(), arrays["angles"][0].copy(), int(arrays["iterations"][0, 0]),
            bool(arrays["converged"][0, 0]), arrays["at_limit"][0].copy(), seconds,
        )  # fmt: skip
