# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel for those who rig: the list of goals, and below the settings of the active one."""

import bpy

from ...operators.common import armature
from ...rig.blender import units
from ...rig.blender.words import iface_
from ...rig.figure.short_names import short
from ...rig.shot import plant
from ...rig.skeleton.menus import DIRECTION
from ...solvers import GOAL_KINDS
from ...solvers.model import SETTINGS
from .common import ArmatureSidebar, is_narrow, paragraph, settled

_FEWEST, _MOST = 3, 7  # rows of the list; a full body has six goals


class DQIK_UL_goals(bpy.types.UIList):
    """A row for each goal: its name, its target or how far it is from it, and mute"""

    def draw_item(
        self, context: bpy.types.Context, layout: bpy.types.UILayout, data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup, icon: int, active_data: bpy.types.PropertyGroup, active_property: str,
        index: int = 0, flt_flag: int = 0,
    ) -> None:  # fmt: skip
        del icon, active_data, active_property, index, flt_flag
        broken, missed = _fault(data.id_data, item), item.missed
        narrow = is_narrow(context)
        layout = layout.column(align=True) if narrow else layout
        row = layout.row(align=True)
        names = row.row() if narrow else row.split(factor=0.55)
        names.active = not item.mute
        names.prop(item, "label", text="", emboss=False, icon="ERROR" if broken else "NONE")
        if missed or item.gave_way or not narrow:
            aside = layout.row() if narrow else names.row()
            aside.active, aside.alert = missed, missed
            aim = _aim(data.id_data, item)
            miss = units.miss(context.scene, data.id_data, item.error, item.rotation_error)
            aside.label(text=miss if missed or item.gave_way else aim, translate=False)
        row.prop(item, "mute", text="", emboss=False, icon="HIDE_ON" if item.mute else "HIDE_OFF")


class DQIK_PT_rig(ArmatureSidebar, bpy.types.Panel):
    """The bones that should reach a target, and how they are solved"""

    bl_label = "Rig"

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, armature(context)
        settings = ob.dqik
        if any(c.type == "IK" and not c.mute for bone in ob.pose.bones for c in bone.constraints):
            layout.operator("dqik.goals_from_constraints", icon="CON_KINEMATIC")
        if not settings.goals:
            paragraph(context, layout, "Or select bones in Pose Mode and give them goals", "INFO")
            layout.operator("dqik.goal_add", icon="ADD")
            return
        rows = min(max(len(settings.goals), _FEWEST), _MOST)
        layout.template_list(
            "DQIK_UL_goals", "", settings, "goals", settings, "active_goal", rows=rows, item_dyntip_propname="name",
        )
        lines = layout.column(align=True) if is_narrow(context) else layout.row(align=True)
        lines.operator("dqik.target_select", icon="RESTRICT_SELECT_OFF")
        buttons = lines.row(align=True)
        buttons.operator("dqik.goal_add", text="", icon="ADD")
        buttons.operator("dqik.goal_remove", text="", icon="REMOVE")
        buttons.operator("dqik.goals_clear", text="", icon="TRASH")
        layout.operator("dqik.goals_mirror", icon="MOD_MIRROR")
        if any(goal.target not in (None, ob) for goal in settings.goals):
            layout.prop(settings, "targets_follow")
        layout.operator("dqik.report_problem", icon="URL")


class ActiveGoalPanel(ArmatureSidebar):
    """A panel below the goals that is shown while one is active."""

    bl_parent_id = "DQIK_PT_rig"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and _active(armature(context)) is not None


class DQIK_PT_goal(ActiveGoalPanel, bpy.types.Panel):
    """The target of the active goal, and how much it counts"""

    bl_label = "Goal"

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        _settings(settled(context, self.layout), ob, _active(ob))


class DQIK_PT_chain(ActiveGoalPanel, bpy.types.Panel):
    """The bones that the goal moves"""

    bl_label = "Chain"

    def draw(self, context: bpy.types.Context) -> None:
        ob = armature(context)
        column, goal = settled(context, self.layout).column(), _active(ob)
        column.prop(goal, "chain_length")
        column.prop(goal, "use_tail")
        if goal.kind == "REACH" and (goal.close_loop or (goal.target == ob and goal.subtarget)):
            column.prop(goal, "close_loop")
        column.prop(goal, "priority")


class DQIK_PT_pole(ActiveGoalPanel, bpy.types.Panel):
    """The direction in which the elbow or knee of the goal points"""

    bl_label = "Pole"

    def draw(self, context: bpy.types.Context) -> None:
        layout, goal = settled(context, self.layout), _active(armature(context))
        layout.prop(goal, "pole_target", text="Target")
        _bone_of(layout, goal, goal.pole_target, "pole_subtarget")
        layout.prop(goal, "pole_angle", text="Angle")
        layout.prop(goal, "use_pole")


def _aim(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> str:
    """The name of a goal's target; "" for none."""
    if goal.target is None:
        return ""
    return short(ob, goal.subtarget) or goal.target.name


def _active(ob: bpy.types.Object) -> bpy.types.PropertyGroup | None:
    settings = ob.dqik
    return settings.goals[settings.active_goal] if settings.active_goal < len(settings.goals) else None


def _fault(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> bool:
    """Whether the goal's bone, its target, or both of its switches are missing or wrong."""
    kind = GOAL_KINDS[goal.kind]
    return (
        goal.bone not in ob.pose.bones
        or (goal.target is None and kind.needs_target(goal.side))
        or (goal.kind == "REACH" and not (goal.use_position or goal.use_rotation))
        or (kind.target == "CURVE" and goal.target.type != "CURVE")
        or _lost(goal.target, goal.subtarget)
        or _lost(goal.pole_target, goal.pole_subtarget)
    )


def _lost(target: bpy.types.Object | None, bone: str) -> bool:
    """Whether the target is an armature without a bone of this name."""
    return bool(bone) and target is not None and target.type == "ARMATURE" and bone not in target.pose.bones


def _settings(layout: bpy.types.UILayout, ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> None:
    column = layout.column()
    row = column.row()
    row.alert = goal.bone not in ob.pose.bones
    row.prop_search(goal, "bone", ob.pose, "bones", icon="BONE_DATA")
    column.prop(goal, "kind")
    if GOAL_KINDS[goal.kind].needs_target(goal.side):
        row = column.row()
        row.alert = goal.target is None
        row.prop(goal, "target")
        _bone_of(column, goal, goal.target, "subtarget")

    column = layout.column()
    column.prop(goal, "influence")
    if GOAL_KINDS[goal.kind].target == "FRAME":
        column.prop(goal, "smooth", slider=True)
        if goal.smooth > 0.0:
            column.prop(goal, "smooth_distance")
    if goal.kind != "REACH":
        _other_kind(column, goal)
        return
    if goal.leads_body or goal.influence == 0.0:
        column.prop(goal, "leads_body")
    for part in ("position", "rotation"):
        _weighted(column, goal, part, layout.use_property_split)
    if goal.use_rotation:
        _space(column, ob, goal)
    control = plant.rolling_control(ob, goal)
    if control is not None:
        column.prop(control, "dqik_roll", slider=True)
    column.prop(goal, "use_support")


def _other_kind(layout: bpy.types.UILayout, goal: bpy.types.PropertyGroup) -> None:
    """The settings of a goal of another kind than Reach, as its kind declares them."""
    kind = GOAL_KINDS[goal.kind]
    own = [name for name in SETTINGS if name in kind.takes]
    for name in own:
        if SETTINGS[name].sort == "axis":
            layout.prop(goal, name)
            if getattr(goal, name) == DIRECTION:
                layout.prop(goal, "direction")
    if kind.sides:
        row = layout.row(align=True)
        row.use_property_split = False  # it would show the first name as a label, and an empty button
        for side in kind.sides:
            row.prop_enum(goal, "side", side)
    for name in own:
        if SETTINGS[name].sort != "axis":
            layout.prop(goal, name)
    layout.prop(goal, "rotation_weight" if kind.unit == "angle" else "position_weight", text="Weight")
    if kind.carries:
        layout.prop(goal, "use_support")


def _space(layout: bpy.types.UILayout, ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> None:
    """Draws the choice of what the target's rotation turns with; the slider is for a share, and for keys."""
    row = layout.row(align=True)
    for space, follows in (("FOREARM", 1.0), ("WORLD", 0.0)):
        button = row.operator("dqik.rotation_space", text=space.title(), depress=goal.rotation_follows == follows)
        button.space, button.index = space, ob.dqik.active_goal
    layout.prop(goal, "rotation_follows", slider=True)


def _weighted(layout: bpy.types.UILayout, goal: bpy.types.PropertyGroup, part: str, beside: bool) -> None:
    """The switch of the goal's position or rotation, and its weight beside or below it."""
    row = layout.row(heading=iface_(part.title()), align=True, translate=False) if beside else layout
    row.prop(goal, f"use_{part}", **{"text": ""} if beside else {})
    weight = row.row(align=beside)
    weight.active = getattr(goal, f"use_{part}")
    weight.prop(goal, f"{part}_weight", text="")


def _bone_of(
    layout: bpy.types.UILayout, goal: bpy.types.PropertyGroup, target: bpy.types.Object | None, name: str
) -> None:
    """A field for the target's bone, if the target is an armature."""
    if target is not None and target.type == "ARMATURE":
        row = layout.row()
        row.alert = _lost(target, getattr(goal, name))
        row.prop_search(goal, name, target.pose, "bones", text="Bone", icon="BONE_DATA")
