# SPDX-License-Identifier: GPL-3.0-or-later
"""The dependencies of a target's place: bones that it is, is parented to or is constrained to, through any objects."""

from collections.abc import Iterator

import bpy

Bone = tuple[bpy.types.Object, str]
"""An armature object and the name of one of its bones; the name is empty for an object alone."""


def bones_behind(target: bpy.types.Object, subtarget: str = "") -> set[Bone]:
    """All bones, with their ancestors, that the place of an object or of one of its bones depends on."""
    seen: set[Bone] = set()
    left: list[Bone] = [(target, subtarget)]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += _next(*here)
    return {(ob, name) for ob, name in seen if name}


def bones_behind_goal(goal: bpy.types.PropertyGroup) -> set[Bone]:
    """All bones that the places of a goal's target and pole depend on."""
    return set().union(*(bones_behind(target, subtarget) for target, subtarget in aims(goal)))


def armatures_behind(ob: bpy.types.Object) -> set[int]:
    """`session_uid` of the other armatures that the place of this one, or of its goals' targets, depends on."""
    behind = bones_behind(ob).union(*map(bones_behind_goal, ob.dqik.goals))
    return {other.original.session_uid for other, _ in behind} - {ob.original.session_uid}


def direct(ob: bpy.types.Object) -> set[bpy.types.Object]:
    """The objects that an object or one of its bones is parented or constrained to."""
    names = ["", *(bone.name for bone in (ob.pose.bones if ob.pose else ()))]
    return {other for name in names for other, _ in _next(ob, name)} - {ob}


def aims(goal: bpy.types.PropertyGroup) -> Iterator[Bone]:
    """The target and the pole of a goal, if it has them."""
    for target, subtarget in ((goal.target, goal.subtarget), (goal.pole_target, goal.pole_subtarget)):
        if target is not None:
            yield target, subtarget if target.type == "ARMATURE" else ""


def _next(ob: bpy.types.Object, name: str) -> Iterator[Bone]:
    """The direct dependencies of the place of an object or a bone."""
    bone = ob.pose.bones.get(name) if name and ob.pose else None
    if bone is not None:
        yield ob, ""
        if bone.parent is not None:
            yield ob, bone.parent.name
    elif ob.parent is not None:
        yield ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""
    for constraint in (ob if bone is None else bone).constraints:
        if not constraint.mute:
            yield from _targets(constraint)


def _targets(constraint: bpy.types.Constraint) -> Iterator[Bone]:
    """The target objects and bones of a constraint."""
    for holder in (constraint, *getattr(constraint, "targets", ())):
        for end in ("target", "pole_target"):
            target = getattr(holder, end, None)
            if target is not None:
                name = getattr(holder, end.replace("target", "subtarget"), "")
                yield target, name if target.type == "ARMATURE" else ""
