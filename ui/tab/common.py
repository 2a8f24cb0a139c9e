# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the panels: their place in the sidebar, what fits beside each other in it, and wrapped text."""

import re
from collections.abc import Iterator, Sequence

import blf
import bpy

from ...operators.common import armature
from ...rig.blender.words import iface_
from ...rig.notes import Note

_NARROW = 190  # pixels of a sidebar at a resolution scale of 1
_BESIDE = 56  # pixels of a sidebar beside what is in its panels
_ICON = 22  # pixels that an icon takes in a line of text
_BOX = 22  # pixels that a box takes
_FEWEST = 60  # pixels of text in a line, however narrow the sidebar is
_PADDING = 10  # pixels beside the text in a button
_POINTS = 11  # of the interface's letters


class Sidebar:
    """A panel in the DQIK tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "DQIK"


class ArmatureSidebar(Sidebar):
    """A panel that is shown while an armature can be posed, below another one if `bl_parent_id` names that.

    on_goals : only while it has goals. in_pose_mode : only in Pose Mode.
    """

    bl_options = {"DEFAULT_CLOSED"}
    on_goals, in_pose_mode = False, False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = armature(context)
        is_here = ob is not None and ob.mode != "EDIT" and (ob.mode == "POSE" or not cls.in_pose_mode)
        return is_here and (bool(ob.dqik.goals) or not cls.on_goals)


def is_narrow(context: bpy.types.Context) -> bool:
    """Whether two numbers, or a name and a number, do not fit beside each other."""
    return context.region.width / _scale(context) < _NARROW


def settled(context: bpy.types.Context, layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """Set a layout up for settings: names to the left, values in one column to the right; names inside if narrow."""
    layout.use_property_split, layout.use_property_decorate = not is_narrow(context), False
    return layout


def needed(text: str, icon: str = "NONE") -> float:
    """The pixels that a button with a text in the language of the interface needs, at a resolution scale of 1."""
    return _width(text) + _PADDING + (0 if icon == "NONE" else _ICON)


def fits(context: bpy.types.Context, widths: Sequence[float]) -> bool:
    """Whether buttons of these widths fit beside each other in the sidebar."""
    return sum(widths) <= context.region.width / _scale(context) - _BESIDE


def places(
    context: bpy.types.Context, layout: bpy.types.UILayout, widths: Sequence[float], beside: bool
) -> Iterator[bpy.types.UILayout]:  # fmt: skip
    """Places for buttons beside each other, equal ones if they are wide enough; or below each other."""
    line = layout.row(align=True) if beside else layout.column(align=True)
    are_equal = fits(context, [max(widths)] * len(widths))
    for width in widths:
        place = line.row(align=True)
        if beside and not are_equal:
            place.scale_x = width * len(widths) / sum(widths)
        yield place


def paragraph(
    context: bpy.types.Context, layout: bpy.types.UILayout, text: Note | str, icon: str = "NONE",
    in_box: bool = False, width: float = 0.0,
) -> None:  # fmt: skip
    """A note or other text in the language of the interface, wrapped to the width of the sidebar, or of a box in it.

    width : of what it is in [pixels at a resolution scale of 1], where that is not the sidebar.
    """
    room = (width or context.region.width / _scale(context)) - _BESIDE
    room -= (_BOX if in_box else 0) + (_PADDING if icon == "NONE" else _ICON)
    words = text.words(iface_) if isinstance(text, Note) else iface_(text)
    column = layout.column(align=True)
    for number, line in enumerate(_lines(words, max(room, _FEWEST))):
        column.label(text=line, translate=False, icon=icon if number == 0 else "NONE" if icon == "NONE" else "BLANK1")


def _lines(text: str, room: float) -> list[str]:
    """Text in lines of a width in pixels, broken between words, or in a word that is longer or has no spaces."""
    lines, line = [], ""
    for word in re.findall(r"\S+\s*", text):
        if line and _width((line + word).rstrip()) > room:
            lines.append(line)
            line = ""
        if _width(word.rstrip()) <= room:
            line += word
            continue
        for letter in word:
            if line and _width((line + letter).rstrip()) > room:
                lines.append(line)
                line = ""
            line += letter
    return [one.rstrip() for one in [*lines, line] if one.strip()]


def _width(text: str) -> float:
    """The width of text in pixels at a resolution scale of 1."""
    blf.size(0, _POINTS)
    return blf.dimensions(0, text)[0]


def _scale(context: bpy.types.Context) -> float:
    """The resolution scale; 1 where Blender has no window."""
    return context.preferences.system.ui_scale or 1.0
