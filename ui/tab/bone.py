# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the active bone: its settings and its limits."""

import bpy

from ...operators.common import armature
from ...rig.blender.dependencies import control_bones
from ...rig.controls import controls
from ...rig.figure.short_names import called
from ...rig.notes import Note
from .common import ArmatureSidebar, is_narrow, paragraph, settled

_LIMITS = (("Twist about Y", "twist"), ("Swing about X", "swing_x"), ("Swing about Z", "swing_z"))
_COMMANDS = (
    ("dqik.limits_preset", "Human Limits"),
    ("dqik.limits_from_ik", "From IK Limits"),
    ("dqik.limits_from_action", "From Action"),
    ("dqik.limits_mirror", "Mirror Limits"),
    ("dqik.limits_clear", "Clear Limits"),
)


class DQIK_PT_bone(ArmatureSidebar, bpy.types.Panel):
    """Settings of the active bone"""

    bl_label = "Bone"
    bl_parent_id = "DQIK_PT_body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone, goal = settled(context, self.layout), _bone(context), _reached_by(context)
        if goal is not None:
            paragraph(context, layout, Note("This is the target of {}: select a bone of the body",
                                            repr(goal.bone)), "INFO")
            return
        if bone is None:
            paragraph(context, layout, "Select a bone in Pose Mode", "INFO")
            return
        layout.label(text=called(bone.id_data, bone.name), icon="BONE_DATA", translate=False)
        if controls.is_control(bone.bone):  # a pole or the master, which has no settings
            return
        column = layout.column()
        column.prop(bone, "dqik_lock")
        column = column.column()
        column.active = not bone.dqik_lock
        column.prop(bone, "dqik_translate")
        column.prop(bone, "dqik_stiffness")
        row = column.row(align=True)
        row.prop(bone, "dqik_hold")
        row.operator("dqik.holds_clear", text="", icon="X").only_selected = True
        column.prop(bone, "dqik_gain")
        column.prop(bone, "dqik_preferred_angle", text="Preferred")
        column.prop(bone, "dqik_radius")
        row = layout.row(align=True)
        row.prop(bone, "dqik_role")
        row.operator("dqik.swap_sides", text="", icon="MOD_MIRROR")


class BodySidebar(ArmatureSidebar):
    """A panel that is shown while the active bone is one of the body."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        bone = _bone(context)
        of_body = bone is not None and not controls.is_control(bone.bone)
        return super().poll(context) and of_body and _reached_by(context) is None


class DQIK_PT_limits(BodySidebar, bpy.types.Panel):
    """Limits of the active bone's rotation"""

    bl_label = "Limits"
    bl_parent_id = "DQIK_PT_body"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(_bone(context), "dqik_use_limits", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = self.layout, _bone(context)
        column = layout.column(align=True)
        column.active = bone.dqik_use_limits
        for label, name in _LIMITS:
            column.label(text=label)
            pair = column.column(align=True) if is_narrow(context) else column.row(align=True)
            pair.prop(bone, f"dqik_{name}_min", text="Min")
            pair.prop(bone, f"dqik_{name}_max", text="Max")
        layout.label(text="Selected Bones")
        column = layout.column(align=True)
        for operator, text in _COMMANDS:
            column.operator(operator, text=text).only_selected = True


class DQIK_PT_couplings(BodySidebar, bpy.types.Panel):
    """Bones that the active bone moves together with"""

    bl_label = "Couplings"
    bl_parent_id = "DQIK_PT_body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone, ob = settled(context, self.layout), _bone(context), armature(context)
        layout.operator_menu_enum("dqik.couple", "preset", icon="LINKED")
        own = [one for one in ob.dqik.couplings if one.bone == bone.name]
        for one in own:
            column = layout.box().column()
            column.prop(one, "axis")
            column.prop_search(one, "leader", ob.pose, "bones", icon="BONE_DATA")
            column.prop(one, "leader_axis")
            column.prop(one, "factor")
            column.prop(one, "offset")
            column.prop(one, "stiffness", slider=True)
        if own or ob.dqik.couplings:
            layout.operator("dqik.couplings_mirror", icon="MOD_MIRROR")
            layout.operator("dqik.uncouple", icon="UNLINKED")


def _bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    bone = context.active_pose_bone
    return bone if bone is not None and bone.id_data == armature(context) else None


def _reached_by(context: bpy.types.Context) -> bpy.types.PropertyGroup | None:
    """The goal whose target the active bone is; it has no limits and no hold."""
    ob, bone = armature(context), _bone(context)
    targets = () if bone is None or bone.name not in control_bones(ob) else ob.dqik.goals
    return next((goal for goal in targets if goal.target == ob and goal.subtarget == bone.name), None)
