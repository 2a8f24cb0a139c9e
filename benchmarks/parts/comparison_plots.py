# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison drawn: success against time, iterations, smoothness, and growth with a chain's length."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from plots import look, save, style
from report import Row

COLD = ("A wide", "A tight", "B places", "B poses", "D body")
COHERENT = ("A tight", "B places", "B poses", "C ellipse", "D body")
FEWEST = 4  # solves: a share of fewer is not shown
NAMES = {
    "A wide": "A  arm,\nlimits wide", "A tight": "A  arm,\nlimits tight", "B places": "B  hand,\nplaces",
    "B poses": "B  hand, places\nand rotations", "C ellipse": "C  planar chain,\nellipse", "D body": "D  body",
}  # fmt: skip


def draw(rows: Sequence[Row], folder: Path) -> None:
    """Draw the rows as `comparison-*.png`."""
    measured = sorted((row for row in rows if "met" in row), key=_order(rows))
    others = [name for name in _names(rows) if not any(row["ours"] for row in rows if row["solver"] == name)]
    with style():
        pictures = _pictures(measured, others)
        for name, figure in pictures.items():
            save(figure, folder / f"comparison-{name}.png")


def _pictures(measured: Sequence[Row], others: list[str]) -> dict[str, Figure]:
    return {
        "success": _success(measured, others),
        "iterations": _dots(measured, others, COLD, "cold", "steps_median", "steps_p95", "iterations, median to 95 %"),
        "coherent": _dots(measured, others, COHERENT, "coherent", "ms_median", "ms_p95", "ms a frame, median to 95 %"),
        "smoothness": _smoothness(measured, others),
        "growth": _growth(measured, others),
    }


def _success(rows: Sequence[Row], others: list[str]) -> Figure:
    """Share met against time, a panel for each cold workload: one attempt above, restarts below."""
    figure = Figure(figsize=(15, 7), layout="constrained")
    grid = figure.subplots(2, len(COLD), sharey="row", sharex="col")
    for line, (way, title) in enumerate({"cold": "one attempt", "cold, 20 restarts": "up to 20 restarts"}.items()):
        for panel, key in zip(grid[line], COLD, strict=True):
            for name, row in _of(rows, f"{key}, {way}").items():
                if row["solves"] >= FEWEST:
                    low, high = 100 * row["met_low"], 100 * row["met_high"]
                    looks = look(name, others)
                    panel.plot([row["ms_mean"]] * 2, [low, high], color=looks["color"], linewidth=1.0, alpha=0.35)
                    panel.plot(row["ms_mean"], 100 * row["met"], linestyle="", **looks)
            panel.set(xscale="log", ylim=(-4, 104) if line == 0 else (46, 102))
            if line == 0:
                panel.set_title(NAMES[key])
            else:
                panel.set_xlabel("ms a solve, mean")
                _plain_ticks(panel)
        grid[line, 0].set_ylabel(f"{title}:\ntargets met [%]")
    handles = [grid[0, 0].plot([], [], linestyle="", label=name, **look(name, others))[0] for name in _names(rows)]
    figure.legend(handles=handles, loc="outside right center", fontsize=9)
    return figure


def _dots(
    rows: Sequence[Row], others: list[str], keys: Sequence[str], way: str, name: str, upper: str, label: str
) -> Figure:
    """A panel for each workload with a line for each solver: median, 95 % quantile, and the share met if not all."""
    names = _names(rows)
    figure = Figure(figsize=(13.5, 0.36 * len(names) + 1.4), layout="constrained")
    for panel, key in zip(figure.subplots(1, len(keys), sharey=True), keys, strict=True):
        found = _of(rows, f"{key}, {way}")
        for line, solver in enumerate(names):
            row = found.get(solver)
            if row is None or row.get(name) is None:
                panel.text(0.5, line, "-", transform=panel.get_yaxis_transform(), va="center", color="#999999")
                continue
            looks = look(solver, others)
            panel.plot([row[name], row[upper]], [line, line], color=looks["color"], linewidth=2, alpha=0.5)
            panel.plot(row[name], line, **looks)
            if row["met"] < 0.995:
                panel.annotate(_share(row), (row[upper], line), (6, 0), textcoords="offset points", va="center",
                               fontsize=8, color="#444444")  # fmt: skip
        panel.set(xscale="log", title=NAMES[key], xlabel=label)
        _solvers_down(panel, names)
    return figure


def _smoothness(rows: Sequence[Row], others: list[str]) -> Figure:
    """A panel for each coherent workload: the turns of joints in a frame, relative to the motion behind the targets."""
    names = _names(rows)
    figure = Figure(figsize=(13.5, 0.36 * len(names) + 1.7), layout="constrained")
    for panel, key in zip(figure.subplots(1, len(COHERENT), sharey=True), COHERENT, strict=True):
        found = _of(rows, f"{key}, coherent")
        own = any(row.get("turn_max_to_own") for row in found.values())
        for line, solver in enumerate(names):
            row = found.get(solver)
            largest, mean = ("turn_max_to_own", "turn_mean_to_own") if own else ("turn_max_deg", "turn_mean_deg")
            if row is None or not row.get(largest):
                panel.text(0.5, line, "-", transform=panel.get_yaxis_transform(), va="center", color="#999999")
                continue
            panel.plot(row[largest], line, **look(solver, others))
            panel.plot(row[mean], line, fillstyle="none", **look(solver, others))
            panel.annotate(_share(row) if row["met"] < 0.995 else "", (max(row[largest], row[mean]), line), (6, 0),
                           textcoords="offset points", va="center", fontsize=7.5, color="#444444")  # fmt: skip
        if own:
            panel.axvline(1.0, color="#333333", linewidth=1.0, zorder=0)
        panel.set(xscale="linear" if own else "log", title=NAMES[key])
        panel.set_xlabel("times the motion's own" if own else "turn in a frame [°]")
        _solvers_down(panel, names)
    figure.suptitle("filled: the largest turn of a joint in a frame; hollow: the mean", fontsize=10)
    return figure


def _growth(rows: Sequence[Row], others: list[str]) -> Figure:
    """Time, iterations and memory against the number of balls in a chain, on logarithmic axes."""
    figure = Figure(figsize=(16.5, 5.2), layout="constrained")
    titles = {"ms_median": "ms a solve, median", "steps_median": "iterations, median",
              "ms_step": "ms an iteration, mean", "memory_kib": "memory [KiB]"}  # fmt: skip
    sized = [row for row in rows if row["size"]]
    panels = figure.subplots(1, len(titles))
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        for solver in _names(rows):
            points = [row for row in sized if row["solver"] == solver and row.get(name)]
            if points:
                looks = look(solver, others)
                places = [row["size"] for row in points], [row[name] for row in points]
                panel.plot(*places, linewidth=1.2, label=solver, **looks)
                for row in points:
                    if row["timed"] < FEWEST:
                        panel.plot(row["size"], row[name], color=looks["color"], marker=looks["marker"], mfc="white")
        sizes = sorted({row["size"] for row in sized})
        panel.set(xscale="log", yscale="log", title=title, xlabel="balls in the chain (N)")
        panel.set_xticks(sizes, [str(size) for size in sizes])
        panel.minorticks_off()
    sizes = np.array(sorted({row["size"] for row in sized}), dtype=float)
    for power, text in ((1, "~ N"), (2, "~ N²")) if len(sizes) else ():
        low = 0.5 * min((row["ms_step"] for row in sized if row.get("ms_step")), default=1.0)
        line = low * (sizes / sizes[0]) ** power
        panels[2].plot(sizes, line, color="#bbbbbb", linestyle="--", linewidth=1, zorder=0)
        panels[2].annotate(text, (sizes[-1], line[-1]), (4, 0), textcoords="offset points", va="center",
                           fontsize=8, color="#888888")  # fmt: skip
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=9, title=f"hollow: fewer than\n{FEWEST} solves")
    return figure


def _of(rows: Sequence[Row], title: str) -> dict[str, Row]:
    return {row["solver"]: row for row in rows if row["workload"] == title}


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["solver"] for row in rows))


def _order(rows: Sequence[Row]) -> Callable[[Row], int]:
    """Solvers in the order of the tables, those of a workload together."""
    names = _names(rows)
    return lambda row: names.index(row["solver"])


def _share(row: Row) -> str:
    return f"{100 * row['met']:.0f} % met"


def _solvers_down(panel: Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.grid(axis="y", visible=False)
    if panel.get_xscale() == "log":
        low, high = panel.get_xlim()
        panel.set_xlim(low, high * (high / low) ** 0.25)  # room for words
        _plain_ticks(panel)


def _plain_ticks(panel: Axes) -> None:
    """Plain numbers as ticks of a logarithmic axis."""
    low, high = panel.get_xlim()
    decades = np.log10(high / low)
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2.2 else (1.0, 2.0, 5.0), numticks=20))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
