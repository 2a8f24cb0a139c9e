# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that Blender does not evaluate, so that they stand still and their place cannot be read.

Blender evaluates the objects of a view layer, except those that they or their collections disable in the viewport, and
all objects that these depend on. Hiding with the eye makes no difference. A goal is no dependency for Blender.
"""

from collections.abc import Iterator

import bpy

from ..notes import Code, Note
from . import animation, dependencies

_LISTS = (bpy.types.Scene, bpy.types.Collection, bpy.types.Action, bpy.types.WorkSpace, bpy.types.Screen)


def shown(depsgraph: bpy.types.Depsgraph) -> set[int]:
    """The `session_uid` of all that a depsgraph evaluates."""
    return {evaluated.original.session_uid for evaluated in depsgraph.ids}


def reason(ob: bpy.types.Object, evaluated: set[int], layer: bpy.types.ViewLayer) -> Note | None:
    """Where or why an original object is not evaluated; None if it is. evaluated : of `shown`."""
    if ob.session_uid not in evaluated:
        there = any(other == ob for other in layer.objects)
        found = Note(Code.TARGET_DISABLED) if there else Note("while it is not in the view layer")
    else:
        found = Note(Code.TARGET_DISABLED_BY_KEYS) if animation.animates(ob, "hide_viewport") else None
    return None if found is None or _is_needed(ob, evaluated) else found


def _is_needed(aim: bpy.types.Object, evaluated: set[int]) -> bool:
    """Whether a shown object depends on this one, and so makes Blender evaluate it."""
    seen: set[bpy.types.ID] = set()
    left: set[bpy.types.ID] = {aim}
    while left:
        seen |= left
        users = bpy.data.user_map(subset=left)
        left = {user for here in left for user in users[here] if user not in seen and _depends(user, here)}
        if any(user.session_uid in evaluated for user in left):
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
