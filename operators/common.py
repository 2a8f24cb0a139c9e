# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the operators: the armature that they work on, and reports in the language of the interface."""

import bpy

from ..rig.blender.dependencies import aims
from .messages import translated


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature object, or the armature of the active mesh or target."""
    ob = context.object if hasattr(context, "object") else context.view_layer.objects.active
    if ob is None or ob.type == "ARMATURE":
        return ob
    return ob.find_armature() or _reaching_for(context, ob)


def _reaching_for(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that has an object as a target or pole target."""
    if ob.users < 2:  # only its collection uses it
        return None
    for other in context.view_layer.objects:
        if other.type == "ARMATURE" and any(ob == aim for goal in other.dqik.goals for aim, _ in aims(goal)):
            return other
    return None


class ArmatureOperator:
    """Poll of operators that need an active armature; what they report is translated."""

    def report(self, kinds: set[str], message: str) -> None:
        """Report a sentence in the language of the interface."""
        super().report(kinds, translated(message))

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an armature to work on; if not, sets the message."""
        ob = armature(context)
        if ob is None:
            cls.poll_message_set(translated("Select an armature first"))
            return False
        if ob.mode == "EDIT":
            cls.poll_message_set(translated("Leave Edit Mode first"))
            return False
        if ob.pose is None or not ob.pose.bones:
            cls.poll_message_set(translated("This armature has no bones: add some in Edit Mode"))
            return False
        return True


class GoalsOperator(ArmatureOperator):
    """Poll of operators that need an armature with goals."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the armature has a goal; if not, sets the message."""
        if not super().poll(context):
            return False
        if not armature(context).dqik.goals:
            cls.poll_message_set(translated("Add a goal first"))
            return False
        return True
