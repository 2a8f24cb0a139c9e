# SPDX-License-Identifier: GPL-3.0-or-later
"""Which actions an object gets, and what becomes of those that it had: they stay in the file."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import bpy

from .. import curves
from ..blender import animation, originals

Assigned = tuple[bpy.types.Action | None, object]
"""An action and its slot, which is None before Blender 4.4."""
_MADE = re.compile(r" DQIK(\.\d{3,})?$")  # ends the names of actions that were made before


def assigned(ob: bpy.types.Object | None) -> Assigned:
    """The action of an object and its slot; None and None if it has none."""
    data = None if ob is None else ob.animation_data
    return (None, None) if data is None else (data.action, getattr(data, "action_slot", None))


def assign(ob: bpy.types.Object, before: Assigned) -> None:
    """Assign an action and its slot to an object, as they were."""
    ob.animation_data.action, slot = before
    if slot is not None:
        ob.animation_data.action_slot = slot


@contextmanager
def new_actions(
    objects: Iterable[bpy.types.Object], made_by: str = "", name: str = ""
) -> Generator[dict[str, bpy.types.Action]]:  # fmt: skip
    """Assign new actions to objects, in which a motion is changed; yields them by the objects' names.

    They are copies of those that the objects have, which stay in the file. made_by : as of `originals`. name : of an
    empty action instead of a copy. If the context is left by an exception, the old actions are assigned again, and the
    new ones are removed.
    """
    before, made = {ob: assigned(ob) for ob in objects}, dict[object, bpy.types.Action]()
    for ob, (action, _) in before.items():
        source = action or ob
        made[source] = made.get(source) or _made(ob, name)
        (ob.animation_data or ob.animation_data_create()).action = made[source]
    try:
        yield {ob.name: made[action or ob] for ob, (action, _) in before.items()}
    except BaseException:
        for ob, old in before.items():
            assign(ob, old)
        bpy.data.batch_remove(made.values())
        raise
    for ob, old in before.items():
        _set_aside(ob, old, made_by)


@contextmanager
def instead(ob: bpy.types.Object, action: bpy.types.Action | None) -> Generator[None]:
    """Give an object another action, or with None leave it its own. An exception gives it its own one back."""
    before = assigned(ob)
    if action is None or before[0] == action:
        yield
        return
    ob.animation_data.action = action
    try:
        yield
    except BaseException:
        assign(ob, before)
        raise
    before[0].use_fake_user = True  # it may have been edited


def _made(ob: bpy.types.Object, name: str) -> bpy.types.Action:
    """A copy of an object's action; an empty one with a name, or where a copy would not show the same."""
    (old, slot), data = assigned(ob), ob.animation_data
    usual = _MADE.sub("", ob.name if old is None else old.name) + " DQIK"  # Blender numbers further ones
    if name or old is None or _is_blended(data) or (curves.LAYERED and slot is None):
        return bpy.data.actions.new(name or usual)
    copied: Any = old.copy()
    copied.name = usual
    return copied


def _is_blended(data: bpy.types.AnimData) -> bool:
    """Whether the action is mixed with the NLA tracks below it."""
    tracks = data.use_nla and any(not track.mute and len(track.strips) for track in data.nla_tracks)
    return tracks and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0)


def _set_aside(ob: bpy.types.Object, before: Assigned, made_by: str) -> None:
    """Keep the old action in the file and, if it was blended with the NLA, as a track below the new action.

    Where strips alone have moved the object, they go on outside the frames of the new action.
    """
    data, (action, slot) = ob.animation_data, before
    if action is None and animation.uses_nla(ob):
        data.action_extrapolation = "NOTHING"  # outside its frames the strips show, as they did
    if action is not None:
        originals.name_original(data.action, action, made_by)
    if not _is_blended(data):
        return
    if action is not None:
        track = data.nla_tracks.new(prev=data.nla_tracks[-1])
        track.name = action.name
        strip = track.strips.new(action.name, int(action.frame_range[0]), action)
        if slot is not None:
            strip.action_slot = slot
        strip.blend_type, strip.extrapolation = data.action_blend_type, data.action_extrapolation
        strip.use_animated_influence = True
        for curve in strip.fcurves:  # made by the line above, without keys: Blender takes it for 0
            if curve.data_path == "influence":
                curve.keyframe_points.insert(action.frame_range[0], data.action_influence)
    data.action_blend_type, data.action_influence = "REPLACE", 1.0
