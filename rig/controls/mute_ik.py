# SPDX-License-Identifier: GPL-3.0-or-later
"""Muting IK constraints for good when goals replace them, whatever animates them."""

import bpy

from .. import curves
from ..keys import keyable
from ..notes import Note


def mute(ob: bpy.types.Object, bone: bpy.types.PoseBone, goal: bpy.types.PropertyGroup) -> None:
    """Mute the IK constraints of a bone that a goal replaces.

    The driver or the keys of the active one's influence go over to the goal's. Drivers and keys that would switch one
    of the constraints on again are removed or muted.
    """
    goal_path = f"{goal.path_from_id()}.influence"
    for constraint in bone.constraints:
        if constraint.type != "IK":
            continue
        path = constraint.path_from_id()
        if not constraint.mute:
            _move(ob, f"{path}.influence", goal_path)
        if not constraint.mute or _drivers(ob, f"{path}.mute") or _curves(ob, f"{path}.mute"):
            ob.driver_remove(f"{path}.mute")
            for curve in _curves(ob, f"{path}.mute"):
                curve.mute = True
            constraint.mute = True


def problem(ob: bpy.types.Object, constraint: bpy.types.Constraint) -> Note | None:
    """Why the keys of a constraint cannot be changed; None if they can, or there are none."""
    path = constraint.path_from_id()
    is_keyed = any(_curves(ob, f"{path}.{name}") for name in ("influence", "mute"))
    return keyable.of_action(ob) if is_keyed else None


def _drivers(ob: bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    return [] if ob.animation_data is None else [one for one in ob.animation_data.drivers if one.data_path == path]


def _curves(ob: bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    return [curve for curve in curves.fcurves(ob.animation_data) if curve.data_path == path]


def _move(ob: bpy.types.Object, old: str, new: str) -> None:
    """Give a property the drivers and the keys of another one, which loses its drivers."""
    for driver in _drivers(ob, old):
        ob.animation_data.drivers.from_existing(src_driver=driver).data_path = new
        ob.driver_remove(old)
    for curve in _curves(ob, old):
        copy = curves.fcurves(ob.animation_data).new(new)
        for key in curve.keyframe_points:
            copy.keyframe_points.insert(key.co[0], key.co[1], options={"FAST"}).interpolation = key.interpolation
        copy.update()
        curve.mute = True
