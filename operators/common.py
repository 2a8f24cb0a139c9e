# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the operators: the armature that they work on, and reports in the language of the interface."""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ClassVar

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import IntProperty

from ..rig.blender.dependencies import aims
from ..rig.keys import keyable
from ..rig.notes import Note, joined


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
    """Poll of operators that need an active armature; what they report is translated.

    stores : whether it stores something on the armature, which it refuses where that would be gone with the file.
    """

    stores: ClassVar[bool] = True

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        for name, guarded in (("execute", _guarded_execute), ("invoke", _guarded_invoke)):
            own = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
            if cls.stores and isinstance(own, FunctionType) and not hasattr(own, "__wrapped__"):
                setattr(cls, name, guarded(own))

    def tell(self, kinds: set[str], *notes: Note) -> None:
        """Report notes in one line, in the language of the interface. Blender lets no class override `report`."""
        self.report(kinds, joined(notes, iface_))

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an armature to work on; if not, sets the message."""
        ob = armature(context)
        if ob is None:
            cls.poll_message_set(Note("Select an armature first").words(iface_))
            return False
        if ob.mode == "EDIT":
            cls.poll_message_set(Note("Leave Edit Mode first").words(iface_))
            return False
        if ob.pose is None or not ob.pose.bones:
            cls.poll_message_set(Note("This armature has no bones: add some in Edit Mode").words(iface_))
            return False
        return True


def _lost(operator: ArmatureOperator, context: bpy.types.Context) -> bool:
    """Whether what an operator stores would be gone with the file; says so."""
    ob = armature(context)
    note = None if ob is None else keyable.of_settings(ob)
    if note is not None:
        operator.tell({"WARNING"}, note)
    return note is not None


def _guarded_execute(own: Callable) -> Callable:
    @wraps(own)
    def execute(self: ArmatureOperator, context: bpy.types.Context) -> set[str]:
        return {"CANCELLED"} if _lost(self, context) else own(self, context)

    return execute


def _guarded_invoke(own: Callable) -> Callable:
    @wraps(own)
    def invoke(self: ArmatureOperator, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return {"CANCELLED"} if _lost(self, context) else own(self, context, event)

    return invoke


class GoalsOperator(ArmatureOperator):
    """Poll of operators that need an armature with goals."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the armature has a goal; if not, sets the message."""
        if not super().poll(context):
            return False
        if not armature(context).dqik.goals:
            cls.poll_message_set(Note("Add a goal first").words(iface_))
            return False
        return True


class OneGoalOperator(GoalsOperator):
    """An operator that works on one goal."""

    index: IntProperty(name="Goal", description="Number of the goal, -1 for the active one", default=-1, min=-1)

    def goal(self, ob: bpy.types.Object) -> int | None:
        """The number of the goal; None, with a report, if there is none."""
        number, count = ob.dqik.active_goal if self.index < 0 else self.index, len(ob.dqik.goals)
        if number < count:
            return number
        self.tell({"ERROR"}, Note("There is no goal {}: {} has {}, counted from 0", number, repr(ob.name), count))
        return None
