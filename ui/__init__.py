# SPDX-License-Identifier: GPL-3.0-or-later
"""The DQIK tab of the 3D view's sidebar: panels and lists. They draw and do not compute."""

import bpy

from . import bone, compare, goals, main, solver

CLASSES = (*main.CLASSES, *goals.CLASSES, *bone.CLASSES, *solver.CLASSES, *compare.CLASSES)


def register() -> None:
    """Register the panels."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Unregister the panels, in reverse."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
