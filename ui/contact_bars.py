# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the contacts of feet, knees and hands as bars in the timeline and the dope sheet."""

import bpy

from ..operators.common import armature
from ..rig.clip import contact_ranges
from ..rig.figure.parts import LEFT, RIGHT
from ..rig.figure.short_names import called
from ..rig.overlay import contact_bars
from ..rig.overlay.contact_bars import Bar
from .drawing import Color, blended, fill, write

_FEET = {LEFT: (0.45, 0.65, 1.0), RIGHT: (1.0, 0.5, 0.42)}  # as the overlay has bones with a role
_HANDS = {LEFT: (0.35, 0.85, 0.75), RIGHT: (1.0, 0.75, 0.3)}
_OTHER = (0.8, 0.8, 0.8)
_DARK, _ALPHA, _LANE = 0.62, 0.9, (0.0, 0.0, 0.0, 0.22)  # brightness of heels, wrists; alpha; what is behind the bars
_EDGE, _BORDER = (1.0, 1.0, 1.0, 0.9), (0.0, 0.0, 0.0, 0.55)  # of the active contact, and of others
_LETTERS = 9.0


def draw() -> None:
    """Draw the lanes, the bars, and the name of each lane at the left edge."""
    context = bpy.context
    ob = armature(context)
    if not contact_bars.are_shown(ob, context.space_data):
        return
    scale, bars = context.preferences.system.ui_scale, contact_bars.in_region(ob, context)
    lanes = {(bar.contact.bone, bar.contact.part): (bar.bottom, bar.top) for bar in bars}
    with blended():
        fill([(0.0, context.region.width, bottom, top) for bottom, top in lanes.values()], _LANE)
        for bar in bars:
            is_active = bar.number == ob.dqik.active_contact
            edge = scale * (1.5 if is_active else 1.0)
            fill([(bar.left, bar.right, bar.bottom, bar.top)], _EDGE if is_active else _BORDER)
            inner = bar.left + edge, max(bar.right - edge, bar.left + edge), bar.bottom + edge, bar.top - edge
            fill([inner], _color(bar))
    for (bone, part), (bottom, top) in lanes.items():
        if top - bottom >= _LETTERS * scale:
            place = 6.0 * scale, bottom + 0.5 * (top - bottom - 0.7 * _LETTERS * scale)
            write(name_of(ob, bone, part), place, _LETTERS * scale, (1.0, 1.0, 1.0, 0.9))


def name_of(ob: bpy.types.Object, bone: str, part: str) -> str:
    """The name of a contact: its part and its side, or where the side is not known, the bone."""
    word, side = bpy.app.translations.pgettext_iface(part.title()), contact_bars.side_of(bone)
    return f"{word} {side}" if side else f"{called(ob, bone)} {word}"


def _color(bar: Bar) -> Color:
    sides = _HANDS if bar.contact.part in contact_ranges.HAND else _FEET
    red, green, blue = sides.get(contact_bars.side_of(bar.contact.bone), _OTHER)
    light = _DARK if bar.contact.part in ("HEEL", "WRIST") else 1.0
    return light * red, light * green, light * blue, _ALPHA
