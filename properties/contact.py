# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a motion, and from which action another one was made."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ..rig.blender import views
from ..rig.skeleton.menus import CONTACT_PARTS
from .common import FIXED, OVERRIDE


def redrawn(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """The contacts are shown in other ways."""
    del self, context
    views.redraw("DOPESHEET_EDITOR")


def _start_moved(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    if self.frame_end < self.frame_start:
        self.frame_end = self.frame_start
    redrawn(self, context)


def _end_moved(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    if self.frame_start > self.frame_end:
        self.frame_start = self.frame_end
    redrawn(self, context)


class DqikContact(bpy.types.PropertyGroup):
    """Frames on which a part of the body is in contact with the ground or another still thing."""

    name: StringProperty(name="Name", description="Name of the contact", override=OVERRIDE)
    bone: StringProperty(name="Bone", description="The bone in contact", options=FIXED, override=OVERRIDE,
                         update=redrawn)  # fmt: skip
    known_bones: StringProperty(options={"HIDDEN"}, override=OVERRIDE)  # as rig/skeleton/renamed.py has them
    part: EnumProperty(name="Part", description="Which part of it", items=CONTACT_PARTS, options=FIXED,
                       override=OVERRIDE, update=redrawn)  # fmt: skip
    frame_start: IntProperty(name="From", description="The first frame of the contact", default=1, options=FIXED,
                             override=OVERRIDE, update=_start_moved)  # fmt: skip
    frame_end: IntProperty(name="To", description="The last frame of the contact", default=1, options=FIXED,
                           override=OVERRIDE, update=_end_moved)  # fmt: skip
    mute: BoolProperty(name="Left Out", description="The contact does not count", options=FIXED, override=OVERRIDE,
                       update=redrawn)  # fmt: skip


def action_properties() -> dict[str, object]:
    """The properties of an action that say from which other one it was made, by name."""
    return {
        "dqik_original": PointerProperty(
            type=bpy.types.Action, name="Original", description="The action from which this one was made by Mend "
            "Motion, Fewer Keys and others",
        ),
        "dqik_source": StringProperty(
            name="Source", description="The object from which Retarget took this motion",
        ),
        "dqik_made_by": StringProperty(options={"HIDDEN"}),
    }  # fmt: skip
