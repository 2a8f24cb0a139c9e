# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of the actions of objects, in which a motion is changed; the old ones stay in the file."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

import bpy

from ..bake import keys
from ..blender import originals


@contextmanager
def copied_actions(
    objects: Iterable[bpy.types.Object], made_by: str = ""
) -> Generator[dict[str, bpy.types.Action]]:  # fmt: skip
    """Assign copies of their actions to objects; yields the copies by the objects' names. made_by : as of `originals`.

    If the context is left by an exception, the old actions are assigned again, and the copies are removed.
    """
    own = {ob.animation_data.action: None for ob in objects}
    copies = {action: action.copy() for action in own}
    before = {}
    for ob in objects:
        data = ob.animation_data
        before[ob] = data.action, getattr(data, "action_slot", None)
        copies[data.action].name = f"{data.action.name} DQIK"
        data.action = copies[data.action]
    try:
        yield {ob.name: ob.animation_data.action for ob in before}
    except BaseException:
        for ob, old in before.items():
            keys.assign(ob, old)
        for copy in copies.values():
            bpy.data.actions.remove(copy)
        raise
    for action, copy in copies.items():
        originals.name_original(copy, action, made_by)


@contextmanager
def assigned(ob: bpy.types.Object, action: bpy.types.Action | None) -> Generator[None]:
    """Give an object another action, or with None leave it its own. An exception gives it its own one back."""
    data = ob.animation_data
    if action is None or data.action == action:
        yield
        return
    before = data.action, getattr(data, "action_slot", None)
    data.action = action
    try:
        yield
    except BaseException:
        keys.assign(ob, before)
        raise
    before[0].use_fake_user = True  # it may have been edited
