# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers measured on an animator's own rig and frames: how near, how fast, how smooth.

All solvers get the same frames, read once, and solve them one at a time, as live solving would.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ... import solvers as ik
from .. import bake
from ..blender.channels import Channels
from ..frame.read import FrameInput

_BEAT = 0.03  # seconds of solving from one word about progress to the next


def _none() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True)
class Row:
    """What one solver did on a range of frames.

    Attributes
    ----------
    solver : its name. message : why it was not measured; empty where it was, and the rest is 0 where not.
    worst_error, mean_error : of the frames' worst distances from a target [armature units].
    worst_rotation_error, mean_rotation_error : the same of angles [rad].
    met : share of the frames on which all goals were met.
    milliseconds : median time of a frame. iterations : mean number a frame.
    mean_step, largest_step : how far the joints turn from frame to frame [rad], over all and at most.
    errors, times, steps : (F,) what is behind it: worst distance, milliseconds, and the largest joint step since the
        frame before; NaN where there is none.
    """

    solver: str
    message: str = ""
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


def measure(
    solver: str, options: ik.Options, inputs: Sequence[FrameInput | None], bases: Sequence[Channels],
    frames: Sequence[int], follow: bool, into: list[Row],
) -> Iterator[float]:  # fmt: skip
    """Solve read frames with one solver and append its row; yields the share done.

    Parameters as in `bake.solve_inputs`, and the channels that each frame starts from.
    """
    try:
        given = _with_solver(solver, options, inputs)
    except ik.InvalidGoal as error:
        into.append(Row(solver, str(error)))
        return
    count = len(frames)
    errors, angles, times, iterations = np.full((4, count), np.nan)
    met, batches = np.zeros(count, dtype=bool), []
    began = said = time.perf_counter()
    for frame, batch in bake.solve_inputs(given, frames, follow, chunk=1):
        times[frame] = 1e3 * (time.perf_counter() - began)
        errors[frame] = batch.position_errors.max(initial=0.0)
        angles[frame] = batch.rotation_errors.max(initial=0.0)
        iterations[frame], met[frame] = batch.iterations[0], batch.converged[0]
        batches.append((frame, batch))
        if time.perf_counter() - said > _BEAT:
            yield (frame + 1) / count
            said = time.perf_counter()
        began = time.perf_counter()
    turns = _turns(given, bases, batches)
    furthest = np.concatenate([[np.nan], turns.max(-1)])
    into.append(Row(
        solver, "", float(np.nanmax(errors)), float(np.nanmean(errors)), float(np.nanmax(angles)),
        float(np.nanmean(angles)), float(met[np.isfinite(errors)].mean()), float(np.nanmedian(times)),
        float(np.nanmean(iterations)), float(turns.mean()) if turns.size else 0.0, float(turns.max(initial=0.0)),
        errors, times, furthest,
    ))  # fmt: skip


def _with_solver(solver: str, options: ik.Options, inputs: Sequence[FrameInput | None]) -> list[FrameInput | None]:
    """The same frames, to be solved with another solver; frames that were solved alike still are."""
    prepared: dict[int, ik.Prepared] = {}
    found: list[FrameInput | None] = []
    for given in inputs:
        if given is None:
            found.append(None)
            continue
        old = given.prepared
        if id(old) not in prepared:
            prepared[id(old)] = ik.prepare(given.rig.skeleton, old.goals, solver, options)
        found.append(replace(given, prepared=prepared[id(old)]))
    return found


def _turns(
    inputs: Sequence[FrameInput | None], bases: Sequence[Channels], batches: Sequence[tuple[int, ik.Batch]]
) -> np.ndarray:
    """How far each solved bone turns from frame to frame (F - 1, S) [rad]."""
    bones = sorted({int(bone) for given in inputs if given is not None for bone in given.rig.solved_bones})
    q = np.stack([channels.quaternions()[bones] for channels in bake.answers(inputs, bases, batches)])
    same = np.where((q[1:] * q[:-1]).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    chord = np.sqrt(((q[1:] - same * q[:-1]) ** 2).sum(-1))
    return 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
