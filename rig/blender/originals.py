# SPDX-License-Identifier: GPL-3.0-or-later
"""From which action another one was made: each action that is made of a motion names the one before it."""

from collections.abc import Iterator

import bpy

from .. import curves

MEND = "MEND"
IN_BETWEENS = "IN_BETWEENS"
SHAKES = "SHAKES"
"""How actions that Mend Motion, In-Betweens and Remove Shakes have made say so."""


def name_original(action: bpy.types.Action, original: bpy.types.Action, made_by: str = "") -> None:
    """Say from which action another one was made; the original stays in the file.

    made_by : empty, or one of the above.
    """
    action.dqik_original, action.dqik_made_by = original, made_by
    if original.library is None:  # a linked one stays where it is, and undo would not take the mark back
        original.use_fake_user = True


def of(ob: bpy.types.Object, made_by: str | None = None) -> bpy.types.Action | None:
    """The action from which that of an object was made, if it was. made_by : if it was made so."""
    action = curves.action_of(ob)
    return None if action is None or made_by not in (None, action.dqik_made_by) else action.dqik_original


def line(ob: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """The action of an object, that from which it was made, and so on."""
    action, seen = curves.action_of(ob), set[int]()
    while action is not None and action.session_uid not in seen:
        yield action
        seen.add(action.session_uid)
        action = action.dqik_original


def name_source(ob: bpy.types.Object, source: bpy.types.Object) -> None:
    """Say from which other object the motion of an object came: the one it had before is no original of it."""
    action = ob.animation_data.action
    action.dqik_original, action.dqik_source = None, source.name_full


def source(ob: bpy.types.Object) -> bpy.types.Object | None:
    """The other object from which the motion of an object came, if it came so and is there."""
    action = curves.action_of(ob)
    name = "" if action is None else action.dqik_source
    if not name:
        return None
    found = bpy.data.objects.get(name) or next((one for one in bpy.data.objects if name == one.name_full), None)
    return found if found is not None and found != ob and found.type == ob.type else None
