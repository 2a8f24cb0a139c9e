# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what a solve reads of Blender's evaluated pose follows the bones that it moves."""

import bpy

from ...blender.dependencies import Dependencies
from ...skeleton.rig import Rig

_OF_CHAINS = {"IK", "SPLINE_IK"}


def follows_itself(ob: bpy.types.Object, rig: Rig) -> bool:
    """Whether the place of an evaluated object, or a constraint or driver of a bone that it reads, follows the solve.

    These are the bones of the skeleton, those above it, and those whose IK constraints may move them.
    """
    pose, dependencies = ob.pose.bones, Dependencies()
    moved = {pose[int(bone)].name for bone in rig.solved_bones}
    bones = {pose[int(bone)] for bone in rig.bones}
    bones.update(above for root in rig.root_places for above in (pose[root], *pose[root].parent_recursive))
    bones.update([bone for bone in pose if any(_moves(constraint, bone, bones) for constraint in bone.constraints)])
    measured = {row for row in rig.local_rows if not rig.armature.controls[rig.bones[row]]} | rig.placed_rows
    bones -= {pose[int(rig.bones[row])] for row in measured}  # in their parents' frames, where they stay
    driven = ob.animation_data is not None and len(ob.animation_data.drivers) > 0
    bones = {bone for bone in bones if driven or bone.constraints}
    behind = dependencies.bones_behind(ob).union(*(dependencies.bones_behind_bone(ob, bone.name) for bone in bones))
    return any(other.original == ob.original and name in moved for other, name in behind)


def _moves(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone, others: set[bpy.types.PoseBone]) -> bool:
    """Whether a constraint of a bone is for a chain that has one of some other bones."""
    if constraint.type not in _OF_CHAINS:
        return False
    chain = [bone, *bone.parent_recursive]
    return not others.isdisjoint(chain[: constraint.chain_count or None])
