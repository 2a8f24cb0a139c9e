# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared armature: everything that its solve needs and that does not depend on the frame."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ... import solvers as ik
from ...solvers.algebra import by_row, dual_quaternion, quaternion
from ..blender import dependencies, limit_frame
from ..blender.channels import Channels
from ..blender.dependencies import acts
from ..figure import foot
from ..figure.foot import angles
from ..remembered import Remembered
from . import foot_roll
from .bone_joints import BoneJoints
from .foot_roll import RolledFoot
from .plan import Plan

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


class RootGoal(NamedTuple):
    """A goal of a bone that carries the whole body: it may move as well as turn, and no solved bone is above it.

    goal : its number in the solve. joint, slide : of its bone, and the first of its slides. frame : (3, 3) as in
    `Rig.location_frame`. free : (3,) axes of that frame along which it may move. path : joints from the root to that
    slide.
    """

    goal: int
    joint: int
    slide: int
    frame: np.ndarray
    free: np.ndarray
    path: list[int]


class Rig:
    """A prepared armature: M bones of the solver's skeleton, J joints (a bone that may move has three more).

    Attributes
    ----------
    plan : what it was made from, the same object in rigs that differ by holds and gains only. goals : of the plan, in
        the order of the solve. armature : its bones at rest.
    bones, parent, main : (M,) bone numbers, their parents' (-1 for none), and the joints that turn them.
    rooted : (M,) the parent is not part of the skeleton, so the joint is placed in armature space.
    detached : (M,) the orientation does not follow the parent.
    own_rest : (M, 4) rest orientation in the parent's frame, or in armature space if detached. This frame, as those of
        offsets and locations below, is the one of the parent's limits; see `limit_frame`.
    rest_offset : (M, 3) head in the parent's frame at rest.
    slide_joint, slide_row : (T,) first slide joint of each bone that may move, and its row in `bones`.
    slide_free : (T, 3) bool, the axes of their locations that are not locked. slid : these channels among the locations
        (N, 3) of all bones, one after the other.
    location_frame : (M, 3, 3) from a location channel to an offset in the parent's frame.
    frames : `start` and `axes` (S, 4) of the solved bones' limits; None if all are the bones' own.
    frame_rows : (K,) rows of bones with other frames. frame_axes : (M, 4) of all bones. goal_axes : (G, 4) of the
        goals' bones. The last three are unused where `frames` is None.
    solved_bones, solved_joints : (S,) bones and joints of the bones that are solved.
    locked_bones : (L,) bones of the skeleton that are locked and have limits.
    hanging : rows without a parent in the skeleton that a parent outside it turns.
    still, constrained_rows : rows that are not solved, without and with a constraint or driver. is_plain : no row has a
        constraint or driver.
    root_places : for each parent of roots, its roots' `RootPlace`s.
    turns : whether any goal turns its bone. own_targets : goals whose target is a bone of this armature, with its name.
    rest_links : (J, 8) links with every inner joint at its rest offset.
    goal_joints, goal_rows : (G,) the joints that turn the goals' own bones, and the rows of these. root_goals : those
        that carry the body.
    loose : (M,) the bone has a location, because it is not connected. loose_rows : those that do not slide.
    local_rows : rows of bones whose constraints all act in the parent's frame. held_rows : rows of bones whose
        constraints set their orientation, whatever their place and their parent's orientation.
    placed_rows : rows of bones that constraints put at other bones, and that turn freely.
    supports : what carries weight. other_kinds : goals of other kinds than Reach, and of closed loops. poled : goals
        with a pole, each with its number in the panel's list.
    target_points : P, of goals and then of obstacles. all_goals, all_obstacles : how many there are, solved
        and avoided or not.
    end_bones, end_joints : (K,) bones that may stretch or shorten, and the slides that carry their ends. end_axes :
        (K, 3) of these. lengths, shortens, lengthens : (K,) the bones' lengths at rest, and how much shorter and longer
        they may become. thins : (K,) bool, whether they keep their volume. end_rows : (K,) rows of these bones.
    held_with : for bones, the bones above that are held with them (`Plan.held_with`).
    rolled_feet : the feet whose roll is in use.
    """

    def __init__(
        self, ob: bpy.types.Object, plan: Plan, joints: BoneJoints, prepared: ik.Prepared, all_goals: int
    ) -> None:  # fmt: skip
        """`ob` : the evaluated armature object."""
        self.plan, self.prepared, self.skeleton = plan, prepared, prepared.skeleton
        self.armature, self.goals = plan.armature, plan.goals
        targets = [(goal.facts.target, goal.facts.subtarget) for goal in plan.goals]
        self.own_targets = [(k, bone) for k, (target, bone) in enumerate(targets)
                            if bone and target == ob.original.session_uid]  # fmt: skip
        self.held_with, self.supports = plan.held_with(), joints.supports(plan)
        self.rolled_feet = _rolled_feet(ob, plan)
        self.all_goals, self.all_obstacles = all_goals, len(dependencies.obstacles(ob))
        pose = [ob.pose.bones[bone] for bone in plan.bones]
        self.locked_bones = [
            bone for bone, own in zip(plan.bones, pose, strict=True) if own.dqik_lock and own.dqik_use_limits
        ]
        self.bones = np.array(plan.bones)
        self.parent, self.main = plan.armature.parent[self.bones], np.array([joints.main[bone] for bone in plan.bones])
        self.rooted, self.detached = np.array(joints.rooted), np.array(joints.detached)
        self.own_rest, self.rest_offset = np.array(joints.own_rest), np.array(joints.rest_offset)
        self.slide_joint = np.array(list(joints.slides.values()), dtype=np.intp)
        self.slide_row = np.array([plan.bones.index(bone) for bone in joints.slides], dtype=np.intp)
        self.slide_free = np.array(joints.slide_free, dtype=bool).reshape(-1, 3)
        self.location_frame = np.array(joints.location_frame)
        self.loose = np.array([own.parent is None or not own.bone.use_connect for own in pose])
        self.end_bones = np.array(list(joints.ends), dtype=np.intp)
        self.end_joints = np.array(list(joints.ends.values()), dtype=np.intp)
        self.end_rows = np.array([plan.bones.index(bone) for bone in joints.ends], dtype=np.intp)
        self.lengths = self.armature.length[self.end_bones]
        self.shortens, self.lengthens = plan.spans[self.end_bones].T * self.lengths
        self.thins = np.array([ob.pose.bones[bone].dqik_keep_volume for bone in joints.ends], dtype=bool)
        self.held_rows = frozenset(np.flatnonzero(joints.held).tolist())
        self.local_rows = frozenset(
            row for row, bone in enumerate(plan.bones)
            if _is_local(pose[row]) or (plan.constrained[bone] and not plan.armature.controls[bone])
        )  # fmt: skip
        self.placed_rows = frozenset(np.flatnonzero(plan.placed[self.bones]).tolist())
        self.frames, self.frame_axes = joints.solved_frames(plan), np.array([joints.frames[k].axes for k in plan.bones])
        self._derive()

    def _derive(self) -> None:
        """Set what follows from the arrays by rows, for the frames."""
        prepared, roots = self.prepared, np.flatnonzero(self.rooted).tolist()
        moved, constrained = self.plan.moved[self.bones], self.plan.constrained[self.bones]
        self.solved_bones, self.solved_joints = self.bones[moved], self.main[moved]
        self.no_scale = np.ones((len(self.armature.parent), 3), dtype=np.float32).tobytes()
        self.still, self.constrained_rows = np.flatnonzero(~moved & ~constrained), np.flatnonzero(~moved & constrained)
        self.is_plain = not (self.constrained_rows.size or self.placed_rows)
        self.hanging = [row for row in roots if self.parent[row] >= 0 and not self.detached[row]]
        slides = dict(zip(self.slide_row.tolist(), self.slide_joint.tolist(), strict=True))
        self.root_places: dict[int, list[RootPlace]] = {}
        for row in (row for row in roots if self.parent[row] >= 0):
            self.root_places.setdefault(int(self.parent[row]), []).append(RootPlace(
                slides.get(row, int(self.main[row])), Vector(self.rest_offset[row]),
                row if self.loose[row] and row not in slides else -1, row in slides or row in self.hanging,
            ))  # fmt: skip
        self.slid = (3 * self.bones[self.slide_row, None] + np.arange(3))[self.slide_free]
        self.loose_rows = np.setdiff1d(np.flatnonzero(self.loose), self.slide_row)
        self.end_axes = self.skeleton.axis[self.end_joints]
        turning = dict(zip(self.end_joints.tolist(), self.main[self.end_rows].tolist(), strict=True))
        self.goal_joints = [turning.get(goal.joint, goal.joint) for goal in prepared.goals]
        self.goal_rows = [int(np.flatnonzero(self.main == joint)[0]) for joint in self.goal_joints]
        self.frame_rows = np.flatnonzero(np.abs(self.frame_axes - quaternion.IDENTITY).max(-1) > limit_frame.SAME)
        self.goal_axes = self.frame_axes[self.goal_rows]
        self._to_bones = None if self.frames is None else limit_frame.to_rotations(*self.frames)
        self._motions, self._stretched = Remembered[bytes, np.ndarray](1), Remembered[tuple, ik.Prepared](1)
        self.rest_links = np.tile(dual_quaternion.IDENTITY, (len(self.skeleton), 1))
        self.rest_links[self.main] = dual_quaternion.from_parts(self.own_rest, self.rest_offset)
        for row, joint in slides.items():
            self.rest_links[joint] = dual_quaternion.from_parts(quaternion.IDENTITY, self.rest_offset[row])
            self.rest_links[self.main[row]] = dual_quaternion.from_parts(self.own_rest[row], np.zeros(3))
        self.root_goals = self._root_goals(slides)
        both = zip(self.goals, prepared.goals, strict=True)
        self.poled = [(k, binding.number) for k, (binding, goal) in enumerate(both) if goal.pole is not None]
        self.other_kinds = [k for k, goal in enumerate(prepared.goals) if not goal.reaches]
        self.target_points = sum(len(goal.points or ()) for goal in prepared.goals)
        self.target_points += sum(len(one.points) for one in self.plan.obstacles)
        self.turns = any(goal.rotation is not None for goal in prepared.goals)

    @cached_property
    def limited(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The solved joints that have limits (K,), and these (K, 3) each: of twist, swing X and swing Z [rad]."""
        own = [(int(joint), _ends(self.skeleton.joints[joint])) for joint in self.solved_joints]
        own = [(joint, ends) for joint, ends in own if ends]
        lo, hi = np.array([ends for _, ends in own]).reshape(-1, 3, 2).transpose(2, 0, 1)
        return np.array([joint for joint, _ in own], dtype=np.intp), lo, hi

    def with_holds(self, holds: np.ndarray, gains: np.ndarray) -> "Rig":
        """The same rig with other holds and gains (N,) of its bones, which shares everything that these leave alone.

        Raises `DqikError` for numbers that no joint can have.
        """
        turning = holds.copy()  # where a bone is held, those that are held with it do not turn
        for bone, above in self.held_with.items():
            turning[above] = np.maximum(turning[above], holds[bone])
        hold, gain = np.zeros(len(self.skeleton)), np.ones(len(self.skeleton))
        for values, slid, turned in ((hold, holds, turning), (gain, gains, gains)):
            values[self.slide_joint[:, None] + np.arange(3)] = slid[self.bones[self.slide_row], None]
            values[self.main] = turned[self.bones]
        # Before a hand was pinned it turned with its arm. Its own rest pose must not turn the arm now.
        both = zip(self.goals, self.goal_joints, strict=True)
        gain[[joint for binding, joint in both if not binding.facts.tells_turn]] = 0.0
        if np.array_equal(hold, self.skeleton.hold) and np.array_equal(gain, self.skeleton.gain):
            return self
        rig = copy(self)
        rig.prepared = self.prepared.with_holds(hold, gain)
        rig.skeleton, rig._stretched = rig.prepared.skeleton, Remembered(1)
        return rig

    def _root_goals(self, slides: dict[int, int]) -> list[RootGoal]:
        """The first goal of each root that has a place and a rotation to reach. slides : first slide joint by row."""
        found: dict[int, RootGoal] = {}
        ancestors, solved = self.skeleton.ancestors, np.zeros(len(self.skeleton), dtype=bool)
        solved[self.solved_joints] = True
        for number, (goal, row) in enumerate(zip(self.prepared.goals, self.goal_rows, strict=True)):
            asks = goal.has_place and goal.has_turn and not any(goal.offset)
            asks = asks and not goal.rotation_follows
            if row in slides and row not in found and asks and (ancestors[self.main[row]] & solved).sum() == 1:
                slide, path = slides[row], self.skeleton.path(slides[row])
                free = self.slide_free[list(slides).index(row)]
                found[row] = RootGoal(number, int(self.main[row]), slide, self.location_frame[row], free, path)
        return list(found.values())

    def limb(self, index: int) -> list[int]:
        """The solved bones that no goal moves but one, by its number in the panel's list; its own if it shares all."""
        own, others, last = set[int](), set[int](), -1
        for binding, goal, joint in zip(self.goals, self.prepared.goals, self.goal_joints, strict=True):
            if binding.number == index:
                own |= set(goal.chain or ())
                last = last if binding.of_foot else joint
            elif goal.kind != "BALANCE":
                others |= set(goal.chain or ())
        own = own - others or {last}
        both = zip(self.solved_bones.tolist(), self.solved_joints.tolist(), strict=True)
        return [bone for bone, joint in both if joint in own]

    def unbent(self, rolls: Sequence[float]) -> dict[int, np.ndarray]:
        """What turns (4,) toes without a goal of their own, by bone, back to where they are before their foot rolls.

        In the bone's axes, from the left. rolls : of all goals in the panel's list.
        """
        found: dict[int, np.ndarray] = {}
        for one in self.rolled_feet:
            roll = rolls[one.index] if one.index < len(rolls) else 0.0  # a goal may just have been removed
            angle = angles(one.foot, roll)[0] if one.loose else 0.0
            if angle != 0.0:
                axes = self.armature.rest[one.foot.toes, :3, :3]
                found[one.foot.toes] = quaternion.exp(angle * axes.T @ quaternion.rotate(one.rest, one.foot.axis))
        return found

    def to_joints(self, q: np.ndarray) -> np.ndarray:
        """The joints' motions (..., S, 4) of rotations (..., S, 4) of the solved bones from rest."""
        return q if self.frames is None else limit_frame.motions(q, *self.frames)

    def to_bones(self, motions: np.ndarray) -> np.ndarray:
        """The inverse of `to_joints`."""
        return motions if self._to_bones is None else by_row(motions, self._to_bones)

    def motions(self, pose: Channels) -> np.ndarray:
        """The motions (1, J, 4) of all joints in a pose, not to be changed; cached until the solved bones' change."""
        turned = pose.rotations[self.solved_bones]

        def made() -> np.ndarray:
            motions = np.empty((1, len(self.skeleton), 4))
            motions[:] = quaternion.IDENTITY
            motions[0, self.solved_joints] = self.to_joints(pose.modes.quaternions(turned, self.solved_bones))
            return motions

        return self._motions.of(turned.tobytes() + pose.modes.numbers, made)

    def stretched(self, factors: tuple[float, ...]) -> ik.Prepared:
        """The prepared solve with the goals' bones stretched by `factors` (G,); cached until they change."""
        own = self.prepared

        def made() -> ik.Prepared:
            goals = [
                replace(goal, offset=tuple(factor * part for part in goal.offset))
                for goal, factor in zip(own.goals, factors, strict=True)
            ]
            return ik.prepare(self.skeleton, goals, own.solver, own.options, own.contacts)

        return own if all(factor == 1.0 for factor in factors) else self._stretched.of(factors, made)


def _is_local(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone has active constraints, and all act in the frame of its parent."""
    active = [c for c in bone.constraints if acts(c)]
    return bool(active) and all(c.owner_space in _LOCAL and c.type not in {"IK", "SPLINE_IK"} for c in active)


def _rolled_feet(ob: bpy.types.Object, plan: Plan) -> list[RolledFoot]:
    """What the feet of a plan roll about, and the goals of their toes."""
    armature, found = plan.armature, list[RolledFoot]()
    for k, goal in enumerate(plan.goals):
        own = foot.of(ob, plan.character, goal.bone) if goal.rolls and not goal.of_foot else None
        if own is None:
            continue
        toes = next((n for n, one in enumerate(plan.goals) if one.bone == own.toes and one.facts.turns), -1)
        own = foot_roll.seen_from_goal(armature, own, goal.bone, goal.facts.use_tail)
        rest = quaternion.from_matrix(armature.rest[goal.bone, :3, :3])
        legs = [
            n for n, one in enumerate(plan.goals)
            if n != k and not one.of_foot and one.facts.point is None  # which a drag has, and no number
            and foot_roll.goes_with(ob.original, one.number, goal.number)
        ]  # fmt: skip
        found.append(RolledFoot(k, goal.number, own, rest, toes, toes >= 0 and plan.goals[toes].of_foot, legs))
    return found


def _ends(joint: ik.Joint) -> list[tuple[float, float]]:
    """The limits of a joint: of twist, swing X and swing Z; none if it has none."""
    if joint.limits is None:
        return []
    if isinstance(joint.limits, ik.Range):
        own = (joint.limits.lo, joint.limits.hi)
        x, y, z = np.array(joint.axis, dtype=bool)
        return [own if about else (0.0, 0.0) for about in (y, x, z)]
    return [joint.limits.twist, joint.limits.swing_x, joint.limits.swing_z]
