# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel warns of: figures as they come from files, and motions that play at another rate than their own."""

import bpy

from .. import curves
from ..blender import animation
from ..controls import unkeyed_action
from ..figure import roles
from ..figure.character import Character
from ..keys import keyable
from ..notes import Code, Note
from . import frame_rate


def of_figure(ob: bpy.types.Object) -> list[Note]:
    """What to know of a figure before it is set up: whether it is linked, stands still, or is folded at rest."""
    kept = keyable.of_settings(ob)
    found = [kept, _still(ob)]
    if curves.action_of(ob) is not None and Character.of(ob).figure.folded:
        found.append(roles.FOLDED)
    return [note for note in found if note is not None]


def of_instance(ob: bpy.types.Object | None) -> list[Note]:
    """What to know of figures that an object shows as an instance of their collection, as linked ones often come."""
    shown = None if ob is None else ob.instance_collection
    figures = [] if shown is None else [one for one in shown.all_objects if one.type == "ARMATURE"]
    return [note for note in map(keyable.of_settings, figures) if note is not None]


def of_motion(ob: bpy.types.Object, scene: bpy.types.Scene) -> list[Note]:
    """What to know of a figure's motion, set up or not."""
    note = frame_rate.note(ob, scene)
    return [] if note is None else [note]


def _still(ob: bpy.types.Object) -> Note | None:
    """Why a figure with an action stands still; None if it moves, or has no action."""
    data = ob.animation_data
    if data is None or data.action is None or animation.uses_nla(ob):
        return None
    if ob.data.pose_position == "REST":
        return Note(Code.REST_POSITION)
    if curves.LAYERED and data.action_slot is None and len(data.action.slots):
        return Note("This figure stands still: action {} moves nothing until its slot is chosen in the Action Editor",
                    repr(data.action.name))
    if animation.animation(ob).driven or any(map(unkeyed_action.values_differ, unkeyed_action.body_curves(ob))):
        return None
    return Note("This figure stands still: no keys of action {} move its bones", repr(data.action.name))
