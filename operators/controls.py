# SPDX-License-Identifier: GPL-3.0-or-later
"""Selecting and keying all controls of a body at once."""

import bpy

from ..rig.notes import Code, Note, listed
from ..rig.setup import goals, keyable, selection
from .common import GoalsOperator, armature


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
        refusals = {one: keyable.of_owners([one]) for one in owners}
        left = [one for one in owners if refusals[one] is not None or not goals.key_control(one, frame)]
        count = len(owners) - len(left)
        if not count:
            self.tell({"ERROR"}, next(filter(None, refusals.values())))
            return {"CANCELLED"}
        parts = [Note(Code.CONTROLS_KEYED, count, f"{frame:g}")]
        if left:
            parts.append(Note(Code.CONTROLS_WITHOUT_KEYS, listed([repr(one.name) for one in left])))
            parts += [note for note in [refusals[left[0]]] if note is not None]
        self.tell({"WARNING"} if left else {"INFO"}, *parts)
        return {"FINISHED"}


CLASSES = (DQIK_OT_select_controls, DQIK_OT_key_controls)
