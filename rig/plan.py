# SPDX-License-Identifier: GPL-3.0-or-later
"""Which goals of an armature can be solved, and which bones they may move."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from . import bend, follow
from .armature import Armature

MIN_BEND = np.radians(4.0)  # a preferred bend that limits leave less of is none
SIDE_BIAS = 1.2  # how much more the other side of a bend must leave to be taken


@dataclass(frozen=True)
class PlannedGoal:
    """A goal that can be solved: its number in the panel's list, its settings, its bone, and its chain upward."""

    number: int
    settings: bpy.types.PropertyGroup
    bone: int
    chain: list[int]


@dataclass
class Plan:
    """What is to be solved on an armature.

    Attributes
    ----------
    bones : the bones of the solver's skeleton, parents before children.
    moved : (N,) bool, bones that are solved. constrained : (N,) bool, bones that constraints move.
    bends : {bone: preferred bend, a rotation vector (3,) in its own frame}.
    notes : sentences about what was left out.
    """

    armature: Armature
    goals: list[PlannedGoal]
    bones: list[int]
    moved: np.ndarray
    constrained: np.ndarray
    bends: dict[int, np.ndarray]
    notes: list[str]


def plan(ob: bpy.types.Object) -> Plan | str:
    """What to solve, or one sentence why there is nothing."""
    armature, pose = Armature(ob), ob.pose.bones
    notes: list[str] = []
    goals: list[PlannedGoal] = []
    for number, goal in enumerate(ob.dqik.goals):
        if _usable(ob, goal, armature, notes):
            bone = armature.index[goal.bone]
            chain = _chain(goal, armature.above(bone))
            if chain:
                goals.append(PlannedGoal(number, goal, bone, chain))
    goals = _without_cycles(ob, goals, armature, notes)
    if not goals:
        return notes[0] if notes else "Add a goal: choose a bone and the object that it should reach"
    constrained = _constrained(pose)
    moved = np.zeros(len(pose), dtype=bool)
    moved[[bone for goal in goals for bone in goal.chain]] = True
    notes += [f"Bone {pose[bone].name!r} is left to its constraints" for bone in np.flatnonzero(moved & constrained)]
    moved &= ~constrained & np.array([not bone.dqik_lock for bone in pose])
    if not moved.any():
        return "Every bone of the goals' chains is locked or constrained: unlock one"
    bends = _bends(pose, armature, [goal.chain for goal in goals], moved)
    return Plan(armature, goals, _skeleton_bones(goals, armature), moved, constrained, bends, notes)


def _usable(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, armature: Armature, notes: list[str]) -> bool:
    """Whether a goal can be solved for; notes why not where the user should know."""
    target, pole, name = goal.target, goal.pole_target, f"Goal {goal.name!r}"
    if goal.mute or goal.influence <= 0.0:
        return False
    if not goal.bone:
        notes.append(f"{name} has no bone: choose one")
    elif goal.bone not in armature.index:
        notes.append(f"{name}: the armature has no bone {goal.bone!r}")
    elif target is None:
        notes.append(f"{name} has no target: choose an object")
    elif goal.subtarget and target.type == "ARMATURE" and goal.subtarget not in target.pose.bones:
        notes.append(f"{name}: target {target.name!r} has no bone {goal.subtarget!r}")
    elif target == ob and not goal.subtarget:
        notes.append(f"{name}: its target is this armature; choose one of its bones as well")
    elif pole == ob and not goal.pole_subtarget:
        notes.append(f"{name}: its pole is this armature; choose one of its bones as well")
    elif pole and goal.pole_subtarget and pole.type == "ARMATURE" and goal.pole_subtarget not in pole.pose.bones:
        notes.append(f"{name}: pole {pole.name!r} has no bone {goal.pole_subtarget!r}")
    elif not (goal.use_position or goal.use_rotation):
        notes.append(f"{name} asks for nothing: switch on Position or Rotation")
    else:
        return True
    return False


def _chain(goal: bpy.types.PropertyGroup, above: list[int]) -> list[int]:
    """Bones that a goal may move, from its own upward; as in Blender's IK, a head's chain begins with the parent."""
    counted = above if goal.use_tail else above[1:]
    chain = counted[: goal.chain_length or None]
    return chain if goal.use_tail or not goal.use_rotation else [above[0], *chain]


def _without_cycles(
    ob: bpy.types.Object, goals: list[PlannedGoal], armature: Armature, notes: list[str]
) -> list[PlannedGoal]:
    """The goals whose targets and poles do not follow a bone that would be solved."""
    moved = {bone for goal in goals for bone in goal.chain}
    kept = []
    for goal in goals:
        follows = {
            armature.index.get(name, -1)
            for target, subtarget in follow.aims(goal.settings)
            for owner, name in follow.bones_behind(target, subtarget)
            if owner == ob
        }
        solved = sorted(follows & moved)
        if not solved:
            kept.append(goal)
        else:
            bone = ob.pose.bones[solved[-1]].name
            notes.append(f"Goal {goal.settings.name!r}: its target or pole follows bone {bone!r}, which is solved")
    return kept


def _constrained(pose: bpy.types.bpy_prop_collection) -> np.ndarray:
    """(N,) bones that an active constraint moves."""
    return np.array([
        any(c.type != "IK" and not c.mute and c.influence > 0.0 and c.is_valid for c in bone.constraints)
        for bone in pose
    ])  # fmt: skip


def _skeleton_bones(goals: Sequence[PlannedGoal], armature: Armature) -> list[int]:
    """The chains' bones, the goals' own, and all between them, parents before children."""
    wanted = {bone for goal in goals for bone in (goal.bone, *goal.chain)}
    for bone in sorted(wanted):
        between: list[int] = []
        for above in armature.above(bone)[1:]:
            if above in wanted:
                wanted.update(between)
                break
            between.append(above)
    return sorted(wanted, key=lambda bone: (len(armature.above(bone)), bone))


def _bends(
    pose: bpy.types.bpy_prop_collection, armature: Armature, chains: list[list[int]], moved: np.ndarray
) -> dict[int, np.ndarray]:
    """Preferred bends of bones: the user's, or found for straight limbs."""
    found: dict[int, np.ndarray] = {}
    for limb in bend.find_limbs(armature.heads, armature.tails, armature.parent, chains):
        if moved[limb.lower] and moved[limb.upper]:
            own = armature.rest[limb.lower, :3, :3].T @ limb.axis * limb.angle
            inside = _inside_limits(pose[limb.lower], own)
            if inside is not None:
                found[limb.lower] = inside
    for bone in map(int, np.flatnonzero(moved)):
        chosen = np.array(pose[bone].dqik_preferred_angle)
        if chosen.any():
            found[bone] = chosen
    return found


def _inside_limits(bone: bpy.types.PoseBone, vector: np.ndarray) -> np.ndarray | None:
    """A preferred bend as the bone's limits allow it, to the other side if that one leaves more."""
    if not bone.dqik_use_limits:
        return vector
    lo = np.array([bone.dqik_swing_x_min, bone.dqik_twist_min, bone.dqik_swing_z_min])
    hi = np.array([bone.dqik_swing_x_max, bone.dqik_twist_max, bone.dqik_swing_z_max])
    wanted, other = (np.clip(side * vector, np.minimum(lo, hi), hi) for side in (1.0, -1.0))
    best = other if np.linalg.norm(other) > SIDE_BIAS * np.linalg.norm(wanted) else wanted
    return best if np.linalg.norm(best) > MIN_BEND else None
