# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupling bones, so that they move together, and uncoupling them."""

import bpy
from bpy.props import EnumProperty

from ...rig.controls import selection
from ...rig.notes import Note
from ...rig.skeleton import coupling_presets, couplings
from ..common import ArmatureOperator, armature


class DQIK_OT_couple(ArmatureOperator, bpy.types.Operator):
    """Let bones move together: fingers that curl, a spine that shares its bend, collar bones that follow arms"""

    bl_idname = "dqik.couple"
    bl_label = "Couple Bones"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(name="Preset", description="Which bones move together", items=[
        *((name, one.label, one.summary, one.number) for name, one in coupling_presets.PRESETS.items()),
        ("CUSTOM", "Selected to Active", "The selected bones turn about X with the active one", 4),
    ])  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the couplings of the preset."""
        ob = armature(context)
        rest = coupling_presets.at_rest(ob)
        index = rest.armature.index
        if self.preset == "CUSTOM":
            active = context.active_pose_bone
            chosen = [index[bone.name] for bone in selection.selected_bones(context, ob)]
            if active is None or len(chosen) < 2:
                self.tell({"WARNING"}, Note("Select the bones that follow, then the one that they follow, in "
                                            "Pose Mode"))
                return {"CANCELLED"}
            wanted = coupling_presets.of_selected(rest, chosen, index[active.name])
        else:
            preset = coupling_presets.PRESETS[self.preset]
            wanted = preset.links(rest)
            if not wanted:
                self.tell({"WARNING"}, Note("{} has too few bones that are recognised as {}: set their Role in the "
                                            "Bone panel", repr(ob.name), Note(preset.bones)))
                return {"CANCELLED"}
        self.tell({"INFO"}, Note("Coupled {} axes of bones", couplings.add(ob, wanted)))
        return {"FINISHED"}


class DQIK_OT_uncouple(ArmatureOperator, bpy.types.Operator):
    """Remove the couplings of the selected bones, or of all bones if none is selected"""

    bl_idname = "dqik.uncouple"
    bl_label = "Uncouple Bones"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove couplings."""
        ob = armature(context)
        names = {bone.name for bone in selection.selected_bones(context, ob)}
        count, notes = couplings.remove(ob, lambda one: not names or one.bone in names)
        if not count:
            self.tell({"WARNING"}, Note("No bone of {} that is selected is coupled", repr(ob.name)))
            return {"CANCELLED"}
        self.tell({"INFO"}, Note("Uncoupled {} axes of bones", count), *notes)
        return {"FINISHED"}


CLASSES = (DQIK_OT_couple, DQIK_OT_uncouple)
