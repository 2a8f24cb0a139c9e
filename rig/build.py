# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and its goals as a prepared solve: everything that depends on the rig but not on the frame."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from .. import solvers as ik
from ..solvers import dual_quaternion, quaternion
from . import bend

MIN_BEND = np.radians(4.0)  # a preferred bend that limits leave less of is none
PULL = 1e-5
BLOCKING = {"TRANSFORM_CACHE"}


@dataclass(frozen=True)
class GoalBinding:
    """A goal of the panel and what it needs each frame."""

    index: int  # in Object.dqik.goals
    name: str
    bone: int
    use_tail: bool
    influence: float


@dataclass
class Rig:
    """A prepared armature.

    Attributes
    ----------
    joint_bone : (J,) bone of each joint. main : (M,) the joint that turns each of `bones` (M,).
    own_rest : (M, 4) rest orientation of each in its parent bone's frame, or in the armature's where it is detached.
    slides : {bone: (first of its three slide joints)}.
    solved : (S,) positions in `bones` of those whose rotation the solver writes. inner, roots, still, held_rows :
        positions of those that hang from another, of those that do not, of fixed ones, and of constrained ones.
    rest_links : (J, 8) all links with every inner joint at its rest offset.
    """

    signature: tuple
    size: float
    skeleton: ik.Skeleton
    prepared: ik.Prepared
    goals: list[GoalBinding]
    bones: np.ndarray
    main: np.ndarray
    parent: np.ndarray  # (M,) bone index of the parent, -1 for none
    rooted: np.ndarray  # (M,) bool: the parent is not part of the skeleton, so the joint is placed by its world transform
    detached: np.ndarray  # (M,) bool: orientation does not follow the parent
    held: np.ndarray  # (M,) bool: a constraint turns it, so its orientation is taken as evaluated
    own_rest: np.ndarray
    rest_offset: np.ndarray  # (M, 3) head in the parent bone's frame at rest
    slide_joint: np.ndarray  # (T,) first slide joint of each bone that may move
    slide_row: np.ndarray  # (T,) its row in `bones`
    slide_frame: np.ndarray  # (T, 3, 3) location channel to offset in the parent's frame
    solved: np.ndarray
    solved_bones: np.ndarray
    goal_count: int
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        fixed = np.setdiff1d(np.arange(len(self.bones)), self.solved)
        self.inner, self.roots = np.flatnonzero(~self.rooted), np.flatnonzero(self.rooted)
        self.still, self.held_rows = fixed[~self.held[fixed]], fixed[self.held[fixed]]
        self.hanging = [row for row in self.roots if self.parent[row] >= 0 and not self.detached[row]]
        self.simple = not (fixed.size or self.slide_row.size)
        self.rest_links = np.tile(dual_quaternion.IDENTITY, (len(self.skeleton), 1))
        self.rest_links[self.main] = dual_quaternion.from_parts(self.own_rest, self.rest_offset)


def signature(ob: bpy.types.Object) -> tuple:
    """Everything about goals, settings and bones that a `Rig` is made from; compared to tell when to make it anew."""
    settings = ob.dqik
    goals = tuple(
        (goal.mute, goal.bone, goal.target is None, goal.subtarget, goal.chain_length, goal.use_position,
         goal.use_rotation, goal.position_weight, goal.rotation_weight, goal.influence, goal.priority, goal.use_tail,
         goal.pole_target is None, goal.pole_angle)
        for goal in settings.goals
    )  # fmt: skip
    bones = tuple(
        (bone.name, bone.rotation_mode, bone.dqik_translate, bone.dqik_use_limits, bone.dqik_twist_min,
         bone.dqik_twist_max, bone.dqik_swing_x_min, bone.dqik_swing_x_max, bone.dqik_swing_z_min,
         bone.dqik_swing_z_max, bone.dqik_stiffness, *bone.dqik_preferred_angle, bone.dqik_lock,
         tuple((c.type, c.mute, c.influence) for c in bone.constraints),
         bone.bone.use_inherit_rotation, bone.bone.use_local_location)
        for bone in ob.pose.bones
    )  # fmt: skip
    return (
        settings.solver, settings.iterations, settings.tolerance, settings.rotation_tolerance, settings.damping,
        settings.start_from, goals, bones,
    )  # fmt: skip


def matrices(bones: bpy.types.bpy_prop_collection, name: str) -> np.ndarray:
    """4 x 4 matrices (N, 4, 4) of bones, by one call."""
    buffer = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get(name, buffer)
    return buffer.reshape(-1, 4, 4).swapaxes(1, 2).astype(float)


def build(ob: bpy.types.Object) -> Rig | str:
    """Prepare an armature for solving, or say in one sentence why there is nothing to solve."""
    pose, settings = ob.pose.bones, ob.dqik
    notes: list[str] = []
    rest = matrices(ob.data.bones, "matrix_local")
    index = {bone.name: i for i, bone in enumerate(pose)}
    parent = np.array([-1 if bone.parent is None else index[bone.parent.name] for bone in pose], dtype=np.intp)
    length = np.array([bone.length for bone in ob.data.bones])
    size = max(float(np.ptp(np.concatenate([rest[:, :3, 3], rest[:, :3, 3] + rest[:, :3, 1] * length[:, None]]), 0).max()), 1e-6)
    goals = [goal for goal in enumerate(settings.goals) if _usable(ob, goal[1], index, notes)]
    chains = [_chain(goal, index[goal.bone], parent) for _, goal in goals]
    kept = [k for k in range(len(goals)) if chains[k]]
    goals, chains = [goals[k] for k in kept], [chains[k] for k in kept]
    goals, chains = _without_cycles(ob, goals, chains, index, parent, notes)
    if not goals:
        return notes[0] if notes else "Add a goal: choose a bone and the object that it should reach"
    constrained = _constrained(pose)
    moved = np.zeros(len(pose), dtype=bool)
    moved[[bone for chain in chains for bone in chain]] = True
    for bone in np.flatnonzero(moved & constrained):
        notes.append(f"Bone {pose[bone].name!r} is left to its constraints")
    moved &= ~constrained & np.array([not bone.dqik_lock for bone in pose])
    if not moved.any():
        return "Every bone of the goals' chains is locked or constrained: unlock one"
    bones = _skeleton_bones(chains, [index[goal.bone] for _, goal in goals], parent)
    limbs = _bends(pose, rest, length, parent, chains, moved)
    return _assemble(ob, goals, chains, bones, moved, constrained, limbs, rest, length, parent, size, notes)


def _usable(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, index: dict[str, int], notes: list[str]) -> bool:
    """Whether a goal can be solved for; notes why not where the user should know."""
    if goal.mute or goal.influence <= 0.0:
        return False
    if not goal.bone:
        notes.append(f"Goal {goal.name!r} has no bone: choose one")
    elif goal.bone not in index:
        notes.append(f"Goal {goal.name!r}: the armature has no bone {goal.bone!r}")
    elif goal.target is None:
        notes.append(f"Goal {goal.name!r} has no target: choose an object")
    elif goal.subtarget and goal.target.type == "ARMATURE" and goal.subtarget not in goal.target.pose.bones:
        notes.append(f"Goal {goal.name!r}: target {goal.target.name!r} has no bone {goal.subtarget!r}")
    elif goal.target == ob and not goal.subtarget:
        notes.append(f"Goal {goal.name!r}: its target is this armature; choose one of its bones as well")
    elif not (goal.use_position or goal.use_rotation):
        notes.append(f"Goal {goal.name!r} asks for nothing: switch on Position or Rotation")
    else:
        return True
    return False


def _chain(goal: bpy.types.PropertyGroup, bone: int, parent: np.ndarray) -> list[int]:
    """Bones that a goal may move, from its own upward; as in Blender's IK, a head's chain begins with the parent."""
    above = [bone]
    while parent[above[-1]] >= 0:
        above.append(int(parent[above[-1]]))
    counted = above if goal.use_tail else above[1:]
    chain = counted[: goal.chain_length or None]
    return chain if goal.use_tail or not goal.use_rotation else [bone, *chain]


def _without_cycles(ob: bpy.types.Object, goals: list, chains: list, index: dict, parent: np.ndarray, notes: list) -> tuple:
    """Leave out goals whose target follows a bone that would be solved."""
    moved = {bone for chain in chains for bone in chain}
    kept = []
    for k, (_, goal) in enumerate(goals):
        follows = None
        if goal.target == ob:
            follows = goal.subtarget
        elif goal.target.parent == ob and goal.target.parent_type == "BONE":
            follows = goal.target.parent_bone
        bone = index.get(follows, -1) if follows else -1
        while bone >= 0 and bone not in moved:
            bone = int(parent[bone])
        if bone >= 0:
            notes.append(f"Goal {goal.name!r}: its target follows bone {ob.pose.bones[bone].name!r}, which is solved")
        else:
            kept.append(k)
    return [goals[k] for k in kept], [chains[k] for k in kept]


def _constrained(pose: bpy.types.bpy_prop_collection) -> np.ndarray:
    """(N,) bones that an active constraint moves."""
    return np.array([
        any(c.type != "IK" and not c.mute and c.influence > 0.0 and c.is_valid for c in bone.constraints)
        for bone in pose
    ])  # fmt: skip


def _skeleton_bones(chains: Sequence[Sequence[int]], effectors: Sequence[int], parent: np.ndarray) -> list[int]:
    """The chains' bones, the goals' own, and all between them, parents before children."""
    wanted = {bone for chain in chains for bone in chain} | set(effectors)
    for bone in sorted(wanted):
        between, above = [], int(parent[bone])
        while above >= 0 and above not in wanted:
            between.append(above)
            above = int(parent[above])
        if above >= 0:
            wanted.update(between)

    def depth(bone: int) -> int:
        return 0 if parent[bone] < 0 else 1 + depth(int(parent[bone]))

    return sorted(wanted, key=lambda bone: (depth(bone), bone))


def _bends(pose, rest: np.ndarray, length: np.ndarray, parent: np.ndarray, chains: list, moved: np.ndarray) -> dict:
    """Preferred bends {bone: rotation vector (3,) in its own frame}: the user's, or found for straight limbs."""
    heads, tails = rest[:, :3, 3], rest[:, :3, 3] + rest[:, :3, 1] * length[:, None]
    found = {}
    for limb in bend.find_limbs(heads, tails, parent, chains):
        if moved[limb.lower] and moved[limb.upper]:
            own = rest[limb.lower, :3, :3].T @ limb.axis * limb.angle
            inside = _inside_limits(pose[limb.lower], own)
            if inside is not None:
                found[limb.lower] = inside
    for bone in np.flatnonzero(moved):
        chosen = np.array(pose[bone].dqik_preferred_angle)
        if chosen.any():
            found[int(bone)] = chosen
    return found


def _inside_limits(bone: bpy.types.PoseBone, vector: np.ndarray) -> np.ndarray | None:
    """A preferred bend as the bone's limits allow it, to the other side if only that one is open."""
    if not bone.dqik_use_limits:
        return vector
    lo = np.array([bone.dqik_swing_x_min, bone.dqik_twist_min, bone.dqik_swing_z_min])
    hi = np.array([bone.dqik_swing_x_max, bone.dqik_twist_max, bone.dqik_swing_z_max])
    options = [np.clip(side * vector, np.minimum(lo, hi), hi) for side in (1.0, -1.0)]
    best = max(options, key=lambda option: float(np.abs(option).sum()) * (1.2 if option is options[0] else 1.0))
    return best if np.linalg.norm(best) > MIN_BEND else None


def _joint_kind(bone: bpy.types.PoseBone) -> dict:
    """Kind, axis and limits of a bone's joint; a bone free about one axis alone is a hinge."""
    if not bone.dqik_use_limits:
        return {"kind": "ball"}
    limits = {
        1: (bone.dqik_twist_min, bone.dqik_twist_max),
        0: (bone.dqik_swing_x_min, bone.dqik_swing_x_max),
        2: (bone.dqik_swing_z_min, bone.dqik_swing_z_max),
    }
    opened = [axis for axis, (lo, hi) in limits.items() if lo != 0.0 or hi != 0.0]
    if not opened:
        return {"kind": "fixed"}
    if len(opened) == 1:
        return {"kind": "hinge", "axis": np.eye(3)[opened[0]], "limits": ik.Range(*limits[opened[0]])}
    return {"kind": "ball", "limits": ik.TwistSwing(limits[1], limits[0], limits[2])}


def _assemble(ob, goals, chains, bones, moved, constrained, bends, rest, length, parent, size, notes) -> Rig | str:
    """The skeleton's joints, the solver's goals and the indices that connect them to bones."""
    pose = ob.pose.bones
    rows = {bone: row for row, bone in enumerate(bones)}
    joints: list[ik.Joint] = []
    main, slide_joint, slide_row, slide_frame = {}, [], [], []
    own_rest, rest_offset, detached, held, rooted = [], [], [], [], []
    for row, bone in enumerate(bones):
        above = int(parent[bone])
        relative = rest[bone] if above < 0 else np.linalg.inv(rest[above]) @ rest[bone]
        loose = above >= 0 and not pose[bone].bone.use_inherit_rotation
        turned = quaternion.from_matrix((rest[bone] if loose else relative)[:3, :3])
        link, rooting = main.get(above, -1), above not in rows
        solves = bool(moved[bone])
        offset, orientation = relative[:3, 3], turned
        if solves and pose[bone].dqik_translate:
            frame = relative[:3, :3] if pose[bone].bone.use_local_location else np.eye(3)
            slide_joint.append(len(joints))
            slide_row.append(row)
            slide_frame.append(frame)
            for axis in range(3):
                joints.append(ik.Joint(f"{pose[bone].name} {'XYZ'[axis]}", link, "prismatic", offset if axis == 0 else (0, 0, 0),
                                       axis=frame[:, axis]))  # fmt: skip
                link = len(joints) - 1
            offset = np.zeros(3)
        try:
            kind = _joint_kind(pose[bone]) if solves else {"kind": "fixed"}
        except ik.DqikError as error:
            return f"Bone {pose[bone].name!r}: {error}"
        main[bone] = len(joints)
        joints.append(ik.Joint(
            pose[bone].name, link, offset=offset, rest=orientation, stiffness=pose[bone].dqik_stiffness,
            preferred=bends.get(bone), inherit_rotation=not loose, **kind,
        ))  # fmt: skip
        own_rest.append(turned)
        rest_offset.append(relative[:3, 3])
        detached.append(loose)
        held.append(bool(constrained[bone]))
        rooted.append(rooting)
    skeleton = ik.Skeleton(joints)
    settings, bindings, wanted = ob.dqik, [], []
    for (number, goal), chain in zip(goals, chains, strict=True):
        bone = pose.find(goal.bone)
        bindings.append(GoalBinding(number, goal.name, bone, goal.use_tail, goal.influence))
        allowed = [joint for b in chain for joint in range(main[b] - 3 * (b in {bones[r] for r in slide_row}), main[b] + 1)]
        wanted.append(ik.Goal(
            main[bone], position=(0.0, 0.0, 0.0) if goal.use_position else None,
            rotation=(1.0, 0.0, 0.0, 0.0) if goal.use_rotation else None,
            offset=(0.0, length[bone] if goal.use_tail else 0.0, 0.0), position_weight=goal.position_weight,
            rotation_weight=goal.rotation_weight, priority=goal.priority, chain=allowed,
            pole=None if goal.pole_target is None else (0.0, 0.0, 0.0), pole_angle=goal.pole_angle,
        ))  # fmt: skip
    options = ik.Options(
        iterations=settings.iterations, tolerance=settings.tolerance * size,
        rotation_tolerance=settings.rotation_tolerance, damping=settings.damping or None, pull=PULL,
    )  # fmt: skip
    solved = np.array([row for row, bone in enumerate(bones) if moved[bone]], dtype=np.intp)
    return Rig(
        signature(ob), size, skeleton, ik.prepare(skeleton, wanted, settings.solver, options), bindings, np.array(bones),
        np.array([main[bone] for bone in bones]), parent[bones], np.array(rooted), np.array(detached), np.array(held),
        np.array(own_rest), np.array(rest_offset), np.array(slide_joint, dtype=np.intp),
        np.array(slide_row, dtype=np.intp), np.array(slide_frame).reshape(-1, 3, 3), solved,
        np.array(bones)[solved], len(settings.goals), notes,
    )  # fmt: skip
