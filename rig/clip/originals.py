# SPDX-License-Identifier: GPL-3.0-or-later
"""From which action another one was made: each action that is made of a motion names the one before it."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import bpy

from ..bake import keys

MEND = "MEND"
"""How an action that Mend Motion has made says so."""


def name_original(action: bpy.types.Action, original: bpy.types.Action, made_by: str = "") -> None:
    """Say from which action another one was made; the original stays in the file. made_by : empty, or `MEND`."""
    action.dqik_original, action.dqik_made_by = original, made_by
    original.use_fake_user = True


def of(ob: bpy.types.Object, made_by: str | None = None) -> bpy.types.Action | None:
    """The action from which that of an object was made, if it was. made_by : if it was made so."""
    action = _action(ob)
    return None if action is None or made_by not in (None, action.dqik_made_by) else action.dqik_original


def line(ob: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """The action of an object, that from which it was made, and so on."""
    action, seen = _action(ob), set[int]()
    while action is not None and action.session_uid not in seen:
        yield action
        seen.add(action.session_uid)
        action = action.dqik_original


def _action(ob: bpy.types.Object) -> bpy.types.Action | None:
    return None if ob.animation_data is None else ob.animation_data.action


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
