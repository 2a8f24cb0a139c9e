# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure, recognised by the names of its bones and by its shape."""

import bpy

from ...rig.notes import Code, Note, listed
from ...rig.skeleton import human_limits
from ..common import armature
from .limits import LimitsOperator


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
            self.tell({"WARNING"}, preset.refusal)
            return {"CANCELLED"}
        if not preset.limited and not preset.skipped:
            self.tell({"WARNING"}, Note(Code.NOT_OF_A_FIGURE, self._which()))  # fmt: skip
            return {"CANCELLED"}
        notes = [Note(Code.LIMITS_SET_OF, len(preset.limited), len(bones)), Note(Code.OTHERS_UNCHANGED)]
        if preset.skipped:
            notes.append(Note(Code.LEFT_ALONE, listed(list(map(repr, preset.skipped)))))
        self.tell({"WARNING"} if preset.skipped else {"INFO"}, *notes)
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_preset,)
