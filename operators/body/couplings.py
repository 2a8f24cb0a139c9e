# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupling bones, so that they move together, and uncoupling them."""

import bpy
from bpy.props import EnumProperty

from ...rig.controls import selection
from ...rig.notes import Note
from ...rig.skeleton import coupling_presets, couplings
from ..common import NotDone, Said, Tool


class DQIK_OT_couple(Tool, bpy.types.Operator):
    """Let bones move together: fingers that curl, a spine that shares its bend, collar bones that follow arms"""

    bl_label = "Couple Bones"

    preset: EnumProperty(name="Preset", description="Which bones move together", items=[
        *((name, one.label, one.summary, one.number) for name, one in coupling_presets.PRESETS.items()),
        ("CUSTOM", "Selected to Active", "The selected bones turn about X with the active one", 4),
    ])  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        rest = coupling_presets.at_rest(ob)
        index = rest.armature.index
        if self.preset == "CUSTOM":
            active = context.active_pose_bone
            chosen = [index[bone.name] for bone in selection.selected_bones(context, ob)]
            if active is None or len(chosen) < 2:
                raise NotDone("WARNING", Note("Select the bones that follow, then the one that they follow, in "
                                              "Pose Mode"))
            wanted = coupling_presets.of_selected(rest, chosen, index[active.name])
        else:
            preset = coupling_presets.PRESETS[self.preset]
            wanted = preset.links(rest)
            if not wanted:
                raise NotDone("WARNING", Note("{} has too few bones that are recognised as {}: set their Role in the "
                                              "Bone panel", repr(ob.name), Note(preset.bones)))
        return Note("Coupled {} axes of bones", couplings.add(ob, wanted))


class DQIK_OT_uncouple(Tool, bpy.types.Operator):
    """Remove the couplings of the selected bones, or of all bones if none is selected"""

    bl_label = "Uncouple Bones"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        names = {bone.name for bone in selection.selected_bones(context, ob)}
        count, notes = couplings.remove(ob, lambda one: not names or one.bone in names)
        if not count:
            raise NotDone("WARNING", Note("No bone of {} that is selected is coupled", repr(ob.name)))
        return Note("Uncoupled {} axes of bones", count), *notes
