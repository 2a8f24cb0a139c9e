# SPDX-License-Identifier: GPL-3.0-or-later
"""The handlers that make the goal of the bone or target that was selected last the active one, after undo too."""

import bpy
from bpy.app.handlers import persistent

from ...rig.controls import selection
from ..common import armature


class _Selected:
    last: tuple[int, str] = (0, "")  # the active object's `session_uid` and its active bone


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    del scene, depsgraph
    layer = bpy.context.view_layer
    ob = None if layer is None else layer.objects.active
    if ob is None:
        return
    bone = ob.data.bones.active if ob.mode == "POSE" else None
    now = ob.session_uid, "" if bone is None else bone.name
    if now == _Selected.last:
        return
    _Selected.last = now
    owner = ob if ob.type == "ARMATURE" else armature(bpy.context)
    if owner is None or owner.library is not None or not owner.dqik.goals:
        return
    if owner == ob:
        number = max(selection.goal_of_bone(owner, now[1]), selection.goal_of_pole(owner, now[1]))
    else:
        number = selection.goal_of_object(owner, ob)
    if number >= 0 and number != owner.dqik.active_goal:
        with selection.quiet():
            owner.dqik.active_goal = number


@persistent
def _on_undo(scene: bpy.types.Scene, *_: object) -> None:
    """Undo and redo bring back a list from before its active goal had followed the selection."""
    _Selected.last = (0, "")
    _on_update(scene)


_HANDLERS = {"depsgraph_update_post": _on_update, "undo_post": _on_undo, "redo_post": _on_undo}


def register() -> None:
    """Install the handlers."""
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Remove the handlers."""
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(handler)
