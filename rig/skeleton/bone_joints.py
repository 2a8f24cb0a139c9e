# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of a plan's bones, and the goals and bodies of the solve that refer to them."""

from typing import NamedTuple

import bpy
import numpy as np

from ... import solvers as ik
from ...solvers.algebra import quaternion, twist_swing
from ...solvers.model import SETTINGS, Setting
from ..blender import limit_frame
from ..blender.armature import Armature
from ..blender.limit_frame import LimitFrame
from ..figure import capsules
from . import limits
from .couplings import Link
from .goal_facts import SettingValue
from .menus import AXES, axis_of
from .plan import Plan, PlannedGoal


class Support(NamedTuple):
    """A goal, by its number in a rig, whose target carries weight at some points (E, 3) in the target's frame."""

    goal: int
    ends: np.ndarray


class BoneJoints:
    """The joints of a plan's bones, collected bone by bone.

    A bone is one ball or hinge joint. A bone that may also move has three slides above it, along its location axes.
    Those of locked axes are in no chain, so they stay where the pose has them. A bone that may stretch or
    shorten has a slide below it, along itself, which carries what begins at its end. It is in no chain:
    `rig/frame/read/lengths.py` says how far it goes.
    """

    def __init__(self, pose: bpy.types.bpy_prop_collection, solve_plan: Plan) -> None:
        self.joints: list[ik.Joint] = []
        self.main: dict[int, int] = {}
        self.slides: dict[int, int] = {}  # bone: its first slide joint
        self.ends: dict[int, int] = {}  # bone that may stretch: the slide joint that carries its end
        self.slide_free: list[np.ndarray] = []  # of these bones, in order: the axes that are not locked
        self.location_frame: list[np.ndarray] = []
        self.own_rest: list[np.ndarray] = []
        self.rest_offset: list[np.ndarray] = []
        self.rooted: list[bool] = []
        self.frames: dict[int, LimitFrame] = {}
        armature, bones = solve_plan.armature, solve_plan.bones
        self.held = [
            bool(armature.placed[bone]) or (not armature.follows[bone] and solve_plan.is_held(pose[bone], bone))
            for bone in bones
        ]
        self.detached = [
            armature.parent[bone] >= 0 and (held or not pose[bone].bone.use_inherit_rotation)
            for bone, held in zip(bones, self.held, strict=True)
        ]
        rest, above = armature.rest[bones], armature.parent[bones, None, None]
        relative = np.where(above < 0, rest, np.linalg.inv(armature.rest[armature.parent[bones]]) @ rest)
        turned = quaternion.from_matrix(np.where(np.array(self.detached)[:, None, None], rest, relative)[:, :3, :3])
        for row, bone in enumerate(bones):
            self._add(bone, pose[bone], solve_plan, relative[row], turned[row])

    def _add(
        self, bone: int, pose_bone: bpy.types.PoseBone, solve_plan: Plan, relative: np.ndarray, turned: np.ndarray
    ) -> None:  # fmt: skip
        """Add a bone. relative : (4, 4) from its parent at rest. turned : (4,) as `Rig.own_rest`, in own axes."""
        name, above, detached = pose_bone.name, int(solve_plan.armature.parent[bone]), self.detached[len(self.rooted)]
        link, offset = self.ends.get(above, self.main.get(above, -1)), relative[:3, 3]
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
            self.slide_free.append(solve_plan.free[bone])
            for axis, letter in enumerate("XYZ"):
                self.joints.append(ik.Joint(
                    f"{name} {letter}", link, "prismatic", offset, axis=frame[:, axis],
                    stiffness=pose_bone.dqik_stiffness,
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
                inherit_rotation=not detached,
                **(_joint_kind(pose_bone, self._coupled(bone, solve_plan)) if solve_plan.moved[bone]
                   else {"kind": "fixed"}),
            )
        )  # fmt: skip
        if solve_plan.spans[bone].any():
            self.ends[bone] = len(self.joints)
            along = quaternion.rotate(quaternion.conjugate(own.axes), np.array(AXES["Y"], dtype=float))
            self.joints.append(ik.Joint(f"{name} end", self.main[bone], "prismatic", (0.0, 0.0, 0.0), axis=along))
        self.own_rest.append(turned)
        self.rest_offset.append(place)
        self.rooted.append(above not in self.main)

    def goals(self, solve_plan: Plan) -> list[ik.Goal]:
        """The solver's goals, with placeholders for the targets, which are read in each frame."""
        return [self._goal(goal, solve_plan) for goal in solve_plan.goals]

    def _goal(self, goal: PlannedGoal, solve_plan: Plan) -> ik.Goal:
        facts, chain = goal.facts, [joint for bone in goal.chain for joint in self._joints_of(bone)]
        common = {
            "joint": self._joint(goal), "chain": chain, "priority": facts.priority,
            "offset": self._offset(goal, solve_plan.armature),
            "position_weight": facts.position_weight, "rotation_weight": facts.rotation_weight,
            "target_joint": None if goal.target_bone < 0 else self.main[goal.target_bone],
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

    def _joint(self, goal: PlannedGoal) -> int:
        """The joint that carries the point of a goal's bone."""
        facts, main = goal.facts, self.main[goal.bone]
        at_end = facts.kind == "REACH" and facts.use_tail and not facts.use_rotation and facts.point is None
        return self.ends.get(goal.bone, main) if at_end else main

    def _other_kind(self, goal: PlannedGoal, solve_plan: Plan, joints: int) -> dict:
        """What a goal of another kind than Reach has beside what all have. joints : of its chain."""
        facts, kind = goal.facts, ik.GOAL_KINDS[goal.facts.kind]
        weighed = sum(len(one.ends) for one in self.supports(solve_plan))
        points = {"CURVE": joints, "SUPPORTS": weighed}.get(kind.target, 0)
        return {
            "kind": facts.kind,
            "side": facts.side if kind.sides else None,
            "position": (0.0, 0.0, 0.0) if "position" in kind.takes else None,
            "rotation": (1.0, 0.0, 0.0, 0.0) if "rotation" in kind.takes else None,
            "points": np.zeros((points, 3)) if points else None,
            "masses": [
                (self.main[bone], self._tail(bone, 0.5 * solve_plan.armature.length[bone]), mass)
                for bone, mass in solve_plan.masses.items()
            ] if facts.weighs else None,
            **{name: self._setting(SETTINGS[name], value, goal) for name, value in facts.settings},
        }  # fmt: skip

    def _setting(self, setting: Setting, value: SettingValue, goal: PlannedGoal) -> object:
        """The value of a setting for the solver: an axis in the frame of its joint, or of its target."""
        if setting.sort != "axis":
            return value
        axis, bone = axis_of(value), goal.target_bone if setting.of_target else goal.bone
        return axis if bone < 0 else quaternion.rotate(quaternion.conjugate(self.frames[bone].axes), axis)

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
            capsules.pairs(solve_plan.capsules, solve_plan.character.figure) if solve_plan.avoids_self else [],
        )  # fmt: skip

    def coupling(self, link: Link) -> ik.Coupling:
        """The solver's coupling, whose joints' angles are those of the limits: see `limit_frame`."""
        axis, sign, zero = self._measured(link.bone, link.axis)
        leader_axis, other, leader_zero = self._measured(link.leader, link.leader_axis)
        factor = sign * other * link.factor
        offset = sign * link.offset + zero - factor * leader_zero
        joint, leader = self.main[link.bone], self.main[link.leader]
        return ik.Coupling(joint, axis, leader, leader_axis, factor, offset, link.stiffness)

    def _coupled(self, bone: int, solve_plan: Plan) -> set[str]:
        """The axes of a bone's joint to whose angles couplings refer."""
        ends = [(one.bone, one.axis) for one in solve_plan.links]
        ends += [(one.leader, one.leader_axis) for one in solve_plan.links]
        return {self._measured(bone, axis)[0] for other, axis in ends if other == bone}

    def _measured(self, bone: int, axis: str) -> tuple[str, float, float]:
        """The axis of a bone's joint that is most along an axis of the bone, its sign, and its angle at rest [rad]."""
        frame = self.frames[bone]
        along = quaternion.rotate(quaternion.conjugate(frame.axes), np.array(AXES[axis], dtype=float))
        own = int(np.abs(along).argmax())
        twist, swing_x, swing_z = twist_swing.coordinates(frame.motion(quaternion.IDENTITY))
        return "XYZ"[own], float(np.sign(along[own])), float((swing_x, twist, swing_z)[own])

    def solved_frames(self, solve_plan: Plan) -> tuple[np.ndarray, np.ndarray] | None:
        """`start` and `axes` (S, 4) of the solved bones' limit frames; None if all are the bones' own."""
        frames = [self.frames[bone] for bone in solve_plan.bones if solve_plan.moved[bone]]
        if all(frame.is_own for frame in frames):
            return None
        return np.array([frame.start for frame in frames]), np.array([frame.axes for frame in frames])

    def _offset(self, goal: PlannedGoal, armature: Armature) -> tuple[float, ...]:
        """The point of a goal's bone that is to reach its target, in the joint's frame."""
        if goal.facts.point is not None:
            return self._point(goal.bone, np.array(goal.facts.point))
        return self._tail(goal.bone, armature.length[goal.bone] if goal.facts.use_tail else 0.0)

    def _tail(self, bone: int, length: float) -> tuple[float, ...]:
        """The point at a length along a bone, in its joint's frame."""
        return self._point(bone, np.array([0.0, length, 0.0]))

    def _point(self, bone: int, point: np.ndarray) -> tuple[float, ...]:
        """A point (3,) in a bone's own frame, in its joint's frame."""
        return tuple(quaternion.rotate(quaternion.conjugate(self.frames[bone].axes), point).tolist())

    def _limb_rest(self, bone: int, armature: Armature) -> np.ndarray | None:
        """The orientation at rest of the joint above a bone's, in armature space; the skeleton's roots are not."""
        above = int(armature.parent[bone])
        if above not in self.main:
            return None
        return quaternion.product(quaternion.from_matrix(armature.rest[above, :3, :3]), self.frames[above].axes)

    def _joints_of(self, bone: int) -> list[int]:
        if bone not in self.slides:
            return [self.main[bone]]
        free = self.slide_free[list(self.slides).index(bone)]
        return [*(self.slides[bone] + axis for axis in range(3) if free[axis]), self.main[bone]]


def _preferred(bend: np.ndarray | None, frame: LimitFrame) -> np.ndarray | None:
    """A preferred bend, a rotation vector (3,) in the bone's axes, as one of its joint."""
    return bend if bend is None or frame.is_own else quaternion.log(frame.motion(quaternion.exp(bend)))


def _joint_kind(bone: bpy.types.PoseBone, coupled: set[str]) -> dict:
    """Kind, axis and limits of a bone's joint; a bone that may turn about only one axis is a hinge.

    coupled : axes whose angles couplings refer to. A hinge has no angle about another axis than its own.
    """
    if not bone.dqik_use_limits:
        return {"kind": "ball"}
    twist, swing_x, swing_z = zip(*(ends.tolist() for ends in limits.of(bone)), strict=True)
    turning = [(axis, pair) for axis, pair in enumerate((swing_x, twist, swing_z)) if pair != (0.0, 0.0)]
    if len(turning) == 1 and coupled <= {"XYZ"[turning[0][0]]}:
        axis, pair = turning[0]
        return {"kind": "hinge", "axis": np.eye(3)[axis], "limits": ik.Range(*pair)}
    return {"kind": "ball", "limits": ik.TwistSwing(twist, swing_x, swing_z)}
