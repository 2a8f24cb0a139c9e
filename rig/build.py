# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and its goals as a prepared solve: everything that depends on the rig but not on the frame."""

from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from .. import solvers as ik
from ..solvers.algebra import dual_quaternion, quaternion
from . import follow, limits
from .plan import Plan, plan

PULL = 1e-5
_TURNING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "TRACK_TO"}


@dataclass(frozen=True)
class GoalBinding:
    """A goal's number in the panel's list, what eases it, and whether it has a pole."""

    index: int
    influence: float
    pole: bool


@dataclass
class Rig:
    """A prepared armature: M bones of the solver's skeleton, J joints (a bone that may move has three more).

    Attributes
    ----------
    size : the armature's largest extent [armature units]. goal_count : goals in the panel when it was made.
    bones, parent, main : (M,) bone numbers, their parents' (-1 for none), and the joints that turn them.
    rooted : (M,) the parent is not part of the skeleton, so the joint is placed by its world transform.
    detached : (M,) orientation does not follow the parent. held : (M,) a constraint turns it.
    own_rest : (M, 4) rest orientation in the parent's frame, or in the armature's where detached.
    rest_offset : (M, 3) head in the parent's frame at rest.
    slide_joint, slide_row : (T,) first slide joint of each bone that may move, and its row in `bones`.
    slide_frame : (T, 3, 3) from location channel to offset in the parent's frame.
    solved, solved_bones : (S,) rows and bone numbers of those whose rotation the solver writes.
    inner, roots, hanging, still, held_rows : rows that hang from another, that do not, of those the ones turned by a
        parent, fixed ones, constrained ones. root_above : per root, the bone that turns it, -1 for none; root_parents
        the different ones; root_places : per root its joint, bone, the bone that turns it, its rest orientation.
    rest_links : (J, 8) links with every inner joint at its rest offset.
    simple : no bone of the skeleton is fixed, constrained or slides. goal_rows : (G,) rows of the goals' own bones.
    """

    signature: tuple
    size: float
    skeleton: ik.Skeleton
    prepared: ik.Prepared
    goals: list[GoalBinding]
    goal_count: int
    bones: np.ndarray
    parent: np.ndarray
    main: np.ndarray
    rooted: np.ndarray
    detached: np.ndarray
    held: np.ndarray
    own_rest: np.ndarray
    rest_offset: np.ndarray
    slide_joint: np.ndarray
    slide_row: np.ndarray
    slide_frame: np.ndarray
    solved: np.ndarray
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        fixed = np.setdiff1d(np.arange(len(self.bones)), self.solved)
        self.solved_bones, self.solved_joints = self.bones[self.solved], self.main[self.solved]
        self.inner, self.roots = np.flatnonzero(~self.rooted), np.flatnonzero(self.rooted)
        self.still, self.held_rows = fixed[~self.held[fixed]], fixed[self.held[fixed]]
        self.hanging = [row for row in self.roots if self.parent[row] >= 0 and not self.detached[row]]
        self.simple = not (fixed.size or self.slide_row.size)
        self.root_above = [int(self.parent[row]) if row in self.hanging else -1 for row in self.roots]
        self.root_parents = sorted({bone for bone in self.root_above if bone >= 0})
        self.root_places = [
            (int(self.main[row]), int(self.bones[row]), above, tuple(self.own_rest[row].tolist()))
            for row, above in zip(self.roots, self.root_above, strict=True)
        ]
        self.poled = any(binding.pole for binding in self.goals)
        self.eased = any(binding.influence < 1.0 for binding in self.goals)
        self.goal_rows = [int(np.flatnonzero(self.main == goal.joint)[0]) for goal in self.prepared.goals]
        self.known_stretch: tuple[tuple[float, ...], ik.Prepared] | None = None
        self.known_hanging: tuple[list[bytes], bool] | None = None
        self.known_start: tuple[np.ndarray, np.ndarray] | None = None
        self.rest_links = np.tile(dual_quaternion.IDENTITY, (len(self.skeleton), 1))
        self.rest_links[self.main] = dual_quaternion.from_parts(self.own_rest, self.rest_offset)

    def stretched(self, factors: tuple[float, ...]) -> ik.Prepared:
        """The prepared solve with the goals' own bones longer by `factors` (G,); the last one is kept."""
        if all(factor == 1.0 for factor in factors):
            return self.prepared
        if self.known_stretch is None or self.known_stretch[0] != factors:
            goals = [
                replace(goal, offset=tuple(factor * part for part in goal.offset))
                for goal, factor in zip(self.prepared.goals, factors, strict=True)
            ]
            prepared = ik.prepare(self.skeleton, goals, self.prepared.solver, self.prepared.options)
            self.known_stretch = factors, prepared
        return self.known_stretch[1]


def signature(ob: bpy.types.Object) -> tuple:
    """Everything about goals, settings and bones that a `Rig` is made from; compared to tell when to make it anew."""
    settings = ob.dqik
    goals = tuple(
        (goal.mute, goal.bone, goal.target is None, goal.subtarget, goal.chain_length, goal.use_position,
         goal.use_rotation, goal.position_weight, goal.rotation_weight, goal.influence, goal.priority, goal.use_tail,
         goal.pole_target is None, goal.pole_subtarget, goal.pole_angle,
         frozenset((owner.session_uid, name) for aim in follow.aims(goal) for owner, name in follow.bones_behind(*aim)))
        for goal in settings.goals
    )  # fmt: skip
    bones = tuple(
        (bone.name, bone.rotation_mode, bone.dqik_translate, bone.dqik_use_limits, bone.dqik_twist_min,
         bone.dqik_twist_max, bone.dqik_swing_x_min, bone.dqik_swing_x_max, bone.dqik_swing_z_min,
         bone.dqik_swing_z_max, bone.dqik_stiffness, *bone.dqik_preferred_angle, bone.dqik_lock,
         tuple((c.type, c.mute, c.influence, c.is_valid) for c in bone.constraints),
         bone.bone.use_inherit_rotation, bone.bone.use_local_location)
        for bone in ob.pose.bones
    )  # fmt: skip
    return (
        settings.solver, settings.iterations, settings.tolerance, settings.rotation_tolerance, settings.damping,
        settings.start_from, settings.order, settings.unit_angle, settings.objective, goals, bones,
    )  # fmt: skip


def solver_options(settings: bpy.types.PropertyGroup, solver: str, size: float) -> ik.Options:
    """What an armature of some `size` asks of a solver."""
    as_mmd = solver == "CCD" and settings.unit_angle > 0.0
    return ik.Options(
        iterations=settings.iterations,
        tolerance=settings.tolerance * size,
        rotation_tolerance=settings.rotation_tolerance,
        damping=settings.damping or None,
        pull=0.0 if as_mmd else PULL,
        order=settings.order,
        unit_angle=settings.unit_angle or None,
        objective=settings.objective,
    )


def build(ob: bpy.types.Object, solver: str = "") -> Rig | str:
    """Prepare an armature for solving, or say in one sentence why there is nothing to solve.

    solver : instead of the one that the armature is set to.
    """
    wanted, settings = plan(ob), ob.dqik
    if isinstance(wanted, str):
        return wanted
    for bone in np.flatnonzero(wanted.moved):
        if wrong := limits.wrong(ob.pose.bones[int(bone)]):
            return wrong
    chosen = solver or settings.solver
    options = solver_options(settings, chosen, wanted.armature.size)
    try:
        parts = _Parts(ob.pose.bones, wanted)
        skeleton = ik.Skeleton(parts.joints)
        prepared = ik.prepare(skeleton, parts.goals(wanted), chosen, options)
    except ik.DqikError as error:  # a solver that can do nothing for these goals, among others
        return str(error)
    bones = np.array(wanted.bones)
    return Rig(
        signature=signature(ob),
        size=wanted.armature.size,
        skeleton=skeleton,
        prepared=prepared,
        goals=[
            GoalBinding(goal.number, goal.settings.influence, goal.settings.pole_target is not None)
            for goal in wanted.goals
        ],
        goal_count=len(settings.goals),
        bones=bones,
        parent=wanted.armature.parent[bones],
        main=np.array([parts.main[bone] for bone in wanted.bones]),
        rooted=np.array(parts.rooted),
        detached=np.array(parts.detached),
        held=wanted.constrained[bones],
        own_rest=np.array(parts.own_rest),
        rest_offset=np.array(parts.rest_offset),
        slide_joint=np.array(list(parts.slides.values()), dtype=np.intp),
        slide_row=np.array([wanted.bones.index(bone) for bone in parts.slides], dtype=np.intp),
        slide_frame=np.array(parts.slide_frame).reshape(-1, 3, 3),
        solved=np.flatnonzero(wanted.moved[bones]),
        notes=wanted.notes,
    )


class _Parts:
    """The joints of a plan's bones, collected bone by bone.

    A bone is one joint; one that may move as well hangs from three slides, along the axes of its location channels.
    """

    def __init__(self, pose: bpy.types.bpy_prop_collection, wanted: Plan) -> None:
        self.joints: list[ik.Joint] = []
        self.main: dict[int, int] = {}
        self.slides: dict[int, int] = {}  # bone: its first slide joint
        self.slide_frame: list[np.ndarray] = []
        self.own_rest: list[np.ndarray] = []
        self.rest_offset: list[np.ndarray] = []
        self.rooted: list[bool] = []
        self.detached: list[bool] = []
        for bone in wanted.bones:
            self._add(bone, pose[bone], wanted)

    def _add(self, bone: int, pose_bone: bpy.types.PoseBone, wanted: Plan) -> None:
        armature, name = wanted.armature, pose_bone.name
        above, rest = int(armature.parent[bone]), armature.rest[bone]
        relative = rest if above < 0 else np.linalg.inv(armature.rest[above]) @ rest
        detached = above >= 0 and (not pose_bone.bone.use_inherit_rotation or _held_in_space(pose_bone))
        turned = quaternion.from_matrix((rest if detached else relative)[:3, :3])
        link, offset = self.main.get(above, -1), relative[:3, 3]
        if wanted.moved[bone] and pose_bone.dqik_translate:
            frame = relative[:3, :3] if pose_bone.bone.use_local_location else np.eye(3)
            self.slides[bone] = len(self.joints)
            self.slide_frame.append(frame)
            for axis, letter in enumerate("XYZ"):
                self.joints.append(ik.Joint(f"{name} {letter}", link, "prismatic", offset, axis=frame[:, axis]))
                link, offset = len(self.joints) - 1, np.zeros(3)
        self.main[bone] = len(self.joints)
        self.joints.append(
            ik.Joint(
                name,
                link,
                offset=offset,
                rest=turned,
                stiffness=pose_bone.dqik_stiffness,
                preferred=wanted.bends.get(bone),
                inherit_rotation=not detached,
                **(_joint_kind(pose_bone) if wanted.moved[bone] else {"kind": "fixed"}),
            )
        )
        self.own_rest.append(turned)
        self.rest_offset.append(relative[:3, 3])
        self.rooted.append(above not in self.main)
        self.detached.append(detached)

    def goals(self, wanted: Plan) -> list[ik.Goal]:
        """The solver's goals; where their targets are is read frame by frame."""
        return [
            ik.Goal(
                self.main[goal.bone],
                position=(0.0, 0.0, 0.0) if goal.settings.use_position else None,
                rotation=(1.0, 0.0, 0.0, 0.0) if goal.settings.use_rotation else None,
                offset=(0.0, wanted.armature.length[goal.bone] if goal.settings.use_tail else 0.0, 0.0),
                position_weight=goal.settings.position_weight,
                rotation_weight=goal.settings.rotation_weight,
                priority=goal.settings.priority,
                chain=[joint for bone in goal.chain for joint in self._joints_of(bone)],
                pole=None if goal.settings.pole_target is None else (0.0, 0.0, 0.0),
                pole_angle=goal.settings.pole_angle,
            )
            for goal in wanted.goals
        ]

    def _joints_of(self, bone: int) -> range:
        return range(self.slides.get(bone, self.main[bone]), self.main[bone] + 1)


def _held_in_space(bone: bpy.types.PoseBone) -> bool:
    """Whether a constraint turns a bone the same way wherever its parent turns."""
    return any(
        c.type in _TURNING
        and c.owner_space in {"WORLD", "POSE", "CUSTOM"}
        and not c.mute
        and c.is_valid
        and c.influence == 1.0
        and getattr(c, "mix_mode", "REPLACE") == "REPLACE"
        and all(getattr(c, f"use_{axis}", True) for axis in "xyz")
        for c in bone.constraints
    )


def _joint_kind(bone: bpy.types.PoseBone) -> dict:
    """Kind, axis and limits of a bone's joint; a bone that may turn about one axis alone is a hinge."""
    if not bone.dqik_use_limits:
        return {"kind": "ball"}
    twist = (bone.dqik_twist_min, bone.dqik_twist_max)
    swing_x, swing_z = (bone.dqik_swing_x_min, bone.dqik_swing_x_max), (bone.dqik_swing_z_min, bone.dqik_swing_z_max)
    turning = [(axis, pair) for axis, pair in enumerate((swing_x, twist, swing_z)) if pair != (0.0, 0.0)]
    if not turning:
        return {"kind": "fixed"}
    if len(turning) == 1:
        axis, pair = turning[0]
        return {"kind": "hinge", "axis": np.eye(3)[axis], "limits": ik.Range(*pair)}
    return {"kind": "ball", "limits": ik.TwistSwing(twist, swing_x, swing_z)}
