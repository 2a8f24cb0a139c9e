# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that Blender does not evaluate, so that they stand still.

Blender evaluates the objects of a view layer, except those that they or their collections disable in the viewport, and
all objects that these depend on. Hiding with the eye makes no difference. A goal is no dependency for Blender.
"""

from collections.abc import Iterator

import bpy

from ...blender import animation, dependencies
from ...notes import Code, Note
from ...setup.rig import Rig

_LISTS = (bpy.types.Scene, bpy.types.Collection, bpy.types.Action, bpy.types.WorkSpace, bpy.types.Screen)


def notes(ob: bpy.types.Object, rig: Rig, depsgraph: bpy.types.Depsgraph) -> list[Note]:
    """Notes about the targets, poles and obstacles of an evaluated object that Blender does not evaluate."""
    aims = {other.original: "" for other in dependencies.obstacles(ob.original) if other is not None}
    for binding in rig.goals:
        goal = ob.original.dqik.goals[binding.index]
        aims.update((aim.original, goal.name) for aim, _ in dependencies.aims(goal))
    shown = {evaluated.original.session_uid for evaluated in depsgraph.ids}
    found: list[Note] = []
    for aim, name in aims.items():
        reason = _reason(aim, shown, depsgraph.view_layer)
        if reason and not _is_needed(aim, shown):
            goal = Note(Code.TARGET_STILL, repr(name), repr(aim.name), reason)
            found.append(goal if name else Note(Code.OBSTACLE_STILL, repr(aim.name), reason))
    return found


def _reason(aim: bpy.types.Object, shown: set[int], layer: bpy.types.ViewLayer) -> Note | None:
    """Why an object is not evaluated for its own sake; None if it is."""
    if aim.session_uid not in shown:
        there = any(ob == aim for ob in layer.objects)
        return Note(Code.TARGET_DISABLED) if there else Note(Code.TARGET_NOT_IN_LAYER)
    return Note(Code.TARGET_DISABLED_BY_KEYS) if animation.animates(aim, "hide_viewport") else None


def _is_needed(aim: bpy.types.Object, shown: set[int]) -> bool:
    """Whether a shown object depends on this one, and so makes Blender evaluate it."""
    seen: set[bpy.types.ID] = set()
    left: set[bpy.types.ID] = {aim}
    while left:
        seen |= left
        users = bpy.data.user_map(subset=left)
        left = {user for here in left for user in users[here] if user not in seen and _depends(user, here)}
        if any(user.session_uid in shown for user in left):
            return True
    return False


def _depends(user: bpy.types.ID, used: bpy.types.ID) -> bool:
    """Whether Blender evaluates an ID for another one that uses it; not if only goals or lists of objects use it."""
    if isinstance(user, _LISTS):
        return False
    if isinstance(user, bpy.types.Object) and len(user.dqik.goals):
        return used in {*_driven_by(user), *dependencies.objects_behind(user)}
    return True


def _driven_by(ob: bpy.types.Object) -> Iterator[bpy.types.ID | None]:
    """The IDs that the drivers of an object read."""
    for curve in ob.animation_data.drivers if ob.animation_data else ():
        for variable in curve.driver.variables:
            yield from (target.id for target in variable.targets)
