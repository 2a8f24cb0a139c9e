# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the overlay of the active armature in 3D views. The geometry is made again only when something has changed."""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from ..rig.blender import units
from ..rig.overlay import scene, workspace
from ..rig.remembered import Remembered
from .drawing import batch, blended, draw_lines, draw_points, figure_in_view, lines_of, points_of, write

_COLORS = {
    "goal": (0.30, 0.85, 0.55, 0.9), "miss": (1.00, 0.35, 0.15, 1.0), "swing": (0.45, 0.70, 1.00, 0.9),
    "twist": (0.85, 0.60, 1.00, 0.9), "use": (1.00, 0.90, 0.35, 1.0), "limit": (1.00, 0.25, 0.20, 1.0),
    "held": (1.00, 0.65, 0.10, 1.0), "reach": (0.45, 0.70, 1.00, 0.55), "dexterous": (0.35, 0.95, 0.60, 0.8),
    "left": (0.45, 0.65, 1.00, 1.0), "right": (1.00, 0.45, 0.40, 1.0), "middle": (1.00, 0.85, 0.35, 1.0),
    "lag": (0.95, 0.85, 0.35, 1.0), "body": (0.85, 0.85, 0.90, 0.35),
}  # fmt: skip
_WIDTHS = {"goal": 1.5, "miss": 2.5, "lag": 2.0, "swing": 1.5, "twist": 1.5, "use": 2.5, "limit": 3.5, "held": 2.0,
           "left": 2.5, "right": 2.5, "middle": 2.5, "body": 1.0}  # fmt: skip
_FACE_ALPHA = 0.10
_POINT, _LETTERS = 3.0, 12  # sizes in pixels

_Batch = tuple[gpu.types.GPUBatch, str]


class _Drawn(NamedTuple):
    """The batches that are drawn."""

    lines: Sequence[_Batch]
    faces: Sequence[_Batch]
    points: Sequence[_Batch]
    labels: Sequence[tuple[Vector, str, str]]


_drawn: Remembered[tuple, _Drawn] = Remembered(1)
_shown: _Drawn | None = None  # in the region that is drawn now


def _refresh() -> _Drawn | None:
    """The batches of the active armature; None if nothing is to be shown."""
    context = bpy.context
    overlay, ob = context.window_manager.dqik_overlay, figure_in_view(context)
    if ob is None:
        return None
    shown = scene.ONLY_MISSES
    if overlay.show:
        parts = overlay.goals, overlay.limits, overlay.at_limit, overlay.holds, overlay.roles, overlay.bodies
        shown = scene.OverlayParts(*parts)
    elif not (ob.dqik.live and any(goal.missed for goal in ob.dqik.goals)):
        return None
    found = scene.read(ob, context.evaluated_depsgraph_get(), context.selected_pose_bones or (), shown)
    reach = ob.dqik.workspace if overlay.show and overlay.reach else None
    return _drawn.of((*found.contents, reach), lambda: _batches(ob, scene.draw(found), reach))


def _batches(ob: bpy.types.Object, drawing: scene.Drawing, reach: workspace.Workspace | None) -> _Drawn:
    """The batches of a drawing."""
    faces = gpu.shader.from_builtin("UNIFORM_COLOR")
    labels = [
        *((place, units.miss(bpy.context.scene, ob, far, 0.0), kind) for place, far, kind in drawing.misses),
        *((place, bpy.app.translations.pgettext_iface(name), kind) for place, name, kind in drawing.roles),
    ]
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points_of_reach: list[_Batch] = []
    if reach is not None and reach.made_from == workspace.settings(evaluated, reach.goal):
        for kind, points in zip(("reach", "dexterous"), reach.points(evaluated), strict=True):
            if len(points):
                points_of_reach.append((points_of(points), kind))
    return _Drawn(
        [(lines_of(np.concatenate(parts)), kind) for kind, parts in drawing.lines.items()],
        [(batch(faces, "TRIS", np.concatenate(parts)), kind) for kind, parts in drawing.faces.items()],
        points_of_reach, labels,
    )  # fmt: skip


def draw_view() -> None:
    """Draw faces, points and lines in the space of the view."""
    global _shown
    drawn = _shown = _refresh()
    if drawn is None:
        return
    context = bpy.context
    gpu.state.depth_test_set("NONE")
    with blended():
        flat = gpu.shader.from_builtin("UNIFORM_COLOR")
        for triangles, kind in drawn.faces:
            flat.uniform_float("color", (*_COLORS[kind][:3], _FACE_ALPHA))
            triangles.draw(flat)
        for points, kind in drawn.points:
            draw_points(context, points, _COLORS[kind], _POINT)
        for lines, kind in drawn.lines:
            draw_lines(context, lines, _COLORS[kind], _WIDTHS[kind])


def draw_labels() -> None:
    """Write the distance beside each target that is missed, and the names of roles."""
    context = bpy.context
    scale = context.preferences.system.ui_scale
    for place, text, kind in () if _shown is None else _shown.labels:
        at = location_3d_to_region_2d(context.region, context.region_data, place)
        if at is not None:
            write(text, (at.x + 8 * scale, at.y + 8 * scale), _LETTERS * scale, _COLORS[kind])


def forget() -> None:
    """Let go what was drawn last."""
    global _shown
    _drawn.clear()
    _shown = None
