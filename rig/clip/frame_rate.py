# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a scene plays a captured motion at the rate that it was made for, judged by its legs (see `likely_rate`)."""

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import likely_rate
from .. import curves
from ..blender import animation, bulk, rotation
from ..blender.armature import Armature
from ..figure.character import Character
from ..notes import Note
from ..remembered import Remembered
from . import last_report, rest_legs

_SHORTEST, _LONGEST = 30, 2000  # frames of a motion that tells something, and of those that are read
_DENSE = 0.9  # keys a frame, from which on a motion is captured or baked

_known: Remembered[tuple, Note | None] = Remembered(32)


def keys_a_second(scene: bpy.types.Scene) -> float:
    """How many frames of keys a scene plays in a second."""
    render = scene.render
    return render.fps / render.fps_base * render.frame_map_old / render.frame_map_new


def note(ob: bpy.types.Object, scene: bpy.types.Scene) -> Note | None:
    """A note about a person's dense motion that was likely made for another rate; None if it fits, or does not tell.

    The keys of a motion are read once for each rate, and nothing is evaluated.
    """
    rate = keys_a_second(scene)
    which = ob.session_uid, *last_report.motion(ob), rate
    return _known.of(which, lambda: of_rate(_likely(ob, rate), rate))


def of_rate(likely: int | None, rate: float) -> Note | None:
    """What to say of a motion that was likely made for another rate than the one at which it plays."""
    return None if likely is None else Note("This motion moves as if made for {} frames a second, but the scene plays "
                                            "{}: set the scene's Frame Rate, or import the motion again at its rate",
                                            likely, f"{rate:.4g}")


def _likely(ob: bpy.types.Object, rate: float) -> int | None:
    """The rate that the keys of an object's action were likely made for, if it is another one."""
    data = ob.animation_data
    if data is None or data.action is None or ob.pose is None or animation.uses_nla(ob):
        return None
    span = data.action.frame_range
    frames = np.arange(np.ceil(span[0]), min(span[1], span[0] + _LONGEST) + 0.5)
    if len(frames) < _SHORTEST:
        return None
    character = Character.of(ob)
    armature, figure = character.armature, character.figure
    legs = None if figure.controlled or (figure.not_human and not figure.folded) else rest_legs.of(ob, character)
    if legs is None:
        return None
    keyed = {(curve.data_path, curve.array_index): bulk.read(curve.keyframe_points, "co", 2)
             for curve in curves.fcurves(data) if not (curve.mute or curve.is_empty)}  # fmt: skip
    names = ob.pose.bones.keys()
    dense = _DENSE * len(frames)
    if not all(any(_count(keyed, names[bone], frames) > dense for bone in leg.bones[:2]) for leg in legs):
        return None
    places = {-1: _object(ob, keyed, frames)}
    for leg in legs:
        for bone in reversed(armature.above(leg.foot)):
            if bone not in places:
                places[bone] = _bone(ob, armature, bone, places, keyed, frames)
    points, hips = rest_legs.marks(armature, legs, places.__getitem__)
    length = rest_legs.length(ob, legs)
    if not (length > 0.0 and np.isfinite(points).all() and np.isfinite(hips).all()):
        return None
    return likely_rate(points, hips, length, rate)


_Keys = dict[tuple[str, int], np.ndarray]
"""Frames and values (N, 2) of the keys of curves, by path and index."""


def _count(keyed: _Keys, bone: str, frames: np.ndarray) -> int:
    """The number of keys on some frames that a turn of a bone has."""
    start = curves.bone_path(bone, "rotation")
    times = (keys[:, 0] for (path, _), keys in keyed.items() if path.startswith(start))
    return max((int(((own >= frames[0]) & (own <= frames[-1])).sum()) for own in times), default=0)


def _values(keyed: _Keys, path: str, present: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """The values (F, K) of a property on some frames, straight from key to key. present : (K,), where it has none."""
    found = np.tile(np.asarray(present, dtype=float), (len(frames), 1))
    for index in range(len(present)):
        keys = keyed.get((path, index))
        if keys is not None:
            found[:, index] = np.interp(frames, keys[:, 0], keys[:, 1])
    return found


def _object(ob: bpy.types.Object, keyed: _Keys, frames: np.ndarray) -> np.ndarray:
    """The matrices (F, 4, 4) of an armature object; of its own keys only the location counts."""
    found = np.tile(np.array(ob.matrix_world), (len(frames), 1, 1))
    if ob.parent is None:
        found[:, :3, 3] = _values(keyed, "location", found[0, :3, 3], frames)
    return found


def _bone(
    ob: bpy.types.Object, armature: Armature, number: int, places: dict[int, np.ndarray], keyed: _Keys,
    frames: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The matrices (F, 4, 4) of a bone in the world, carried by the bone above it. places : of the bones above."""
    bone, above = ob.pose.bones[number], int(armature.parent[number])
    path, size = rotation.PATHS[bone.rotation_mode], rotation.SIZES[bone.rotation_mode]
    turns = np.zeros((len(frames), 4))
    turns[:, :size] = _values(keyed, curves.bone_path(bone.name, path), np.array(getattr(bone, path)), frames)
    basis = np.tile(np.eye(4), (len(frames), 1, 1))
    basis[:, :3, :3] = quaternion.to_matrix(rotation.to_quaternion(bone.rotation_mode, turns))
    if not bone.bone.use_connect:
        location = curves.bone_path(bone.name, "location")
        basis[:, :3, 3] = _values(keyed, location, np.array(bone.location), frames)
    rest = armature.rest[number]
    return places[above] @ (rest if above < 0 else np.linalg.solve(armature.rest[above], rest)) @ basis
