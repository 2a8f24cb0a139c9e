# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that move the body of a figure whose controls have their keys in another action: Live does not show them."""

from collections.abc import Iterator

import bpy
import numpy as np

from .. import curves
from ..blender import animation
from ..notes import Code, Note
from ..remembered import Remembered
from . import controls

_STILL = 1e-6  # keys whose values differ by less move nothing

_known: Remembered[tuple, Note | None] = Remembered(32)


def note(ob: bpy.types.Object) -> Note | None:
    """A note about an original object whose action moves its body, but not its controls, which have keys elsewhere."""
    data = ob.animation_data
    if data is None or data.action is None or animation.uses_nla(ob):
        return None
    count = sum(len(curve.keyframe_points) for curve in curves.fcurves(data))
    named = tuple(goal.subtarget for goal in ob.dqik.goals if goal.target == ob)
    which = ob.session_uid, data.action.session_uid, count, len(bpy.data.actions), named
    return _known.of(
        which, lambda: Note(Code.CONTROLS_UNKEYED, repr(data.action.name)) if _lacks_keys(ob) else None
    )


def led_by(ob: bpy.types.Object) -> dict[int, str]:
    """The control bones that are targets of an armature object's goals, by the numbers of these."""
    return {number: goal.subtarget for number, goal in enumerate(ob.dqik.goals)
            if goal.target == ob and goal.own_target and _is_control(ob, goal.subtarget)}  # fmt: skip


def poles_of(ob: bpy.types.Object) -> dict[int, str]:
    """The control bones that are poles of an armature object's goals, by the numbers of these."""
    return {number: goal.pole_subtarget for number, goal in enumerate(ob.dqik.goals)
            if goal.pole_target == ob and _is_control(ob, goal.pole_subtarget)}  # fmt: skip


def elsewhere(ob: bpy.types.Object) -> set[tuple[str, str]]:
    """The properties of an object's bones and settings that other actions key: bone, empty if there is none, and path.

    Only actions that key controls of the object count.
    """
    own, found = ob.animation_data.action, set[tuple[str, str]]()
    names = {*led_by(ob).values(), *poles_of(ob).values()}
    for each in (each for action in bpy.data.actions if action != own for each in curves.by_slot(action)):
        paths = {animation.split_path(ob, curve.data_path) for curve in each}
        if any(bone in names and _moves(path) for bone, path in paths):
            found |= paths
    return found


def body_curves(ob: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The curves of the assigned action that turn or move bones of the body."""
    for curve in curves.fcurves(ob.animation_data):
        bone, path = animation.split_path(ob, curve.data_path)
        counts = _moves(path) and not (curve.mute or curve.is_empty)
        if counts and bone in ob.data.bones and not controls.is_control(ob.data.bones[bone]):
            yield curve


def values_differ(curve: bpy.types.FCurve) -> bool:
    """Whether the keys or samples of a curve have different values, or something moves it beside these."""
    points = curve.keyframe_points if len(curve.keyframe_points) else curve.sampled_points
    co = np.empty((len(points), 2), dtype=np.float32)
    points.foreach_get("co", co.reshape(-1))
    return (len(co) > 0 and bool(np.ptp(co[:, 1]) > _STILL)) or any(not modifier.mute for modifier in curve.modifiers)


def _lacks_keys(ob: bpy.types.Object) -> bool:
    names = {*led_by(ob).values(), *poles_of(ob).values()}
    if not names or not any(map(values_differ, body_curves(ob))):
        return False
    keyed = (animation.split_path(ob, curve.data_path) for curve in curves.fcurves(ob.animation_data))
    return not any(bone in names and _moves(path) for bone, path in keyed) and bool(elsewhere(ob))


def _moves(path: str) -> bool:
    return path.startswith(("location", "rotation"))


def _is_control(ob: bpy.types.Object, name: str) -> bool:
    return name in ob.data.bones and controls.is_control(ob.data.bones[name])
