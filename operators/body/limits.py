# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting joint limits: of a human figure, from Blender's IK limits or from an action; and clearing them."""

from contextlib import suppress

import bpy
from bpy.props import BoolProperty, FloatProperty

from ...rig import curves
from ...rig.blender import scene_state
from ...rig.clip import standing
from ...rig.controls import constraints, controls, selection
from ...rig.figure.character import Character
from ...rig.notes import Code, Note, Refused, counted, listed
from ...rig.skeleton import human_limits, limits
from ..common import NotDone, Said, Tool, armature, refuse


class LimitsTool(Tool):
    """A tool that works on all bones, or on the selected ones."""

    only_selected: BoolProperty(name="Only Selected Bones", description="Change the limits of selected bones only")

    def _bones(self, context: bpy.types.Context) -> list[bpy.types.PoseBone]:
        ob = armature(context)
        bones = selection.selected_bones(context, ob) if self.only_selected else ob.pose.bones
        return [bone for bone in bones if not controls.is_control(bone.bone)]

    def _which(self) -> Note:
        return Note("the selected bones" if self.only_selected else "the bones")


class DQIK_OT_limits_preset(LimitsTool, bpy.types.Operator):
    """Set limits and preferred bends of human joints, for bones that are recognised as parts of a figure"""

    bl_label = "Human Limits"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        bones, stands = self._bones(context), None
        if Character.of(ob).figure.not_human:
            with scene_state.restored(context.scene, context.view_layer, ob) as visits, suppress(Refused):
                stands = standing.armature(ob, [context.scene.frame_current], visits)  # else it is refused as it is
        preset = human_limits.apply(ob, bones, stands)
        refuse(preset.refusal, "WARNING")
        if not preset.limited and not preset.skipped:
            raise NotDone("WARNING", Note("None of {} is known as a part of a human figure: set their Role in the Bone "
                                          "panel", self._which()))
        notes = [Note("Set the limits of {} of {} bones", len(preset.limited), len(bones)),
                 Note("the others did not change")]
        if preset.skipped:
            notes.append(Note("left alone: {}, whose direction is not known", listed(list(map(repr, preset.skipped)))))
        self.tell({"WARNING"} if preset.skipped else {"INFO"}, *notes)


class DQIK_OT_limits_from_ik(LimitsTool, bpy.types.Operator):
    """Copy the IK limits and IK locks of Blender's own IK"""

    bl_label = "Limits from IK Limits"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        count = constraints.limits_from_ik(self._bones(context))
        if not count:
            raise NotDone("WARNING", Note("None of {} has IK limits", self._which()))
        return Note(Code.LIMITS_SET, counted(count, Code.ONE_BONE, Code.BONES))


class DQIK_OT_limits_from_action(LimitsTool, bpy.types.Operator):
    """Set limits that hold all rotations of the current action, plus a margin"""

    bl_label = "Limits from Action"

    margin: FloatProperty(name="Margin", description="Angle added to the action's range on every side",
                          default=0.0873, min=0.0, soft_max=1.0, subtype="ANGLE")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        count, damaged = limits.from_action(ob, self._bones(context), self.margin)
        if damaged:
            more = Note(" and of {} more", len(damaged) - 1) if len(damaged) > 1 else ""
            note = Note("Keys of bone {}{} are no numbers and were left out", repr(damaged[0]), more)
        elif count:
            return Note(Code.LIMITS_SET, counted(count, Code.ONE_BONE, Code.BONES))
        else:
            note = (Note(Code.NO_ACTION, repr(ob.name)) if curves.action_of(ob) is None
                    else Note("The action of {} turns none of {}", repr(ob.name), self._which()))
        if not count:
            raise NotDone("WARNING", note)
        self.tell({"WARNING"}, note)


class DQIK_OT_limits_clear(LimitsTool, bpy.types.Operator):
    """Switch limits off and reset them"""

    bl_label = "Clear Limits"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        limits.clear(self._bones(context))
