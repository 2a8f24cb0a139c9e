# SPDX-License-Identifier: GPL-3.0-or-later
"""The twist-swing limits of pose bones.

Limits `lo` and `hi` of B bones are (B, 3): twist, swing X and swing Z, in radians.
"""

from collections.abc import Iterable

import bpy
import numpy as np

from ...solvers.algebra import twist_swing
from ...solvers.model import CLOSED, FULL_TURN, locate, project_swing
from .. import curves
from ..blender import bulk, limit_frame, rotation
from ..blender.limit_frame import LimitFrame
from ..notes import Note

PARTS = ("twist", "swing_x", "swing_z")
NEAR = 2e-3  # a coordinate this close to its limit lies on it: [rad] of a twist, relative for a swing
_HUGE = 1e30  # a key is no number from here on: Blender stores the largest number for infinity
_HALVINGS = 20  # of a range of swings: to a millionth of it
_FREE = FULL_TURN - 1e-6  # limits are stored in single precision
_NAMES = ("dqik_use_limits", "dqik_limits_axes", "dqik_limits_zero",
          *(f"dqik_{part}_{end}" for part in PARTS for end in ("min", "max")))  # fmt: skip


def put(
    bone: bpy.types.PoseBone, lo: Iterable[float], hi: Iterable[float], frame: LimitFrame = limit_frame.OWN
) -> None:
    """Set the limits of a bone: `lo` and `hi` of twist, swing X and swing Z, in radians and in a frame."""
    bone.dqik_limits_axes, bone.dqik_limits_zero = frame.axes, frame.zero
    for part, least, most in zip(PARTS, lo, hi, strict=True):
        setattr(bone, f"dqik_{part}_min", float(least))
        setattr(bone, f"dqik_{part}_max", float(most))
    bone.dqik_use_limits = True


def values(bone: bpy.types.PoseBone) -> tuple[float, ...]:
    """The limits of a bone: minimum and maximum of twist, swing X and swing Z [rad]."""
    return tuple(getattr(bone, f"dqik_{part}_{end}") for part in PARTS for end in ("min", "max"))


def of(bone: bpy.types.PoseBone) -> tuple[np.ndarray, np.ndarray]:
    """The limits `lo` and `hi` (3,) of a bone."""
    lo, hi = np.array(values(bone)).reshape(3, 2).T
    return lo, hi


def wrong(bone: bpy.types.PoseBone) -> Note | None:
    """A note about settings of a bone that cannot be used; None if all are right.

    Scripts and damaged files can set numbers that are not finite, and a minimum above its maximum.
    """
    names = ("dqik_stiffness", "dqik_stretch", "dqik_shortest", "dqik_hold", "dqik_gain", "dqik_preferred_angle")
    names += _NAMES[1:] if bone.dqik_use_limits else ()
    for name in names:
        if not np.isfinite(getattr(bone, name)).all():
            return Note("Bone {}: {} is not a number: set it again", repr(bone.name), bone.bl_rna.properties[name].name)
    for part, least, most in zip(PARTS, *np.degrees(of(bone)), strict=True) if bone.dqik_use_limits else ():
        if least > most:
            words = part.replace("_", " ").title()
            return Note("Bone {}: {} Min ({}) is above {} Max ({})",
                        repr(bone.name), words, f"{least:.1f}", words, f"{most:.1f}")
    return None


def clear(bones: Iterable[bpy.types.PoseBone]) -> None:
    """Switch limits off and reset them."""
    for bone in bones:
        bone.dqik_use_limits = False  # property_unset() calls no update callback, so set a property that does
        for name in _NAMES:
            bone.property_unset(name)


def frames_of(action: bpy.types.Action, most: int = 100_000) -> np.ndarray:
    """The whole frames of an action, or `most` that are spread over a longer one; none if its ends are no numbers."""
    first, last = np.floor(np.array(action.frame_range, dtype=float))
    if not np.isfinite(last - first):
        return np.zeros(0)
    count = int(last - first) + 1
    return first + np.arange(count) if count <= most else np.floor(np.linspace(first, last, most))


def from_action(
    ob: bpy.types.Object, bones: Iterable[bpy.types.PoseBone], margin: float
) -> tuple[int, list[str]]:
    """Set limits that hold the action's rotations, widened by `margin` [rad].

    Returns the number of bones set, and the names of bones with keys that are no numbers, which are left out.
    """
    count, damaged = 0, list[str]()
    action = ob.animation_data.action if ob.animation_data else None
    frames = np.zeros(0) if action is None else frames_of(action)
    curve_of = {(curve.data_path, curve.array_index): curve for curve in curves.fcurves(ob.animation_data)}
    for bone in bones:
        path = curves.bone_path(bone.name, rotation.PATHS[bone.rotation_mode])
        own = [curve_of.get((path, index)) for index in range(rotation.SIZES[bone.rotation_mode])]
        if not any(own):
            continue
        rest = (1.0, 0.0, 0.0, 0.0) if bone.rotation_mode == rotation.QUATERNION else (0.0, 0.0, 0.0, 0.0)
        values = np.tile(rest, (len(frames), 1))
        for index, curve in enumerate(own):
            if curve is not None:
                values[:, index] = [curve.evaluate(frame) for frame in frames.tolist()]
        numbers = np.isfinite(values).all(-1) & ~_spoilt([curve for curve in own if curve is not None], frames)
        if not numbers.all() or not numbers.size:
            damaged.append(bone.name)
        if not numbers.any():
            continue
        values = values[numbers]
        x = twist_swing.coordinates(rotation.to_quaternion(bone.rotation_mode, values))
        wide = np.array([0.0, 1.0, 1.0]) * _widening(x[:, 1:]) + margin
        put(bone, np.maximum(x.min(0) - wide, -np.pi), np.minimum(x.max(0) + wide, np.pi))
        count += 1
    return count, damaged


def _widening(swings: np.ndarray) -> float:
    """The angle [rad] by which the range of swings (F, 2) has to be wider so that its ellipse holds all of them.

    The ellipse leaves out the corners of its range: a knee that is bent far and turned out meanwhile.
    """
    lo, hi = swings.min(0), swings.max(0)
    least, most = 0.0, float((hi - lo).max())
    for _ in range(_HALVINGS):
        wide = 0.5 * (least + most)
        if locate(swings, lo - wide, hi + wide).level.max() > 1.0:
            least = wide
        else:
            most = wide
    return most


def _spoilt(own: Iterable[bpy.types.FCurve], frames: np.ndarray) -> np.ndarray:
    """The frames (F,) bool beside a key that is no number, up to the keys before and after it."""
    spoilt = np.zeros(len(frames), dtype=bool)
    for curve in own:
        keys = bulk.read(curve.keyframe_points, "co", 2)
        at = np.concatenate([[-np.inf], keys[:, 0], [np.inf]])
        for bad in np.flatnonzero(~(np.abs(keys) < _HUGE).all(-1)):
            spoilt |= ~(frames <= at[bad]) & ~(frames >= at[bad + 2])
    return spoilt


def is_twist_limited(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Whether the twist is limited (B,)."""
    return (hi - lo)[:, 0] < _FREE


def is_swing_limited(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Whether the swing is limited (B,)."""
    return np.any((hi - lo)[:, 1:] < _FREE, axis=-1)


def at_limit(x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether the twist (B,) and the swing (B,) of coordinates `x` (B, 3) are at a limit, if they have room at all."""
    has_room = hi - lo > CLOSED
    at_end = has_room & ((x - lo < NEAR) | (hi - x < NEAR))  # of a swing: also where its ellipse is shut on that side
    swing = project_swing(x[:, 1:], lo[:, 1:], hi[:, 1:])
    on_border = (locate(swing, lo[:, 1:], hi[:, 1:]).level > 1.0 - NEAR) & has_room[:, 1:].any(-1)
    return at_end[:, 0] & is_twist_limited(lo, hi), (at_end[:, 1:].any(-1) | on_border) & is_swing_limited(lo, hi)
