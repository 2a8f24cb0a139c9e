# SPDX-License-Identifier: GPL-3.0-or-later
"""Editing one frame of a motion, with its neighbours."""

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import BoolProperty, IntProperty

from ...rig.blender.places import Owner, owner_of
from ...rig.clip import last_report
from ...rig.controls import selection
from ...rig.figure.character import Character
from ...rig.motion import edit_range
from ...rig.notes import Note, Refused
from ...rig.shot import attachable, plant
from ..common import ArmatureOperator, armature

_SLOW = 0.02  # of the figure's size in a second: what is slower stands


class DQIK_OT_edit_range(ArmatureOperator, bpy.types.Operator):
    """Key the selected controls or bones where you have moved them. The frames around follow, until a radius"""

    bl_idname = "dqik.edit_range"
    bl_label = "Edit Range"
    bl_options = {"REGISTER", "UNDO"}

    radius: IntProperty(name="Radius", description="Frames to both sides until which the change fades away. Beyond it "
                        "nothing changes", default=12, min=1, soft_max=100)  # fmt: skip
    stand: BoolProperty(name="Keep Standing", description="A foot or hand that stands on this frame is moved on all "
                        "frames on which it stands", default=True)  # fmt: skip

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether anything is selected that could have been moved; if not, sets the message."""
        if not super().poll(context):
            return False
        ob = armature(context)
        if selection.selected(context, ob) or (ob.mode != "POSE" and context.selected_objects):
            return True
        cls.poll_message_set(Note("In Pose Mode, select the controls or bones that you have moved").words(iface_))
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Compare what is selected with its keys, and spread the change."""
        ob, scene = armature(context), context.scene
        time = scene.frame_current_final
        owners = self._owners(context, ob)
        solved = attachable.solved_bones(ob) if ob.dqik.live else set[str]()
        changes = [edit_range.change_of(owner, time) for owner in owners if owner.name not in solved or owner == ob]
        changes = [change for change in changes if change is not None]
        if not changes:
            self.tell({"ERROR"}, Note("Nothing that is selected has keys and was moved on this frame: move it first, "
                                      "then press this"))
            return {"CANCELLED"}
        for thing in dict.fromkeys(change.owner.id_data for change in changes):
            try:
                edit_range.check(thing, changes)
            except Refused as refused:
                self.tell({"ERROR"}, refused.note)
                return {"CANCELLED"}
        for change in changes:
            span = self._standing(ob, change, time, scene) if self.stand else (time, time)
            edit_range.apply(change, time, span, self.radius)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        done = Note("Changed {} controls or bones over a radius of {} frames", len(changes), self.radius)
        self.tell({"INFO"}, done)
        last_report.remember(ob, [done], True)
        return {"FINISHED"}

    @staticmethod
    def _owners(context: bpy.types.Context, ob: bpy.types.Object) -> list[Owner]:
        if ob.mode == "POSE":
            return [ob.pose.bones[name] for name in selection.selected(context, ob)]
        return list(context.selected_objects)

    @staticmethod
    def _standing(
        ob: bpy.types.Object, change: edit_range.Change, time: float, scene: bpy.types.Scene
    ) -> tuple[float, float]:  # fmt: skip
        """The frames over which a control of a goal stands; of something else, this frame."""
        owner, scale = change.owner, max(map(abs, ob.matrix_world.to_scale()))
        size = Character.of(ob).size * (scale if owner == owner.id_data else 1.0)
        slow = _SLOW * size * scene.render.fps_base / scene.render.fps
        for goal in ob.dqik.goals:
            if goal.target is None or (owner_of(goal.target, goal.subtarget) or goal.target) != owner:
                continue
            foot = plant.foot_of(ob, goal)
            points = np.zeros((1, 3)) if foot is None else np.stack(foot)
            return edit_range.standing(change, time, points / (1.0 if owner == owner.id_data else scale), slow)
        return time, time


CLASSES = (DQIK_OT_edit_range,)
