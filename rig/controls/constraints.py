# SPDX-License-Identifier: GPL-3.0-or-later
"""Converting Blender's IK constraints, poles and limits to goals and limits."""

from collections.abc import Iterable

import bpy
import numpy as np

from ...solvers.rest import GoalChain
from ..figure import bend
from ..figure.character import Character
from ..notes import Note
from ..skeleton import limits, stretch
from . import mute_ik
from .goals import new_goal

UNBOUNDED = 10.0  # of its length: how much longer a bone with IK Stretch becomes, which Blender does not bound
STRAIGHT = 0.02  # of a chain's length: chains whose middle is nearer to their line count as straight


def take_over(ob: bpy.types.Object) -> tuple[int, list[Note]]:
    """Convert the active IK constraints to goals and mute them. Returns the number of goals, and problems."""
    count, problems = 0, []
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != "IK" or constraint.mute:
                continue
            if constraint.target is None:
                problems.append(Note("The IK constraint of {} has no target: choose an object", repr(bone.name)))
                continue
            if (note := mute_ik.problem(ob, constraint)) is not None:
                problems.append(Note("The IK constraint of {} stays: {}", repr(bone.name), note))
                continue
            goal = new_goal(ob, bone.name, constraint.chain_count, constraint.use_rotation)
            goal.target, goal.subtarget = constraint.target, constraint.subtarget
            goal.use_tail, goal.use_position = constraint.use_tail, constraint.use_location
            goal.position_weight, goal.rotation_weight = constraint.weight, constraint.orient_weight
            goal.influence = constraint.influence
            if constraint.pole_target is not None:
                goal.pole_target, goal.pole_subtarget = constraint.pole_target, constraint.pole_subtarget
                goal.pole_angle = _pole_angle(ob, bone, constraint)
            _take_stretch(bone, constraint)
            mute_ik.mute(ob, bone, goal)
            count += 1
    if ob.data.library is None:
        stretch.keep_sizes(ob)
    return count, problems


def _take_stretch(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
    """Let those bones of an IK constraint's chain stretch that have *IK Stretch*."""
    above = [bone, *bone.parent_recursive]
    for own in (above if constraint.use_tail else above[1:])[: constraint.chain_count or None]:
        if constraint.use_stretch and own.ik_stretch > 0.0:
            own.dqik_stretch = UNBOUNDED


def _pole_angle(ob: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> float:
    """The goal's pole angle that corresponds to an IK constraint's.

    Blender turns an axis of the chain's first bone, `X cos(angle) + Z sin(angle)`, toward the pole. A goal turns the
    direction of the bend toward it. The result is the angle from that axis to the bend, on the rig at rest.
    """
    own = Character.of(ob)
    armature = own.armature
    above = armature.above(armature.index[bone.name])
    chain = (above if constraint.use_tail else above[1:])[: constraint.chain_count or None]
    if len(chain) < 2:
        return 0.0
    heads, tails, root = armature.heads, armature.tails, chain[-1]
    line = tails[chain[0]] - heads[root]
    middle = heads[chain[:-1]].mean(0) - heads[root]
    line = line / max(np.linalg.norm(line), 1e-12)
    out = middle - line * (middle @ line)
    if np.linalg.norm(out) < STRAIGHT * armature.length[chain].sum():
        limb = next(iter(bend.find_limbs(own.body, [GoalChain(chain, above[0], constraint.use_tail)])), None)
        if limb is None:
            return 0.0
        out = -np.cross(limb.axis, tails[limb.lower] - heads[limb.lower])  # the middle moves opposite to the lower end
    rest = armature.rest
    axis = rest[root, :3, 0] * np.cos(constraint.pole_angle) + rest[root, :3, 2] * np.sin(constraint.pole_angle)
    axis = axis - line * (axis @ line)
    return float(np.arctan2(line @ np.cross(axis, out), axis @ out))


def limits_from_ik(bones: Iterable[bpy.types.PoseBone]) -> int:
    """Copy IK limits and locks to the limits of the bones. Returns the number of bones that have any."""
    count = 0
    for bone in bones:
        ranges = [_ik_range(bone, axis) for axis in "yxz"]  # twist, swing X, swing Z
        if any(ranges):
            limits.put(bone, *zip(*(own or (-np.pi, np.pi) for own in ranges), strict=True))
            count += 1
        stiffness = max(getattr(bone, f"ik_stiffness_{axis}") for axis in "xyz")
        if stiffness > 0.0:
            bone.dqik_stiffness = stiffness
    return count


def _ik_range(bone: bpy.types.PoseBone, axis: str) -> tuple[float, float] | None:
    """A bone's IK limits about an axis [rad]; None if there are none."""
    if getattr(bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    limited = getattr(bone, f"use_ik_limit_{axis}")
    return (getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")) if limited else None
