# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones do not pass through: their own bodies, measured from the mesh, and obstacles."""

import bpy
from bpy.props import BoolProperty

from ...rig.controls import selection
from ...rig.figure import capsules
from ...rig.figure.character import Character
from ...rig.notes import Note
from ...rig.skeleton import obstacles
from ..common import ArmatureOperator, armature


class DQIK_OT_fit_capsules(ArmatureOperator, bpy.types.Operator):
    """Measure the radii of the bones' bodies from the mesh, so that they can be changed by hand"""

    bl_idname = "dqik.fit_capsules"
    bl_label = "Fit Capsules"
    bl_options = {"REGISTER", "UNDO"}

    only_selected: BoolProperty(
        name="Only Selected", description="Measure the selected bones only", default=False, options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Store the measured radii."""
        ob = armature(context)
        character = Character.of(ob)
        chosen = {bone.name for bone in selection.selected_bones(context, ob)}
        found = {
            ob.pose.bones[one.bone]: one.radius
            for one in capsules.measured(ob, character, {})
            if not self.only_selected or ob.pose.bones[one.bone].name in chosen
        }
        if not found:
            self.tell({"WARNING"}, Note("No bone of {} has a body: set its Role in the Bone panel", repr(ob.name)))
            return {"CANCELLED"}
        for bone, radius in found.items():
            bone.dqik_radius = radius
        self.tell({"INFO"}, Note("Measured {} bones", len(found)))
        return {"FINISHED"}


class DQIK_OT_avoid_add(ArmatureOperator, bpy.types.Operator):
    """Let the body keep out of the other selected objects"""

    bl_idname = "dqik.avoid_add"
    bl_label = "Add Obstacle"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the selected meshes and empties, or an obstacle whose object is still to be chosen."""
        ob = armature(context)
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
        return {"FINISHED"}


class DQIK_OT_avoid_remove(ArmatureOperator, bpy.types.Operator):
    """Let the body pass through the active obstacle again"""

    bl_idname = "dqik.avoid_remove"
    bl_label = "Remove Obstacle"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the active obstacle from the list."""
        settings = armature(context).dqik
        number = settings.active_obstacle
        if not 0 <= number < len(settings.avoid):
            self.tell({"WARNING"}, Note("Choose an obstacle in the list"))
            return {"CANCELLED"}
        try:
            settings.avoid.remove(number)
        except TypeError:  # raised for an obstacle of the library, which an override cannot remove
            self.tell({"WARNING"}, Note("Obstacle {} belongs to the library file, so it has no object instead of being "
                                        "removed", repr(settings.avoid[number].name)))
            settings.avoid[number].object = None
            return {"FINISHED"}
        settings.avoid_self = settings.avoid_self  # remove() calls no update callback, so set a property that does
        settings.active_obstacle = max(min(number, len(settings.avoid) - 1), 0)
        return {"FINISHED"}


CLASSES = (DQIK_OT_fit_capsules, DQIK_OT_avoid_add, DQIK_OT_avoid_remove)
