# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the motion from which the active armature's motion was made, and the one that it would get, as lines."""

import bpy
import numpy as np

from ..rig.overlay import original, preview
from .drawing import blended, draw_lines, figure_in_view, lines_of

_ORIGINAL, _PREVIEW, _EDGE = (1.0, 0.72, 0.2, 0.95), (0.3, 0.85, 1.0, 0.95), (0.0, 0.0, 0.0, 0.45)
_WIDTH, _RIM = 2.5, 2.0  # pixels


def draw() -> None:
    """Draw both over everything, the original moved to the right of the view by as much as is asked for."""
    context = bpy.context
    ob = figure_in_view(context)
    if ob is None:
        return
    _draw(context, preview.lines(ob, context.scene.frame_current), _PREVIEW)
    if ob.dqik.show_original and not ob.dqik.live:
        right = np.array(context.region_data.view_rotation.to_matrix().col[0])
        beside = ob.dqik.original_beside * original.height(ob) * right
        _draw(context, original.lines(ob, context) + beside, _ORIGINAL)


def _draw(context: bpy.types.Context, lines: np.ndarray, color: tuple[float, ...]) -> None:
    """Draw lines (N, 2, 3) with a dark edge."""
    if not len(lines):
        return
    batch = lines_of(lines)
    with blended():
        draw_lines(context, batch, _EDGE, _WIDTH + _RIM)
        draw_lines(context, batch, color, _WIDTH)
