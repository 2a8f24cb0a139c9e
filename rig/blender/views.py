# SPDX-License-Identifier: GPL-3.0-or-later
"""The 3D views of all windows."""

import bpy


def redraw() -> None:
    """Draw all 3D views again, with their panels."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
