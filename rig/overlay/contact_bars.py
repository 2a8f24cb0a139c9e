# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of the bars that show contacts in the timeline and the dope sheet, and the bar under the pointer.

Each part of each foot and hand has a lane of its own. The lanes are above one another at the lower edge, below the
frames' numbers. In a low timeline they are thin, and if there still is no room for all of them, those around the active
contact are there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..clip import contact_ranges
from ..clip.contact_ranges import ContactRange
from ..figure import bone_names

MODES = ("TIMELINE", "DOPESHEET", "ACTION")
_RULER, _SCROLL, _MARKERS = 24.0, 11.0, 26.0  # pixels of the numbers above all lanes, and of what is below them
_LANE, _GAP = (7.0, 12.0), 2.0  # least and most pixels of a lane, and between two
_END = 6.0  # pixels beside an end that move this end, at most a third of the bar


@dataclass(frozen=True)
class Bar:
    """A bar in pixels of the region. number : of the contact."""

    number: int
    contact: ContactRange
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
    """The bone and the part of each lane, from below: feet, knees, seat, back, hands; heels, wrists below others."""
    own = {(one.bone, one.part) for _, one in contact_ranges.shown(ob)}
    return sorted(own, key=lambda lane: rank(ob, *lane))


def rank(ob: bpy.types.Object, bone: str, part: str) -> tuple[int, int, int]:
    """Returns the place of a part of a bone among others, as a key to sort by."""
    limb, own = contact_ranges.rank(part)
    return limb, ob.pose.bones.find(bone), own


def side_of(bone: str) -> str:
    """The side of a bone, by its name."""
    return bone_names.read([bone])[0].side


def _floor(scene: bpy.types.Scene, scale: float) -> float:
    """The lower edge of the lowest lane [pixels of the region]. scale : of the interface."""
    return (_MARKERS if len(scene.timeline_markers) else _SCROLL) * scale


def lanes_in(ob: bpy.types.Object, room: float, scale: float) -> tuple[list[tuple[str, str]], float]:
    """The lanes for which so many pixels are enough, around that of the active contact, and the height of each."""
    every, least = lanes(ob), (_LANE[0] + _GAP) * scale
    most = max(int(room / least), 1)
    active = next(((one.bone, one.part) for number, one in contact_ranges.shown(ob)
                   if number == ob.dqik.active_contact), None)  # fmt: skip
    first = min(max((every.index(active) if active else 0) - most // 2, 0), max(len(every) - most, 0))
    height = min(max(room / max(min(most, len(every)), 1) - _GAP * scale, _LANE[0] * scale), _LANE[1] * scale)
    return every[first : first + most], height


def bars(
    ob: bpy.types.Object, to_x: Callable[[float], float], floor: float, room: float, scale: float
) -> list[Bar]:  # fmt: skip
    """The bars of an object's contacts. to_x : gives the place of a frame. floor, room : where lanes are [pixels]."""
    rows, height = lanes_in(ob, room, scale)
    edges = {lane: floor + row * (height + _GAP * scale) for row, lane in enumerate(rows)}
    return [
        Bar(number, one, to_x(one.first - 0.5), to_x(one.last + 0.5), edges[one.bone, one.part],
            edges[one.bone, one.part] + height)
        for number, one in contact_ranges.shown(ob) if (one.bone, one.part) in edges
    ]  # fmt: skip


def are_cut(ob: bpy.types.Object, context: bpy.types.Context) -> bool:
    """Whether editors of the screen show the contacts of an object, but none has room for all lanes."""
    scale = context.preferences.system.ui_scale
    regions = [region for area in context.screen.areas if are_shown(ob, area.spaces.active)
               for region in area.regions if region.type == "WINDOW"]  # fmt: skip
    count = len(lanes(ob))
    rooms = [_room(region, context.scene, scale) for region in regions]
    return bool(rooms) and all(len(lanes_in(ob, room, scale)[0]) < count for room in rooms)


def _room(region: bpy.types.Region, scene: bpy.types.Scene, scale: float) -> float:
    return region.height - _RULER * scale - _floor(scene, scale)


def in_region(ob: bpy.types.Object, context: bpy.types.Context) -> list[Bar]:
    """The bars of an object's contacts in the region of a context."""
    region, scale = context.region, context.preferences.system.ui_scale
    view = region.view2d

    def to_x(frame: float) -> float:
        return float(np.asarray(view.view_to_region(frame, 0.0, clip=False))[0])

    return bars(ob, to_x, _floor(context.scene, scale), _room(region, context.scene, scale), scale)


def under(every: Sequence[Bar], x: float, y: float, scale: float) -> tuple[int, str] | None:
    """The number of the contact whose bar is at a point, and what would be moved: as `contact_ranges.ENDS`."""
    for bar in every:
        reach = min(_END * scale, (bar.right - bar.left) / 3.0)
        if bar.bottom <= y <= bar.top and bar.left - _END * scale <= x <= bar.right + _END * scale:
            if x < bar.left + reach:
                return bar.number, "START"
            return bar.number, "END" if x > bar.right - reach else "WHOLE"
    return None
