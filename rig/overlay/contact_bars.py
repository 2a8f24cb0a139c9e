# SPDX-License-Identifier: GPL-3.0-or-later
"""Where contacts are drawn as bars in the timeline and the dope sheet, and which bar is under the pointer.

Each part of each foot has a lane of its own, the lanes are above one another at the lower edge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy

from ..clip import contact_ranges
from ..clip.contact_ranges import Range

MODES = ("TIMELINE", "DOPESHEET", "ACTION")
_HEIGHT, _GAP, _FLOOR = 9.0, 2.0, 26.0  # pixels of a lane, between two, and below all: markers and the scroll bar
_END = 6.0  # pixels beside an end that move this end, at most a third of the bar


@dataclass(frozen=True)
class Bar:
    """A bar in pixels of the region. number : of the contact."""

    number: int
    contact: Range
    left: float
    right: float
    bottom: float
    top: float


def are_shown(ob: bpy.types.Object | None, space: bpy.types.Space) -> bool:
    """Whether an editor shows the contacts of an object."""
    if ob is None or ob.type != "ARMATURE" or ob.mode != "POSE" or getattr(space, "mode", "") not in MODES:
        return False
    return ob.dqik.show_contacts and len(ob.dqik.contacts) > 0


def lanes(ob: bpy.types.Object) -> list[tuple[str, str]]:
    """The bone and the part of each lane, from below: as the bones are ordered, the heel below the ball."""
    own = {(one.bone, one.part) for _, one in contact_ranges.shown(ob)}
    return sorted(own, key=lambda lane: (ob.pose.bones.find(lane[0]), contact_ranges.PARTS.index(lane[1])))


def to_x(view: bpy.types.View2D) -> Callable[[float], float]:
    """Gives the place of a frame in a region [pixels]."""

    def place(frame: float) -> float:
        x, _ = view.view_to_region(frame, 0.0, clip=False)
        return x

    return place


def bars(ob: bpy.types.Object, to_x: Callable[[float], float], scale: float) -> list[Bar]:
    """The bars of an object's contacts. to_x : gives the place of a frame. scale : the interface's resolution scale."""
    rows = {lane: row for row, lane in enumerate(lanes(ob))}
    found = []
    for number, one in contact_ranges.shown(ob):
        left, right = to_x(one.first - 0.5), to_x(one.last + 0.5)
        bottom = lane_bottom(rows[one.bone, one.part], scale)
        found.append(Bar(number, one, left, right, bottom, bottom + _HEIGHT * scale))
    return found


def lane_bottom(row: int, scale: float) -> float:
    """The lower edge of a lane [pixels of the region]."""
    return (_FLOOR + row * (_HEIGHT + _GAP)) * scale


def under(every: Sequence[Bar], x: float, y: float, scale: float) -> tuple[int, str] | None:
    """The number of the contact whose bar is at a point, and what would be moved: as `contact_ranges.ENDS`."""
    for bar in every:
        reach = min(_END * scale, (bar.right - bar.left) / 3.0)
        if bar.bottom <= y <= bar.top and bar.left - _END * scale <= x <= bar.right + _END * scale:
            if x < bar.left + reach:
                return bar.number, "START"
            return bar.number, "END" if x > bar.right - reach else "WHOLE"
    return None
