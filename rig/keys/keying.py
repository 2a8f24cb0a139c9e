# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of properties, as Blender's preferences have them. All keys that DQIK inserts one by one are inserted here.

They have the handles and the interpolation of keys that the user inserts. Blender gives those to the keys of its own
operators only, not to those of scripts.
Blender's preference *Only Insert Available* is about Auto Keying: with it, Auto Keying adds keys to curves that are
there and makes no new ones. Keys that the user asks for are inserted in any case.
"""

from collections.abc import Iterable

import bpy

from .. import curves
from ..blender import rotation
from ..blender.places import Owner


def is_auto(scene: bpy.types.Scene) -> bool:
    """Whether Auto Keying is on in a scene."""
    return scene.tool_settings.use_keyframe_insert_auto


def adds_curves(auto: bool) -> bool:
    """Whether keys may be inserted where there is no curve. auto : Auto Keying inserts them, not the user."""
    return not (auto and bpy.context.preferences.edit.use_keyframe_insert_available)


def key(owner: Owner, frame: float, auto: bool = False) -> bool:
    """Key the location and the rotation, in the owner's own rotation mode, at a frame; returns whether both were keyed.

    auto : as in `adds_curves`.
    """
    moved = key_path(owner, "location", frame, auto=auto)
    return key_path(owner, rotation.PATHS[owner.rotation_mode], frame, auto=auto) and moved


def key_path(owner: bpy.types.bpy_struct, path: str, frame: float, group: str = "", auto: bool = False) -> bool:
    """Key a property of an owner, by its data path from there, at a frame; returns whether it was keyed.

    group : of a new curve, by default the owner's. auto : as in `adds_curves`.
    """
    whole = path if isinstance(owner, bpy.types.Object) else owner.path_from_id(path)
    own = [curve for curve in curves.fcurves(owner.id_data.animation_data) if curve.data_path == whole]
    there = {curve.array_index for curve in own if key_at(curve, frame) is not None}
    if not own and not adds_curves(auto):  # Blender would print a warning
        return False
    options = set() if adds_curves(auto) else {"INSERTKEY_AVAILABLE"}
    done = owner.keyframe_insert(path, frame=frame, group=group or curves.group_of(owner, path), options=options)
    for curve in curves.keyed(owner.id_data, [whole]):
        if curve.array_index not in there:
            _prefer(curve, frame)
    return done


def key_at(curve: bpy.types.FCurve, frame: float) -> bpy.types.Keyframe | None:
    """The key of a curve at a frame, or None."""
    number = curves.number_at(curve, frame)
    return None if number is None else curve.keyframe_points[number]


def size_of(path: str) -> int:
    """How many numbers a property has."""
    return rotation.PATH_SIZES.get(path, 3 if path in ("location", "scale") else 1)


def curves_of(bone: bpy.types.PoseBone, path: str) -> dict[int, bpy.types.FCurve]:
    """The curves of a bone's property in its object's action, by their index."""
    return curves.of_path(bone.id_data, curves.bone_path(bone.name, path), size_of(path))


def beside(
    curve: bpy.types.FCurve | None, before: float, frame: float, times: Iterable[float], had_key: bool = False,
    is_new: bool = True,
) -> list[tuple[float, float]]:  # fmt: skip
    """The times beside a frame on which a curve lacks a key, and its values there as they are before it is keyed there.

    before : the value at the frame itself, where the curve had a key, or else on all frames, where there was no curve.
    is_new : a key that is at the frame belongs to what is keyed now.
    """
    if curve is None or (is_new and not (had_key or has_others(curve, frame))):
        return [(time, before) for time in times]
    lacking = [time for time in times if key_at(curve, time) is None]
    if not is_new:
        return [(time, curve.evaluate(time)) for time in lacking]
    return list(zip(lacking, curves.before_key(curve, frame, before if had_key else None, lacking), strict=True))


def has_others(curve: bpy.types.FCurve, frame: float) -> bool:
    """Whether a curve has keys at other frames."""
    return len(curve.keyframe_points) > (key_at(curve, frame) is not None)


def is_keyed(bone: bpy.types.PoseBone, frame: float) -> bool:
    """Whether the rotation or the location of a bone has a key at a frame."""
    paths = (rotation.PATHS[bone.rotation_mode], "location")
    return any(key_at(curve, frame) is not None for path in paths for curve in curves_of(bone, path).values())


def _prefer(curve: bpy.types.FCurve, frame: float) -> None:
    """Give a new key at a frame what the preferences give to new keys; one of several takes its neighbour's easing."""
    key = key_at(curve, frame)
    if key is None:
        return
    if len(curve.keyframe_points) <= 2 and key.interpolation == "BEZIER":  # what has no values between is constant
        key.interpolation = bpy.context.preferences.edit.keyframe_new_interpolation_type
    curves.prefer(curve, frame, frame)
