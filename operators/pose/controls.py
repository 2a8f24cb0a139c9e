# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting and keying all controls of a body at once."""

import bpy

from ...rig import curves
from ...rig.controls import goals, selection, unkeyed_action
from ...rig.keys import keyable
from ...rig.notes import Code, Note, listed
from ...rig.shot import from_animation
from ..common import NotDone, Said, Steps, Tool, refuse


class DQIK_OT_select_controls(Tool, bpy.types.Operator):
    """Select all controls of the body, and nothing else"""

    bl_label = "Select Controls"
    on_goals = True
    stores = False

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        owners = goals.controls_of(ob)
        bones = [one.name for one in owners if one.id_data == ob and selection.is_visible(ob, one.name)]
        layer = context.view_layer
        others = [one for one in owners if one == one.id_data and one.visible_get(view_layer=layer)]
        if not bones and not others:
            note = Note("All controls of {} are hidden" if owners else Code.NO_CONTROLS, repr(ob.name))
            raise NotDone("WARNING", keyable.of_settings(ob) or note)
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


class DQIK_OT_key_controls(Tool, bpy.types.Operator):
    """Key the place and rotation of all controls at the current frame, and the roll of feet where it is used"""

    bl_label = "Key Controls"
    on_goals = True

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        frame = context.scene.frame_current_final
        owners = goals.controls_of(ob)
        if not owners:
            raise NotDone("WARNING", Note(Code.NO_CONTROLS, repr(ob.name)))
        reasons = dict[str, Note]()
        if keyable.of_owners(owners) is not None:
            notes = {one.name: keyable.of_owners([one]) for one in owners}
            reasons = {name: note for name, note in notes.items() if note is not None}
        keyed = [one for one in owners if one.name not in reasons and goals.key_control(one, frame)]
        parts = [Note("{} controls keyed at frame {}", len(keyed), f"{frame:g}")] if keyed else []
        if len(keyed) == 1:
            parts = [Note("1 control keyed at frame {}", f"{frame:g}")]
        if reasons:
            reason = next(iter(reasons.values()))
            parts.append(Note("{} cannot be keyed: {}", listed([repr(name) for name in reasons]), reason))
        if not keyed:
            raise NotDone("ERROR" if reasons else "INFO", *parts)
        self.tell({"WARNING"} if reasons else {"INFO"}, *parts)


class DQIK_OT_key_from_motion(Tool, bpy.types.Operator):
    """Key the controls from the motion of an action that has keys on the body only, so that Live shows this motion"""

    bl_label = "Key Controls from Motion"
    on_goals = True

    doing = Note(Code.KEYING_CONTROLS)

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        return key_from_motion(context, ob)


def key_from_motion(context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
    """Key the controls of a figure that is set up from the motion of its action."""
    action = curves.action_of(ob)
    refuse(keyable.of_action(ob), "WARNING")
    if unkeyed_action.note(ob) is None:
        if action is None:
            raise NotDone("WARNING", Note(Code.NO_ACTION, repr(ob.name)))
        if unkeyed_action.led_by(ob) or unkeyed_action.poles_of(ob):
            raise NotDone("WARNING", Note("Action {} has keys on the controls of {} already, or does not move its body",
                                          repr(action.name), repr(ob.name)))
        raise NotDone("WARNING", Note("The targets of {} are objects with actions of their own: give them new ones, "
                                      "switch Live off, and press Targets to Pose for the frames", repr(ob.name)))
    frames = yield from from_animation.key_unkeyed(context, ob)
    return Note(Code.KEYED_FROM_MOTION, frames[0], frames[-1])
