# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinning bones where they are, and unpinning them."""

import bpy
from bpy.props import BoolProperty

from ..rig.blender import keying
from ..rig.notes import Code, Note
from ..rig.setup import controls, goals, keyable, pins, selection
from ..rig.shot import pins as shot_pins
from .common import ArmatureOperator, GoalsOperator, armature

CONTEXT = "DQIK"  # of the words in translations


class DQIK_OT_pin(ArmatureOperator, bpy.types.Operator):
    """Hold the selected bones, or the bones of the selected controls, where they are now, by goals of their own"""

    bl_idname = "dqik.pin"
    bl_label = "Pin"
    bl_translation_context = CONTEXT
    bl_options = {"REGISTER", "UNDO"}

    position: BoolProperty(name="Position", description="Hold the heads of the bones", default=True)
    rotation: BoolProperty(name="Rotation", description="Hold how the bones are turned", default=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add a goal for each bone that has none; move the targets of those that have one to the bones.

        With Auto Keying, the targets are keyed, and the goals' Mute: the bones are pinned from this frame on.
        """
        ob = armature(context)
        names = _bones(context, ob)
        if not names or not (self.position or self.rotation):
            self.tell({"ERROR"}, Note(Code.SELECT_BONES_TO_HOLD) if not names
                        else Note(Code.CHOOSE_POSITION_OR_ROTATION))  # fmt: skip
            return {"CANCELLED"}
        scene = context.scene
        if refusal := shot_pins.refusal(ob, names, keying.is_auto(scene)):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        pinned = pins.pin(ob, names, self.position, self.rotation, controls.can_add(ob))
        if keying.is_auto(scene):
            auto = shot_pins.keys_available_only(ob)
            goals.key_targets(ob, pinned.numbers, scene.frame_current_final, auto)
            for number, was_off in zip(pinned.numbers, pinned.were_off, strict=True):
                shot_pins.key_mute(ob, number, scene.frame_current_final, was_off, auto)
        if pinned.left:
            self.tell({"WARNING"}, Note(Code.TARGETS_NOT_MOVED, ', '.join(map(repr, pinned.left))))
        return {"FINISHED"}


class DQIK_OT_unpin(GoalsOperator, bpy.types.Operator):
    """Let the selected bones, or the bones of the selected targets, go again: removes their goals, or keys Mute"""

    bl_idname = "dqik.unpin"
    bl_label = "Unpin"
    bl_translation_context = CONTEXT
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the goals whose targets were made for them; with Auto Keying, mute them from this frame on."""
        ob, scene = armature(context), context.scene
        numbers = pins.pinned(ob, selection.selected(context, ob))
        if not numbers:
            self.tell({"WARNING"}, Note(Code.NONE_PINNED))
            return {"CANCELLED"}
        if keying.is_auto(scene) and (refusal := keyable.of_goals(ob, numbers, ("mute",), targets=False, poles=False)):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        if keying.is_auto(scene):
            numbers = [number for number in numbers if not _mute_from_here(ob, number, scene.frame_current_final)]
        shot_pins.forget(ob, numbers)
        if numbers and (notes := goals.remove(ob, numbers)):
            self.tell({"WARNING"}, *notes)
        return {"FINISHED"}


def _bones(context: bpy.types.Context, ob: bpy.types.Object) -> list[str]:
    """The selected bones; for a control, the bone that it moves."""
    names: list[str] = []
    for name in selection.selected(context, ob):
        if controls.is_control(ob.data.bones[name]):
            names += [goal.bone for goal in ob.dqik.goals if goal.kind == "REACH" and goal.bone in ob.data.bones
                      and (goal.target, goal.subtarget) == (ob, name)]  # fmt: skip
        else:
            names.append(name)
    return list(dict.fromkeys(names))


def _mute_from_here(ob: bpy.types.Object, number: int, frame: float) -> bool:
    """Mute a goal and key that; returns False, with the goal as it was, where Blender's preferences allow no key."""
    goal = ob.dqik.goals[number]
    before, goal.mute = goal.mute, True
    if shot_pins.key_mute(ob, number, frame, before, shot_pins.keys_available_only(ob)):
        return True
    goal.mute = before
    return False


CLASSES = (DQIK_OT_pin, DQIK_OT_unpin)
