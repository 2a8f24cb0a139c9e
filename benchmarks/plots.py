# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the plots: style, colours and marks of the solvers, and saving."""

from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

# Two shades of a hue are never the same mark, so that solvers can be told apart without seeing colours.
LOOKS = {
    "PGS": ("#d62728", "o"), "DLS": ("#1f77b4", "s"), "CCD": ("#2ca02c", "^"), "SQP": ("#9467bd", "D"),
    "PINV": ("#ff7f0e", "v"), "SVD": ("#17becf", "P"), "TSVD": ("#0b525b", "X"), "SDLS": ("#4361ee", "<"),
    "TRANSPOSE": ("#8c564b", ">"), "ALTERNATIVE": ("#e377c2", "p"), "EXTENDED": ("#bc5090", "h"),
    "NEWTON": ("#7f6000", "*"), "BROYDEN": ("#c0a000", "d"), "FABRIK": ("#66c2a5", "H"), "TWO_BONE": ("#111111", "8"),
    "GAUSS_SEIDEL": ("#f4a6a6", "d"),
}  # fmt: skip
OTHERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]  # what is not ours is grey


def look(name: str, others: list[str] | None = None) -> dict[str, object]:
    """A solver's colour and mark, the same in every plot; the `others` are grey, each with a mark of its own."""
    if name in LOOKS:
        colour, mark = LOOKS[name]
        return {"color": colour, "marker": mark}
    place = others.index(name) if others and name in others else 0
    return {"color": "#8a8a8a", "marker": OTHERS[place % len(OTHERS)]}


def style() -> AbstractContextManager:
    """A context in which figures are drawn: quiet axes, a light grid, text that can be read on a page."""
    return mpl.rc_context({
        "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
        "grid.color": "#dddddd", "grid.linewidth": 0.7, "lines.linewidth": 1.5, "lines.markersize": 6.5,
        "legend.frameon": False, "figure.facecolor": "white", "svg.hashsalt": "dqik",
    })  # fmt: skip


def save(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG; equal numbers give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight", metadata={"Software": None})
