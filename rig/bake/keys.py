# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes solved frames as keyframes. This is the last step, so a bake that stops or fails before changes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from .. import curves
from ..blender import animation, originals, rotation
from ..blender.channels import Channels
from ..keys import keyable
from ..notes import Note, Refused
from ..skeleton.rig import Rig
from .reduce import reduce_keys


@dataclass
class Options:
    """Settings of a bake: `action` NEW or CURRENT, `bones` by index (None: all solved), tolerance of key reduction."""

    action: str = "NEW"
    bones: frozenset[int] | None = None
    reduce: float = 0.0


def check(ob: bpy.types.Object, action: str, paths: Iterable[str] = ()) -> None:
    """Raise `Refused` if keys of data paths, in a NEW or the CURRENT action, would be lost, hidden or shared."""
    if (note := keyable.of_object(ob)) is not None:
        raise Refused(note)
    if action == "CURRENT" and (note := keyable.problem(ob, paths)) is not None:
        raise Refused(Note("{}, or bake into a new action", note))


def write_keys(
    ob: bpy.types.Object, rigs: Sequence[Rig], frames: Sequence[float], solved: Sequence[Channels], options: Options
) -> int:
    """Key the bones of `ob` that any of `rigs` solved on all frames; the number of keys written."""
    keys = list(_keys(ob, rigs, np.asarray(frames, dtype=float), solved, options))
    check(ob, options.action, (key[0] for key in keys))
    before = assigned(ob)
    new = _new_action(ob) if options.action == "NEW" or before[0] is None else None
    writer = curves.Writer(ob, new or before[0])
    try:
        for key in keys:
            writer.write(*key)
    except Exception:
        writer.undo()
        if new is not None:
            assign(ob, before)
            bpy.data.actions.remove(new)
        raise
    writer.finish()
    if new is not None:
        set_aside(ob, before)
    return sum(len(key[3]) for key in keys)


def _keys(ob: bpy.types.Object, rigs: Sequence[Rig], frames: np.ndarray, solved: Sequence[Channels], options: Options):
    """For each curve: path, index, group, frames (K,), values (K,), and slopes (K,) if keys are reduced."""
    rotations = np.stack([one.rotations for one in solved])  # (F, N, 4)
    locations = np.stack([one.locations for one in solved])
    modes, of_frame = {id(one.modes): one.modes for one in solved}, np.array([id(one.modes) for one in solved])
    sliding = {int(rig.bones[row]) for rig in rigs for row in rig.slide_row}
    for bone in sorted({int(bone) for rig in rigs for bone in rig.solved_bones}):
        if options.bones is not None and bone not in options.bones:
            continue
        name = ob.pose.bones[bone].name
        paths = {key: rotation.PATHS[one.of_bone[bone]] for key, one in modes.items()}  # several if modes are keyed
        parts = []
        for path in dict.fromkeys(paths.values()):
            own = np.isin(of_frame, [key for key, other in paths.items() if other == path])
            parts.append((path, frames[own], rotations[own, bone, : rotation.PATH_SIZES[path]]))
        if bone in sliding:
            parts.append(("location", frames, locations[:, bone]))
        for channel, times, values in parts:
            keep, slopes = np.arange(len(times)), None
            if options.reduce > 0.0 and len(times) > 2:
                keep, slopes = reduce_keys(times, values.astype(float), options.reduce)
            for index in range(values.shape[1]):
                own = None if slopes is None else slopes[:, index]
                yield curves.bone_path(name, channel), index, name, times[keep], values[keep, index], own


def _new_action(ob: bpy.types.Object) -> bpy.types.Action | None:
    """An action for the keys: a copy of the present one, which keeps its other curves."""
    data = ob.animation_data
    old = None if data is None else data.action
    if data is None or old is None or _is_blended(data) or (curves.LAYERED and data.action_slot is None):
        return bpy.data.actions.new(f"{ob.name if old is None else old.name} DQIK")
    copy = old.copy()
    copy.name = f"{old.name} DQIK"
    return copy


def _is_blended(data: bpy.types.AnimData) -> bool:
    """Whether the action is mixed with the NLA tracks below it."""
    tracks = data.use_nla and any(not track.mute and len(track.strips) for track in data.nla_tracks)
    return tracks and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0)


def set_aside(ob: bpy.types.Object, before: tuple) -> None:
    """Keep the old action in the file and, if it was blended with the NLA, as a track below the new action.

    Where strips alone have moved the object, they go on outside the frames of the new action.
    """
    data, (action, slot) = ob.animation_data, before
    if action is None and animation.uses_nla(ob):
        data.action_extrapolation = "NOTHING"  # outside its frames the strips show, as they did
    if action is not None:
        originals.name_original(data.action, action)
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


def assigned(ob: bpy.types.Object | None) -> tuple:
    """The action of an object and its slot; None and None if it has none."""
    data = None if ob is None else ob.animation_data
    return (None, None) if data is None else (data.action, getattr(data, "action_slot", None))


def assign(ob: bpy.types.Object, before: tuple) -> None:
    """Assign an action and its slot to an object, as they were."""
    action, slot = before
    ob.animation_data.action = action
    if slot is not None:
        ob.animation_data.action_slot = slot
