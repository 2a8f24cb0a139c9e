# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: panels and lists; the overlay, marks, shortcuts, translations."""

import bpy

from . import (
    contact_bars,
    ghosts,
    handles,
    keymap,
    marks,
    original,
    overlay,
    overlay_settings,
    pose_menu,
    preferences,
    render,
    tab,
    translations,
)

PANELS = tab.PANELS
CLASSES = (*tab.CLASSES, *overlay_settings.CLASSES, *handles.CLASSES, *preferences.CLASSES)
_STARTED = (translations, overlay_settings, overlay, ghosts, original, marks, contact_bars, render, pose_menu, keymap)


def register() -> None:
    """Register the panels and the preferences; start what draws in editors, translates, and waits for keys."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for part in _STARTED:
        part.start()


def unregister() -> None:
    """Undo `register`, in reverse."""
    for part in reversed(_STARTED):
        part.stop()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
