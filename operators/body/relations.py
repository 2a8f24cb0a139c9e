# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings, by which bones move together, and the bodies and obstacles that they do not pass."""

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...rig.controls import selection
from ...rig.figure import capsules
from ...rig.figure.character import Character
from ...rig.notes import Note
from ...rig.skeleton import coupling_presets, couplings, obstacles
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
                                              "Bone panel", repr(ob.name), preset.bones))
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


class DQIK_OT_fit_capsules(Tool, bpy.types.Operator):
    """Measure the radii of the bones' bodies from the mesh, so that they can be changed by hand"""

    bl_label = "Measure Bodies"

    only_selected: BoolProperty(
        name="Only Selected", description="Measure the selected bones only", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        character = Character.of(ob)
        chosen = {bone.name for bone in selection.selected_bones(context, ob)}
        found = {
            ob.pose.bones[one.bone]: one.radius
            for one in capsules.measured(ob, character, {})
            if not self.only_selected or ob.pose.bones[one.bone].name in chosen
        }
        if not found:
            raise NotDone("WARNING", Note("No bone of {} has a body: set its Role in the Bone panel", repr(ob.name)))
        for bone, radius in found.items():
            bone.dqik_radius = radius
        return Note("Measured {} bones", len(found))


class DQIK_OT_avoid_add(Tool, bpy.types.Operator):
    """Let the body keep out of the other selected objects"""

    bl_label = "Add Obstacle"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        there = {one.object for one in ob.dqik.avoid}
        reached = {goal.target for goal in ob.dqik.goals}
        chosen = [
            other for other in context.selected_objects
            if other.type in obstacles.TYPES and other not in there | reached and other.find_armature() != ob
        ]
        for other in chosen or [None]:
            made = ob.dqik.avoid.add()
            made.name = "Obstacle" if other is None else other.name
            made.object = other
        ob.dqik.active_obstacle = len(ob.dqik.avoid) - 1


class DQIK_OT_avoid_remove(Tool, bpy.types.Operator):
    """Let the body pass through the active obstacle again"""

    bl_label = "Remove Obstacle"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        settings, number = ob.dqik, ob.dqik.active_obstacle
        if not 0 <= number < len(settings.avoid):
            raise NotDone("WARNING", Note("Choose an obstacle in the list"))
        try:
            settings.avoid.remove(number)
        except TypeError:  # raised for an obstacle of the library, which an override cannot remove
            self.tell({"WARNING"}, Note("Obstacle {} belongs to the library file, so it has no object instead of being "
                                        "removed", repr(settings.avoid[number].name)))
            settings.avoid[number].object = None
            return
        settings.avoid_self = settings.avoid_self  # remove() calls no update callback, so set a property that does
        settings.active_obstacle = max(min(number, len(settings.avoid) - 1), 0)
