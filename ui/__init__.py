# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: panels and lists; the overlay, marks, shortcuts, languages."""

import bpy
from bpy.props import PointerProperty

from ..operators.common import declared
from ..rig.blender import words
from . import (
    contact_bars,
    ghosts,
    handles,
    keymap,
    languages,
    marks,
    original,
    overlay,
    overlay_settings,
    render,
    tab,
)
from .tab import tools

PANELS = tab.PANELS
CLASSES = (*PANELS, *declared(overlay_settings, handles, keymap))
_DRAWINGS = (
    ("SpaceView3D", overlay.draw_view, "POST_VIEW"),
    ("SpaceView3D", overlay.draw_labels, "POST_PIXEL"),
    ("SpaceView3D", ghosts.draw, "POST_VIEW"),
    ("SpaceView3D", original.draw, "POST_VIEW"),
    ("SpaceDopeSheetEditor", marks.draw, "POST_PIXEL"),
    ("SpaceGraphEditor", marks.draw, "POST_PIXEL"),
    ("SpaceDopeSheetEditor", contact_bars.draw, "POST_PIXEL"),
)
_ENTRIES = (
    ("TOPBAR_MT_render", render.in_menu),
    ("VIEW3D_MT_pose", tools.in_menu),
    ("VIEW3D_MT_pose_context_menu", tools.in_menu),
)
_handles: list[tuple[type, object]] = []


def register() -> None:
    """Register the panels and the preferences; start what draws in editors, translates, and waits for keys."""
    for cls in CLASSES:
        words.register_class(cls)
    languages.register(__name__)
    bpy.types.WindowManager.dqik_overlay = PointerProperty(
        type=overlay_settings.DqikOverlay, name="DQIK Overlay", description="What 3D views show of the active armature"
    )
    for name, draw, when in _DRAWINGS:
        space = getattr(bpy.types, name)
        _handles.append((space, space.draw_handler_add(draw, (), "WINDOW", when)))
    bpy.types.RENDER_PT_output.prepend(render.in_output)
    for name, draw in _ENTRIES:
        getattr(bpy.types, name).append(draw)
    keymap.start()


def unregister() -> None:
    """Undo `register`, in reverse."""
    keymap.stop()
    for name, draw in _ENTRIES:
        getattr(bpy.types, name).remove(draw)
    bpy.types.RENDER_PT_output.remove(render.in_output)
    while _handles:
        space, handle = _handles.pop()
        space.draw_handler_remove(handle, "WINDOW")
    overlay.forget()
    ghosts.forget()
    del bpy.types.WindowManager.dqik_overlay
    bpy.app.translations.unregister(__name__)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
