# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the prepared solve of an armature: everything that depends on the rig but not on the frame."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ... import solvers as ik
from ...solvers.algebra import dual_quaternion, quaternion
from ..blender import dependencies, limit_frame
from ..blender.armature import Armature
from ..blender.dependencies import acts
from ..blender.limit_frame import LimitFrame
from ..figure import capsules
from ..figure.roles import Figure
from ..notes import Note, note_of
from . import limits
from .goal_facts import GoalFacts
from .menus import AXES, THOROUGH_RESTARTS
from .obstacles import Obstacle
from .plan import Plan, PlannedGoal, plan

PULL = 1e-5
_TURNING = {"COPY_ROTATION", "COPY_TRANSFORMS"}  # their result does not depend on the bone's position
_LOCAL = {"LOCAL", "LOCAL_WITH_PARENT"}


@dataclass(frozen=True)
class RootPlace:
    """A root of the skeleton whose parent is a bone outside it.

    first : its first joint. offset : from that bone's head, in its frame, at rest.
    loose : its row, if a location moves it without a slide; else -1. turned : it turns with its parent.
    """

    first: int
    offset: Vector
    loose: int
    turned: bool


@dataclass(frozen=True)
class GoalBinding:
    """A goal's number in the panel's list, and whether it has a pole."""

    index: int
    pole: bool


class RootGoal(NamedTuple):
    """A goal of a bone that carries the whole body: it may move as well as turn, and no solved bone is above it.

    goal : its number in the solve. joint, slide : of its bone, and the first of its slides. frame : (3, 3) as in
    `Rig.location_frame`. path : joints from the root to that slide.
    """

    goal: int
    joint: int
    slide: int
    frame: np.ndarray
    path: list[int]


class Support(NamedTuple):
    """A goal, by its number in a rig, whose target carries weight at some points (E, 3) in the target's frame."""

    goal: int
    ends: np.ndarray


@dataclass
class Rig:
    """A prepared armature: M bones of the solver's skeleton, J joints (a bone that may move has three more).

    Attributes
    ----------
    armature : its bones at rest. figure : their roles. size : its largest extent [armature units].
    bones, parent, main : (M,) bone numbers, their parents' (-1 for none), and the joints that turn them.
    rooted : (M,) the parent is not part of the skeleton, so the joint is placed in armature space.
    detached : (M,) the orientation does not follow the parent. constrained : (M,) a constraint or driver turns it.
    own_rest : (M, 4) rest orientation in the parent's frame, or in armature space if detached. This frame, as those of
        offsets and locations below, is the one of the parent's limits; see `limit_frame`.
    rest_offset : (M, 3) head in the parent's frame at rest.
    slide_joint, slide_row : (T,) first slide joint of each bone that may move, and its row in `bones`.
    location_frame : (M, 3, 3) from a location channel to an offset in the parent's frame.
    frames : `start` and `axes` (S, 4) of the solved bones' limits; None if all are the bones' own.
    frame_rows : (K,) rows of bones with other frames. frame_axes : (M, 4) of all bones. goal_axes : (G, 4) of the
        goals' bones. The last three are unused where `frames` is None.
    solved, solved_bones, solved_joints : (S,) rows, bones and joints of the bones that are solved.
    locked_bones : (L,) bones of the skeleton that are locked and have limits.
    inner, roots : rows with and without a parent in the skeleton. hanging : roots that a parent outside it turns.
    still, constrained_rows : rows that are not solved, without and with a constraint or driver.
    root_places : for each parent of roots, its roots' `RootPlace`s. root_rests : rest rotations by first joint.
    turns, has_poles : whether any goal turns its bone, whether any has a pole.
    rest_links : (J, 8) links with every inner joint at its rest offset.
    goal_rows : (G,) rows of the goals' own bones. root_goals : those that carry the body. slide_scale : (T,) ones.
    loose : (M,) the bone has a location, because it is not connected. loose_rows, loose_bones : loose and not sliding.
    local_rows : rows of bones whose constraints all act in the parent's frame. held_rows : rows of bones whose
        constraints set their orientation, whatever their place and their parent's orientation.
    supports : what carries weight. other_kinds : goals of other kinds than Reach. obstacles : that are avoided.
    target_points : P, of goals and then of obstacles. all_goals, all_obstacles : how many there are, solved
        and avoided or not.
    held_with : for bones, the bones above that are held with them (`Plan.held_with`).
    """

    armature: Armature
    figure: Figure
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
    loose: np.ndarray
    local_rows: frozenset[int]
    frames: tuple[np.ndarray, np.ndarray] | None
    frame_axes: np.ndarray
    held_rows: frozenset[int]
    held_with: dict[int, list[int]]
    locked_bones: list[int]
    supports: list[Support]
    obstacles: list[Obstacle]
    all_goals: int
    all_obstacles: int
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.size = self.armature.size
        fixed = np.setdiff1d(np.arange(len(self.bones)), self.solved)
        self.solved_bones, self.solved_joints = self.bones[self.solved], self.main[self.solved]
        self.inner, self.roots = np.flatnonzero(~self.rooted), np.flatnonzero(self.rooted)
        self.no_scale = np.ones((len(self.bones), 3), dtype=np.float32).tobytes()
        self.still, self.constrained_rows = fixed[~self.constrained[fixed]], fixed[self.constrained[fixed]]
        self.hanging = [row for row in self.roots if self.parent[row] >= 0 and not self.detached[row]]
        slides = dict(zip(self.slide_row.tolist(), self.slide_joint.tolist(), strict=True))
        self.root_places: dict[int, list[RootPlace]] = {}
        for row in (row for row in self.roots.tolist() if self.parent[row] >= 0):
            self.root_places.setdefault(int(self.parent[row]), []).append(RootPlace(
                slides.get(row, int(self.main[row])), Vector(self.rest_offset[row]),
                row if self.loose[row] and row not in slides else -1, row in slides or row in self.hanging,
            ))  # fmt: skip
        self.slide_scale = np.ones(len(slides))
        self.loose_rows = np.setdiff1d(np.flatnonzero(self.loose), self.slide_row)
        self.loose_bones = self.bones[self.loose_rows]
        self.goal_rows = [int(np.flatnonzero(self.main == goal.joint)[0]) for goal in self.prepared.goals]
        self.frame_rows = np.flatnonzero(np.abs(self.frame_axes - quaternion.IDENTITY).max(-1) > limit_frame.SAME)
        self.goal_axes = self.frame_axes[self.goal_rows]
        self.start: tuple[bytes, np.ndarray] | None = None
        self.stretch: tuple[tuple[float, ...], ik.Prepared] = (1.0,) * len(self.goals), self.prepared
        self.rest_links = np.tile(dual_quaternion.IDENTITY, (len(self.skeleton), 1))
        self.rest_links[self.main] = dual_quaternion.from_parts(self.own_rest, self.rest_offset)
        for row, joint in slides.items():
            self.rest_links[joint] = dual_quaternion.from_parts(quaternion.IDENTITY, self.rest_offset[row])
            self.rest_links[self.main[row]] = dual_quaternion.from_parts(self.own_rest[row], np.zeros(3))
        self.root_rests = self.root_rotations(self.rest_links)
        self.root_goals = self._root_goals(slides)
        self.other_kinds = [k for k, goal in enumerate(self.prepared.goals) if goal.kind != "REACH"]
        self.target_points = sum(len(goal.points or ()) for goal in self.prepared.goals)
        self.target_points += sum(len(one.points) for one in self.obstacles)
        self.turns = any(goal.rotation is not None for goal in self.prepared.goals)
        self.has_poles = any(one.pole for one in self.goals)

    def _root_goals(self, slides: dict[int, int]) -> list[RootGoal]:
        """The first goal of each root that has a place and a rotation to reach. slides : first slide joint by row."""
        found: dict[int, RootGoal] = {}
        ancestors, solved = self.skeleton.ancestors, np.zeros(len(self.skeleton), dtype=bool)
        solved[self.solved_joints] = True
        for number, (goal, row) in enumerate(zip(self.prepared.goals, self.goal_rows, strict=True)):
            asks = goal.has_place and goal.has_turn and not any(goal.offset)
            asks = asks and not goal.rotation_follows
            if row in slides and row not in found and asks and (ancestors[self.main[row]] & solved).sum() == 1:
                path = [joint for joint in self.skeleton.order if ancestors[slides[row], joint]]
                found[row] = RootGoal(number, int(self.main[row]), slides[row], self.location_frame[row], path)
        return list(found.values())

    def to_joints(self, q: np.ndarray) -> np.ndarray:
        """The joints' motions (..., S, 4) of rotations (..., S, 4) of the solved bones from rest."""
        return q if self.frames is None else limit_frame.motions(q, *self.frames)

    def to_bones(self, motions: np.ndarray) -> np.ndarray:
        """The inverse of `to_joints`."""
        return motions if self.frames is None else limit_frame.rotations(motions, *self.frames)

    def root_rotations(self, links: np.ndarray) -> dict[int, list[float]]:
        """The rotations of some links (J, 8) of the roots' first joints."""
        firsts = [root.first for roots in self.root_places.values() for root in roots]
        return dict(zip(firsts, links[firsts, :4].tolist(), strict=True))

    def stretched(self, factors: tuple[float, ...]) -> ik.Prepared:
        """The prepared solve with the goals' bones stretched by `factors` (G,); cached until they change."""
        if all(factor == 1.0 for factor in factors):
            return self.prepared
        if self.stretch[0] != factors:
            goals = [
                replace(goal, offset=tuple(factor * part for part in goal.offset))
                for goal, factor in zip(self.prepared.goals, factors, strict=True)
            ]
            own = self.prepared
            self.stretch = factors, ik.prepare(self.skeleton, goals, own.solver, own.options, own.contacts)
        return self.stretch[1]


def solver_options(settings: bpy.types.PropertyGroup, solver: str, size: float) -> ik.Options:
    """The solver options of an armature's settings; `size` is that of the armature."""
    as_mmd = solver == "CCD" and settings.unit_angle > 0.0
    return ik.Options(
        iterations=settings.iterations,
        tolerance=settings.tolerance * size,
        rotation_tolerance=settings.rotation_tolerance,
        damping=settings.damping or None,
        pull=0.0 if as_mmd else PULL,
        restarts=THOROUGH_RESTARTS if solver == "SQP" else 0,
        order=settings.order,
        unit_angle=settings.unit_angle or None,
        objective=settings.objective,
    )


def build(
    ob: bpy.types.Object, facts: tuple[GoalFacts, ...], driven: frozenset[str], holds: np.ndarray, solver: str = ""
) -> Rig | Note:
    """Prepare an evaluated armature object for solving. Returns the reason if there is nothing to solve.

    driven : as in `plan`. holds : (N,) of all bones. solver : replaces the armature's own solver.
    """
    solve_plan, settings, pose = plan(ob, facts, driven), ob.dqik, ob.pose.bones
    if isinstance(solve_plan, Note):
        return solve_plan
    for bone in solve_plan.bones:
        if wrong := limits.wrong(pose[bone]):
            return wrong
    name = solver or settings.solver
    options = solver_options(settings, name, solve_plan.armature.size)
    try:
        parts = _Parts(pose, solve_plan, holds)
        goals = parts.goals(solve_plan)
        couplings = [
            ik.Coupling(parts.main[one.bone], one.axis, parts.main[one.leader], *one[3:]) for one in solve_plan.links
        ]
        skeleton = ik.Skeleton(parts.joints, couplings=couplings)
        longest = max((float(np.linalg.norm(goal.offset)) for goal in goals), default=0.0)
        if longest > skeleton.length:  # the skeleton has joints only: the goals' own bones may be its longest levers
            skeleton = ik.Skeleton(parts.joints, longest, couplings)
        prepared = ik.prepare(skeleton, goals, name, options, parts.contacts(solve_plan))
    except ik.DqikError as error:  # for example if the solver does not support these goals
        return note_of(error)
    bones = np.array(solve_plan.bones)
    return Rig(
        armature=solve_plan.armature,
        figure=solve_plan.figure,
        skeleton=skeleton,
        prepared=prepared,
        goals=[GoalBinding(goal.number, goal.facts.has_pole) for goal in solve_plan.goals],
        bones=bones,
        parent=solve_plan.armature.parent[bones],
        main=np.array([parts.main[bone] for bone in solve_plan.bones]),
        rooted=np.array(parts.rooted),
        detached=np.array(parts.detached),
        constrained=solve_plan.constrained[bones],
        own_rest=np.array(parts.own_rest),
        rest_offset=np.array(parts.rest_offset),
        slide_joint=np.array(list(parts.slides.values()), dtype=np.intp),
        slide_row=np.array([solve_plan.bones.index(bone) for bone in parts.slides], dtype=np.intp),
        location_frame=np.array(parts.location_frame),
        solved=np.flatnonzero(solve_plan.moved[bones]),
        loose=np.array([pose[bone].parent is None or not pose[bone].bone.use_connect for bone in solve_plan.bones]),
        held_rows=frozenset(row for row, bone in enumerate(solve_plan.bones) if _held_in_space(pose[bone])),
        held_with=parts.held_with,
        local_rows=frozenset(row for row, bone in enumerate(solve_plan.bones) if _is_local(pose[bone])),
        frames=parts.solved_frames(solve_plan),
        frame_axes=np.array([parts.frames[bone].axes for bone in solve_plan.bones]),
        supports=parts.supports(solve_plan),
        obstacles=solve_plan.obstacles,
        all_goals=len(facts),
        all_obstacles=len(dependencies.obstacles(ob)),
        locked_bones=[bone for bone in solve_plan.bones if pose[bone].dqik_lock and pose[bone].dqik_use_limits],
        notes=solve_plan.notes,
    )


class _Parts:
    """The joints of a plan's bones, collected bone by bone.

    A bone is one ball or hinge joint. A bone that may also move has three slides above it, along its location axes.
    """

    def __init__(self, pose: bpy.types.bpy_prop_collection, solve_plan: Plan, holds: np.ndarray) -> None:
        self.joints: list[ik.Joint] = []
        self.main: dict[int, int] = {}
        self.slides: dict[int, int] = {}  # bone: its first slide joint
        self.location_frame: list[np.ndarray] = []
        self.own_rest: list[np.ndarray] = []
        self.rest_offset: list[np.ndarray] = []
        self.rooted: list[bool] = []
        self.frames: dict[int, LimitFrame] = {}
        self.held_with, turn_holds = solve_plan.held_with(), holds.copy()
        for bone, above in self.held_with.items():
            turn_holds[above] = np.maximum(turn_holds[above], holds[bone])
        armature, bones = solve_plan.armature, solve_plan.bones
        self.detached = [
            armature.parent[bone] >= 0 and (not pose[bone].bone.use_inherit_rotation or _held_in_space(pose[bone]))
            for bone in bones
        ]
        rest, above = armature.rest[bones], armature.parent[bones, None, None]
        relative = np.where(above < 0, rest, np.linalg.inv(armature.rest[armature.parent[bones]]) @ rest)
        turned = quaternion.from_matrix(np.where(np.array(self.detached)[:, None, None], rest, relative)[:, :3, :3])
        for row, bone in enumerate(bones):
            hold, turn_hold = float(holds[bone]), float(turn_holds[bone])
            self._add(bone, pose[bone], solve_plan, relative[row], turned[row], hold, turn_hold)

    def _add(
        self, bone: int, pose_bone: bpy.types.PoseBone, solve_plan: Plan, relative: np.ndarray, turned: np.ndarray,
        hold: float, turn_hold: float,
    ) -> None:  # fmt: skip
        """Add a bone. relative : (4, 4) from its parent at rest. turned : (4,) as `Rig.own_rest`, in own axes."""
        name, above, detached = pose_bone.name, int(solve_plan.armature.parent[bone]), self.detached[len(self.rooted)]
        link, offset = self.main.get(above, -1), relative[:3, 3]
        frame = relative[:3, :3] if pose_bone.bone.use_local_location else np.eye(3)
        own = self.frames[bone] = limit_frame.of(pose_bone) if solve_plan.moved[bone] else limit_frame.OWN
        parent = self.frames.get(above, limit_frame.OWN)
        if not (own.is_own and parent.is_own):
            back = quaternion.conjugate(parent.axes)
            turned = quaternion.product(turned if detached else quaternion.product(back, turned), own.start)
            offset, frame = quaternion.rotate(back, offset), quaternion.rotate(back, frame.T).T
        self.location_frame.append(frame)
        place = offset
        if solve_plan.slides[bone]:
            self.slides[bone] = len(self.joints)
            for axis, letter in enumerate("XYZ"):
                self.joints.append(ik.Joint(
                    f"{name} {letter}", link, "prismatic", offset, axis=frame[:, axis],
                    stiffness=pose_bone.dqik_stiffness, hold=hold,
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
                preferred=_preferred(solve_plan.bends.get(bone), own),
                hold=turn_hold,
                inherit_rotation=not detached,
                **(_joint_kind(pose_bone) if solve_plan.moved[bone] else {"kind": "fixed"}),
            )
        )
        self.own_rest.append(turned)
        self.rest_offset.append(place)
        self.rooted.append(above not in self.main)

    def goals(self, solve_plan: Plan) -> list[ik.Goal]:
        """The solver's goals, with placeholders for the targets, which are read in each frame."""
        return [self._goal(goal, solve_plan) for goal in solve_plan.goals]

    def _goal(self, goal: PlannedGoal, solve_plan: Plan) -> ik.Goal:
        facts, chain = goal.facts, [joint for bone in goal.chain for joint in self._joints_of(bone)]
        common = {
            "joint": self.main[goal.bone], "chain": chain, "priority": facts.priority,
            "offset": self._tail(goal.bone, solve_plan.armature.length[goal.bone] if facts.use_tail else 0.0),
            "position_weight": facts.position_weight, "rotation_weight": facts.rotation_weight,
        }  # fmt: skip
        if facts.kind != "REACH":
            return ik.Goal(**common, **self._other_kind(goal, solve_plan, len(chain)))
        return ik.Goal(
            **common,
            position=(0.0, 0.0, 0.0) if facts.use_position else None,
            rotation=(1.0, 0.0, 0.0, 0.0) if facts.use_rotation else None,
            rotation_follows=facts.rotation_follows,
            limb_rest=self._limb_rest(goal.bone, solve_plan.armature),
            pole=(0.0, 0.0, 0.0) if facts.has_pole else None,
            pole_angle=facts.pole_angle,
        )

    def _other_kind(self, goal: PlannedGoal, solve_plan: Plan, joints: int) -> dict:
        """What a goal of another kind than Reach has beside what all have. joints : of its chain."""
        facts, kind = goal.facts, ik.GOAL_KINDS[goal.facts.kind]
        weighed = sum(len(one.ends) for one in self.supports(solve_plan))
        points = {"CURVE": joints, "BALANCE": weighed}.get(facts.kind, 0)
        axis = np.array(AXES[facts.axis], dtype=float)
        return {
            "kind": facts.kind,
            "target_joint": None if goal.target_bone < 0 else self.main[goal.target_bone],
            "side": facts.side if kind.sides else None,
            "distance": facts.distance,
            "axis": quaternion.rotate(quaternion.conjugate(self.frames[goal.bone].axes), axis),
            "position": (0.0, 0.0, 0.0) if "position" in kind.takes else None,
            "rotation": (1.0, 0.0, 0.0, 0.0) if "rotation" in kind.takes else None,
            "points": np.zeros((points, 3)) if points else None,
            "masses": [
                (self.main[bone], self._tail(bone, 0.5 * solve_plan.armature.length[bone]), mass)
                for bone, mass in solve_plan.masses.items()
            ] if facts.kind == "BALANCE" else None,
        }  # fmt: skip

    def supports(self, solve_plan: Plan) -> list[Support]:
        """The goals whose targets carry weight; a foot that turns with its target stands on both ends of its bone."""
        found: list[Support] = []
        for k in solve_plan.supports:
            goal = solve_plan.goals[k]
            length = solve_plan.armature.length[goal.bone] * (-1.0 if goal.facts.use_tail else 1.0)
            turns = goal.facts.kind == "REACH" and goal.facts.use_rotation and not goal.facts.rotation_follows
            ends = [(0.0, 0.0, 0.0), self._tail(goal.bone, length)] if turns else [(0.0, 0.0, 0.0)]
            found.append(Support(k, np.array(ends)))
        return found

    def contacts(self, solve_plan: Plan) -> ik.Contacts | None:
        """The bodies that nothing passes through; None where nothing is avoided."""
        if not solve_plan.capsules:
            return None
        rest = solve_plan.armature.rest

        def own(bone: int, place: np.ndarray) -> tuple[float, ...]:
            turned = rest[bone, :3, :3].T @ (place - rest[bone, :3, 3])
            return tuple(quaternion.rotate(quaternion.conjugate(self.frames[bone].axes), turned).tolist())

        return ik.Contacts(
            [ik.Capsule(self.main[one.bone], own(one.bone, one.start), own(one.bone, one.end), one.radius)
             for one in solve_plan.capsules],
            [one.shape for one in solve_plan.obstacles],
            capsules.pairs(solve_plan.capsules, solve_plan.figure) if solve_plan.avoids_self else [],
        )  # fmt: skip

    def solved_frames(self, solve_plan: Plan) -> tuple[np.ndarray, np.ndarray] | None:
        """`start` and `axes` (S, 4) of the solved bones' limit frames; None if all are the bones' own."""
        frames = [self.frames[bone] for bone in solve_plan.bones if solve_plan.moved[bone]]
        if all(frame.is_own for frame in frames):
            return None
        return np.array([frame.start for frame in frames]), np.array([frame.axes for frame in frames])

    def _tail(self, bone: int, length: float) -> tuple[float, ...]:
        """The point at a length along a bone, in its joint's frame."""
        tail = np.array([0.0, length, 0.0])
        return tuple(quaternion.rotate(quaternion.conjugate(self.frames[bone].axes), tail).tolist())

    def _limb_rest(self, bone: int, armature: Armature) -> np.ndarray | None:
        """The orientation at rest of the joint above a bone's, in armature space; the skeleton's roots are not."""
        above = int(armature.parent[bone])
        if above not in self.main:
            return None
        return quaternion.product(quaternion.from_matrix(armature.rest[above, :3, :3]), self.frames[above].axes)

    def _joints_of(self, bone: int) -> range:
        return range(self.slides.get(bone, self.main[bone]), self.main[bone] + 1)


def _preferred(bend: np.ndarray | None, frame: LimitFrame) -> np.ndarray | None:
    """A preferred bend, a rotation vector (3,) in the bone's axes, as one of its joint."""
    return bend if bend is None or frame.is_own else quaternion.log(frame.motion(quaternion.exp(bend)))


def _held_in_space(bone: bpy.types.PoseBone) -> bool:
    """Whether a constraint gives a bone its orientation independently of its parent."""
    return any(
        c.type in _TURNING
        and c.owner_space in {"WORLD", "POSE", "CUSTOM"}
        and acts(c)
        and c.influence == 1.0
        and getattr(c, "mix_mode", "REPLACE") == "REPLACE"
        and all(getattr(c, f"use_{axis}", True) for axis in "xyz")
        for c in bone.constraints
    )


def _is_local(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone has active constraints, and all act in the frame of its parent."""
    active = [c for c in bone.constraints if acts(c)]
    return bool(active) and all(c.owner_space in _LOCAL and c.type not in {"IK", "SPLINE_IK"} for c in active)


def _joint_kind(bone: bpy.types.PoseBone) -> dict:
    """Kind, axis and limits of a bone's joint; a bone that may turn about only one axis is a hinge."""
    if not bone.dqik_use_limits:
        return {"kind": "ball"}
    twist = (bone.dqik_twist_min, bone.dqik_twist_max)
    swing_x, swing_z = (bone.dqik_swing_x_min, bone.dqik_swing_x_max), (bone.dqik_swing_z_min, bone.dqik_swing_z_max)
    turning = [(axis, pair) for axis, pair in enumerate((swing_x, twist, swing_z)) if pair != (0.0, 0.0)]
    if len(turning) == 1:
        axis, pair = turning[0]
        return {"kind": "hinge", "axis": np.eye(3)[axis], "limits": ik.Range(*pair)}
    return {"kind": "ball", "limits": ik.TwistSwing(twist, swing_x, swing_z)}
