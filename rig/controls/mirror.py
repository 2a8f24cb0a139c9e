# SPDX-License-Identifier: GPL-3.0-or-later
"""The other side of the body: counterparts of bones by name or role, and what is mirrored to them.

Goals, limits and couplings are.
"""

from collections.abc import Iterable

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.model import SETTINGS, Setting
from ...solvers.rest import directions
from ..blender import limit_frame
from ..blender.limit_frame import LimitFrame
from ..figure.bone_names import flipped, side_of, without_side
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role
from ..skeleton import couplings, limits
from ..skeleton.couplings import Link
from ..skeleton.menus import AXES, DIRECTION, axis_of
from . import controls, goals
from .controls import Control

_AXIS = 0.9  # cosine from which an axis of a bone counts as the mirror image of one of its counterpart's
_HALF_TURN = np.array([0.0, 1.0, 0.0, 0.0])  # about X: negates twist and swing Z
_GOAL_SETTINGS = (
    "mute", "pin", "use_pole", "chain_length", "use_position", "use_rotation", "position_weight", "rotation_weight",
    "influence", "leads_body", "priority", "use_tail", "rotation_follows", "kind", "side", "use_support",
    "smooth", "close_loop",
)  # fmt: skip


def counterpart(name: str) -> str:
    """The name on the other side; the name itself if it says no side."""
    as_blender = bpy.utils.flip_name(name)
    return flipped(name) if as_blender == name and side_of(name) else as_blender


class _Sides:
    """The two sides of an armature at rest.

    others : counterparts of bones by names, or by roles where names say no side; all that are on the `source` side.
    plane : (3, 3) the reflection between the sides, from the places of bones and their counterparts.
    """

    def __init__(self, ob: bpy.types.Object, source: str = LEFT, by_role: bool = True) -> None:
        own = Character.of(ob)
        self.armature = own.armature
        heads, index = own.armature.heads, own.armature.index
        both = ((name, counterpart(name)) for name in index if side_of(name) == LEFT)
        right_of = {name: other for name, other in both if other != name and other in index}
        if by_role:
            _pair_by_role(own, right_of)
        self.others = right_of if source == LEFT else {right: left for left, right in right_of.items()}
        lines = [heads[index[left]] - heads[index[right]] for left, right in right_of.items()]
        self.plane = directions.reflection(directions.across(lines))

    def image(self, bone: str, other: str) -> np.ndarray:
        """(3, 3) takes vectors in a bone's frame to their mirror images in that of another bone."""
        one, two = (self.armature.rest[self.armature.index[name], :3, :3] for name in (bone, other))
        return two.T @ self.plane @ one

    def turns(self, bone: str, other: str) -> np.ndarray:
        """(3, 3) in rows, the axes of a bone's turns, mirrored, in another bone's frame: an axis is a pseudovector."""
        return -self.image(bone, other).T

    def turn(self, bone: str, axis: str, other: str) -> tuple[str, float]:
        """The axis about which another bone turns when a bone's turn about `axis` is mirrored, and its sign."""
        turns = self.turns(bone, other)["XYZ".index(axis)]
        own = int(np.abs(turns).argmax())
        return "XYZ"[own], float(np.sign(turns[own]))


def _pair_by_role(own: Character, right_of: dict[str, str]) -> None:
    """Add the counterparts on the right of bones whose names say no side."""
    names, heads, by_role = own.names, own.armature.heads, dict[Role, list[int]]()
    paired = {*right_of, *right_of.values()}
    for bone, role in own.figure.roles.items():
        if names[bone] not in paired and not side_of(names[bone]):
            by_role.setdefault(role, []).append(bone)
    both = [(left, by_role.get(Role(role.name, RIGHT), [])) for role, left in by_role.items() if role.side == LEFT]
    single = [(heads[one[0]], heads[two[0]]) for one, two in both if len(one) == len(two) == 1]
    normal = directions.across([one - two for one, two in single])
    middle = 0.5 * (single[0][0] + single[0][1]) if single else None
    for one, two in both:
        for bone in one if len(one) == len(two) else ():
            image = heads[bone] if middle is None else middle + directions.reflection(normal) @ (heads[bone] - middle)
            nearest = two[int(np.linalg.norm(heads[two] - image, axis=-1).argmin())]
            right_of[names[bone]] = names[nearest]


def control_name(bone: str) -> str:
    """The name of a bone's control, without prefix, in the form that Blender mirrors: with its side as a suffix."""
    own = side_of(bone)
    if not own or bpy.utils.flip_name(controls.PREFIX + bone) != controls.PREFIX + bone:
        return bone
    return f"{without_side(bone)}.{own}"


def mirror_goals(ob: bpy.types.Object, source: str, as_bones: bool) -> tuple[int, list[str]]:
    """Copy the goals of bones on the `source` side to the other side, with targets of their own.

    Goals that are there get the settings. Returns the number of goals, and the names of those without a counterpart.
    """
    sides, count, left = _Sides(ob, source), 0, []
    wanted: list[tuple[int, Control]] = []
    at_pose: list[int] = []
    pairs_of_goals: list[tuple[int, int]] = []
    for number in range(len(ob.dqik.goals)):
        goal = ob.dqik.goals[number]
        bone = sides.others.get(goal.bone, "")
        if not bone:
            left += [goal.name] if side_of(goal.bone) == source else []
            continue
        is_pin = goal.pin == goals.PIN
        found = (k for k, one in enumerate(ob.dqik.goals) if one.bone == bone and is_pin == (one.pin == goals.PIN))
        present = next(found, None)
        if present is None:
            goals.new_goal(ob, bone)
            present = len(ob.dqik.goals) - 1
        goal, other = ob.dqik.goals[number], ob.dqik.goals[present]  # add() may have moved the collection
        for name in _GOAL_SETTINGS:
            setattr(other, name, getattr(goal, name))
        other.name = bone if goal.name == goal.bone else counterpart(goal.name)
        other.pole_angle = -goal.pole_angle
        _mirror_aim(goal, other, "pole_target", "pole_subtarget")
        if other.target is None and not _mirror_aim(goal, other, "target", "subtarget"):
            at_pose.append(present)
            if as_bones:
                wanted.append((present, _control_like(ob, goal, bone)))
        for name, setting in SETTINGS.items():
            setattr(other, name, _mirrored(ob, sides, goal, other, name, setting))
        if {goal.bone, other.bone} <= sides.armature.index.keys():
            other.direction = sides.image(goal.bone, other.bone) @ np.array(goal.direction)
        else:
            other.direction = goal.direction
        pairs_of_goals.append((number, present))
        count += 1
    goals.add_control_bones(ob, wanted)
    for number in at_pose if not as_bones else ():
        goals.add_empty(ob, number)
    for number, present in pairs_of_goals:
        ob.dqik.goals[present].roll = ob.dqik.goals[number].roll
    return count, left


def mirror_limits(ob: bpy.types.Object, bones: Iterable[bpy.types.PoseBone], source: str) -> tuple[int, list[str]]:
    """Copy limits, stiffness, gain, lock and preferred bend of bones on the `source` side to the other side.

    Returns the number of bones, and the names of those without a counterpart. Where the axes of the two are no mirror
    image, or the limits have axes of their own, the other bone's limits get the mirror image of these axes.
    """
    sides, count, left = _Sides(ob, source), 0, []
    for bone in bones:
        other = ob.pose.bones.get(sides.others.get(bone.name, ""))
        if other is None:
            left += [bone.name] if side_of(bone.name) == source and bone.dqik_use_limits else []
            continue
        _mirror_bone(sides, bone, bone.name, other)
        for name in ("dqik_stiffness", "dqik_made_stiffness", "dqik_gain", "dqik_lock", "dqik_stretch",
                     "dqik_shortest", "dqik_keep_volume"):  # fmt: skip
            setattr(other, name, getattr(bone, name))
        count += 1
    return count, left


def mirror_couplings(ob: bpy.types.Object, source: str) -> tuple[int, list[str]]:
    """Copy the couplings of bones on the `source` side to the other side, in place of those of the same axes there.

    The mirrored pose keeps to them if the pose keeps to the others. Bones that follow one on the other side are left.
    Returns the number of bones, and the names of those without a counterpart.
    """
    sides, found, left = _Sides(ob, source), list[Link](), set[str]()
    index, others = sides.armature.index, sides.others
    for one in ob.dqik.couplings:
        if not {one.bone, one.leader} <= index.keys() or one.leader in others.values():
            continue
        if one.bone not in others:
            left |= {one.bone} if side_of(one.bone) == source else set()
            continue
        bone, leader = others[one.bone], others.get(one.leader, one.leader)
        axis, sign = sides.turn(one.bone, one.axis, bone)
        leader_axis, other = sides.turn(one.leader, one.leader_axis, leader)
        found.append(Link(
            index[bone], axis, index[leader], leader_axis, sign * other * one.factor, sign * one.offset, one.stiffness,
        ))  # fmt: skip
    couplings.add(ob, found)
    return len({link.bone for link in found}), sorted(left)


def mirror_pasted(ob: bpy.types.Object, bones: Iterable[bpy.types.PoseBone]) -> None:
    """Replace limits and preferred bends that bones have from their counterparts by the mirror images of these."""
    sides = _Sides(ob, by_role=False)
    for bone in bones:
        _mirror_bone(sides, bone, counterpart(bone.name), bone)


# -- inside ------------------------------------------------------------------------------------------------------------


def _mirrored(
    ob: bpy.types.Object, sides: _Sides, goal: bpy.types.PropertyGroup, other: bpy.types.PropertyGroup, name: str,
    setting: Setting,
) -> str | float:  # fmt: skip
    """The setting of the other goal for a goal's: of an axis of a bone, the axis that is its mirror image at rest.

    An axis of a target that is no bone of the figure stays as it is.
    """
    value = getattr(goal, name)
    bones = [one.subtarget if setting.of_target else one.bone for one in (goal, other)]
    of_object = setting.of_target and (goal.target != ob or other.target != ob)
    if setting.sort != "axis" or of_object or value == DIRECTION or not sides.armature.index.keys() >= set(bones):
        return value
    image = sides.image(*bones) @ axis_of(value)
    return max(AXES, key=lambda axis: float(image @ np.array(AXES[axis])))


def _mirror_aim(goal: bpy.types.PropertyGroup, other: bpy.types.PropertyGroup, aim: str, bone: str) -> bool:
    """Set a goal's target or pole to the counterpart of another goal's; returns whether there is one."""
    target, name = getattr(goal, aim), getattr(goal, bone)
    if target is None:
        return False
    if target.type == "ARMATURE" and name:
        found = target if counterpart(name) != name and counterpart(name) in target.pose.bones else None
    else:
        found = bpy.data.objects.get(counterpart(target.name)) if counterpart(target.name) != target.name else None
    if found is not None:
        setattr(other, aim, found)
        setattr(other, bone, counterpart(name) if name else "")
    return found is not None


def _control_like(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, bone: str) -> Control:
    """A control for a bone, with the parent of the goal's control."""
    own = ob.data.bones.get(goal.subtarget) if goal.target == ob else None
    parent = own.parent.name if own is not None and own.parent is not None else ""
    return Control(control_name(bone), bone, goal.use_tail, parent, side=side_of(bone))


def _mirror_bone(sides: _Sides, bone: bpy.types.PoseBone, source: str, other: bpy.types.PoseBone) -> None:
    """Give another bone the mirror image of the limits and preferred bend of a bone that belong to bone `source`."""
    turns = sides.turns(source, other.name).T
    axes, signs = np.abs(turns).argmax(0), np.sign(turns[np.abs(turns).argmax(0), range(3)])
    frame, bend = limit_frame.of(bone), np.array(bone.dqik_preferred_angle)
    if frame.is_own and (np.abs(turns).max(0) >= _AXIS).all() and axes[1] == 1:
        _copy_limits(bone, other, axes, signs, limit_frame.OWN)
    else:
        image = frame.turned(quaternion.from_matrix(turns))
        image = LimitFrame(quaternion.product(image.axes, _HALF_TURN), image.zero)  # numbers as Human Limits has them
        _copy_limits(bone, other, np.arange(3), np.array([1.0, -1.0, -1.0]), image)
    other.dqik_preferred_angle = turns @ bend


def _copy_limits(
    one: bpy.types.PoseBone, two: bpy.types.PoseBone, axes: np.ndarray, signs: np.ndarray, frame: LimitFrame
) -> None:  # fmt: skip
    """Copy limits to a frame; axis k of the one's limits is `signs[k]` times axis `axes[k]` of the other's."""
    if not one.dqik_use_limits:
        limits.clear([two])
        return
    parts = ("swing_x", "twist", "swing_z")
    lo, hi = {}, {}
    for k, part in enumerate(parts):
        pair = getattr(one, f"dqik_{part}_min"), getattr(one, f"dqik_{part}_max")
        to = parts[axes[k]]
        lo[to], hi[to] = pair if signs[k] > 0 else (-pair[1], -pair[0])
    limits.put(two, [lo[part] for part in limits.PARTS], [hi[part] for part in limits.PARTS], frame)
