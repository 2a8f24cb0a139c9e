# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins at a frame: their *Mute* is keyed, so that bones are pinned from one frame on and let go at another.

The Mute of the goals that a pin replaces is keyed the other way round; these keep their targets and the keys of those.
"""

from collections.abc import Iterable, Sequence

import bpy

from .. import curves
from ..blender import animation
from ..blender.dependencies import aims_of
from ..blender.places import Owner, owner_of
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
    for owner in _targets(ob, numbers):
        for curve in attachments.curves_of(owner):
            splits.split(curve, curves.frame_before(frame)).interpolation = "CONSTANT"
        if not attachments.curves_of(owner):
            goals.key_target(owner, curves.frame_before(frame))


def key(ob: bpy.types.Object, numbers: Sequence[int], frame: float, pinned: bool, auto: bool) -> bool:
    """Key from a frame on that pins hold, or that they do not; returns False if keys are not allowed.

    numbers : of pins, which are now as they shall be from the frame on, and of goals that they replace.
    auto : as in `keying.adds_curves`.
    """
    for number in numbers:
        if not _key_mute(ob, number, frame, auto):
            return False
    own = [number for number in numbers if ob.dqik.goals[number].pin == goals.PIN]
    for owner in _targets(ob, own) if pinned else ():
        if owner == owner.id_data or owner.id_data == ob:
            goals.key_target(owner, frame, auto)
            for curve in attachments.curves_of(owner):
                if (point := keying.key_at(curve, frame)) is not None:
                    point.interpolation = "CONSTANT"
    return True


def remove(ob: bpy.types.Object, numbers: Sequence[int]) -> list[Note]:
    """Remove pins on all frames; the goals that they have replaced are as before. Returns notes about what stays."""
    times = curves.times(curve for number in numbers for curve in curves.of_property(ob.dqik.goals[number], "mute"))
    for number in pins.let_go(ob, numbers):
        goal = ob.dqik.goals[number]
        for time in times:
            curves.remove_keys(curves.of_property(goal, "mute"), time, time)
        if not curves.of_property(goal, "mute"):
            curves.remove_path(ob, goal.path_from_id("mute"))
        goal.pin = 0
    curves.remove(ob, tuple(f"{ob.dqik.goals[number].path_from_id()}." for number in numbers))
    return goals.remove(ob, numbers)


# -- inside ------------------------------------------------------------------------------------------------------------


def _targets(ob: bpy.types.Object, numbers: Iterable[int]) -> list[Owner]:
    """The targets of pins, by their numbers, that are not linked; their poles are those of the goals they replace."""
    ends = [(ob.dqik.goals[number].target, ob.dqik.goals[number].subtarget) for number in numbers]
    return [owner_of(target, name) or target for target, name in ends if target is not None and target.library is None]


def _key_mute(ob: bpy.types.Object, number: int, frame: float, auto: bool) -> bool:
    """Key the present Mute of a goal at a frame, and at the one before the other Mute, or what its keys have there."""
    path, mute = ob.dqik.goals[number].path_from_id("mute"), ob.dqik.goals[number].mute
    before = keying.beside(curves.find(ob, path, 0), float(not mute), frame, [curves.frame_before(frame)])
    try:
        if not keying.key_path(ob, path, frame, "DQIK", auto):
            return False
    except RuntimeError:  # its action is linked, or the NLA refuses
        return False
    for curve in curves.of_property(ob.dqik.goals[number], "mute"):
        for time, value in before:
            curve.keyframe_points.insert(time, value)
    return True
