# SPDX-License-Identifier: GPL-3.0-or-later
"""The published results drawn: errors and shapes on the ellipse, the hand's iterations and how still it is."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator
from plots import look, save, style
from published import Hand, Turn
from workload_suite import ELLIPSE

DRAWN = {"pseudo-inverse": ("pseudo-inverse", look("PINV")), "w = 1": ("Extended Jacobian", look("EXTENDED"))}
JUMP, CALM = 200.0, 7.0  # units: the scales of the paper's figure 4


def draw(folder: Path, turns: Mapping[tuple[str, int], Turn], hand: Mapping[str, Hand]) -> None:
    """Draw all plots as `published-*.png`."""
    with style():
        save(_errors(turns), folder / "published-ellipse-error.png")
        save(_shapes(turns), folder / "published-ellipse-shapes.png")
        save(_iterations(hand), folder / "published-hand-iterations.png")
        save(_calm(hand), folder / "published-hand-reach.png")


def _errors(turns: Mapping[tuple[str, int], Turn]) -> Figure:
    """Error against step: the first steps, and the whole turn."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    for panel, count, title in zip(
        figure.subplots(1, 2, width_ratios=(1, 1.4), sharey=True), (published.FIRST, published.STEPS[0]),
        (f"The first {published.FIRST} steps", f"The whole turn, {published.STEPS[0]} steps"), strict=True,
    ):  # fmt: skip
        for name, (label, looks) in DRAWN.items():
            marks = looks if count == published.FIRST else {"color": looks["color"]}
            panel.plot(np.arange(1, count + 1), turns[name, published.STEPS[0]].errors[:count], label=label, **marks)
        for level, text in (
            (JUMP, f"{JUMP:.0f}: the pseudo-inverse is above"),
            (CALM, f"{CALM:.0f}: the other is below"),
        ):
            panel.axhline(level, color="#555555", linewidth=0.9, linestyle=":")
            if count == published.FIRST:
                panel.annotate(text, (count, level), (0, 3), textcoords="offset points", ha="right", fontsize=8)
        panel.set(title=title, xlabel="step", yscale="log")
    figure.axes[0].set_ylabel("distance from the target [units]")
    figure.axes[1].legend(loc="lower right")
    return figure


def _shapes(turns: Mapping[tuple[str, int], Turn]) -> Figure:
    """The chain after some of the steps, from light to dark."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    for panel, (name, (label, looks)) in zip(figure.subplots(1, 2), DRAWN.items(), strict=True):
        panel.add_patch(Ellipse((0, 0), 2 * ELLIPSE[0], 2 * ELLIPSE[1], fill=False, edgecolor="#555555", linestyle=":"))
        for place, step in enumerate(published.SHOWN):
            x, y = _joints(turns[name, published.STEPS[0]].angles[step]).T
            panel.plot(
                x, y, color=looks["color"], marker="o", markersize=3.5, alpha=(place + 1) / len(published.SHOWN),
                label=f"step {step}" if step else "start",
            )  # fmt: skip
        panel.set(title=label, aspect="equal", xlim=(-700, 450), ylim=(-420, 420), xlabel="x [units]")
        panel.legend(loc="upper left", ncols=2, fontsize=8)
    figure.axes[0].set_ylabel("y [units]")
    return figure


def _joints(angles: np.ndarray) -> np.ndarray:
    """Places (n + 1, 2) of a planar chain's joints and its effector."""
    along = np.cumsum(angles)
    segments = published.LENGTHS[:, None] * np.stack([np.cos(along), np.sin(along)], -1)
    return np.concatenate([published.BASE[None], published.BASE + np.cumsum(segments, axis=0)])


def _iterations(hand: Mapping[str, Hand]) -> Figure:
    """How many frames took how many iterations."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    printed = {"at rest": (1, 2), "coherent": (2, 3), "jump": (10, None)}
    for panel, case in zip(figure.subplots(1, len(published.CASES), sharey=True), published.CASES, strict=True):
        lo, hi = printed[case]
        most = max(int(found.iterations[case].max()) for found in hand.values())
        end = max(most, hi or 14) + 0.5
        panel.axvspan(lo - 0.5, end if hi is None else hi + 0.5, color="#eeeeee", zorder=0)
        for place, (name, found) in enumerate(hand.items()):
            counts = np.bincount(found.iterations[case][1:], minlength=most + 1)
            _bars(panel, counts, place, len(hand), name)
        panel.set(title=f"Hand: {case}", xlabel="iterations", xlim=(-0.5, end))
        panel.grid(visible=False, axis="x")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.axes[0].set_ylabel("frames [%]\n(grey: what Kenwright printed)")
    figure.axes[0].legend(loc="upper right")
    return figure


def _bars(panel: Axes, counts: np.ndarray, place: int, of: int, name: str) -> None:
    width = 0.8 / of
    panel.bar(np.arange(len(counts)) + (place - 0.5 * (of - 1)) * width, 100.0 * counts / counts.sum(), width,
              color=look(name)["color"], label=name)  # fmt: skip


def _calm(hand: Mapping[str, Hand]) -> Figure:
    """The joint that turns most, frame by frame, for targets out of reach: still ones, and ones that hardly tremble."""
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    frames, floor = np.arange(2, published.UNREACHABLE_FRAMES + 1), 1e-5
    panels = [("all", "still", "All out of reach, still"), ("all", "trembling", "All out of reach, trembling"),
              ("some", "trembling", "Some out of reach, trembling")]  # fmt: skip
    for panel, (which, part, title) in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
        for name, found in hand.items():
            steps = np.maximum(np.degrees(getattr(found, part)[which]), floor)
            looks = look(name)
            panel.plot(frames, np.median(steps, axis=0), label=f"{name}, median", markevery=2, **looks)
            panel.plot(frames, steps.max(0), label=f"{name}, worst", color=looks["color"], linestyle="--")
        panel.axvline(published.SETTLED + 0.5, color="#555555", linewidth=0.9, linestyle=":")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set(title=title, xlabel="frame", yscale="log", ylim=(0.6 * floor, 200))
    figure.axes[0].set_ylabel("largest joint step [degrees]")
    figure.axes[0].legend(loc="upper right", fontsize=8)
    return figure
