# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole clips with the compiled kernel: the linear system of a step, and the error rows of all frames."""

import threading
from collections.abc import Sequence
from ctypes import addressof, sizeof
from functools import partial
from typing import Protocol

import numpy as np

from ..group.stage import Stage
from ..group.stages import Stages
from ..model.frames import asking
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space.joint_space import State
from .declare import CLASSES, Packer
from .library import load
from .needs import SUPPORTED, needs
from .stages import CompiledStages, WorkingMemory, in_threads
from .structures import BAND, CLIP_MOTION, PROBLEM

FRAMES_A_THREAD = 64  # at least, where a frame takes a microsecond or two
JOINTS_A_THREAD = 4000  # of all frames, at least


class BandMemory:
    """Working memory of bands, which the next one uses again."""

    def __init__(self) -> None:
        self._doubles = np.empty(0)

    def of(self, size: int) -> np.ndarray:
        """So many doubles at least."""
        if len(self._doubles) < size:
            self._doubles = np.empty(size)
        return self._doubles


def solve_band(
    diagonal: np.ndarray, first: np.ndarray, second: np.ndarray, right: np.ndarray, memory: BandMemory
) -> np.ndarray | None:
    """As `solvers.motion.banded.solve`; None where NumPy has to."""
    kernel = load()
    if kernel is None or not right.size:
        return None
    frames, n = right.shape
    work, packer = memory.of(kernel.clip_band_work(frames, n)), Packer()
    x = np.array(right, dtype=float, order="C")  # columns of an array may come one after the other
    blocks = [np.ascontiguousarray(part, dtype=float) for part in (diagonal, first, second)]
    addresses = [part.ctypes.data for part in blocks]
    band = packer.fill(BAND, frames=frames, n=n, diagonal=addresses[0], first=addresses[1], second=addresses[2])
    arguments = addressof(band), x.ctypes.data, work.ctypes.data
    kernel.clip_band_begin(arguments[0], arguments[2])
    done = [0, 0]

    def eliminate(half: int) -> None:
        done[half] = kernel.clip_band_half(*arguments, half)

    other = threading.Thread(target=eliminate, args=(1,))
    other.start()
    eliminate(0)
    other.join()
    if not all(done) or not kernel.clip_band_join(*arguments):
        raise np.linalg.LinAlgError("the band is not positive definite")
    return x


class PreparedStages(Protocol):
    """A prepared solve: its stages for NumPy, and as they are packed for the kernel."""

    numpy: Stages
    compiled: CompiledStages | None


class CompiledStage:
    """A stage packed for the kernel, whose rows are asked for at many states."""

    def __init__(self, whole: CompiledStages, stage: Stage, number: int) -> None:
        """`number` : of the stage among those that are packed."""
        self.kernel, self.stage, self.goals, self._packer = whole.library, stage, whole.goals, Packer(whole.packer)
        place = CLASSES["dqik_problem"].from_address(whole.address).stage + number * sizeof(CLASSES["dqik_stage"])
        self.address = addressof(self._packer.refill(PROBLEM, whole.address, stages=1, stage=place))
        self.memory = WorkingMemory(int(self.kernel.work(self.address)))

    def step(self, state: State, d: np.ndarray) -> State:
        """As `JointSpace.step`."""
        kernel = self.kernel
        moved, d = State(np.array(state.rotations, order="C"), np.array(state.x, order="C")), np.ascontiguousarray(d)
        to = d.ctypes.data, moved.rotations.ctypes.data, moved.x.ctypes.data
        in_threads(len(d), lambda begin, end: kernel.clip_step(self.address, begin, end, *to), FRAMES_A_THREAD)
        return moved

    def smoothness(
        self, numbers: tuple[bool, float, float, np.ndarray], state: State, base: State, to: Sequence[np.ndarray] = ()
    ) -> float:  # fmt: skip
        """The cost of `solvers.clip.smoothness.Smoothness`.

        numbers : whether it is that of corrections, weight, distance that is far, and (K,) weights of staying near.
        to : gradient (F, n) and blocks (F, n, n), (F - 1, n, n), (F - 2, n, n), to which its own ones are added.
        """
        corrects, weight, far, near = numbers
        arrays = [np.ascontiguousarray(one) for one in (near, state.rotations, state.x, base.rotations, base.x)]
        names, costs = ("near", "rotations", "x", "base_rotations", "base_x"), np.zeros(len(near))
        addresses = {name: one.ctypes.data for name, one in zip(names, arrays, strict=True)}
        packer, frames = Packer(), len(state.x)
        motion = packer.fill(CLIP_MOTION, frames=frames, corrects=corrects, weight=weight, far=far, **addresses)
        into = [one.ctypes.data for one in to] or [None] * 4

        def part(begin: int, end: int) -> None:
            self.kernel.clip_smoothness(self.address, addressof(motion), begin, end, costs.ctypes.data, *into)

        in_threads(len(near), part, -(-JOINTS_A_THREAD // max(frames, 1)))
        return float(costs.sum())


def compiled_stage(prepared: PreparedStages, number: int) -> CompiledStage | None:
    """A stage of a prepared solve for the kernel; None where NumPy has to compute its rows."""
    stages, whole = prepared.numpy, prepared.compiled
    stage = stages.stages[number]
    kernel = load() if needs(stage.skeleton, [stage], "PGS", stage.options) <= SUPPORTED else None
    if kernel is None:
        return None
    if whole is None:  # the kernel does not have the solver, but the rows
        whole = CompiledStages(kernel, stages.skeleton, stages.stages, stages.counts, "PGS", stages.points)
    return CompiledStage(whole, stage, number)


class CompiledRows:
    """The error rows of a stage's goals in some frames; see `solvers.clip.rows.Rows`."""

    def __init__(self, own: CompiledStage, targets: Targets, links: np.ndarray | None) -> None:
        stage, frames, joints = own.stage, len(targets.positions), len(own.stage.skeleton)
        parts = list[np.ndarray]()
        for values in targets[:3]:
            every = np.zeros((frames, own.goals, values.shape[-1]))
            every[:, stage.indices] = values
            parts.append(every)
        parts[1][..., 0] += (parts[1] == 0.0).all(-1)
        start = Pose(np.broadcast_to([1.0, 0.0, 0.0, 0.0], (1, joints, 4)), np.zeros((1, joints, 3)))
        asked = Targets(*parts, points=targets.points)
        self._own, self._arrays = own, asking(asked, start, stage.skeleton.links if links is None else links)

    def at(self, state: State) -> np.ndarray:
        """Error rows (F, all), with the room of one-sided tasks as values below 0."""
        return self._call(state, linear=False)[0]

    def linear(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """`at`, and the Jacobian (F, all, n)."""
        rows, columns = self._call(state, linear=True)
        return rows, np.swapaxes(columns, -1, -2)

    def _call(self, state: State, linear: bool) -> tuple[np.ndarray, np.ndarray]:
        tasks, frames = self._own.stage.tasks, len(state.x)
        rotations, x = np.ascontiguousarray(state.rotations), np.ascontiguousarray(state.x)
        rows, columns = np.empty((frames, tasks.all)), np.empty((frames if linear else 0, tasks.space.n, tasks.all))
        to = rotations.ctypes.data, x.ctypes.data, rows.ctypes.data, columns.ctypes.data if linear else None
        in_threads(frames, partial(self._part, to), FRAMES_A_THREAD)
        return rows, columns

    def _part(self, to: tuple[int | None, ...], begin: int, end: int) -> None:
        own = self._own
        own.kernel.clip_rows(own.address, self._arrays.address, begin, end, *to, own.memory.address)
