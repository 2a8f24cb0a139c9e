# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins at a frame: their *Mute* is keyed, so that bones are pinned from one frame on and let go at another.

The Mute of the goals that a pin replaces is keyed the other way round; these keep their targets and the keys of those.
"""

from collections.abc import Iterable, Sequence

import bpy

from .. import curves
from ..blender import animation
from ..blender.dependencies import aims_of
from ..controls import goals, pins
from ..keys import attachments, keyable, keying, splits
from ..notes import Note


def refusal(ob: bpy.types.Object, names: Sequence[str], auto: bool) -> Note | None:
    """Why bones cannot be pinned; None if they can. auto : Auto Keying keys the pins."""
    note, present = keyable.of_settings(ob), pins.of(ob, names)
    if note is not None:
        return note
    if not auto:
        keyed = [ob.dqik.goals[number].name for number in present if pins.is_keyed(ob, number)]
        return Note("The pin {} has keys: switch Auto Keying on to pin its bone from this frame on",
                    repr(keyed[0])) if keyed else None
    replaced = pins.replaceable(ob, names, keyed=True)
    return (
        keyable.of_action(ob) or keyable.of_goals(ob, present, ("mute",), poles=False)
        or keyable.of_goals(ob, replaced, ("mute",), targets=False, poles=False)
    )  # fmt: skip


def keys_available_only(ob: bpy.types.Object) -> bool:
    """Whether keys of pins are those of Auto Keying, as in `keying.adds_curves`.

    A new pin has no curves. On a figure that moves it is keyed in any case, because it would change all other frames.
    """
    owners = {ob, *(target for target, _ in aims_of(ob))}
    return not any(curves.fcurves(owner.animation_data) or animation.uses_nla(owner) for owner in owners)


def keep_before(ob: bpy.types.Object, numbers: Iterable[int], frame: float) -> None:
    """Key the targets of pins at the frame before one, with the places that they keep up to it."""
    for owner in goals.target_owners(ob.dqik.goals[number] for number in numbers):
        for curve in _curves(owner):
            splits.split(curve, curves.frame_before(frame)).interpolation = "CONSTANT"
        if not _curves(owner):
            goals.key_target(owner, curves.frame_before(frame))


def key(ob: bpy.types.Object, numbers: Sequence[int], frame: float, pinned: bool, auto: bool) -> bool:
    """Key from a frame on that pins hold, or that they do not; returns False if keys are not allowed.

    numbers : of pins, which are now as they shall be from the frame on, and of goals that they replace.
    auto : as in `keying.adds_curves`.
    """
    for number in numbers:
        if not _key_mute(ob, number, frame, auto):
            return False
    own = [ob.dqik.goals[number] for number in numbers if ob.dqik.goals[number].pin == goals.PIN]
    for owner in goals.target_owners(own) if pinned else ():
        if owner == owner.id_data or owner.id_data == ob:
            goals.key_target(owner, frame, auto)
            for curve in _curves(owner):
                if (point := keying.key_at(curve, frame)) is not None:
                    point.interpolation = "CONSTANT"
    return True


def remove(ob: bpy.types.Object, numbers: Sequence[int]) -> list[Note]:
    """Remove pins on all frames; the goals that they have replaced are as before. Returns notes about what stays."""
    times = [time for number in numbers for time in _times_of_mute(ob, number)]
    for number in pins.let_go(ob, numbers):
        _forget(ob, number, times)
        ob.dqik.goals[number].pin = 0
    curves.remove(ob, tuple(f"{ob.dqik.goals[number].path_from_id()}." for number in numbers))
    return goals.remove(ob, numbers)


# -- inside ------------------------------------------------------------------------------------------------------------


def _key_mute(ob: bpy.types.Object, number: int, frame: float, auto: bool) -> bool:
    """Key the present Mute of a goal at a frame, and at the one before the other Mute, or what its keys have there."""
    goal = ob.dqik.goals[number]
    path = goal.path_from_id("mute")
    curve = curves.find(ob, path, 0)
    is_new = curve is None or curve.is_empty
    try:
        if not keying.key_path(ob, path, frame, "DQIK", auto):
            return False
    except RuntimeError:  # its action is linked, or the NLA refuses
        return False
    curve = curves.find(ob, path, 0)
    if is_new and curve is not None:
        curve.keyframe_points.insert(curves.frame_before(frame), float(not goal.mute))
    elif curve is not None and keying.key_at(curve, curves.frame_before(frame)) is None:
        [value] = curves.before_key(curve, frame, None, [curves.frame_before(frame)])
        curve.keyframe_points.insert(curves.frame_before(frame), value)
    return True


def _times_of_mute(ob: bpy.types.Object, number: int) -> list[float]:
    """The times of the keys of a goal's Mute."""
    curve = curves.find(ob, ob.dqik.goals[number].path_from_id("mute"), 0)
    return [] if curve is None else [point.co[0] for point in curve.keyframe_points]


def _forget(ob: bpy.types.Object, number: int, times: Iterable[float]) -> None:
    """Remove the keys of a goal's Mute at the times of those of its pins, and the curve if it has no others."""
    path = ob.dqik.goals[number].path_from_id("mute")
    curve = curves.find(ob, path, 0)
    for time in times if curve is not None else ():
        if (point := keying.key_at(curve, time)) is not None:
            curve.keyframe_points.remove(point)
    if curve is not None and not curve.keyframe_points:
        curves.remove_path(ob, path)


def _curves(owner: bpy.types.Object | bpy.types.PoseBone) -> list[bpy.types.FCurve]:
    """The curves with keys of the place of a target."""
    wanted = attachments.paths(owner)
    found = curves.fcurves(owner.id_data.animation_data)
    return [curve for curve in found if curve.data_path in wanted and not curve.is_empty]
