# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching on Lock Interface, which makes renders safe while live solving is on."""

import bpy


class DQIK_OT_lock_interface(bpy.types.Operator):
    """Switch on Lock Interface for renders of this scene. Without it, rendering while Live is on can crash Blender"""

    bl_idname = "dqik.lock_interface"
    bl_label = "Lock Interface"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Lock the interface of this scene's renders."""
        context.scene.render.use_lock_interface = True
        return {"FINISHED"}


CLASSES = (DQIK_OT_lock_interface,)
