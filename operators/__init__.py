# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators, one file for each task of an animator. They fetch, call one function and report."""

import bpy

from . import bake, command_line, compare, full_body, goals, holds, limits, presets, render, solve, targets

CLASSES = (
    *goals.CLASSES, *targets.CLASSES, *solve.CLASSES, *bake.CLASSES, *compare.CLASSES, *limits.CLASSES,
    *holds.CLASSES, *presets.CLASSES, *full_body.CLASSES, *render.CLASSES,
)  # fmt: skip


def register() -> None:
    """Register the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    command_line.register()


def unregister() -> None:
    """Unregister the operators, in reverse."""
    command_line.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
