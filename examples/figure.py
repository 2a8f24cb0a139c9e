# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture: the same frames as captured, as DQIK rebuilds them, and as Blender's legacy IK does."""

import io
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from measure import Motion, Task, misses, pose_differences
from PIL import Image

mpl.use("Agg")
import matplotlib.pyplot as plt

POSES = 8
AZIMUTH = np.radians(42.0)  # of the eye, from the figure's side
LEFT, RIGHT, TRUNK, GHOST, TARGET = "#2166ac", "#d6604d", "#3a3a3a", "#cfcfcf", "#1a9850"
ROWS = {
    "captured": "As captured",
    "POSE": "Rebuilt by DQIK",
    "legacy": "Rebuilt by Blender's legacy IK",
}
NOT_DRAWN = ("Finger", "Thumb")  # stubs at the hands
SPACING = 0.8  # of the figure's height, from pose to pose
COLOURS = 64  # in the PNG's palette


def draw(task: Task, motions: Mapping[str, Motion], path: Path) -> None:
    """Draw poses from the whole motion as a PNG file."""
    frames, size = _telling_frames(task), task.height
    figure, axes = plt.subplots(3, 1, figsize=(13.0, 10.2), sharex=True)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.905, bottom=0.045, hspace=0.03)
    for ax, (row, title) in zip(axes, ROWS.items(), strict=True):
        motion = task.truth if row == "captured" else motions[row]
        floor = task.truth.tails[..., 2].min()
        ax.plot([-size, SPACING * POSES * size], [floor, floor], color="#e4e4e4", lw=1.5, zorder=0)
        for column, frame in enumerate(frames):
            x = SPACING * size * column
            shift = np.array([x - _project(task.truth.heads[frame, 0])[0], 0.0])
            if row == "captured":
                second = frame / task.rig.users_scene[0].render.fps
                ax.text(x, floor - 0.05 * size, f"{second:.1f} s", ha="center", va="top", fontsize=11)
            else:
                _skeleton(ax, task, task.truth, frame, shift, ghost=True)
                ax.text(x, floor - 0.05 * size, _errors(task, motion, frame), ha="center", va="top", fontsize=11)
            _skeleton(ax, task, motion, frame, shift, ghost=False)
            _targets(ax, task, frame, shift)
        ax.set_aspect("equal")
        ax.axis("off")
        ax.set_xlim(-0.45 * size, (SPACING * (POSES - 1) + 0.45) * size)
        ax.set_ylim(floor - 0.25 * size, floor + 1.4 * size)
        ax.text(0.004, 0.99, title, transform=ax.transAxes, ha="left", va="top", fontsize=13, weight="bold")
    _legend(figure)
    _save(figure, path)


def _telling_frames(task: Task) -> list[int]:
    """The frames of the lowest and the highest hips, in turn, in equal parts of the motion."""
    height = task.truth.heads[:, 0, 2]
    parts = np.array_split(np.arange(len(height)), POSES)
    return [int(part[(np.argmax if k % 2 else np.argmin)(height[part])]) for k, part in enumerate(parts)]


def _save(figure: plt.Figure, path: Path) -> None:
    """Save as a PNG with a palette, which is a third of the size."""
    raw = io.BytesIO()
    figure.savefig(raw, dpi=100, facecolor="white")
    plt.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(raw).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _project(points: np.ndarray) -> np.ndarray:
    """World points (..., 3) on the picture's plane (..., 2), seen from the front and the side."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x * np.sin(AZIMUTH) - y * np.cos(AZIMUTH), z], -1)


def _depth(points: np.ndarray) -> np.ndarray:
    return points[..., 0] * np.cos(AZIMUTH) + points[..., 1] * np.sin(AZIMUTH)


def _skeleton(ax: Axes, task: Task, motion: Motion, frame: int, shift: np.ndarray, ghost: bool) -> None:
    heads, tails = motion.heads[frame], motion.tails[frame]
    bones = task.rig.pose.bones
    drawn = [k for k, bone in enumerate(bones) if not any(part in bone.name for part in NOT_DRAWN)]
    depth = _depth(heads + tails)
    for order, k in enumerate(sorted(drawn, key=lambda k: -depth[k])):
        name = bones[k].name
        colour = GHOST if ghost else LEFT if name.startswith("L") and name != "LowerBack" else TRUNK
        colour = RIGHT if not ghost and name.startswith("R") else colour
        (x0, y0), (x1, y1) = _project(heads[k]) + shift, _project(tails[k]) + shift
        level = (1 if ghost else 3) + 0.01 * order
        if name == "Head":
            radius = 0.62 * np.hypot(x1 - x0, y1 - y0)
            centre = ((x0 + x1) / 2, (y0 + y1) / 2)
            ax.add_patch(plt.Circle(centre, radius, fc="white", ec=colour, lw=3.2, zorder=level))
            continue
        ax.plot([x0, x1], [y0, y1], color="white", lw=6.4, solid_capstyle="round", zorder=level)
        ax.plot([x0, x1], [y0, y1], color=colour, lw=4.2, solid_capstyle="round", zorder=level)


def _targets(ax: Axes, task: Task, frame: int, shift: np.ndarray) -> None:
    for point in _project(task.truth.tails[frame, task.rows]) + shift:
        ax.plot(*point, marker="s", ms=8.5, mfc="none", mec=TARGET, mew=1.8, zorder=6)


def _errors(task: Task, motion: Motion, frame: int) -> str:
    """The worst miss of a target, and the mean turn from the captured joints."""
    miss = 1000.0 * task.metres * misses(task, motion)[frame].max()
    return f"{miss:.2f} mm\n{pose_differences(task, motion)[frame]:.0f}°"


def _legend(figure: plt.Figure) -> None:
    figure.text(0.5, 0.988, "A captured motion, rebuilt from the hips and five targets: hands, toes and head",
                ha="center", va="top", fontsize=16, weight="bold")  # fmt: skip
    entries = [
        Line2D([], [], color=LEFT, lw=4, label="left"),
        Line2D([], [], color=RIGHT, lw=4, label="right"),
        Line2D([], [], color=TRUNK, lw=4, label="trunk"),
        Line2D([], [], color=GHOST, lw=4, label="as captured, behind the rebuilt pose"),
        Line2D([], [], ls="", marker="s", ms=8.5, mfc="none", mec=TARGET, mew=1.8, label="target: place and rotation"),
    ]
    figure.legend(handles=entries, loc="upper center", bbox_to_anchor=(0.5, 0.957), ncols=5, frameon=False, fontsize=11)
    figure.text(0.5, 0.014, "Below each rebuilt pose: the worst miss of a target in this frame, and by how much its "
                "joints are turned from the captured ones on average.",
                ha="center", va="bottom", fontsize=11, color="#444444")  # fmt: skip
