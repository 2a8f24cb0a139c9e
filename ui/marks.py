# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks the frames that miss goals in the timeline, the dope sheet and the graph editor."""

import bpy

from ..operators.common import armature
from .drawing import blended, fill

_COLOR = (1.0, 0.30, 0.15, 0.9)
_WIDTH, _HEIGHT = 4.0, 7.0  # least width and height of a mark in pixels


def runs(frames: list[int]) -> list[tuple[int, int]]:
    """The first and last frames of the runs of consecutive frames."""
    found: list[tuple[int, int]] = []
    for frame in sorted(frames):
        if found and frame - found[-1][1] <= 1:
            found[-1] = found[-1][0], frame
        else:
            found.append((frame, frame))
    return found


def draw() -> None:
    """Draw a bar along the lower edge of the region for each run of frames."""
    context = bpy.context
    ob = armature(context)
    frames = [] if ob is None or ob.type != "ARMATURE" else [entry.frame for entry in ob.dqik.missed_frames]
    if not frames:
        return
    scale, view = context.preferences.system.ui_scale, context.region.view2d
    bars = []
    for first, last in runs(frames):
        left, right = (view.view_to_region(frame, 0.0, clip=False)[0] for frame in (first - 0.5, last + 0.5))
        middle, half = 0.5 * (left + right), max(0.5 * (right - left), 0.5 * _WIDTH * scale)
        bars.append((middle - half, middle + half, 0.0, _HEIGHT * scale))
    with blended():
        fill(bars, _COLOR)
