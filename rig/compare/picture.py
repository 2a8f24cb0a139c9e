# SPDX-License-Identifier: GPL-3.0-or-later
"""The plots of a comparison of solvers, drawn off-screen by Blender's `gpu` and `blf`.

Coordinates are pixels of the picture, from its lower left corner; colours are the display's own values, 0 to 1. The
picture is drawn at twice its size and averaged, which smooths every edge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from .measurement import Row

Color = tuple[float, float, float]

COLORS: tuple[Color, ...] = (
    (0.95, 0.45, 0.17), (0.36, 0.86, 0.68), (0.99, 0.94, 0.29), (0.89, 0.50, 0.87),
    (0.00, 0.61, 0.40), (1.00, 1.00, 1.00), (0.40, 0.45, 1.00), (0.63, 0.53, 0.62),
)  # fmt: skip
"""Colours that people with red-green colour-blindness can tell apart; curves after the eighth are dashed."""

_BACKGROUND, _PANEL, _GRID = (0.115,) * 3, (0.155,) * 3, (0.25,) * 3
_TEXT, _FAINT = (0.92,) * 3, (0.68,) * 3
_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 92, 28, 146, 62, 64  # pixels around and between the plots
_TITLE, _HEADING, _LABEL = 26, 18, 15  # sizes of letters in pixels
_WIDTH = 2.6  # of a curve in pixels
_WIDER = (0.0, 1.4, 2.8)  # curves drawn below others are wider, so that both show where they coincide
_DASH = (14.0, 7.0)  # lengths of a dash and of the gap after it
_MARGIN = 0.06  # of a plot's height, above and below its curves
_SAMPLES = 2  # per pixel, in each direction
_FLOOR = 1e-3  # of the tolerance: smaller errors are drawn as this
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class _Curve:
    """The curve of a solver: values (F,), NaN for a gap. `number` in the menu chooses its colour and dashes."""

    solver: str
    number: int
    values: np.ndarray

    @property
    def color(self) -> Color:
        return COLORS[self.number % len(COLORS)]

    @property
    def dashed(self) -> bool:
        return self.number % (2 * len(COLORS)) >= len(COLORS)


@dataclass(frozen=True)
class _Plot:
    """One plot: its heading, curves, a logarithmic or linear axis, and the tolerance to mark, if any.

    least : smaller values are drawn as this.
    """

    heading: str
    curves: Sequence[_Curve]
    log: bool = False
    least: float = 0.0
    tolerance: float | None = None


def draw_picture(
    title: str, rows: Sequence[Row], frames: Sequence[int], tolerance: float, scale: float, unit: str,
    numbers: dict[str, int], size: tuple[int, int],
) -> np.ndarray | None:  # fmt: skip
    """Plots of errors, times and joint steps by frame, as pixels (height, width, 4), the bottom row first.

    None where Blender has no GPU to draw with, as in background mode. tolerance : [armature units]. scale, unit : from
    armature units to the errors as shown. numbers : of the solvers in the menu. size : width and height.
    """

    def curves(name: str, factor: float = 1.0) -> list[_Curve]:
        return [_Curve(row.solver, numbers[row.solver], factor * getattr(row, name)) for row in rows if not row.message]

    shown, floor = scale * tolerance, _FLOOR * scale * tolerance
    heading = f"Error: distance of the worst goal{unit}, smaller ones drawn at {_tick_text(floor, log=True)}"
    plots = [
        _Plot(heading, curves("errors", scale), True, floor, shown),
        _Plot("Time to solve a frame (ms)", curves("times"), True, 1e-3),
        _Plot("Joint step: furthest turn of a bone since the frame before (°)", curves("steps", 180.0 / np.pi)),
    ]
    return _off_screen(size, lambda: _draw(title, plots, np.asarray(frames, dtype=float), size))


def _off_screen(size: tuple[int, int], draw: Callable[[], None]) -> np.ndarray | None:
    """The picture that `draw` makes, as pixels (height, width, 4), bottom row first; None if there is no GPU."""
    width, height = size
    try:
        screen = gpu.types.GPUOffScreen(width * _SAMPLES, height * _SAMPLES)
    except SystemError:
        return None
    with screen.bind():  # pyright: ignore[reportGeneralTypeIssues] - the stubs lack its methods
        gpu.matrix.push()
        gpu.matrix.push_projection()
        try:
            buffer = gpu.state.active_framebuffer_get()
            buffer.clear(color=(*_BACKGROUND, 1.0))
            gpu.matrix.load_matrix(Matrix.Identity(4))
            across, up = 2.0 / width, 2.0 / height
            gpu.matrix.load_projection_matrix(Matrix(((across, 0, 0, -1), (0, up, 0, -1), (0, 0, -1, 0), (0, 0, 0, 1))))
            draw()
            read = buffer.read_color(0, 0, width * _SAMPLES, height * _SAMPLES, 4, 0, "FLOAT")
        finally:
            gpu.state.blend_set("NONE")
            gpu.matrix.pop_projection()
            gpu.matrix.pop()
    screen.free()
    fine = np.asarray(read, dtype=np.float32).reshape(height, _SAMPLES, width, _SAMPLES, 4)
    pixels = fine.mean((1, 3))
    pixels[..., 3] = 1.0
    return pixels


def _draw(title: str, plots: Sequence[_Plot], frames: np.ndarray, size: tuple[int, int]) -> None:
    """The title, a legend of the first plot's curves, and the plots one above the other over the same frames."""
    width, height = size
    _write(title, _LEFT, height - 40, _TEXT, _TITLE)
    _legend(plots[0].curves, width, height - 72)
    each = (height - _TOP - _BOTTOM - _GAP * (len(plots) - 1)) // len(plots)
    for number, plot in enumerate(plots):
        top = height - _TOP - number * (each + _GAP)
        _draw_plot(plot, frames, (_LEFT, width - _RIGHT), (top - each, top))
    _write("frame", width - _RIGHT, 14, _FAINT, _LABEL, align=1.0)


def _legend(curves: Sequence[_Curve], width: int, line: int) -> None:
    """A sample and the name of each curve, wrapped to the width."""
    left = _LEFT
    for curve in curves:
        needed = 40 + _text_width(curve.solver, _LABEL) + 26
        if left + needed > width - _RIGHT:
            left, line = _LEFT, line - 22
        _stroke(np.array([[left, line + 5.0], [left + 32.0, line + 5.0]]), curve.color, 2.0 * _WIDTH, curve.dashed)
        _write(curve.solver, left + 40, line, _TEXT, _LABEL)
        left += needed


def _draw_plot(plot: _Plot, frames: np.ndarray, columns: tuple[int, int], rows: tuple[int, int]) -> None:
    """One plot between two columns and two rows of pixels."""
    (left, right), (bottom, top) = columns, rows
    _rectangle(left, bottom, right, top, _PANEL)
    shown = [np.maximum(curve.values, plot.least) for curve in plot.curves]  # NaN stays
    lowest, highest = _range(shown, plot)
    up = _axis(lowest, highest, bottom + _MARGIN * (top - bottom), top - _MARGIN * (top - bottom), plot.log)
    last = frames[-1] if frames[-1] > frames[0] else frames[0] + 1.0
    across = _axis(frames[0], last, left + 12, right - 12)
    for tick in _log_ticks(lowest, highest) if plot.log else _ticks(lowest, highest, 5):
        row = round(float(up(tick)))
        _rectangle(left, row, right, row + 1, _GRID)
        _write(_tick_text(tick, plot.log), left - 10, row - 5, _FAINT, _LABEL, align=1.0)
    for tick in _ticks(frames[0], last, 10, whole=True):
        column = round(float(across(tick)))
        _rectangle(column, bottom, column + 1, top, _GRID)
        _write(_tick_text(tick), column, bottom - 20, _FAINT, _LABEL, align=0.5)
    _write(plot.heading, left, top + 12, _TEXT, _HEADING)
    for number, (curve, values) in reversed(list(enumerate(zip(plot.curves, shown, strict=True)))):  # the first on top
        points = np.stack([across(frames), up(values)], -1)
        _stroke(points, curve.color, _WIDTH + _WIDER[min(number, len(_WIDER) - 1)], curve.dashed)
    if plot.tolerance is not None:
        row = float(up(plot.tolerance))
        _stroke(np.array([[left, row], [right, row]]), _TEXT, 1.5, dashed=True)
        _write("tolerance", right - 8, row + 6, _TEXT, _LABEL, align=1.0)


# -- axes -------------------------------------------------------------------------------------------------------------


def _axis(
    lowest: float, highest: float, start: float, end: float, log: bool = False
) -> Callable[[np.ndarray | float], np.ndarray]:
    """The function from values to pixels that takes `lowest` to `start` and `highest` to `end`."""
    transform = np.log10 if log else np.asarray
    first, last = float(transform(lowest)), float(transform(highest))
    return lambda values: start + (transform(values) - first) / (last - first) * (end - start)


def _range(shown: Sequence[np.ndarray], plot: _Plot) -> tuple[float, float]:
    """The smallest and the largest value on the vertical axis."""
    values = np.concatenate([np.empty(0), *shown, [] if plot.tolerance is None else [plot.tolerance]])
    values = values[np.isfinite(values)]
    if not plot.log:
        highest = float(values.max(initial=0.0))
        return 0.0, highest if highest > 0.0 else 1.0
    lowest, highest = (float(values.min()), float(values.max())) if values.size else (plot.least, plot.least)
    return (lowest, highest) if highest > 1.5 * lowest else (lowest / 2.0, highest * 2.0)


def _ticks(lowest: float, highest: float, count: int, whole: bool = False) -> np.ndarray:
    """At most about `count` round numbers in a range."""
    rough = (highest - lowest) / count
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= 0.999 * rough)
    step = max(step, 1.0) if whole else step
    return np.arange(np.ceil(lowest / step - 1e-9), np.floor(highest / step + 1e-9) + 1.0) * step


def _log_ticks(lowest: float, highest: float) -> np.ndarray:
    """Powers of ten, every second or third of them over a wide range; with numbers between them over a narrow one."""
    decades = np.log10(highest / lowest)
    exponents = np.arange(np.floor(np.log10(lowest)), np.ceil(np.log10(highest)) + 1.0)
    exponents = exponents[exponents % max(np.ceil(decades / 6.0), 1.0) == 0]
    between = (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0) if decades > 0.7 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
    ticks = (10.0 ** exponents[:, None] * between).ravel()
    return ticks[(ticks >= 0.999 * lowest) & (ticks <= 1.001 * highest)]


def _tick_text(value: float, log: bool = False) -> str:
    """A tick's number: 250, 0.02, 5·10⁻⁶."""
    if not log or 1e-2 < value < 1e4:
        return f"{value + 0.0:.6g}"
    factor, exponent = f"{value:.0e}".split("e")
    return ("" if factor == "1" else f"{factor}·") + "10" + str(int(exponent)).translate(_SUPERSCRIPTS)


# -- drawing ----------------------------------------------------------------------------------------------------------


def _rectangle(left: float, bottom: float, right: float, top: float, color: Color) -> None:
    corners = np.array([(left, bottom), (right, bottom), (right, top), (left, top)])
    _triangles(corners[[[0, 1, 2], [0, 2, 3]]], color)


def _stroke(points: np.ndarray, color: Color, width: float, dashed: bool = False) -> None:
    """A line of a width in pixels through points (N, 2), with round ends and corners; NaN leaves a gap.

    A point without neighbours is a dot.
    """
    starts, ends = points[:-1], points[1:]
    finite = np.isfinite(starts).all(-1) & np.isfinite(ends).all(-1)
    alone = np.isfinite(points).all(-1) & ~np.append(finite, False) & ~np.append(False, finite)
    starts, ends = starts[finite], ends[finite]
    if dashed:
        starts, ends = _dashes(starts, ends)
    along = ends - starts
    along /= np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-9)
    side = 0.5 * width * along[:, ::-1] * (-1.0, 1.0)
    corners = np.stack([starts - side, starts + side, ends + side, ends - side], 1)
    _triangles(corners[:, [[0, 1, 2], [0, 2, 3]]], color)
    _discs(np.concatenate([starts, ends]), 0.5 * width, color)
    _discs(points[alone], width + 1.0, color)


def _dashes(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts of consecutive segments that dashes cover, as starts and ends (M, 2)."""
    lengths = np.linalg.norm(ends - starts, axis=-1)
    before = np.concatenate([[0.0], lengths.cumsum()])
    on = np.arange(0.0, before[-1], sum(_DASH))
    cuts = np.unique(np.concatenate([before, on, np.minimum(on + _DASH[0], before[-1])]))
    middles = 0.5 * (cuts[:-1] + cuts[1:])
    covered = middles % sum(_DASH) < _DASH[0]
    segment = np.searchsorted(before, middles[covered], side="right") - 1
    along = ((ends - starts) / np.maximum(lengths, 1e-9)[:, None])[segment]
    first, last = (cuts[:-1][covered] - before[segment])[:, None], (cuts[1:][covered] - before[segment])[:, None]
    return starts[segment] + first * along, starts[segment] + last * along


def _discs(centers: np.ndarray, radius: float, color: Color) -> None:
    """Filled circles around centers (N, 2)."""
    turn = np.linspace(0.0, 2.0 * np.pi, 17)
    rim = radius * np.stack([np.cos(turn), np.sin(turn)], -1)
    wedges = np.stack([np.zeros((16, 2)), rim[:-1], rim[1:]], 1)
    _triangles(centers[:, None, None] + wedges, color)


def _triangles(corners: np.ndarray, color: Color) -> None:
    """Filled triangles (..., 3, 2) in one call."""
    if not corners.size:
        return
    positions = np.zeros((corners.size // 2, 3), dtype=np.float32)
    positions[:, :2] = corners.reshape(-1, 2)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.uniform_float("color", (*color, 1.0))
    batch_for_shader(shader, "TRIS", {"pos": positions}).draw(shader)


def _write(text: str, left: float, bottom: float, color: Color, size: int, align: float = 0.0) -> None:
    """A line of text; with `align` 0 it begins at `left`, with 1 it ends there."""
    gpu.matrix.push()  # letters are drawn at full size, then scaled down with the picture
    gpu.matrix.translate((left - align * _text_width(text, size), bottom))
    gpu.matrix.scale_uniform(1.0 / _SAMPLES)
    blf.size(0, size * _SAMPLES)
    blf.color(0, *color, 1.0)
    blf.position(0, 0.0, 0.0, 0.0)
    gpu.state.blend_set("ALPHA")
    blf.draw(0, text)
    gpu.state.blend_set("NONE")
    gpu.matrix.pop()


def _text_width(text: str, size: int) -> float:
    """The width of a line of text in pixels."""
    blf.size(0, size * _SAMPLES)
    return blf.dimensions(0, text)[0] / _SAMPLES
