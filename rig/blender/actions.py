# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotations of an armature's bones in actions, read from the curves. Nothing is evaluated or changed."""

from collections.abc import Sequence

import bpy
import numpy as np

from .. import curves
from . import rotation
from .channels import Channels, Modes

Curves = dict[tuple[int, int], bpy.types.FCurve]
"""Curves of rotation channels by bone number and index."""


def has_curves(identity: int) -> bool:
    """Whether there is an action with this `session_uid`, and it has curves."""
    action = next((one for one in bpy.data.actions if one.session_uid == identity), None)
    return action is not None and any(map(len, curves.by_slot(action)))


def has_single_keys(ob: bpy.types.Object) -> bool:
    """Whether no curve of an object's action has more than one key, as in an action that a first key has made."""
    return all(len(curve.keyframe_points) == 1 for curve in curves.fcurves(ob.animation_data))


def turning(ob: bpy.types.Object, action: bpy.types.Action, modes: Modes) -> Curves:
    """The curves of an action that turn an armature object's bones; of the slot that has most of them."""
    best: Curves = {}
    for found in curves.by_slot(action):
        curve_of = {(one.data_path, one.array_index): one for one in found if not (one.mute or one.is_empty)}
        own: Curves = {}
        for number, name in enumerate(ob.pose.bones.keys() if curve_of else ()):
            mode = modes.of_bone[number]
            path = curves.bone_path(name, rotation.PATHS[mode])
            keys = (((number, index), (path, index)) for index in range(rotation.SIZES[mode]))
            own.update((place, curve_of[key]) for place, key in keys if key in curve_of)
        best = max(best, own, key=len)
    return best


def rotations(turned: Curves, start: Channels, frames: Sequence[float]) -> np.ndarray:
    """Unit quaternions (F, N, 4) of all bones at some frames of an action.

    start : the channels that have no curve.
    """
    channels = np.tile(start.rotations.astype(float), (len(frames), 1, 1))
    for (bone, index), curve in turned.items():
        channels[:, bone, index] = [curve.evaluate(frame) for frame in frames]
    q = np.empty_like(channels)
    for mode, bones in start.modes.groups:
        q[:, bones] = rotation.to_quaternion(mode, channels[:, bones])
    return q
