# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting and keying all controls of a body at once."""

import bpy

from ...rig.controls import goals, selection, unkeyed_action
from ...rig.keys import keyable
from ...rig.notes import Code, Note, listed
from ...rig.shot import second_action
from ..common import ArmatureOperator, GoalsOperator, armature
from ..frames import SteppedOperator, Steps


class DQIK_OT_select_controls(GoalsOperator, bpy.types.Operator):
    """Select all controls of the body, and nothing else"""

    stores = False

    bl_idname = "dqik.select_controls"
    bl_label = "Select Controls"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select control bones in Pose Mode, or in Object Mode targets that are objects."""
        ob = armature(context)
        owners = goals.controls_of(ob)
        bones = [one.name for one in owners if one.id_data == ob and selection.is_visible(ob, one.name)]
        layer = context.view_layer
        others = [one for one in owners if one == one.id_data and one.visible_get(view_layer=layer)]
        if not bones and not others:
            self.tell({"WARNING"}, Note(Code.CONTROLS_HIDDEN if owners else Code.NO_CONTROLS, repr(ob.name)))
            return {"CANCELLED"}
        if not bones or layer.objects.active != ob:
            if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            for one in layer.objects:
                one.select_set(one in others or (one == ob and bool(bones)))
            layer.objects.active = ob if bones else others[0]
        if bones:
            if ob.mode != "POSE":
                bpy.ops.object.mode_set(mode="POSE")
            active = ob.data.bones.active
            selection.select_only(ob, *bones, active=active.name if active and active.name in bones else bones[0])
            for other in layer.objects:  # other characters that are posed together
                if other.mode == "POSE" and other != ob:
                    selection.select_only(other)
        return {"FINISHED"}


class DQIK_OT_key_controls(GoalsOperator, bpy.types.Operator):
    """Key the place and rotation of all controls at the current frame, and the roll of feet where it is used"""

    bl_idname = "dqik.key_controls"
    bl_label = "Key Controls"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Key every control; those that cannot be keyed are named."""
        ob, frame = armature(context), context.scene.frame_current_final
        owners = goals.controls_of(ob)
        if not owners:
            self.tell({"WARNING"}, Note(Code.NO_CONTROLS, repr(ob.name)))
            return {"CANCELLED"}
        reasons = dict[str, Note]()
        if keyable.of_owners(owners) is not None:
            notes = {one.name: keyable.of_owners([one]) for one in owners}
            reasons = {name: note for name, note in notes.items() if note is not None}
        keyed = [one for one in owners if one.name not in reasons and goals.key_control(one, frame)]
        parts = [Note("{} controls keyed at frame {}", len(keyed), f"{frame:g}")] if keyed else []
        if reasons:
            reason = next(iter(reasons.values()))
            parts.append(Note("{} cannot be keyed: {}", listed([repr(name) for name in reasons]), reason))
        self.tell({"INFO"} if not reasons else {"WARNING"} if keyed else {"ERROR"}, *parts)
        return {"FINISHED"} if keyed else {"CANCELLED"}


class DQIK_OT_key_from_motion(SteppedOperator, GoalsOperator, bpy.types.Operator):
    """Key the controls from the motion of an action that has keys on the body only, so that Live shows this motion"""

    bl_idname = "dqik.key_from_motion"
    bl_label = "Key Controls from Motion"
    bl_options = {"REGISTER", "UNDO"}

    doing = Note(Code.KEYING_CONTROLS)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: work in steps."""
        del event
        self._from_panel = True
        return self.execute(context)

    def _run(self, context: bpy.types.Context) -> Steps:
        """Key them on all frames of the action."""
        return (yield from key_from_motion(self, context, armature(context)))


def key_from_motion(operator: ArmatureOperator, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
    """Key the controls of a figure that is set up from the motion of its action."""
    action = None if ob.animation_data is None else ob.animation_data.action
    if refusal := keyable.of_action(ob):
        operator.tell({"WARNING"}, refusal)
        return {"CANCELLED"}
    if unkeyed_action.note(ob) is None:
        name = "" if action is None else action.name
        has_controls = unkeyed_action.led_by(ob) or unkeyed_action.poles_of(ob)
        operator.tell({"WARNING"}, Note("Action {} has keys on the controls of {} already, or does not move its body",
                                        repr(name), repr(ob.name)) if has_controls
                        else Note("The targets of {} are objects with actions of their own: give them new ones, switch "
                                  "Live off, and press Targets to Pose for the frames", repr(ob.name)))  # fmt: skip
        return {"CANCELLED"}
    frames = yield from second_action.key(context, ob)
    operator.tell({"INFO"}, Note(Code.KEYED_FROM_MOTION, frames[0], frames[-1]))
    return {"FINISHED"}


CLASSES = (DQIK_OT_select_controls, DQIK_OT_key_controls, DQIK_OT_key_from_motion)
