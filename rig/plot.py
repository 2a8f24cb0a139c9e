# SPDX-License-Identifier: GPL-3.0-or-later
"""Line plots as pixels, with NumPy alone: axes, ticks, legend, several plots one above the other.

A canvas is an array (height, width, 3) with the top row first, in the display's own colour values from 0 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import font

BACKGROUND, PANEL, GRID = (0.115,) * 3, (0.155,) * 3, (0.24,) * 3
WORDS, FAINT = (0.9,) * 3, (0.62,) * 3
COLORS = (
    (1.00, 0.36, 0.33), (0.36, 0.67, 1.00), (0.42, 0.85, 0.42), (0.75, 0.56, 1.00), (1.00, 0.62, 0.20),
    (0.30, 0.86, 0.86), (0.20, 0.62, 0.58), (0.48, 0.52, 1.00), (0.78, 0.53, 0.40), (0.97, 0.60, 0.82),
    (0.80, 0.36, 0.62), (0.62, 0.90, 0.76), (0.96, 0.96, 0.96), (0.66, 0.58, 0.18), (0.95, 0.86, 0.32),
)  # fmt: skip
"""Colours that can be told apart on the dark background, the most different first."""

_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 84, 24, 122, 56, 64  # pixels around and between the plots
_WIDTH = 1.1  # pixels on either side of a line's middle
_DOT = 2.0  # wider, a single point
_RIM, _RIMS = 0.5, 2  # wider, the curves below, so that those that coincide are seen
_ROOM = 0.06  # of a plot's height, above and below its curves


@dataclass(frozen=True)
class Curve:
    """A named line: `values` (F,) over the plot's `x`; no number leaves a gap. `color` as red, green, blue."""

    name: str
    color: tuple[float, float, float]
    values: np.ndarray


@dataclass(frozen=True)
class Plot:
    """One plot: a title, its curves, a logarithmic or linear axis, and a value to mark with a dashed line, if any.

    `least` : values below it are drawn at it, as on a logarithmic axis zero must be.
    """

    title: str
    curves: Sequence[Curve]
    log: bool = False
    least: float = 0.0
    mark: float | None = None
    mark_name: str = ""


def draw(title: str, x_name: str, x: np.ndarray, plots: Sequence[Plot], width: int, height: int) -> np.ndarray:
    """Plots one above the other over the same `x` (F,), with one legend of the first plot's curves."""
    canvas = np.tile(np.array(BACKGROUND), (height, width, 1))
    _write(canvas, title, _LEFT, 16, WORDS, dot=3)
    _legend(canvas, plots[0].curves)
    each = (height - _TOP - _BOTTOM - _GAP * (len(plots) - 1)) // len(plots)
    for number, plot in enumerate(plots):
        top = _TOP + number * (each + _GAP)
        _plot(canvas, plot, x, (top, top + each), x_name if number == len(plots) - 1 else "")
    return canvas


def _legend(canvas: np.ndarray, curves: Sequence[Curve]) -> None:
    at, line = _LEFT, 54
    for curve in curves:
        needed = 30 + font.text(curve.name).shape[1] + 18
        if at + needed > canvas.shape[1] - _RIGHT:
            at, line = _LEFT, line + 20
        _line(canvas, np.array([[at, line + 8.0], [at + 22, line + 8.0]]), curve.color, 2.0 * _WIDTH)
        _write(canvas, curve.name, at + 30, line, WORDS)
        at += needed


def _plot(canvas: np.ndarray, plot: Plot, x: np.ndarray, rows: tuple[int, int], x_name: str) -> None:
    """One plot between two rows of the canvas."""
    left, right, (top, bottom) = _LEFT, canvas.shape[1] - _RIGHT, rows
    canvas[top:bottom, left:right] = PANEL
    shown = [np.where(np.isfinite(c.values), np.maximum(c.values, plot.least), np.nan) for c in plot.curves]
    scale = np.log10 if plot.log else np.asarray
    lo, hi = _span(shown, plot)
    ticks = _log_ticks(lo, hi) if plot.log else _ticks(lo, hi, 5)
    a, b = float(scale(lo)), float(scale(hi))

    def down(values: np.ndarray | float) -> np.ndarray:
        return bottom - _ROOM * (bottom - top) - (scale(values) - a) / (b - a) * (1.0 - 2.0 * _ROOM) * (bottom - top)

    x_lo, x_hi = float(x[0]), float(x[-1]) if x[-1] > x[0] else float(x[0]) + 1.0
    across = left + 10 + (x - x_lo) / (x_hi - x_lo) * (right - left - 20)
    for tick in ticks:
        row = round(float(down(tick)))
        if top <= row < bottom:
            canvas[row, left:right] = GRID
            _write(canvas, _number(tick, plot.log), left - 10, row - font.BASELINE, FAINT, align=1.0)
    for tick in _ticks(x_lo, x_hi, 10, whole=True):
        column = round(left + 10 + (tick - x_lo) / (x_hi - x_lo) * (right - left - 20))
        canvas[top:bottom, column] = GRID
        _write(canvas, _number(tick, False), column, bottom + 8, FAINT, align=0.5)
    _write(canvas, plot.title, left, top - 26, WORDS)
    _write(canvas, x_name, right, bottom + 30, FAINT, align=1.0)
    if plot.mark is not None and lo <= plot.mark <= hi:
        row = round(float(down(plot.mark)))
        for start in range(left, right, 12):
            canvas[row, start : min(start + 6, right)] = FAINT
        _write(canvas, plot.mark_name, right - 6, row - 20, FAINT, align=1.0)
    part = canvas[:, left:right]
    for number, (curve, values) in reversed(list(enumerate(zip(plot.curves, shown, strict=True)))):  # the first on top
        _curve(part, across - left, down(values), curve.color, _WIDTH + _RIM * min(number, _RIMS))


def _curve(
    canvas: np.ndarray, across: np.ndarray, down: np.ndarray, color: tuple[float, float, float], width: float
) -> None:
    """A line through the points that are numbers; points that have no neighbour are dots."""
    known = np.isfinite(down)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(int)))
    for first, last in edges.reshape(-1, 2):
        points = np.stack([across[first:last], down[first:last]], -1)
        if len(points) == 1:
            _line(canvas, np.repeat(points, 2, 0), color, width + _DOT)
        else:
            _line(canvas, _thinned(points, canvas.shape[1]), color, width)


def _thinned(points: np.ndarray, columns: int) -> np.ndarray:
    """Points (F, 2) with at most the highest and the lowest in each of the columns' pixels."""
    if len(points) <= 2 * columns:
        return points
    parts = np.array_split(np.arange(len(points)), columns)
    kept = {int(part[k]) for part in parts for k in (points[part, 1].argmin(), points[part, 1].argmax())}
    return points[sorted(kept)]


def _line(canvas: np.ndarray, points: np.ndarray, color: tuple[float, float, float], width: float) -> None:
    """A smooth-edged line through points (N, 2) as (across, down); where it crosses itself it is painted once."""
    height, breadth = canvas.shape[:2]
    cover = np.zeros((height, breadth))
    for start, end in pairwise(points):
        low = np.maximum(np.floor(np.minimum(start, end) - width - 1.0), 0).astype(int)
        high = np.minimum(np.ceil(np.maximum(start, end) + width + 2.0), (breadth, height)).astype(int)
        if (high <= low).any():
            continue
        at = np.stack(np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1])), -1) - start
        way = end - start
        share = np.clip((at @ way) / max(float(way @ way), 1e-12), 0.0, 1.0)
        distance = np.linalg.norm(at - share[..., None] * way, axis=-1)
        box = cover[low[1] : high[1], low[0] : high[0]]
        np.maximum(box, np.clip(width + 0.5 - distance, 0.0, 1.0), out=box)
    canvas += cover[..., None] * (np.array(color) - canvas)


def _write(
    canvas: np.ndarray, string: str, column: int, row: int, color: tuple[float, float, float], align: float = 0.0,
    dot: int = 2,
) -> None:  # fmt: skip
    """A line of text; `align` 0 has it begin at the column, 1 end there. What leaves the canvas is cut off."""
    cover = font.text(string, dot)
    column -= round(align * cover.shape[1])
    cover = cover[max(-row, 0) : canvas.shape[0] - row, max(-column, 0) : canvas.shape[1] - column]
    box = canvas[max(row, 0) : max(row, 0) + cover.shape[0], max(column, 0) : max(column, 0) + cover.shape[1]]
    box += cover[..., None] * (np.array(color) - box)


def _span(shown: Sequence[np.ndarray], plot: Plot) -> tuple[float, float]:
    """The least and the largest value on the axis."""
    values = np.concatenate([np.empty(0), *shown])
    values = values[np.isfinite(values) & ((values > 0.0) | (not plot.log))]
    lo, hi = (float(values.min()), float(values.max())) if values.size else (1.0, 1.0) if plot.log else (0.0, 0.0)
    if plot.log:
        if plot.mark is not None:
            lo, hi = min(lo, plot.mark), max(hi, plot.mark)
        return (lo, hi) if hi > 1.5 * lo else (lo / 2.0, hi * 2.0)
    return 0.0, hi if hi > 0.0 else 1.0


def _ticks(lo: float, hi: float, count: int, whole: bool = False) -> np.ndarray:
    """At most about `count` round numbers from `lo` to `hi`."""
    rough = (hi - lo) / count
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= 0.999 * rough)
    step = max(step, 1.0) if whole else step
    return np.arange(np.ceil(lo / step - 1e-9), np.floor(hi / step + 1e-9) + 1.0) * step


def _log_ticks(lo: float, hi: float) -> np.ndarray:
    """Powers of ten, every second or third of them over a wide range; with 2 and 5 between them over a narrow one."""
    decades = np.log10(hi / lo)
    exponents = np.arange(np.floor(np.log10(lo)), np.ceil(np.log10(hi)) + 1.0)
    if decades > 6.0:
        exponents = exponents[exponents % np.ceil(decades / 6.0) == 0]
    between = (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0) if decades > 0.7 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
    ticks = (10.0 ** exponents[:, None] * between).ravel()
    return ticks[(ticks >= 0.999 * lo) & (ticks <= 1.001 * hi)]


def _number(value: float, log: bool) -> str:
    """A tick in as few letters as it takes."""
    if log and not 1e-3 < value < 1e4:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value + 0.0:.6g}"
