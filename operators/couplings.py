# SPDX-License-Identifier: GPL-3.0-or-later
"""Coupling bones, so that they move together, and uncoupling them."""

import bpy
from bpy.props import EnumProperty

from ..rig.blender.armature import Armature
from ..rig.figure import roles
from ..rig.setup import couplings
from .common import ArmatureOperator, armature


class DQIK_OT_couple(ArmatureOperator, bpy.types.Operator):
    """Let bones move together: fingers that curl, a spine that shares its bend, collar bones that follow arms"""

    bl_idname = "dqik.couple"
    bl_label = "Couple Bones"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(name="Preset", description="Which bones move together", items=[
        ("FINGERS", "Fingers", "A finger curls together, and its neighbours follow", 0),
        ("SPINE", "Spine", "The bones of the spine share the bend and twist of the chest", 1),
        ("SHOULDERS", "Shoulders", "The collar bones follow the upper arms", 2),
        ("FOREARMS", "Forearms", "Twist bones of the forearms share the twist of the hands", 3),
        ("CUSTOM", "Selected to Active", "The selected bones turn about X with the active one", 4),
    ])  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the couplings of the preset."""
        ob = armature(context)
        bones = Armature(ob)
        if self.preset == "CUSTOM":
            active = context.active_pose_bone
            chosen = [bones.index[bone.name] for bone in context.selected_pose_bones or () if bone.id_data == ob]
            if active is None or len(chosen) < 2:
                self.report({"WARNING"}, "Select the bones that follow, then the one that they follow, in Pose Mode")
                return {"CANCELLED"}
            wanted = couplings.of_selected(bones, chosen, bones.index[active.name])
        else:
            wanted = couplings.PRESETS[self.preset](bones, roles.of(ob, bones).roles)
        if not wanted:
            self.report({"WARNING"}, f"{ob.name!r} has no bones with these roles: set their Role in the Bone panel")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Coupled {couplings.add(ob, wanted)} axes of bones")
        return {"FINISHED"}


class DQIK_OT_uncouple(ArmatureOperator, bpy.types.Operator):
    """Remove the couplings of the selected bones, or of all bones if none is selected"""

    bl_idname = "dqik.uncouple"
    bl_label = "Uncouple Bones"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove couplings."""
        ob = armature(context)
        names = {bone.name for bone in context.selected_pose_bones or () if bone.id_data == ob}
        count = couplings.remove(ob, lambda one: not names or one.bone in names)
        if not count:
            self.report({"WARNING"}, f"No bone of {ob.name!r} that is selected is coupled")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Uncoupled {count} axes of bones")
        return {"FINISHED"}


CLASSES = (DQIK_OT_couple, DQIK_OT_uncouple)
