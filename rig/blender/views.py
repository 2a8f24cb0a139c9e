# SPDX-License-Identifier: GPL-3.0-or-later
"""The editors of all windows."""

import bpy

_JOBS = ("RENDER", "OBJECT_BAKE")  # that visit frames themselves


def redraw(kind: str = "VIEW_3D") -> None:
    """Draw all editors of a kind again, with their panels; by default the 3D views."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == kind:
                area.tag_redraw()


def is_dragging() -> bool:
    """Whether the user moves, turns or scales something: one of Blender's transforms runs in a window."""
    windows = bpy.context.window_manager.windows
    return any(one.bl_idname.startswith("TRANSFORM_OT") for window in windows for one in window.modal_operators)


def is_busy() -> bool:
    """Whether a window plays, an operator drags something, or a job visits frames: nothing else may visit any then."""
    windows = bpy.context.window_manager.windows
    return any(map(bpy.app.is_job_running, _JOBS)) or any(
        window.screen.is_animation_playing or window.screen.is_scrubbing or len(window.modal_operators) > 0
        for window in windows
    )
