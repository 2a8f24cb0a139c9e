# SPDX-License-Identifier: GPL-3.0-or-later
"""DQIK: whole-armature inverse kinematics for Blender."""

from . import live, operators, properties, selecting, ui

_MODULES = (properties, operators, ui, live, selecting)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(_MODULES):
        module.unregister()
