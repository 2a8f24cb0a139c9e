# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting up goals for a whole figure."""

import bpy
from bpy.app.translations import pgettext_tip as tip_
from bpy.props import BoolProperty, EnumProperty

from ..rig.figure import roles
from ..rig.frame import once
from ..rig.notes import Code, Note
from ..rig.setup import controls, full_body, more_controls
from .common import ArmatureOperator, armature

CONTROLS = [
    ("CHEST", "Chest", "Bends the spine, and carries the head: the body leans with it"),
    ("SHOULDERS", "Shoulders", "Turn the collar bones"),
    ("ELBOWS", "Elbows", "Poles, which the elbows point at"),
    ("KNEES", "Knees", "Poles, which the knees point at"),
    ("TOES", "Toes", "Turn the toes"),
    ("MASTER", "Master", "Carries all other controls, and with them the figure"),
]


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

    controls: EnumProperty(
        name="Controls",
        description="More controls than hands, feet, head and hips. On a body that is set up, only they are added",
        items=CONTROLS,
        options={"ENUM_FLAG"},
        default=set(),
    )  # fmt: skip

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """The tooltip: for one more control its own."""
        del context
        chosen = properties.controls
        words = next((words for name, _, words in CONTROLS if chosen == {name}), "")
        return tip_(words or cls.__doc__ or "")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the goals."""
        ob = armature(context)
        if self.controls and full_body.is_set_up(ob):
            return self._add_controls(ob, [])
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
        if self.controls:
            return self._add_controls(ob, parts)
        self.tell({"WARNING"} if result.missing or figure.folded else {"INFO"}, *parts)
        return {"FINISHED"}

    def _add_controls(self, ob: bpy.types.Object, parts: list[Note]) -> set[str]:
        """Add more controls. parts : what there is to say already."""
        if not controls.can_add(ob):
            self.tell({"WARNING"}, *parts, Note(Code.CONTROLS_NEED_BONES, repr(ob.name)))
            return {"FINISHED"} if parts else {"CANCELLED"}
        with once.still(ob) as paused:
            if paused:
                more_controls.settle(ob)
            added = more_controls.add(ob, self.controls)
        count = len(added.names)
        own = [Note(Code.CONTROLS_ADDED, count)] if count else []
        own += [Note(Code.NOT_FOUND, ", ".join(added.missing))] if added.missing else []
        self.tell({"WARNING"} if added.missing else {"INFO"}, *parts, *(own or [Note(Code.NO_CONTROL_ADDED)]))
        return {"FINISHED"} if parts or count else {"CANCELLED"}


CLASSES = (DQIK_OT_setup_full_body,)
