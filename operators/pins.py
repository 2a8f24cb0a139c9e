# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinning bones where they are, and unpinning them."""

import bpy
from bpy.props import BoolProperty

from ..rig.notes import Code, Note
from ..rig.setup import controls, goals, pins, selection
from .common import ArmatureOperator, GoalsOperator, armature

CONTEXT = "DQIK"  # of the words in translations


class DQIK_OT_pin(ArmatureOperator, bpy.types.Operator):
    """Hold the selected bones where they are now, by goals with targets of their own"""

    bl_idname = "dqik.pin"
    bl_label = "Pin"
    bl_translation_context = CONTEXT
    bl_options = {"REGISTER", "UNDO"}

    position: BoolProperty(name="Position", description="Hold the heads of the bones", default=True)
    rotation: BoolProperty(name="Rotation", description="Hold how the bones are turned", default=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add a goal for each bone that has none; move the targets of those that have one to the bones."""
        ob = armature(context)
        names = [name for name in selection.selected(context, ob) if not controls.is_control(ob.data.bones[name])]
        if not names or not (self.position or self.rotation):
            self.tell({"ERROR"}, Note(Code.SELECT_BONES_TO_HOLD) if not names
                        else Note(Code.CHOOSE_POSITION_OR_ROTATION))  # fmt: skip
            return {"CANCELLED"}
        left = pins.pin(ob, names, self.position, self.rotation, controls.can_add(ob))
        if left:
            self.tell({"WARNING"}, Note(Code.TARGETS_NOT_MOVED, ', '.join(map(repr, left))))
        return {"FINISHED"}


class DQIK_OT_unpin(GoalsOperator, bpy.types.Operator):
    """Let the selected bones, or the bones of the selected targets, go again: removes their goals"""

    bl_idname = "dqik.unpin"
    bl_label = "Unpin"
    bl_translation_context = CONTEXT
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the goals whose targets were made for them."""
        ob = armature(context)
        names = set(selection.selected(context, ob))
        numbers = [
            number for number, goal in enumerate(ob.dqik.goals)
            if goal.own_target and (goal.bone in names or (goal.target == ob and goal.subtarget in names))
        ]  # fmt: skip
        if not numbers:
            self.tell({"WARNING"}, Note(Code.NONE_PINNED))
            return {"CANCELLED"}
        if notes := goals.remove(ob, numbers):
            self.tell({"WARNING"}, *notes)
        return {"FINISHED"}


CLASSES = (DQIK_OT_pin, DQIK_OT_unpin)
