# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures solvers on an animator's own rig and frames: error, time and smoothness.

The frames are read once. Each solver then solves them one at a time, as live solving would.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ... import solvers as ik
from .. import bake
from ..blender.channels import Channels
from ..frame.read.question import FrameInput
from ..frame.step.start_mode import Way
from ..notes import Note, note_of
from ..remembered import Remembered

_BEAT = 0.03  # seconds of solving between reports of progress


def _none() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True)
class Row:
    """The measurements of one solver on a range of frames.

    Attributes
    ----------
    solver : its name. refusal : the reason if it was not measured; all measurements are 0 then.
    worst_error, mean_error : over the frames, of the largest distance from a target [armature units].
    worst_rotation_error, mean_rotation_error : the same of angles [rad].
    met : share of the frames on which all goals were met.
    milliseconds : median time of a frame. iterations : mean number a frame.
    mean_step, largest_step : mean and largest turn of a joint from frame to frame [rad].
    errors, times, steps : (F,) of each frame: worst distance, milliseconds, and the largest joint step since the frame
        before; NaN if there is none.
    """

    solver: str
    refusal: Note | None = None
    worst_error: float = 0.0
    mean_error: float = 0.0
    worst_rotation_error: float = 0.0
    mean_rotation_error: float = 0.0
    met: float = 0.0
    milliseconds: float = 0.0
    iterations: float = 0.0
    mean_step: float = 0.0
    largest_step: float = 0.0
    errors: np.ndarray = field(default_factory=_none, repr=False, compare=False)
    times: np.ndarray = field(default_factory=_none, repr=False, compare=False)
    steps: np.ndarray = field(default_factory=_none, repr=False, compare=False)

    @property
    def message(self) -> str:
        """The refusal as text; empty if there is none."""
        return "" if self.refusal is None else str(self.refusal)


compared: Remembered[int, Sequence[Row]] = Remembered(100)
"""The rows of the last comparison on each armature, by the `session_uid` of its object."""


def measure(
    solver: str, options: ik.Options, inputs: Sequence[FrameInput | None], bases: Sequence[Channels],
    frames: Sequence[int], way: Way, into: list[Row],
) -> Iterator[float]:  # fmt: skip
    """Solve frames with one solver and append its row to `into`; yields the progress from 0 to 1.

    Parameters as in `bake.solve_inputs`; bases : the channels that each frame starts from.
    """
    try:
        solver_inputs = _with_solver(solver, options, inputs)
    except ik.InvalidGoal as error:
        into.append(Row(solver, note_of(error)))
        return
    count = len(frames)
    errors, angles, times, iterations = np.full((4, count), np.nan)
    met, batches = np.zeros(count, dtype=bool), []
    began = last_report = time.perf_counter()
    for frame, batch in bake.solve_inputs(zip(solver_inputs, frames, strict=True), way, chunk=1):
        times[frame] = 1e3 * (time.perf_counter() - began)
        errors[frame] = batch.position_errors.max(initial=0.0)
        angles[frame] = batch.rotation_errors.max(initial=0.0)
        iterations[frame], met[frame] = batch.iterations[0], batch.converged[0]
        batches.append((frame, batch))
        if time.perf_counter() - last_report > _BEAT:
            yield (frame + 1) / count
            last_report = time.perf_counter()
        began = time.perf_counter()
    turns = _turns(solver_inputs, bases, batches)
    furthest = np.concatenate([[np.nan], turns.max(-1)])
    into.append(Row(
        solver, None, float(np.nanmax(errors)), float(np.nanmean(errors)), float(np.nanmax(angles)),
        float(np.nanmean(angles)), float(met[np.isfinite(errors)].mean()), float(np.nanmedian(times)),
        float(np.nanmean(iterations)), float(turns.mean()) if turns.size else 0.0, float(turns.max(initial=0.0)),
        errors, times, furthest,
    ))  # fmt: skip


def _with_solver(solver: str, options: ik.Options, inputs: Sequence[FrameInput | None]) -> list[FrameInput | None]:
    """The same frames with another solver; frames that share a prepared solve still share one."""
    prepared: dict[int, ik.Prepared] = {}
    solver_inputs: list[FrameInput | None] = []
    for frame_input in inputs:
        if frame_input is None:
            solver_inputs.append(None)
            continue
        old = frame_input.prepared
        if id(old) not in prepared:
            prepared[id(old)] = ik.prepare(frame_input.rig.skeleton, old.goals, solver, options, old.contacts)
        solver_inputs.append(replace(frame_input, prepared=prepared[id(old)]))
    return solver_inputs


def _turns(
    inputs: Sequence[FrameInput | None], bases: Sequence[Channels], batches: Sequence[tuple[int, ik.Batch]]
) -> np.ndarray:
    """The angle by which each solved bone turns from frame to frame (F - 1, S) [rad]."""
    rigs = [frame_input.rig for frame_input in inputs if frame_input is not None]
    bones = sorted({int(bone) for rig in rigs for bone in rig.solved_bones})
    q = np.stack([channels.quaternions()[bones] for channels in bake.answers(inputs, bases, batches)])
    same = np.where((q[1:] * q[:-1]).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    chord = np.sqrt(((q[1:] - same * q[:-1]) ** 2).sum(-1))
    return 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
