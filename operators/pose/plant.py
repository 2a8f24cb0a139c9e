# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting feet and hands over a range of frames."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ...rig.blender import scene_state
from ...rig.controls import selection
from ...rig.keys import keyable
from ...rig.notes import Code, Note, Refused, listed
from ...rig.shot import plant
from ..common import GoalsOperator, armature


class DQIK_OT_plant(GoalsOperator, bpy.types.Operator):
    """Keep the selected feet or hands where they stand, over the frames on which they do"""

    bl_idname = "dqik.plant"
    bl_label = "Plant"
    bl_options = {"REGISTER", "UNDO"}

    frame_start: IntProperty(name="Start", description="First frame. An End before it means the frames around this one "
                             "on which the foot is slow and low", default=0)  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1)
    fade: IntProperty(name="Fade", description="Frames before and after, over which the foot comes from and goes to "
                      "where it was; 0 takes an eighth of a second", default=0, min=0, soft_max=20)  # fmt: skip
    roll: BoolProperty(name="Roll", description="Feet roll about heel and ball as they did, instead of keeping their "
                       "rotation", default=True)  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Key the targets of the selected goals where they stand."""
        ob = armature(context)
        numbers = self._numbers(context, ob)
        if not numbers:
            self.tell({"ERROR"}, Note("Select the controls of the feet or hands to plant"))
            return {"CANCELLED"}
        if refusal := keyable.of_goals(ob, numbers, poles=False):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        span = (self.frame_start, self.frame_end) if self.frame_end >= self.frame_start else None
        try:
            done, left = plant.plant(ob, numbers, span, self.fade, self.roll, context)
        except Refused as refused:
            self.tell({"ERROR"}, refused.note)
            return {"CANCELLED"}
        except scene_state.Disturbed as disturbed:
            self.tell({"ERROR"}, Note(Code.NOTHING_KEYED), disturbed.note)
            return {"CANCELLED"}
        if left:
            self.tell({"WARNING"}, Note(Code.TARGETS_NOT_THERE, listed([repr(name) for name in left])))
        for one in done:
            self.tell({"INFO"}, Note("Planted {} from {} to {}",
                                     repr(ob.dqik.goals[one.goal].name), one.first, one.last))
        return {"FINISHED"} if done else {"CANCELLED"}

    @staticmethod
    def _numbers(context: bpy.types.Context, ob: bpy.types.Object) -> list[int]:
        """The goals of the selected bones, or of the selected objects, that hold a place."""
        names = set(selection.selected(context, ob))
        objects = set() if ob.mode == "POSE" else set(context.selected_objects)
        return [
            number for number, goal in enumerate(ob.dqik.goals)
            if goal.kind == "REACH" and goal.use_position and goal.target is not None and goal.bone in ob.pose.bones
            and selection.holds_goal(ob, goal, names, objects)
        ]  # fmt: skip


CLASSES = (DQIK_OT_plant,)
