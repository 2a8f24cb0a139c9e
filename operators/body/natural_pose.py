# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning a character's own way to move."""

import bpy
from bpy.props import StringProperty

from ...rig.frame import learning
from ...rig.notes import Note
from ..common import GoalsOperator, armature


class DQIK_OT_learn_from_actions(GoalsOperator, bpy.types.Operator):
    """Learn from this character's actions where its elbows, knees, shoulders and spine go. Nothing is moved or keyed"""

    bl_idname = "dqik.learn_from_actions"
    bl_label = "Learn from Actions"
    bl_options = {"REGISTER", "UNDO"}

    actions: StringProperty(
        name="Actions",
        description="Names of the actions, with commas between them. If empty, all that turn most of the solved bones",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Learn, and store it on the armature object."""
        ob = armature(context)
        lesson = learning.learn(ob, context.evaluated_depsgraph_get(), _names(self.actions))
        if isinstance(lesson, Note):
            self.tell({"ERROR"}, lesson)
            return {"CANCELLED"}
        ob.dqik.own_motion = lesson.text
        self.tell({"INFO"}, Note("Learnt from {} frames of {}", lesson.frames, ', '.join(map(repr, lesson.actions))))
        return {"FINISHED"}


def _names(text: str) -> list[str]:
    """The names of actions in a text; an action may have commas in its name."""
    if text in bpy.data.actions:
        return [text]
    return [name for name in (part.strip() for part in text.split(",")) if name]


CLASSES = (DQIK_OT_learn_from_actions,)
