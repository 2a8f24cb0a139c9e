# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by properties: options to save and key them, and updates that make the solve out of date."""

from math import pi

import bpy
from bpy.props import FloatProperty, FloatVectorProperty

from .. import live
from ..rig.blender import views
from ..rig.clip import seen_motion
from ..rig.keys import attachments

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
GROWING = OVERRIDE | {"USE_INSERTION"}  # of lists
KEYED = {"ANIMATABLE"}
FIXED: set[str] = set()


def touched(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """A setting changed, so the prepared solve is out of date."""
    del context
    live.touch(self.id_data)


def _seen(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Reads a motion anew for what is shown of it."""
    del context
    seen_motion.keep_asked(self.id_data)
    views.redraw()


SETTING = {"options": FIXED, "override": OVERRIDE, "update": touched}
KEYED_SETTING = {"options": KEYED, "override": OVERRIDE, "update": touched}
"""The options of all settings of the solve, and of those that may be keyed."""
SEEN = {"options": FIXED, "override": OVERRIDE, "update": _seen}
"""The options of settings of what is shown."""


def roll_property() -> object:
    """The roll of a foot's control, which is a bone or an object."""
    return FloatProperty(
        name="Roll", description="Rolls the foot of this control. Above 0 the heel rises: the foot turns about its "
        "ball while the toes stay flat, and beyond 45° about the tip of the toes. Below 0 the toes rise: it turns "
        "about its heel", default=0.0, min=-pi, max=pi, soft_min=-pi / 3.0, soft_max=pi / 2.0, subtype="ANGLE",
        **KEYED_SETTING,
    )


def set_aside_properties() -> dict[str, object]:
    """Properties that hold the keys of an attached bone or object meanwhile, and move nothing."""
    return {
        attachments.SET_ASIDE + channel: FloatVectorProperty(
            name=f"Set Aside {channel}", description="Keys that count again once it is let go", size=size,
            options={"HIDDEN", "ANIMATABLE"}, override=OVERRIDE,
        ) for channel, size in attachments.CHANNELS.items()
    }
