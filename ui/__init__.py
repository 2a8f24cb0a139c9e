# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: panels and lists; the overlay and marks."""

import bpy

from . import bone, compare, goals, main, marks, overlay, render, solver

CLASSES = (*main.CLASSES, *goals.CLASSES, *bone.CLASSES, *overlay.CLASSES, *solver.CLASSES, *compare.CLASSES)
_DRAWN = (overlay, marks, render)


def register() -> None:
    """Register the panels, and draw in the editors."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for drawn in _DRAWN:
        drawn.start()


def unregister() -> None:
    """Undo `register`, in reverse."""
    for drawn in reversed(_DRAWN):
        drawn.stop()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
