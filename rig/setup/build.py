# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and its goals as a prepared solve: everything that depends on the rig but not on the frame."""

from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ... import solvers as ik
from ...solvers.algebra import dual_quaternion, quaternion
from . import limits
from .goal_facts import GoalFacts
from .plan import Plan, plan

PULL = 1e-5
_TURNING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "TRACK_TO"}


@dataclass(frozen=True)
class GoalBinding:
    """A goal's number in the panel's list, and whether it has a pole."""

    index: int
    pole: bool


@dataclass
class Rig:
    """A prepared armature: M bones of the solver's skeleton, J joints (a bone that may move has three more).

    Attributes
    ----------
    size : the armature's largest extent [armature units].
    bones, parent, main : (M,) bone numbers, their parents' (-1 for none), and the joints that turn them.
    rooted : (M,) the parent is not part of the skeleton, so the joint is placed by its world transform.
    detached : (M,) orientation does not follow the parent. constrained : (M,) a constraint turns it.
    own_rest : (M, 4) rest orientation in the parent's frame, or in the armature's where detached.
    rest_offset : (M, 3) head in the parent's frame at rest.
    slide_joint, slide_row : (T,) first slide joint of each bone that may move, and its row in `bones`.
    location_frame : (M, 3, 3) from location channel to offset in the parent's frame.
    solved, solved_bones, solved_joints : (S,) rows, bones and joints of those whose rotation the solver writes.
    locked_bones : (L,) bones of the skeleton that are locked and have limits.
    inner, roots, hanging, still, constrained_rows : rows that hang from another, that do not, of those the ones that a
        parent turns, fixed ones, constrained ones. root_above : per root, the bone that turns it, -1 for none;
        root_parents the different ones; root_places : per root its joint, bone, the bone that turns it, its rest
        orientation.
    rest_links : (J, 8) links with every inner joint at its rest offset.
    refusal : why there is nothing to solve, where bones only go back to their base pose.
    simple : no bone of the skeleton is fixed, constrained or slides. goal_rows : (G,) rows of the goals' own bones.
    """

    size: float
    skeleton: ik.Skeleton
    prepared: ik.Prepared
    goals: list[GoalBinding]
    bones: np.ndarray
    parent: np.ndarray
    main: np.ndarray
    rooted: np.ndarray
    detached: np.ndarray
    constrained: np.ndarray
    own_rest: np.ndarray
    rest_offset: np.ndarray
    slide_joint: np.ndarray
    slide_row: np.ndarray
    location_frame: np.ndarray
    solved: np.ndarray
    locked_bones: list[int]
    notes: list[str] = field(default_factory=list)
    refusal: str = ""

    def __post_init__(self) -> None:
        fixed = np.setdiff1d(np.arange(len(self.bones)), self.solved)
        self.solved_bones, self.solved_joints = self.bones[self.solved], self.main[self.solved]
        self.inner, self.roots = np.flatnonzero(~self.rooted), np.flatnonzero(self.rooted)
        self.inner_bones = self.bones[self.inner]
        self.no_scale = np.ones((len(self.bones), 3), dtype=np.float32).tobytes()
        self.still, self.constrained_rows = fixed[~self.constrained[fixed]], fixed[self.constrained[fixed]]
        self.hanging = [row for row in self.roots if self.parent[row] >= 0 and not self.detached[row]]
        self.simple = not (fixed.size or self.slide_row.size)
        self.root_above = [int(self.parent[row]) if row in self.hanging else -1 for row in self.roots]
        self.root_parents = sorted({bone for bone in self.root_above if bone >= 0})
        self.root_places = [
            (int(self.main[row]), int(self.bones[row]), above, tuple(self.own_rest[row].tolist()))
            for row, above in zip(self.roots, self.root_above, strict=True)
        ]
        self.joint_of_bone = dict(zip(self.bones.tolist(), self.main.tolist(), strict=True))
        self.goal_rows = [int(np.flatnonzero(self.main == goal.joint)[0]) for goal in self.prepared.goals]
        self.start: tuple[bytes, np.ndarray] | None = None
        self.stretch: tuple[tuple[float, ...], ik.Prepared] = (1.0,) * len(self.goals), self.prepared
        self.rest_links = np.tile(dual_quaternion.IDENTITY, (len(self.skeleton), 1))
        self.rest_links[self.main] = dual_quaternion.from_parts(self.own_rest, self.rest_offset)

    def stretched(self, factors: tuple[float, ...]) -> ik.Prepared:
        """The prepared solve with the goals' own bones longer by `factors` (G,); the last one is kept."""
        if all(factor == 1.0 for factor in factors):
            return self.prepared
        if self.stretch[0] != factors:
            goals = [
                replace(goal, offset=tuple(factor * part for part in goal.offset))
                for goal, factor in zip(self.prepared.goals, factors, strict=True)
            ]
            self.stretch = factors, ik.prepare(self.skeleton, goals, self.prepared.solver, self.prepared.options)
        return self.stretch[1]


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


def build(ob: bpy.types.Object, facts: tuple[GoalFacts, ...], leaving: np.ndarray, solver: str = "") -> Rig | str:
    """Prepare an evaluated armature object for solving, or say in one sentence why there is nothing to solve.

    leaving : as in `plan`. solver : instead of the one that the armature is set to.
    """
    wanted, settings, pose = plan(ob, facts, leaving), ob.dqik, ob.pose.bones
    if isinstance(wanted, str):
        return wanted
    for bone in np.flatnonzero(wanted.moved):
        if wrong := limits.wrong(pose[int(bone)]):
            return wrong
    chosen = solver or settings.solver
    options = solver_options(settings, chosen, wanted.armature.size)
    try:
        parts = _Parts(pose, wanted)
        skeleton = ik.Skeleton(parts.joints)
        prepared = ik.prepare(skeleton, parts.goals(wanted), chosen, options)
    except ik.DqikError as error:  # a solver that can do nothing for these goals, among others
        return str(error)
    bones = np.array(wanted.bones)
    return Rig(
        size=wanted.armature.size,
        skeleton=skeleton,
        prepared=prepared,
        goals=[GoalBinding(goal.number, bool(goal.facts.pole)) for goal in wanted.goals],
        bones=bones,
        parent=wanted.armature.parent[bones],
        main=np.array([parts.main[bone] for bone in wanted.bones]),
        rooted=np.array(parts.rooted),
        detached=np.array(parts.detached),
        constrained=wanted.constrained[bones],
        own_rest=np.array(parts.own_rest),
        rest_offset=np.array(parts.rest_offset),
        slide_joint=np.array(list(parts.slides.values()), dtype=np.intp),
        slide_row=np.array([wanted.bones.index(bone) for bone in parts.slides], dtype=np.intp),
        location_frame=np.array(parts.location_frame),
        solved=np.flatnonzero(wanted.moved[bones]),
        locked_bones=[bone for bone in wanted.bones if pose[bone].dqik_lock and pose[bone].dqik_use_limits],
        notes=wanted.notes,
        refusal=wanted.refusal,
    )


class _Parts:
    """The joints of a plan's bones, collected bone by bone.

    A bone is one joint; one that may move as well hangs from three slides, along the axes of its location channels.
    """

    def __init__(self, pose: bpy.types.bpy_prop_collection, wanted: Plan) -> None:
        self.joints: list[ik.Joint] = []
        self.main: dict[int, int] = {}
        self.slides: dict[int, int] = {}  # bone: its first slide joint
        self.location_frame: list[np.ndarray] = []
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
        frame = relative[:3, :3] if pose_bone.bone.use_local_location else np.eye(3)
        self.location_frame.append(frame)
        if wanted.slides[bone]:
            self.slides[bone] = len(self.joints)
            for axis, letter in enumerate("XYZ"):
                self.joints.append(ik.Joint(
                    f"{name} {letter}", link, "prismatic", offset, axis=frame[:, axis], stiffness=pose_bone.dqik_stiffness
                ))  # fmt: skip
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
                position=(0.0, 0.0, 0.0) if goal.facts.use_position else None,
                rotation=(1.0, 0.0, 0.0, 0.0) if goal.facts.use_rotation else None,
                offset=(0.0, wanted.armature.length[goal.bone] if goal.facts.use_tail else 0.0, 0.0),
                position_weight=goal.facts.position_weight,
                rotation_weight=goal.facts.rotation_weight,
                priority=goal.facts.priority,
                chain=[joint for bone in goal.chain for joint in self._joints_of(bone)],
                pole=(0.0, 0.0, 0.0) if goal.facts.pole else None,
                pole_angle=goal.facts.pole_angle,
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
    if len(turning) == 1:
        axis, pair = turning[0]
        return {"kind": "hinge", "axis": np.eye(3)[axis], "limits": ik.Range(*pair)}
    return {"kind": "ball", "limits": ik.TwistSwing(twist, swing_x, swing_z)}
