# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that the eyes look at."""

import bpy

from ...rig.controls import controls, eyes, selection
from ...rig.figure.short_names import called
from ...rig.notes import Code, Note
from ..common import ArmatureOperator, armature


class DQIK_OT_eyes_add(ArmatureOperator, bpy.types.Operator):
    """Give each eye a control before the face that it looks at, and one control that moves both"""

    bl_idname = "dqik.eyes_add"
    bl_label = "Eyes"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the controls, and in Pose Mode select the one of both eyes."""
        ob = armature(context)
        if (refusal := eyes.refusal(ob)) is not None:
            self.tell({"WARNING"}, refusal)
            return {"CANCELLED"}
        added = eyes.add(ob)
        parts = [Note(Code.CONTROLS_ADDED, len(added.names))]
        parts += [Note(Code.STAYS_ON_KEYS, repr(name)) for name in added.keyed]
        parts += [Note(Code.NOT_FOUND, ", ".join(added.missing))] if added.missing else []
        if ob.mode == "POSE":
            chosen = controls.EYES if controls.EYES in added.names else added.names[-1]
            selection.select_only(ob, chosen)
            parts.append(Note(Code.BEGIN_POSING, called(ob, chosen)))
        else:
            parts.append(Note(Code.BEGIN_WITH_CONTROLS))
        self.tell({"WARNING"} if added.missing or added.keyed else {"INFO"}, *parts)
        return {"FINISHED"}


CLASSES = (DQIK_OT_eyes_add,)
