# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting the targets of goals, and putting them where the bones are."""

import bpy
from bpy.props import BoolProperty, IntProperty

from .. import live
from ..rig.blender import scene_state
from ..rig.setup import goals, selection
from .common import GoalsOperator, armature


class DQIK_OT_target_select(GoalsOperator, bpy.types.Operator):
    """Select the target of the goal, to move it. Leaves Pose Mode, unless the target is a bone"""

    bl_idname = "dqik.target_select"
    bl_label = "Select Target"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Goal", description="Number of the goal, -1 for the active one", default=-1, min=-1)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select only the target, and make it active."""
        ob = armature(context)
        goals, index = ob.dqik.goals, ob.dqik.active_goal if self.index < 0 else self.index
        if index >= len(goals):
            self.report({"ERROR"}, f"There is no goal {index}: {ob.name!r} has {len(goals)}, counted from 0")
            return {"CANCELLED"}
        goal = goals[index]
        target = goal.target
        if target == ob and context.mode == "POSE" and goal.subtarget in ob.pose.bones:
            return self._select_bone(ob, goal.subtarget)
        if target is None:
            self.report({"ERROR"}, f"Goal {goal.name!r} has no target: choose an object")
            return {"CANCELLED"}
        if not target.visible_get(view_layer=context.view_layer):
            self.report({"ERROR"}, f"{target.name!r} is hidden or not in this view layer: show it first")
            return {"CANCELLED"}
        if context.view_layer.objects.active is not None and context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.view_layer.objects:
            other.select_set(other == target)
        context.view_layer.objects.active = target
        if target.type == "ARMATURE" and goal.subtarget in target.pose.bones:
            bpy.ops.object.mode_set(mode="POSE")
            return self._select_bone(target, goal.subtarget)
        return {"FINISHED"}

    def _select_bone(self, ob: bpy.types.Object, name: str) -> set[str]:
        if not selection.is_visible(ob, name):
            self.report({"ERROR"}, f"Bone {name!r} is hidden: show it or its bone collection first")
            return {"CANCELLED"}
        selection.select_only(ob, name)
        return {"FINISHED"}


def _range_switched(self: bpy.types.OperatorProperties, context: bpy.types.Context) -> None:
    """The range was ticked in the panel that adjusts the last operation: the scene's, to begin with, or none."""
    del context
    self.frame_start, self.frame_end = 0, -1


class DQIK_OT_targets_to_pose(GoalsOperator, bpy.types.Operator):
    """Put the targets and poles of the selected bones, or all if none of these has a goal, where the pose has them"""

    bl_idname = "dqik.targets_to_pose"
    bl_label = "Targets to Pose"
    bl_options = {"REGISTER", "UNDO"}

    frame_start: IntProperty(name="Start", description="First frame of a range to key. An End before it means the "
                             "current frame only, or with Key a Range the scene's", default=0)  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1)
    use_range: BoolProperty(name="Key a Range", description="Key the targets where the bones are on every frame of a "
                            "range, instead of moving them on this frame", update=_range_switched)  # fmt: skip
    all: BoolProperty(name="All", description="Move the targets of all goals, not only those of selected bones")

    def draw(self, context: bpy.types.Context) -> None:
        """The panel that adjusts the last operation."""
        del context
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.frame_end >= self.frame_start
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        layout.prop(self, "all")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Move the targets, and key them if there is a range or Auto Keying is on."""
        ob, scene = armature(context), context.scene
        names = set() if self.all else set(selection.selected(context, ob))
        numbers = [
            number for number, goal in enumerate(ob.dqik.goals)
            if goal.bone in names or (goal.target == ob and goal.subtarget in names)
        ] or list(range(len(ob.dqik.goals)))  # fmt: skip
        if self.use_range and self.frame_end < self.frame_start:
            self.frame_start, self.frame_end = scene.frame_start, scene.frame_end
        if self.frame_end >= self.frame_start:
            try:
                left = self._over_range(context, ob, numbers)
            except scene_state.Disturbed as disturbed:
                self.report({"ERROR"}, f"Nothing was keyed; {disturbed}")
                return {"CANCELLED"}
        else:
            left = goals.to_pose(ob, numbers, context.evaluated_depsgraph_get())
            if scene.tool_settings.use_keyframe_insert_auto:
                goals.key_targets(ob, numbers, scene.frame_current_final)
        if left:
            self.report({"WARNING"}, f"The targets of {', '.join(map(repr, left))} cannot be moved: they are missing, "
                        "or constraints or another file set their place")  # fmt: skip
        return {"FINISHED"}

    def _over_range(self, context: bpy.types.Context, ob: bpy.types.Object, numbers: list[int]) -> list[str]:
        """Read the bones on all frames, then key the targets; returns the names of goals whose targets stay."""
        scene, left = context.scene, list[str]()
        frames = range(self.frame_start, self.frame_end + 1)
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            wanted = []
            for frame in frames:
                visits.visit(frame)
                wanted.append(goals.places(ob, numbers, context.evaluated_depsgraph_get()))
        with live.aside(ob), scene_state.restored(scene, context.view_layer, ob) as visits:
            put = []
            for frame, places in zip(frames, wanted, strict=True):
                visits.visit(frame)
                left = goals.put_targets(ob, places, context.evaluated_depsgraph_get())
                put.append((scene.frame_current_final, [(one, scene_state.transform(one)) for one in _aims(ob)]))
            for (time, transforms), places in zip(put, wanted, strict=True):  # from here on no handler runs
                for owner, values in transforms:
                    scene_state.set_transform(owner, values)
                goals.key_targets(ob, places, time)
        for number in set(numbers) & wanted[0].keys():
            goal = ob.dqik.goals[number]
            if goal.influence < 2.0 * goals.KEYED_INFLUENCE:
                goal.influence = 1.0  # the target has the keys now
        scene_state.visit(scene, scene.frame_current + scene.frame_subframe)
        return left


def _aims(ob: bpy.types.Object) -> list[bpy.types.Object | bpy.types.PoseBone]:
    """The targets and poles of the goals: objects, or bones."""
    aims = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    aims += [(goal.pole_target, goal.pole_subtarget) for goal in ob.dqik.goals]
    found = []
    for target, name in aims:
        if target is not None and target.library is None:
            bone = target.pose.bones.get(name) if target.type == "ARMATURE" else None
            found.append(target if bone is None else bone)
    return found


CLASSES = (DQIK_OT_target_select, DQIK_OT_targets_to_pose)
