# SPDX-License-Identifier: GPL-3.0-or-later
"""What DQIK adds to the menu *Pose* of the 3D view, and to the menu of the right button in Pose Mode."""

import bpy

from ..operators.common import armature
from .tab.tools import DQIK_MT_tools

_MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def _in_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    ob = armature(context)
    if ob is not None and ob.dqik.goals:
        self.layout.separator()
        self.layout.menu(DQIK_MT_tools.__name__)


def start() -> None:
    """Add the entries."""
    for name in _MENUS:
        getattr(bpy.types, name).append(_in_menu)


def stop() -> None:
    """Remove the entries."""
    for name in _MENUS:
        getattr(bpy.types, name).remove(_in_menu)
