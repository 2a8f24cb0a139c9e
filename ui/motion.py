# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what is done to a whole motion."""

import bpy

from ..operators.common import armature
from .common import ArmatureSidebar


class DQIK_PT_motion(ArmatureSidebar, bpy.types.Panel):
    """What is done to all frames of a motion at once"""

    bl_label = "Whole Motion"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and armature(context).mode == "POSE"

    def draw(self, context: bpy.types.Context) -> None:
        del context
        column = self.layout.column(align=True)
        column.operator("dqik.retarget", text="Retarget...")
        column.operator("dqik.edit_range")
        column.operator("dqik.mend_motion", text="Mend Motion...")
        column.operator("dqik.unbake", text="Fewer Keys...")
        column.operator("dqik.overlap", text="Overlap...")


CLASSES = (DQIK_PT_motion,)
