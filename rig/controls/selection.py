# SPDX-License-Identifier: GPL-3.0-or-later
"""Selected bones and targets, and the goals that belong to them."""

from collections.abc import Container, Generator
from contextlib import contextmanager

import bpy

from ..blender.dependencies import aims

_is_quiet = False  # whether changes of the active goal leave the selection alone


@contextmanager
def quiet() -> Generator[None]:
    """Changes of the active goal leave the selection alone meanwhile."""
    global _is_quiet
    before, _is_quiet = _is_quiet, True
    try:
        yield
    finally:
        _is_quiet = before


def is_visible(ob: bpy.types.Object, name: str) -> bool:
    """Whether a bone can be seen, and so be selected, in Pose Mode."""
    bone = ob.data.bones[name]
    hidden = getattr(ob.pose.bones[name], "hide", bone.hide)  # moved to the pose bone in Blender 5.0
    return not hidden and (not bone.collections or any(one.is_visible_effectively for one in bone.collections))


def select_only(ob: bpy.types.Object, *names: str, active: str = "") -> None:
    """Select only these bones of an armature object. active : the active one, by default the last of them, if any."""
    for bone in ob.pose.bones:
        _select(bone, bone.name in names)
    if names:
        ob.data.bones.active = ob.data.bones[active or names[-1]]


def select_also(ob: bpy.types.Object, name: str) -> None:
    """Select one bone more of an armature object, and make it the active one."""
    _select(ob.pose.bones[name], True)
    ob.data.bones.active = ob.data.bones[name]


def selected_bones(context: bpy.types.Context, ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The armature's selected bones that can be seen; none outside Pose Mode."""
    return [bone for bone in getattr(context, "selected_pose_bones", None) or () if bone.id_data == ob]


def selected(context: bpy.types.Context, ob: bpy.types.Object) -> list[str]:
    """Names of the armature's selected bones that can be seen, else of the active one; none outside Pose Mode."""
    if ob.mode != "POSE":
        return []
    names = [bone.name for bone in selected_bones(context, ob)]
    active = ob.data.bones.active
    return names or ([active.name] if active is not None and is_visible(ob, active.name) else [])


def holds_goal(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, names: Container[str],
    objects: Container[bpy.types.Object] = (),
) -> bool:  # fmt: skip
    """Whether a selection has a goal's bone or target. names : of selected bones. objects : that are selected."""
    if goal.bone in names or (goal.target == ob and goal.subtarget in names):
        return True
    return goal.target is not None and goal.target != ob and goal.target in objects


def goal_of_bone(ob: bpy.types.Object, name: str) -> int:
    """The number of the goal whose target or bone this is; -1 for none."""
    goals = ob.dqik.goals
    targets = (k for k, goal in enumerate(goals) if goal.target == ob and goal.subtarget == name)
    return next(targets, next((k for k, goal in enumerate(goals) if goal.bone == name), -1))


def goal_of_pole(ob: bpy.types.Object, name: str) -> int:
    """The number of the goal whose pole this bone is; -1 for none."""
    poles = (k for k, goal in enumerate(ob.dqik.goals) if goal.pole_target == ob and goal.pole_subtarget == name)
    return next(poles, -1)


def goal_of_object(ob: bpy.types.Object, target: bpy.types.Object) -> int:
    """The number of the goal of an armature object whose target or pole is this object; -1 for none."""
    return next((k for k, goal in enumerate(ob.dqik.goals) if any(target == own for own, _ in aims(goal))), -1)


def show_active_goal(ob: bpy.types.Object) -> None:
    """Select the target of the active goal, or its bone: in Pose Mode if it is a bone, else in Object Mode."""
    goals, number = ob.dqik.goals, ob.dqik.active_goal
    layer = bpy.context.view_layer
    if _is_quiet or layer is None or number >= len(goals):
        return
    goal, active = goals[number], layer.objects.active
    if active == ob and ob.mode == "POSE":
        names = ([goal.subtarget] if goal.target == ob else []) + [goal.bone]
        for name in names:
            if name in ob.pose.bones and is_visible(ob, name):
                return select_only(ob, name)
    elif active is not None and active.mode == "OBJECT" and _is_shown(goal.target) and goal.target != ob:
        for other in layer.objects:  # the armature stays the active object
            other.select_set(other == goal.target)
    return None


def _select(bone: bpy.types.PoseBone, select: bool) -> None:
    (bone if hasattr(bone, "select") else bone.bone).select = select  # moved in Blender 5.0


def _is_shown(ob: bpy.types.Object | None) -> bool:
    layer = bpy.context.view_layer
    return ob is not None and ob.name in layer.objects and ob.visible_get(view_layer=layer)
