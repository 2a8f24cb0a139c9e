# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the panels: their place in the sidebar, and wrapped text."""

import textwrap

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...operators.common import armature
from ...rig.notes import Note

_LETTER = 6.2  # mean width of a letter in pixels, at a resolution scale of 1
_NARROW = 190  # pixels of a sidebar at a resolution scale of 1
_MARGIN = 60  # pixels beside a line of text in a panel, including its icon
_BOX = 22  # further pixels that a box takes


class Sidebar:
    """A panel in the DQIK tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "DQIK"


class ArmatureSidebar(Sidebar):
    """A panel that is shown while an armature can be posed."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = armature(context)
        return ob is not None and ob.mode != "EDIT"


def is_narrow(context: bpy.types.Context) -> bool:
    """Whether two numbers, or a name and a number, do not fit beside each other."""
    return context.region.width / context.preferences.system.ui_scale < _NARROW


def settled(context: bpy.types.Context, layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """Set a layout up for settings: names to the left, values in one column to the right; names inside if narrow."""
    layout.use_property_split, layout.use_property_decorate = not is_narrow(context), False
    return layout


def paragraph(
    context: bpy.types.Context, layout: bpy.types.UILayout, text: Note | str, icon: str = "NONE", in_box: bool = False
) -> None:  # fmt: skip
    """A note or other text in the language of the interface, wrapped to the width of the sidebar, or of a box in it."""
    scale = context.preferences.system.ui_scale
    room = context.region.width / scale - _MARGIN - (_BOX if in_box else 0.0)
    width = max(int(room / _LETTER), 12)
    words = text.words(iface_) if isinstance(text, Note) else iface_(text)
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(words, width)):
        column.label(text=line, translate=False, icon=icon if number == 0 else "NONE" if icon == "NONE" else "BLANK1")
