# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinning bones where they are, and unpinning them."""

import bpy
from bpy.props import BoolProperty

from ...rig.controls import controls, goals, pins, selection
from ...rig.keys import keyable, keying
from ...rig.notes import Note, listed
from ...rig.shot import pins as shot_pins
from ..common import ArmatureOperator, GoalsOperator, armature

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
        """Add a pin for each bone that has none; move the targets of the others to the bones.

        With Auto Keying the pins are keyed, and hold from this frame on. The goals that the bones have stay, muted
        meanwhile.
        """
        ob = armature(context)
        names, scene = _bones(context, ob), context.scene
        if not names or not (self.position or self.rotation):
            self.tell({"ERROR"}, Note("In Pose Mode, select the bones to hold") if not names
                        else Note("Choose Position, Rotation or both"))  # fmt: skip
            return {"CANCELLED"}
        auto, frame = keying.is_auto(scene), scene.frame_current_final
        if refusal := shot_pins.refusal(ob, names, auto):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        only_available = auto and shot_pins.keys_available_only(ob)
        keyed = auto and keying.adds_curves(only_available)
        if keyed:
            shot_pins.keep_before(ob, pins.of(ob, names), frame)
        numbers = pins.pin(ob, names, self.position, self.rotation, controls.can_add(ob))
        replaced = pins.hold(ob, numbers, keyed)
        keyed = auto and shot_pins.key(ob, [*numbers, *replaced], frame, pinned=True, auto=only_available)
        _select(context, ob, {goal.subtarget: ob.dqik.goals[number].subtarget for number in numbers
                              for goal in ob.dqik.goals if goal.bone == ob.dqik.goals[number].bone})  # fmt: skip
        words = listed(names)
        self.tell({"INFO"}, Note("Pinned from frame {} on: {}",
                                 f"{frame:g}", words) if keyed else Note("Pinned on all frames: {}",
                                                                                           words))
        return {"FINISHED"}


class DQIK_OT_unpin(GoalsOperator, bpy.types.Operator):
    """Let the selected bones, or those of the selected controls, go again: takes their pins away, and nothing else"""

    bl_idname = "dqik.unpin"
    bl_label = "Unpin"
    bl_translation_context = CONTEXT
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the pins; with Auto Keying, mute them from this frame on."""
        ob, scene = armature(context), context.scene
        names, auto, frame = _bones(context, ob), keying.is_auto(scene), scene.frame_current_final
        numbers = [number for number in pins.of(ob, names) if not (auto and ob.dqik.goals[number].mute)]
        if not numbers and not pins.of(ob, names, goals.RAISED):
            self.tell({"WARNING"}, Note("None of the selected bones is pinned at this frame"))
            return {"CANCELLED"}
        replaced = pins.of(ob, names, goals.REPLACED)
        if auto and (refusal := keyable.of_goals(ob, [*numbers, *replaced], ("mute",), targets=False, poles=False)):
            self.tell({"ERROR"}, refusal)
            return {"CANCELLED"}
        bones = list(dict.fromkeys(ob.dqik.goals[number].bone for number in numbers)) + pins.lower(ob, names)
        keyed = bool(auto and numbers)
        if keyed:
            free = pins.let_go(ob, numbers)
            keyed = shot_pins.key(
                ob, [*numbers, *free], frame, pinned=False, auto=shot_pins.keys_available_only(ob)
            )  # fmt: skip
        notes = [] if keyed else shot_pins.remove(ob, numbers)
        words = listed(bones)
        said = Note("Not pinned any more from frame {} on: {}",
                    f"{frame:g}", words) if keyed else Note("Not pinned any more, on no frame: {}",
                                                                                words)
        self.tell({"WARNING"} if notes else {"INFO"}, said, *notes)
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


def _select(context: bpy.types.Context, ob: bpy.types.Object, instead: dict[str, str]) -> None:
    """Select controls instead of others that are selected, so that what is dragged next counts."""
    own = [bone.name for bone in selection.selected_bones(context, ob)]
    names = [instead.get(name, name) if controls.is_control(ob.data.bones[name]) else name for name in own]
    if names != own and all(name in ob.data.bones for name in names):
        selection.select_only(ob, *names)


CLASSES = (DQIK_OT_pin, DQIK_OT_unpin)
