# SPDX-License-Identifier: GPL-3.0-or-later
"""What DQIK adds to the menu *Pose* of the 3D view."""

import bpy


def _in_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    del context
    self.layout.separator()
    self.layout.operator("dqik.grab", icon="VIEW_PAN")


def start() -> None:
    """Add the entries."""
    bpy.types.VIEW3D_MT_pose.append(_in_menu)


def stop() -> None:
    """Remove the entries."""
    bpy.types.VIEW3D_MT_pose.remove(_in_menu)
