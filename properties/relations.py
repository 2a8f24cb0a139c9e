# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings between bones, and obstacles, which an armature keeps to beside its goals."""

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ..rig.skeleton import obstacles
from ..rig.skeleton.menus import COUPLED_AXES
from .common import OVERRIDE, SETTING, touched


class DqikCoupling(bpy.types.PropertyGroup):
    """A bone that turns with another one: its angle about an axis is a multiple of the other's, plus an offset."""

    name: StringProperty(name="Name", description="Name of the coupling", override=OVERRIDE)
    bone: StringProperty(name="Bone", description="The bone that follows", **SETTING)
    known_bones: StringProperty(options={"HIDDEN"}, override=OVERRIDE)  # as rig/skeleton/renamed.py has them
    axis: EnumProperty(
        name="Axis", description="Its axis: Y is the twist along the bone, X and Z are its swing", items=COUPLED_AXES,
        default="X", **SETTING,
    )  # fmt: skip
    leader: StringProperty(name="Leader", description="The bone that it follows", **SETTING)
    leader_axis: EnumProperty(
        name="Leader Axis", description="The axis of the leader", items=COUPLED_AXES, default="X", **SETTING,
    )
    factor: FloatProperty(
        name="Factor", description="How far the bone turns for each turn of the leader", default=1.0, soft_min=-2.0,
        soft_max=2.0, **SETTING,
    )  # fmt: skip
    offset: FloatProperty(
        name="Offset", description="The bone's angle where the leader's is 0", subtype="ANGLE", **SETTING,
    )
    stiffness: FloatProperty(
        name="Stiffness", description="At 1 the relation always holds; below it gives way to goals", default=1.0,
        min=0.0, max=1.0, subtype="FACTOR", **SETTING,
    )  # fmt: skip


class DqikObstacle(bpy.types.PropertyGroup):
    """An object that the armature's bones do not pass through."""

    name: StringProperty(name="Name", description="Name of the obstacle", override=OVERRIDE)
    object: PointerProperty(
        type=bpy.types.Object, name="Object", description="A mesh, which counts as its convex hull, a flat one as a "
        "plate; or an empty, which is a wall along its X and Y axes: bones stay where its Z axis points",
        override=OVERRIDE, update=touched, poll=lambda _, ob: ob.type in obstacles.TYPES,
    )  # fmt: skip
