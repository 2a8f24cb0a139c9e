# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's motion paths with the solved motion: Blender computes them without handlers, so that solved bones rest."""

from collections.abc import Sequence

import bpy
import numpy as np


def show(ob: bpy.types.Object, names: Sequence[str], first: int, places: np.ndarray) -> list[str]:
    """Put places (N, F, 3) on frames from `first` on into the motion paths of bones; the names of those without one."""
    left = []
    for name, path in zip(names, places, strict=True):
        own = ob.pose.bones[name].motion_path
        if own is None or own.frame_start > first or len(own.points) < len(path) + first - own.frame_start:
            left.append(name)
            continue
        for point, place in zip(own.points[first - own.frame_start :], path.tolist(), strict=False):
            point.co = place
    return left
