# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure, recognised by the names of its bones and by its shape."""

import bpy

from ...rig.notes import Note, listed
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
            self.tell({"WARNING"}, Note("None of {} is known as a part of a human figure: set their Role in the Bone "
                                        "panel", self._which()))  # fmt: skip
            return {"CANCELLED"}
        notes = [Note("Set the limits of {} of {} bones",
                      len(preset.limited), len(bones)), Note("the others did not change")]
        if preset.skipped:
            notes.append(Note("left alone: {}, whose direction is not known", listed(list(map(repr, preset.skipped)))))
        self.tell({"WARNING"} if preset.skipped else {"INFO"}, *notes)
        return {"FINISHED"}


CLASSES = (DQIK_OT_limits_preset,)
