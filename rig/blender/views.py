# SPDX-License-Identifier: GPL-3.0-or-later
"""The editors of all windows."""

import bpy


def redraw(kind: str = "VIEW_3D") -> None:
    """Draw all editors of a kind again, with their panels; by default the 3D views."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == kind:
                area.tag_redraw()
