# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of people's joints, as a preset for the bones of a figure (see `rig/figure/anatomy.py`)."""

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender.armature import Armature
from ..blender.limit_frame import LimitFrame
from ..figure.character import Character
from ..notes import Note
from . import limits


@dataclass
class LimitPreset:
    """The result of a preset: names of the bones that got limits, and of limbs whose place in the figure is unknown.

    refusal : why, if human limits do not fit the figure, or do nothing on it.
    """

    limited: list[str]
    skipped: list[str]
    refusal: Note | None = None


def apply(
    ob: bpy.types.Object, chosen: Iterable[bpy.types.PoseBone], stands: Armature | None = None
) -> LimitPreset:  # fmt: skip
    """Set limits and preferred bends of the chosen bones that are recognised; others do not change.

    stands : the bones as they stand, of a figure that is folded at rest: limits are about that pose.
    """
    own = Character.of(ob, stands)
    armature, figure, anatomy = own.armature, own.figure, own.anatomy
    if refusal := figure.controlled or figure.not_human:
        return LimitPreset([], [], refusal)
    preset = LimitPreset([], [])
    for bone in chosen:
        number = armature.index[bone.name]
        role = figure.roles.get(number)
        if role is None or role.part.range is None:
            continue
        fitted = anatomy.fit(number, role)
        if fitted is None:
            preset.skipped.append(bone.name)
            continue
        frame, preferred = fitted.frame, fitted.preferred
        if stands is not None:
            turn = _turn(bone, *(one.rest[:, :3, :3] for one in (Character.of(ob).armature, stands)), number)
            frame = LimitFrame(frame.axes, quaternion.product(turn, frame.zero))
            preferred = preferred.any() * quaternion.log(quaternion.product(turn, quaternion.exp(preferred)))
        limits.put(bone, fitted.lo, fitted.hi, frame)
        if preferred.any():
            bone.dqik_preferred_angle = preferred
        preset.limited.append(bone.name)
    return preset


def _turn(bone: bpy.types.PoseBone, rest: np.ndarray, stands: np.ndarray, number: int) -> np.ndarray:
    """The rotation (4,) of a bone in its own axes that takes it from rest to another pose (N, 3, 3)."""
    carried = rest[number]
    if bone.parent is not None and bone.bone.use_inherit_rotation:
        above = bone.id_data.pose.bones.find(bone.parent.name)
        carried = stands[above] @ rest[above].T @ carried
    return quaternion.from_matrix(carried.T @ stands[number])
