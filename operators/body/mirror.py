# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirroring goals, limits and couplings from one side of the body to the other."""

import bpy
from bpy.props import EnumProperty

from ...rig.controls import controls, mirror
from ...rig.notes import Note
from ..common import ArmatureOperator, GoalsOperator, armature
from .limits import LimitsOperator


class MirrorOperator(ArmatureOperator):
    """Base of operators that copy from one side to the other, by the names or the roles of the bones."""

    direction: EnumProperty(
        name="Direction",
        description="The side to copy from and the side to copy to",
        items=[
            (mirror.LEFT, "Left to Right", "Copy what the left side has to the right side"),
            (mirror.RIGHT, "Right to Left", "Copy what the right side has to the left side"),
        ],
        default=mirror.LEFT,
    )

    def _report_copied(self, what: Note, count: int, left: list[str]) -> set[str]:
        if not count:
            self.tell({"WARNING"}, Note("There are no {} to mirror, or no bones named as the other side", what))
            return {"CANCELLED"}
        notes = [Note("Mirrored the {} of {} bones", what, count)]
        if left:
            notes.append(Note("without a mirror image: {}", ", ".join(map(repr, left))))
        self.tell({"WARNING"} if left else {"INFO"}, *notes)
        return {"FINISHED"}


class DQIK_OT_goals_mirror(MirrorOperator, GoalsOperator, bpy.types.Operator):
    """Copy the goals of one side of the body to the other, by the names or the roles of the bones"""

    bl_idname = "dqik.goals_mirror"
    bl_label = "Mirror Goals"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy the goals."""
        ob = armature(context)
        return self._report_copied(Note("goals"), *mirror.mirror_goals(ob, self.direction, controls.can_add(ob)))


class DQIK_OT_limits_mirror(MirrorOperator, LimitsOperator, bpy.types.Operator):
    """Copy limits, stiffness, gains, locks and preferred bends of one side of the body to the other"""

    bl_idname = "dqik.limits_mirror"
    bl_label = "Mirror Limits"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy the settings of the bones."""
        ob = armature(context)
        return self._report_copied(Note("limits"), *mirror.mirror_limits(ob, self._bones(context), self.direction))


class DQIK_OT_couplings_mirror(MirrorOperator, bpy.types.Operator):
    """Copy the couplings of one side of the body to the other, by the names or the roles of the bones"""

    bl_idname = "dqik.couplings_mirror"
    bl_label = "Mirror Couplings"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy the couplings."""
        ob = armature(context)
        return self._report_copied(Note("couplings"), *mirror.mirror_couplings(ob, self.direction))


CLASSES = (DQIK_OT_goals_mirror, DQIK_OT_limits_mirror, DQIK_OT_couplings_mirror)
