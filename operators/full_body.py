# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting up goals for a whole figure."""

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..rig.figure import roles
from ..rig.notes import Code, Note
from ..rig.setup import controls, full_body
from .common import ArmatureOperator, armature


class DQIK_OT_setup_full_body(ArmatureOperator, bpy.types.Operator):
    """Add goals for hands, feet, head and hips of a human figure, and let its hips move"""

    bl_idname = "dqik.setup_full_body"
    bl_label = "Set Up Full Body"
    bl_options = {"REGISTER", "UNDO"}

    targets: EnumProperty(
        name="Targets",
        description="What the body follows",
        items=[
            ("BONES", "Bones", "Control bones of the same armature, to pose and key them with the body. "
             "Where the armature cannot be edited, empties"),
            ("EMPTIES", "Empties", "Empties in a collection of their own"),
        ],
        default="BONES",
    )  # fmt: skip
    use_rotation: BoolProperty(
        name="Rotation", description="Turn hands, feet and head with their targets", default=True
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the goals."""
        ob = armature(context)
        figure = roles.of(ob)
        if figure.controlled:
            self.tell({"WARNING"}, figure.controlled)
            return {"CANCELLED"}
        as_bones = self.targets == "BONES" and controls.can_add(ob)
        result = full_body.set_up(ob, context.scene, self.use_rotation, as_bones)
        if not result.new_goals and not result.old_goals:
            self.tell({"WARNING"}, Note(Code.NO_NAMED_ENDS, repr(ob.name)))  # fmt: skip
            return {"CANCELLED"}
        count = len(result.new_goals)
        parts = [Note(Code.GOALS_ADDED, count) if count else Note(Code.NO_GOALS_ADDED)]
        if result.taken:
            taken = ", ".join(f"{words} {name!r}" for words, name in result.taken.items())
            parts.append(Note(Code.TAKEN_FOR, taken))
        if count and self.targets == "BONES" and not as_bones:
            parts.append(Note(Code.TARGETS_ARE_EMPTIES))
        if result.old_goals:
            parts.append(Note(Code.HAD_GOALS, len(result.old_goals)))
        if result.hips and not result.keyed_hips:
            parts.append(Note(Code.MAY_MOVE, repr(result.hips)))
        elif result.hips:
            parts.append(Note(Code.STAYS_ON_KEYS, repr(result.hips)))
        if figure.folded:
            parts.insert(0, roles.FOLDED)
        if result.missing:
            parts.append(Note(Code.NOT_FOUND, ', '.join(result.missing)))
        self.tell({"WARNING"} if result.missing or figure.folded else {"INFO"}, *parts)
        return {"FINISHED"}


CLASSES = (DQIK_OT_setup_full_body,)
