# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the motion from which the active armature's motion was made in 3D views, as lines along its bones."""

import bpy
import numpy as np

from ..rig.overlay import original
from .drawing import blended, draw_lines, figure_in_view, lines_of

_COLOR, _EDGE = (1.0, 0.72, 0.2, 0.95), (0.0, 0.0, 0.0, 0.45)
_WIDTH, _RIM = 2.5, 2.0  # pixels


def draw() -> None:
    """Draw the lines over everything, moved to the right of the view by as much as is asked for."""
    context = bpy.context
    ob = figure_in_view(context)
    if ob is None or not ob.dqik.show_original or ob.dqik.live:
        return
    lines = original.lines(ob, context)
    if not len(lines):
        return
    right = np.array(context.region_data.view_rotation.to_matrix().col[0])
    batch = lines_of(lines + ob.dqik.original_beside * original.height(ob) * right)
    with blended():
        draw_lines(context, batch, _EDGE, _WIDTH + _RIM)
        draw_lines(context, batch, _COLOR, _WIDTH)
