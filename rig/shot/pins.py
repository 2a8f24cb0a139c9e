# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins at a frame: their *Mute* is keyed, so that bones are pinned from one frame on and let go at another."""

from collections.abc import Iterable

import bpy

from .. import curves
from ..blender import keying
from ..blender.dependencies import aims_of
from ..notes import Note
from ..setup import keyable, pins


def refusal(ob: bpy.types.Object, names: Iterable[str], auto: bool) -> Note | None:
    """Why bones cannot be pinned; None if they can. auto : Auto Keying keys the pins."""
    if not auto:
        return None
    held = pins.with_goal(ob)
    numbers = [held[name] for name in names if name in held]
    return keyable.of_action(ob) or keyable.of_goals(ob, numbers, ("mute", "rotation_follows"))


def keys_available_only(ob: bpy.types.Object) -> bool:
    """Whether keys of pins are those of Auto Keying, as in `keying.adds_curves`.

    A new pin has no curves. On a figure that moves it is keyed in any case, because it would change all other frames.
    """
    return not any(curves.fcurves(owner.animation_data) for owner in {ob, *(target for target, _ in aims_of(ob))})


def key_mute(ob: bpy.types.Object, number: int, frame: float, before: bool, auto: bool) -> bool:
    """Key the present Mute of a goal at a frame, and another one `before`, up to the frame before it.

    auto : as in `keying.adds_curves`. Returns whether it was keyed.
    """
    path = ob.dqik.goals[number].path_from_id("mute")
    curve = curves.find(ob, path, 0)
    is_new = curve is None or curve.is_empty
    try:
        if not keying.key_path(ob, path, frame, "DQIK", auto):
            return False
    except RuntimeError:  # its action is linked, or the NLA refuses
        return False
    curve = curves.find(ob, path, 0)
    if is_new and curve is not None:
        curve.keyframe_points.insert(frame - 1.0, float(before))
    elif curve is not None and keying.key_at(curve, frame - 1.0) is None:
        [value] = curves.before_key(curve, frame, None, [frame - 1.0])
        curve.keyframe_points.insert(frame - 1.0, value)
    return True


def forget(ob: bpy.types.Object, numbers: Iterable[int]) -> None:
    """Remove the curves of goals that are going to be removed."""
    curves.remove(ob, tuple(f"{ob.dqik.goals[number].path_from_id()}." for number in numbers))
