# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison of solvers as text: a table to read, and a CSV for spreadsheets and scripts."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .measurement import Row

_HEADINGS = ("solver", "worst", "mean", "worst angle", "met", "ms", "iterations", "mean step", "largest step")
_SUMMARY = (
    "solver", "worst error", "mean error", "worst angle", "mean angle", "met", "median ms", "iterations", "mean step",
    "largest step", "message",
)  # fmt: skip
_COLUMNS = ("frame", "solver", "error", "milliseconds", "step")
_COMMENTS = """\
{title}
error: distance of the worst goal from its target{unit}; angle: the same of rotations (degrees); a goal counts as met \
within {tolerance}{unit}
milliseconds, ms: time to solve the frame; iterations: mean number a frame
step: furthest turn of a bone since the frame before (degrees)
met: share of the frames on which all goals were met, 0 to 1
An empty cell has no value: no goal was active on that frame, or there is no frame before it."""


def table(rows: Sequence[Row], scale: float = 1.0) -> str:
    """The rows as text with aligned columns; errors times `scale`, angles in degrees, steps in degrees a frame."""
    cells = [_HEADINGS, *((row.solver, row.message) if row.message else _cells(row, scale) for row in rows)]
    widths = [max(len(line[k]) for line in cells if len(line) == len(_HEADINGS)) for k in range(len(_HEADINGS))]
    widths[0] = max(len(line[0]) for line in cells)
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=False))])
        for line in cells
    )


def comma_separated(
    title: str, rows: Sequence[Row], frames: Sequence[int], tolerance: float, scale: float, unit: str
) -> str:
    """The rows as CSV: a line for each frame and measured solver. Comments and a summary above begin with #.

    Parameters
    ----------
    frames : (F,) the frames that were measured.
    tolerance : distance at which a goal counts as met [armature units].
    scale, unit : factor from armature units to the errors as shown, and the unit's name in brackets.
    """
    comments = _COMMENTS.format(title=title, unit=unit, tolerance=_number(scale * tolerance))
    summary = _lines([_SUMMARY, *(_summary(row, scale) for row in rows)])
    explained = "".join(f"# {line}\n" for line in [*comments.split("\n"), *summary.splitlines()])
    return explained + _lines([_COLUMNS, *(cells for row in rows for cells in _frame_cells(row, frames, scale))])


def _frame_cells(row: Row, frames: Sequence[int], scale: float) -> Iterator[tuple[str, ...]]:
    """The cells of each frame of a solver; none for a solver that was not measured."""
    if not row.message:
        values = zip(frames, scale * row.errors, row.times, np.degrees(row.steps), strict=True)
        for frame, error, milliseconds, step in values:
            yield str(frame), row.solver, _number(error), _number(milliseconds), _number(step)


def _summary(row: Row, scale: float) -> tuple[str, ...]:
    if row.message:
        return (row.solver, *[""] * (len(_SUMMARY) - 2), row.message)
    numbers = (
        scale * row.worst_error, scale * row.mean_error, np.degrees(row.worst_rotation_error),
        np.degrees(row.mean_rotation_error), row.met, row.milliseconds, row.iterations, np.degrees(row.mean_step),
        np.degrees(row.largest_step),
    )  # fmt: skip
    return (row.solver, *(_number(number) for number in numbers), "")


def _cells(row: Row, scale: float) -> tuple[str, ...]:
    return (
        row.solver, f"{scale * row.worst_error:.1e}", f"{scale * row.mean_error:.1e}",
        f"{np.degrees(row.worst_rotation_error):.3f}", f"{100 * row.met:.0f} %", f"{row.milliseconds:.2f}",
        f"{row.iterations:.1f}", f"{np.degrees(row.mean_step):.2f}", f"{np.degrees(row.largest_step):.1f}",
    )  # fmt: skip


def _number(value: float) -> str:
    """Nine digits; nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.9g}"


def _lines(rows: Iterable[Sequence[str]]) -> str:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()
