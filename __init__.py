# SPDX-License-Identifier: GPL-3.0-or-later
"""DQIK: whole-armature inverse kinematics for Blender.

The natural pose was learnt from captured motion. The data used in this project was obtained from mocap.cs.cmu.edu. The
database was created with funding from NSF EIA-0196217.
"""

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
