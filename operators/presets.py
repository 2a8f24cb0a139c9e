# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure, recognised by the names of its bones and by its shape."""

import bpy

from ..rig.setup import human_limits
from .common import armature
from .limits import LimitsOperator

_NAMED = 3  # most bones that a report names


class DQIK_OT_limits_preset(LimitsOperator, bpy.types.Operator):
    """Set limits and preferred bends of human joints, for bones that are recognised as parts of a figure"""

    bl_idname = "dqik.limits_preset"
    bl_label = "Human Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set the limits of the recognised bones."""
        ob, bones = armature(context), self._bones(context)
        preset = human_limits.apply(ob, bones)
        if preset.refusal:
            self.report({"WARNING"}, preset.refusal)
            return {"CANCELLED"}
        if not preset.limited and not preset.skipped:
            self.report({"WARNING"}, f"None of {self._which()} is known as a part of a human figure: "
                        "set their Role in the Bone panel")  # fmt: skip
            return {"CANCELLED"}
        text = f"Set the limits of {len(preset.limited)} of {len(bones)} bones; the others did not change"
        if preset.skipped:
            names = ", ".join(map(repr, preset.skipped[:_NAMED])) + (", ..." if len(preset.skipped) > _NAMED else "")
            text += f"; left alone: {names}, whose direction is not known"
        self.report({"WARNING"} if preset.skipped else {"INFO"}, text)
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_preset,)
