# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones between the FK controls of generated rigs: which controls turn freely, or do not move, because of them."""

import bpy
import numpy as np

from ..blender import leaders
from ..blender.armature import Armature
from ..blender.dependencies import acts


def placed(pose: bpy.types.bpy_prop_collection, armature: Armature) -> np.ndarray:
    """(N,) bool, FK controls of a generated rig that constraints put at other bones, and that turn freely."""
    found = np.zeros(len(pose), dtype=bool)
    for bone in np.flatnonzero(armature.controls).tolist() if armature.kind else ():
        acting = [constraint for constraint in pose[bone].constraints if acts(constraint)]
        found[bone] = bool(acting) and all(leaders.copies_place(constraint) for constraint in acting)
    return found


def blended(
    ob: bpy.types.Object, armature: Armature, moved: np.ndarray, constrained: np.ndarray
) -> np.ndarray:  # fmt: skip
    """(N,) bool, bones of a generated rig that do not move, so that a bone that follows two of them in part stays.

    Such a bone is below moved bones, and its constraints follow another one than the bones above it.
    constrained : (N,) bool, with controls that constraints put at other bones.
    """
    still, pose = np.zeros(len(moved), dtype=bool), ob.pose.bones
    if armature.kind is None:
        return still
    members = {above for bone in np.flatnonzero(moved).tolist() for above in armature.above(bone)}
    for bone in sorted(members):
        if not constrained[bone] or armature.follows[bone] or armature.placed[bone]:
            continue
        own = set(armature.above(bone))
        for other in (set(armature.above(led)) for led in leaders.aims(pose[bone], armature.index)):
            if moved[list(other)].any() or not leaders.held_in_space(pose[bone]):
                still[list((own ^ other) - {bone})] = True
    return still
