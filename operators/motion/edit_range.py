# SPDX-License-Identifier: GPL-3.0-or-later
"""Editing one frame of a motion, with its neighbours."""

import bpy
import numpy as np
from bpy.props import BoolProperty, IntProperty

from ...rig.blender import scene_state
from ...rig.blender.places import owner_of
from ...rig.controls import selection
from ...rig.figure.character import Character
from ...rig.motion import edit_range
from ...rig.notes import Note, Refused
from ...rig.shot import attachable, plant
from ..common import Said, Tool

_SLOW = 0.02  # of the figure's size in a second: what is slower stands


class DQIK_OT_edit_range(Tool, bpy.types.Operator):
    """Key the selected controls or bones where you have moved them. The frames around follow, until a radius"""

    bl_label = "Edit Range"

    radius: IntProperty(name="Radius", description="Frames to both sides until which the change fades away. Beyond it "
                        "nothing changes", default=12, min=1, soft_max=100)  # fmt: skip
    stand: BoolProperty(name="Keep Standing", description="A foot or hand that stands on this frame is moved on all "
                        "frames on which it stands", default=True)  # fmt: skip
    all_frames: BoolProperty(name="All Frames", description="The change is added to the whole motion, and fades "
                             "nowhere: a pose that corrects it", default=False, options={"SKIP_SAVE"})  # fmt: skip

    @classmethod
    def unavailable(cls, context: bpy.types.Context, ob: bpy.types.Object | None) -> Note | None:
        return super().unavailable(context, ob) or (
            None if selection.selected(context, ob) or (ob.mode != "POSE" and context.selected_objects) else
            Note("In Pose Mode, select the controls or bones that you have moved"))

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        scene = context.scene
        time = scene.frame_current_final
        owners = [ob.pose.bones[name] for name in selection.selected(context, ob)]
        if ob.mode != "POSE":
            owners = list(context.selected_objects)
        solved = attachable.solved_bones(ob) if ob.dqik.live else set[str]()
        changes = [edit_range.change_of(owner, time) for owner in owners if owner.name not in solved or owner == ob]
        changes = [change for change in changes if change is not None]
        if not changes:
            raise Refused(Note("Nothing that is selected has keys and was moved on this frame: move it first, "
                               "then press this"))
        for thing in dict.fromkeys(change.owner.id_data for change in changes):
            edit_range.check(thing, changes)
        for change in changes:
            if self.all_frames:
                edit_range.apply(change, time, edit_range.whole(change, time), 0)
                continue
            span = self._standing(ob, change, time, scene) if self.stand else (time, time)
            edit_range.apply(change, time, span, self.radius)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        said = Note("Controls or bones changed: {}, fading over {} frames to both sides", len(changes), self.radius)
        self.conclude(ob, True, Note("Controls or bones changed on all frames: {}", len(changes))
                      if self.all_frames else said)  # fmt: skip

    @staticmethod
    def _standing(
        ob: bpy.types.Object, change: edit_range.OwnerChange, time: float, scene: bpy.types.Scene
    ) -> tuple[float, float]:  # fmt: skip
        """The frames over which a control of a goal stands; of something else, this frame."""
        owner, scale = change.owner, max(map(abs, ob.matrix_world.to_scale()))
        size = Character.of(ob).size * (scale if owner == owner.id_data else 1.0)
        slow = _SLOW * size / scene_state.rate(scene)
        for goal in ob.dqik.goals:
            if goal.target is None or (owner_of(goal.target, goal.subtarget) or goal.target) != owner:
                continue
            foot = plant.foot_of(ob, goal)
            points = np.zeros((1, 3)) if foot is None else np.stack(foot)
            return edit_range.standing(change, time, points / (1.0 if owner == owner.id_data else scale), slow)
        return time, time
