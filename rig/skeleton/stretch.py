# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones that may stretch or shorten: how far, and why some cannot.

A bone that stretches or shortens is scaled along its length. What it carries at its end moves along, but must not
inherit the scale: turned, it would be sheared.
"""

import bpy
import numpy as np

from ..blender.armature import Armature
from ..notes import Code, Note

KEEP_SIZE = {"NONE", "NONE_LEGACY"}
"""How bones inherit scale that keep their size on a bone that stretches."""

_AT_END = 1e-3  # of a bone's length: what begins nearer to its end is carried there


def may(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone may stretch or shorten."""
    return bone.dqik_stretch > 0.0 or bone.dqik_shortest < 1.0


def sheared(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The child for whose sake a bone does not stretch, because it would take on its parent's scale."""
    return next((child for child in bone.children if child.bone.inherit_scale not in KEEP_SIZE), None)


def spans(
    pose: bpy.types.bpy_prop_collection, moved: np.ndarray, bones: list[int], armature: Armature,
    scaled: frozenset[str], notes: list[Note],
) -> np.ndarray:  # fmt: skip
    """By how much (N, 2) each moved bone may shorten, and lengthen, as shares of its length at rest.

    Adds notes about those that cannot.

    moved : (N,) bool. bones : of the solver's skeleton. scaled : names of bones whose scale is animated.
    """
    found = np.array([(1.0 - min(bone.dqik_shortest, 1.0), max(bone.dqik_stretch, 0.0)) for bone in pose])
    found *= moved[:, None]
    for number in np.flatnonzero(found.any(-1)).tolist():
        problem = _problem(pose[number], number, bones, armature, scaled)
        if problem is not None:
            found[number] = 0.0
            notes.append(problem)
    return found


def keep_sizes(ob: bpy.types.Object) -> None:
    """Let what hangs on the bones that stretch keep its size."""
    for bone in ob.pose.bones:
        for child in bone.children if may(bone) else ():
            if child.bone.inherit_scale not in KEEP_SIZE:
                child.bone.inherit_scale = "NONE"


def _problem(
    bone: bpy.types.PoseBone, number: int, bones: list[int], armature: Armature, scaled: frozenset[str]
) -> Note | None:  # fmt: skip
    """The reason why a bone cannot stretch and what to do about it; None if it can. Arguments as of `lengthens`."""
    name = repr(bone.name)
    if armature.kind is not None:
        return Note("{} does not stretch: limbs of a generated rig stretch by the rig's own settings", name)
    if bone.name in scaled:
        return Note("{} does not stretch: its scale is animated, remove these keys or drivers", name)
    if (child := sheared(bone)) is not None:
        return Note(Code.SHEARED, name, repr(child.name))
    for child in bone.children:
        other = armature.index[child.name]
        away = np.linalg.norm(armature.heads[other] - armature.tails[number])
        if other in bones and (away > _AT_END * armature.length[number] or child.dqik_translate):
            return Note("{} does not stretch: {} does not begin at its end, or moves by itself", name, repr(child.name))
    return None
