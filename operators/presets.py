# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure, recognised by the names of the bones."""

import bpy

from ..rig.setup import anatomy
from .common import armature
from .limits import LimitsOperator

_NAMED = 3  # most bones that a report names


class DQIK_OT_limits_preset(LimitsOperator, bpy.types.Operator):
    """Set limits and preferred bends of human joints, for bones with the usual names"""

    bl_idname = "dqik.limits_preset"
    bl_label = "Human Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set the limits of the recognised bones."""
        ob, bones = armature(context), self._bones(context)
        preset = anatomy.apply(ob, bones)
        if not preset.limited and not preset.rolled:
            self.report({"WARNING"}, f"None of {self._which()} is named as a part of a human figure: "
                        "name them as Rigify, Mixamo or VRM does")  # fmt: skip
            return {"CANCELLED"}
        text = f"Set the limits of {len(preset.limited)} of {len(bones)} bones; the others did not change"
        if preset.rolled:
            names = ", ".join(map(repr, preset.rolled[:_NAMED])) + (", ..." if len(preset.rolled) > _NAMED else "")
            text += f". Skipped {names}: change their roll in Edit Mode so that they bend about X or Z"
        self.report({"WARNING"} if preset.rolled else {"INFO"}, text)
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_preset,)
