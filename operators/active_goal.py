# SPDX-License-Identifier: GPL-3.0-or-later
"""The handler that makes the goal of the bone or target that was selected last the active one."""

import bpy
from bpy.app.handlers import persistent

from ..rig.setup import selection
from .common import armature


class _State:
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
    if now == _State.last:
        return
    _State.last = now
    owner = ob if ob.type == "ARMATURE" else armature(bpy.context)
    if owner is None or owner.library is not None or not owner.dqik.goals:
        return
    number = selection.goal_of_bone(owner, now[1]) if owner == ob else selection.goal_of_object(owner, ob)
    if number >= 0 and number != owner.dqik.active_goal:
        with selection.quiet():
            owner.dqik.active_goal = number


def register() -> None:
    """Install the handler."""
    bpy.app.handlers.depsgraph_update_post.append(_on_update)


def unregister() -> None:
    """Remove the handler."""
    bpy.app.handlers.depsgraph_update_post.remove(_on_update)
