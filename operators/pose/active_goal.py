# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of the bone or target that was selected last becomes the active one, after undo too."""

import bpy

from ... import live
from ...rig.controls import selection
from ..common import armature

_last: tuple[int, str] = (0, "")  # the active object's `session_uid` and its active bone


def follow() -> None:
    """Make the goal of what is selected the active one, where something else is selected than before."""
    global _last
    layer = bpy.context.view_layer
    ob = None if layer is None else layer.objects.active
    if ob is None:
        return
    bone = ob.data.bones.active if ob.mode == "POSE" else None
    now = ob.session_uid, "" if bone is None else bone.name
    if now == _last:
        return
    _last = now
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


def follow_undo() -> None:
    """Undo and redo bring back a list from before its active goal had followed the selection."""
    global _last
    _last = (0, "")
    follow()


def register() -> None:
    """Follow the selection."""
    live.after_update.append(follow)
    live.after_undo.append(follow_undo)


def unregister() -> None:
    """Follow it no more."""
    live.after_update.remove(follow)
    live.after_undo.remove(follow_undo)
