# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers measured on an animator's own rig and frames: how near, how fast, how smooth.

All solvers get the same frames, read once, and solve them one at a time, as live solving would.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .. import solvers as ik
from . import bake, plot
from .blender.channels import Channels
from .frame.read import FrameInput

_FLOOR = 1e-3  # of the tolerance: smaller errors are all the same to a plot
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


_HEADINGS = ("solver", "worst", "mean", "worst angle", "met", "ms", "iterations", "mean step", "largest step")


def table(rows: Sequence[Row], scale: float = 1.0) -> str:
    """The rows as text with aligned columns; errors times `scale`, angles in degrees, steps in degrees a frame."""
    cells = [_HEADINGS, *((row.solver, row.message) if row.message else _cells(row, scale) for row in rows)]
    widths = [max(len(line[k]) for line in cells if len(line) == len(_HEADINGS)) for k in range(len(_HEADINGS))]
    widths[0] = max(len(line[0]) for line in cells)
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=False))])
        for line in cells
    )


def _cells(row: Row, scale: float) -> tuple[str, ...]:
    return (
        row.solver, f"{scale * row.worst_error:.1e}", f"{scale * row.mean_error:.1e}",
        f"{np.degrees(row.worst_rotation_error):.3f}", f"{100 * row.met:.0f} %", f"{row.milliseconds:.2f}",
        f"{row.iterations:.1f}", f"{np.degrees(row.mean_step):.2f}", f"{np.degrees(row.largest_step):.1f}",
    )  # fmt: skip


def picture(
    title: str, rows: Sequence[Row], frames: Sequence[int], tolerance: float, scale: float, unit: str,
    numbers: dict[str, int], size: tuple[int, int],
) -> np.ndarray:  # fmt: skip
    """Plots of errors, times and joint steps by frame, as pixels (height, width, 3), the top row first.

    scale, unit : from armature units to the errors as shown. numbers : of the solvers, which choose their colours.
    size : width and height.
    """
    shown = [row for row in rows if not row.message]

    def curves(name: str, factor: float = 1.0) -> list[plot.Curve]:
        return [
            plot.Curve(row.solver, plot.COLORS[numbers[row.solver] % len(plot.COLORS)], factor * getattr(row, name))
            for row in shown
        ]

    least, mark = _FLOOR * scale * tolerance, scale * tolerance
    plots = [
        plot.Plot(f"Error: distance of the worst goal{unit}", curves("errors", scale), True, least, mark, "tolerance"),
        plot.Plot("Time of a frame (ms)", curves("times"), True, 1e-3),
        plot.Plot("Joint step: furthest turn of a bone since the frame before (°)", curves("steps", 180.0 / np.pi)),
    ]
    return plot.draw(title, "frame", np.asarray(frames, dtype=float), plots, *size)
