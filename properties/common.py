# SPDX-License-Identifier: GPL-3.0-or-later
"""What properties of several kinds share: how they are saved and keyed, and that the solve is out of date."""

import bpy

from .. import live
from ..rig.blender import views
from ..rig.clip import seen_motion

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
KEYED = {"ANIMATABLE"}
FIXED: set[str] = set()


def touched(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """A setting changed, so the prepared solve is out of date."""
    del context
    live.touch(self.id_data)


def _seen(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """What is shown of a motion changed."""
    del context
    seen_motion.keep_asked(self.id_data)
    views.redraw()


SETTING = {"options": FIXED, "override": OVERRIDE, "update": touched}
KEYED_SETTING = {"options": KEYED, "override": OVERRIDE, "update": touched}
"""What all settings of the solve have in common, and those that may be keyed."""
SEEN = {"options": FIXED, "override": OVERRIDE, "update": _seen}
"""What settings of what is shown have in common."""
