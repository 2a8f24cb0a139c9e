# SPDX-License-Identifier: GPL-3.0-or-later
"""DQIK: whole-armature inverse kinematics for Blender."""

from . import live, operators, properties, ui

_MODULES = (properties, operators, ui, live)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(_MODULES):
        module.unregister()
