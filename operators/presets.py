# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure, by the names of the bones."""

import bpy

from ..rig.setup import anatomy
from .common import armature
from .limits import LimitsOperator

_NAMED = 3  # bones that a report names before it counts


class DQIK_OT_limits_preset(LimitsOperator, bpy.types.Operator):
    """Limit the bones of a human figure as far as people's joints turn, and bend knees and elbows their way"""

    bl_idname = "dqik.limits_preset"
    bl_label = "Human Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Limit what is recognised."""
        ob, bones = armature(context), self._bones(context)
        done = anatomy.apply(ob, bones)
        if not done.limited and not done.rolled:
            self.report({"WARNING"}, f"None of {self._which()} has the name of a part of a human figure that we know: "
                        "name them as Rigify, Mixamo or VRM does")  # fmt: skip
            return {"CANCELLED"}
        text = f"Set the limits of {len(done.limited)} of {len(bones)} bones; the others were left alone"
        if done.rolled:
            names = ", ".join(map(repr, done.rolled[:_NAMED])) + (", ..." if len(done.rolled) > _NAMED else "")
            text += f". Rolled so that they bend about neither X nor Z: {names}"
        self.report({"WARNING"} if done.rolled else {"INFO"}, text)
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_preset,)
