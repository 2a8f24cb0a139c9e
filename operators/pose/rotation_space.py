# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing what the rotation of a goal's target turns with."""

import bpy
from bpy.props import EnumProperty

from ...rig.blender import animation, rotation
from ...rig.blender.places import owner_of
from ...rig.controls import goals, placing, rotation_space
from ...rig.frame import offline
from ...rig.keys import keyable, keying
from ...rig.notes import Code, Note
from ...rig.shot import rotation_keys
from ..common import OneGoalOperator, armature

_ROUNDS = 3  # the limb may turn a little in the new space, and would carry the bone along


class DQIK_OT_rotation_space(OneGoalOperator, bpy.types.Operator):
    """Choose what the rotation of the goal's target turns with, and turn target and keys so that nothing moves"""

    bl_idname = "dqik.rotation_space"
    bl_label = "Rotation Space"
    bl_options = {"REGISTER", "UNDO"}

    space: EnumProperty(
        name="Space",
        description="What the rotation of the target turns with",
        items=[
            ("FOREARM", "Forearm", "Turn the target with the bone above, as a hand with its forearm"),
            ("WORLD", "World", "Keep the rotation of the target as it is in the world"),
        ],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set how far the rotation follows, and turn the target to where it belongs."""
        ob, scene = armature(context), context.scene
        number = self.goal(ob)
        if number is None:
            return {"CANCELLED"}
        goal, follows = ob.dqik.goals[number], float(self.space == "FOREARM")
        if keying.is_auto(scene) and (refusal := keyable.of_goals(ob, [number], ("rotation_follows",))):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        shown = _evaluated(context, ob)
        if goal.bone not in shown.pose.bones:
            self.tell({"ERROR"}, Note(Code.HAS_NO_BONE, repr(ob.name), repr(goal.bone)))
            return {"CANCELLED"}
        if refusal := keyable.of_settings(ob) or self._refusal(ob, number, keying.is_auto(scene)):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        if goal.target is not None and self._has_keys(ob, goal):
            rotation_keys.switch(ob, goal, follows, context)
            rotation_space.show_control(ob, goal)
            return {"FINISHED"}
        stay: set[int] = set()
        end = goals.end_of(shown, goal.bone, goal.use_tail)
        for _ in range(_ROUNDS):
            target = rotation_space.target_for(shown, goal, follows, end)
            place = goals.Place(shown.matrix_world @ target, pole=None)
            goal.rotation_follows = follows
            with offline.session(ob):
                stay = placing.put(ob, {number: place}, context)
            for one in {goal.target, ob} - {None}:
                one.update_tag(refresh={"OBJECT"})  # so that Live, which was aside, follows
            shown = _evaluated(context, ob)
        rotation_space.show_control(ob, goal)
        if keying.is_auto(scene):
            goals.key_targets(ob, [number], scene.frame_current_final, auto=True)
            keying.key_path(ob, goal.path_from_id("rotation_follows"), scene.frame_current_final, auto=True)
        if stay:
            self.tell({"WARNING"}, Note("The target of {} cannot be turned: constraints or another file set its place",
                                        repr(goal.name)))  # fmt: skip
        return {"FINISHED"}

    @staticmethod
    def _refusal(ob: bpy.types.Object, number: int, auto: bool) -> Note | None:
        """Why the rotation of the target, which is animated or gets keys, cannot be keyed; None if it can."""
        goal = ob.dqik.goals[number]
        owner = None if goal.target is None else owner_of(goal.target, goal.subtarget)
        if owner is None:
            return None
        path = keyable.path_of(owner, rotation.PATHS[owner.rotation_mode])
        keyed = auto or animation.animates(owner.id_data, path) or rotation_keys.times(goal)
        return keyable.of_goals(ob, [number], poles=False) if keyed else None

    @staticmethod
    def _has_keys(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> bool:
        """Whether the target's rotation has keys, and the share by which it follows has none."""
        owner = owner_of(goal.target, goal.subtarget)
        share = goal.path_from_id("rotation_follows")
        return owner is not None and bool(rotation_keys.times(goal)) and not animation.animates(ob, share)


def _evaluated(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object:
    return ob.evaluated_get(context.evaluated_depsgraph_get())


CLASSES = (DQIK_OT_rotation_space,)
