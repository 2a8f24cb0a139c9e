# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of what belongs to the character: how it poses itself, its controls, bones, couplings and collisions."""

import bpy

from ...operators.body.full_body import CONTROLS
from ...operators.common import armature
from ...rig.blender import units
from ...rig.blender.dependencies import control_bones
from ...rig.blender.words import iface_
from ...rig.controls import controls, more_controls
from ...rig.figure.short_names import called
from ...rig.frame.sessions import sessions
from ...rig.notes import Note
from ...rig.skeleton import stretch
from .common import ArmatureSidebar, is_narrow, paragraph, settled


class DQIK_PT_body(ArmatureSidebar, bpy.types.Panel):
    """What belongs to the character on all frames: natural pose, controls, limits, couplings, collisions"""

    bl_label = "Body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        if not ob.dqik.goals:
            paragraph(context, layout, "Set up the body, or give bones goals, first", "INFO")
            layout.operator("dqik.eyes_add", icon="VIS_SEL_11")
            return
        _natural_pose(context, layout, ob.dqik)
        layout.operator("dqik.eyes_add", icon="VIS_SEL_11")
        collection = controls.collection(ob)
        if collection is None:
            return
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("dqik.setup_full_body", text="", icon="OUTLINER_OB_ARMATURE")
        row.menu("DQIK_MT_controls")
        icon = "NONE" if is_narrow(context) else "HIDE_OFF"
        column.prop(collection, "is_solo", text="Show Controls Only", toggle=True, icon=icon)


class DQIK_MT_controls(bpy.types.Menu):
    """More controls for the body, each with a tick if it is there"""

    bl_label = "Controls"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        present = more_controls.present(ob)
        for name, label, _ in CONTROLS:
            row = layout.row()
            row.enabled = name not in present
            icon = "CHECKMARK" if name in present else "ADD"
            row.operator("dqik.setup_full_body", text=iface_(label), translate=False, icon=icon).controls = {name}
        layout.separator()
        row = layout.row()
        row.enabled = len(present) < len(CONTROLS)
        row.operator("dqik.setup_full_body", text="All").controls = {name for name, *_ in CONTROLS}


def _natural_pose(
    context: bpy.types.Context, layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup
) -> None:  # fmt: skip
    """Draws the shares of the natural pose and of the character's own motion, or the reason why there is none."""
    refusal = sessions.natural_pose_refusal(settings.id_data)
    if refusal is not None:
        paragraph(context, layout, refusal, "INFO")
        return
    line = layout.column(align=True) if is_narrow(context) else layout.row(align=True)
    line.prop(settings, "natural_pose", slider=True)
    line.operator("dqik.learn_from_actions", text="", icon="ACTION")
    if settings.own_motion:
        layout.prop(settings, "own_motion_share", slider=True)


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
        column.prop(bone, "dqik_stretch")
        column.prop(bone, "dqik_shortest")
        if stretch.may(bone):
            column.prop(bone, "dqik_keep_volume")
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


_ROWS = 2  # of the list at first


class DQIK_UL_obstacles(bpy.types.UIList):
    """A row for each obstacle: its object"""

    def draw_item(
        self, context: bpy.types.Context, layout: bpy.types.UILayout, data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup, icon: int, active_data: bpy.types.PropertyGroup, active_property: str,
        index: int = 0, flt_flag: int = 0,
    ) -> None:  # fmt: skip
        del context, data, icon, active_data, active_property, index, flt_flag
        layout.prop(item, "object", text="")


class DQIK_PT_contacts(ArmatureSidebar, bpy.types.Panel):
    """What the body does not pass through"""

    bl_label = "Collision"
    bl_parent_id = "DQIK_PT_body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        settings = ob.dqik
        layout.prop(settings, "avoid_self")
        layout.prop(settings, "use_floor")
        if settings.use_floor:
            column = settled(context, layout).column()
            column.prop(settings, "floor", text="Object")
            column.prop(settings, "floor_height")
        row = layout.row()
        row.template_list("DQIK_UL_obstacles", "", settings, "avoid", settings, "active_obstacle", rows=_ROWS)
        column = row.column(align=True)
        column.operator("dqik.avoid_add", text="", icon="ADD")
        column.operator("dqik.avoid_remove", text="", icon="REMOVE")
        layout.operator("dqik.fit_capsules", icon="MESH_CAPSULE")
        if settings.live and settings.status.overlap > 0.0:
            depth = units.miss(context.scene, ob, settings.status.overlap, 0.0)
            layout.label(text=iface_("Overlap: {}").format(depth), icon="ERROR", translate=False)
