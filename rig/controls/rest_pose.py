# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the pose of a frame the rest pose of an armature, whose motion stays as it is.

Captured motion may come with a rest pose that lies down or is folded up, which tells nothing about the figure.

A bone that is turned by B from rest in a frame, and by B0 in the one that becomes the rest pose, is turned by B0^-1 B
from the new rest.
"""

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.algebra import quaternion
from .. import curves
from ..blender import animation, bulk, channels, rotation
from ..blender.armature import matrices
from ..figure import skin
from ..figure.character import Character
from ..keys import keyable
from ..notes import Note
from ..skeleton import limits
from . import controls

_SCALED = 1e-4  # scales further than this from 1 change lengths
_TURNED, _MOVED = 1e-7, 1e-6  # of a quaternion, and of the armature's size: less is at rest


def hindrance(ob: bpy.types.Object) -> Note | None:
    """Why the pose cannot become the rest pose; None if it can."""
    if not controls.can_add(ob):
        return Note("The bones of {} cannot be edited: it is hidden, or linked from another file", repr(ob.name))
    if ob.data.users > 1:
        return Note("Other objects share the armature {}: make it a single-user copy first", repr(ob.data.name))
    if animation.uses_nla(ob):
        return Note("The NLA moves {}, and its strips would not fit a new rest pose: bake them to an action first",
                    repr(ob.name))
    transforms = (curve.data_path for curve in curves.fcurves(ob.animation_data)
                  if animation.split_path(ob, curve.data_path)[1].startswith(("location", "rotation")))  # fmt: skip
    if (note := keyable.problem(ob, transforms)) is not None:
        return note
    bound = next((other.name for other in bpy.data.objects if skin.is_deformed(other, ob)), "")
    if bound:
        return Note("{} is bound to the rest pose and would be deformed: unbind it first", repr(bound))
    for curve in curves.fcurves(ob.animation_data):
        if not np.isfinite(bulk.read(curve.keyframe_points, "co", 2)).all():
            return Note("Keys of {} are no numbers: delete them first", repr(curve.data_path))
    driven = animation.animation(ob).driven
    for bone in ob.pose.bones:
        if bone.name in driven:
            return Note("Bone {} has drivers, which would not fit a new rest pose: remove them first", repr(bone.name))
        if any(not one.mute for one in bone.constraints):
            return Note("Bone {} has constraints, so its pose is not its own: apply or mute them first",
                        repr(bone.name))
        if any(abs(part - 1.0) > _SCALED for part in bone.scale):
            return Note("Bone {} is scaled in this pose: clear its scale first", repr(bone.name))
        if bone.dqik_use_limits:
            return Note("The limits of bone {} are counted from the rest pose: clear the limits first", repr(bone.name))
    if not _away(channels.read(ob.pose.bones), Character.of(ob).size).any():
        return Note("{} stands in its rest pose already: go to the frame that has the wanted pose", repr(ob.name))
    return None


def apply(ob: bpy.types.Object) -> int:
    """Make the present pose the rest pose; returns the number of bones whose keys are counted from it now.

    `hindrance(ob)` must be None. Bones that were turned or moved get keys at all whole frames of the action.
    """
    pose = matrices(ob.pose.bones, "matrix")
    present = channels.read(ob.pose.bones)
    away = _away(present, Character.of(ob).size)
    keys = _keys(ob, present, away, pose)
    with controls.edit_mode(ob) as bones:
        matrix_of = dict(zip(ob.pose.bones.keys(), pose, strict=True))
        for bone in sorted((bones[name] for name in matrix_of), key=lambda bone: len(bone.parent_recursive)):
            length = bone.length
            bone.matrix = Matrix(matrix_of[bone.name].tolist())
            bone.length = length
    at_rest = present.copy()
    at_rest.locations[:] = 0.0
    at_rest.rotations[:] = present.modes.at_rest(np.arange(len(away)))
    channels.write(ob, at_rest)
    if keys:
        writer = curves.Writer(ob, ob.animation_data.action)
        for key in keys:
            writer.write(*key)
        writer.finish()
    return len({group for _, _, group, _, _ in keys})


def _away(present: channels.Channels, size: float) -> np.ndarray:
    """Which bones (N,) are turned or moved in a pose."""
    turned = np.abs(present.quaternions()[:, 1:]).max(-1) > _TURNED
    return turned | (np.abs(present.locations).max(-1) > _MOVED * size)


def _keys(
    ob: bpy.types.Object, present: channels.Channels, away: np.ndarray, pose: np.ndarray
) -> list[tuple[str, int, str, np.ndarray, np.ndarray]]:  # fmt: skip
    """The keys from the new rest: path, index, bone, frames (K,) and values (K,)."""
    found = {(curve.data_path, curve.array_index): curve for curve in curves.fcurves(ob.animation_data)}
    paths = [(curves.bone_path(bone.name, rotation.PATHS[bone.rotation_mode]), curves.bone_path(bone.name, "location"))
             for bone in ob.pose.bones]  # fmt: skip
    keyed, carried = {path for path, _ in found}, _carried(ob, pose)
    # a bone that rests as before may hang on one that does not, and have its location in other axes then
    other_axes = np.abs(carried - np.eye(3)).max((1, 2)) > _TURNED
    moving = [bone for bone, both in enumerate(paths)
              if (away[bone] and not keyed.isdisjoint(both)) or (other_axes[bone] and both[1] in keyed)]  # fmt: skip
    if not moving:
        return []
    action = ob.animation_data.action
    wanted = {path for bone in moving for path in paths[bone]}
    own = [key.co[0] for (path, _), curve in found.items() if path in wanted for key in curve.keyframe_points]
    frames = np.unique([*limits.frames_of(action), *action.frame_range, *own])
    turns, places = (np.repeat(one[None], len(frames), axis=0) for one in (present.rotations, present.locations))
    for bone in moving:
        for path, values in zip(paths[bone], (turns, places), strict=True):
            for index in range(values.shape[2]):
                if (curve := found.get((path, index))) is not None:
                    values[:, bone, index] = [curve.evaluate(frame) for frame in frames.tolist()]
    turns = _turns_from(present, turns, np.array(moving))
    places = np.einsum("bij,fbj->fbi", carried, places - present.locations)
    keys = []
    for bone in moving:
        name = ob.pose.bones[bone].name
        for path, values in zip(paths[bone], (turns, places), strict=True):
            size = min(values.shape[2], rotation.PATH_SIZES.get(path.rpartition(".")[2], 3))
            if path in keyed and (away[bone] or path == paths[bone][1]):
                keys += [(path, index, name, frames, values[:, bone, index]) for index in range(size)]
    return keys


def _turns_from(present: channels.Channels, turns: np.ndarray, bones: np.ndarray) -> np.ndarray:
    """The rotation channels (F, N, 4) of some bones, counted from the present pose."""
    back = quaternion.conjugate(present.quaternions()[bones])
    result, before = turns.copy(), present.modes.at_rest(bones)
    for frame, values in enumerate(turns[:, bones]):
        turned = quaternion.product(back, present.modes.quaternions(values, bones))
        before = present.modes.channels(turned, bones, before)
        result[frame, bones] = before
    return result


def _carried(ob: bpy.types.Object, pose: np.ndarray) -> np.ndarray:
    """The matrices (N, 3, 3) from location channels counted from rest to those counted from a pose (N, 4, 4)."""
    armature = Character.of(ob).armature
    rest, posed = (_rotations(one) for one in (armature.rest, pose))
    result = np.tile(np.eye(3), (len(rest), 1, 1))  # without local location it counts in the axes of the parent
    for number, bone in enumerate(ob.pose.bones):
        if bone.bone.use_local_location:
            above = armature.parent[number]
            carried = np.eye(3) if above < 0 else posed[above] @ rest[above].T
            result[number] = posed[number].T @ carried @ rest[number]
    return result


def _rotations(matrix: np.ndarray) -> np.ndarray:
    turned = matrix[:, :3, :3]
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)
