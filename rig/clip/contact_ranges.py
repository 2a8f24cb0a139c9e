# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts that an armature object keeps: on which frames which part of which bone stands still.

They belong to one motion: to the action in which they were found, and to those that were made from it.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import bpy
import numpy as np

from ...solvers.motion import runs
from ..blender import originals
from ..figure.character import Character
from ..figure.parts import LEFT, MIDDLE, RIGHT, Role
from ..notes import Note, Refused

_Value = TypeVar("_Value")


class Touching(NamedTuple, Generic[_Value]):
    """One value for each sort of limb that can be in contact."""

    feet: _Value
    knees: _Value
    seat: _Value
    back: _Value
    hands: _Value


FOOT, HAND = ("HEEL", "BALL"), ("WRIST", "KNUCKLES")
"""The parts of a foot and of a hand, in the order in which `solvers.motion` has them."""
PARTS = Touching(feet=FOOT, knees=("KNEE",), seat=("SEAT",), back=("BACK",), hands=HAND)
"""The parts of the bones that can be in contact."""
_ROLES = Touching(feet="foot", knees="shin", seat="hips", back="spine", hands="hand")
_SIDES = (MIDDLE, LEFT, RIGHT)
ENDS = ("START", "END", "WHOLE")
"""What of a contact is moved."""


class ContactRange(NamedTuple):
    """The part of a bone that is in contact, from a frame to another, both included."""

    bone: str
    part: str
    first: int
    last: int


def limbs(ob: bpy.types.Object) -> dict[str, tuple[str, ...]]:
    """The bones of an armature that can be in contact, and the parts of each: as `Touching`, left before right."""
    character = Character.of(ob)
    found = [(character.bones.get(Role(role, side)), parts) for role, parts in zip(_ROLES, PARTS, strict=True)
             for side in _SIDES]  # fmt: skip
    return {ob.pose.bones[bone].name: parts for bone, parts in found if bone is not None}


def rank(part: str) -> tuple[int, int]:
    """The place of a part among all, as a key to sort by: the sort of its limb, and its own among those of the limb."""
    return next((row, own.index(part)) for row, own in enumerate(PARTS) if part in own)


def are_of_motion(ob: bpy.types.Object) -> bool:
    """Whether an object's contacts belong to the motion that it has."""
    own = ob.dqik.contacts_of
    return own is None or own in originals.line(ob)


def shown(ob: bpy.types.Object) -> list[tuple[int, ContactRange]]:
    """The contacts of an object's motion that count, each with its number in the list."""
    if not are_of_motion(ob):
        return []
    return [(number, _range(one)) for number, one in enumerate(ob.dqik.contacts) if not one.mute]


def at(ob: bpy.types.Object, number: int) -> ContactRange:
    """A contact by its number in the list."""
    return _range(ob.dqik.contacts[number])


def _range(one: bpy.types.PropertyGroup) -> ContactRange:
    return ContactRange(one.bone, one.part, one.frame_start, one.frame_end)


def of_masks(
    names: Touching[list[str]], frames: Sequence[int], masks: Touching[np.ndarray]
) -> list[ContactRange]:  # fmt: skip
    """The runs of masks (F, L, K) over frames. names : those of the L bones, whose parts are `PARTS`."""
    return [
        ContactRange(bone, part, frames[begin], frames[end - 1])
        for bones, parts, mask in zip(names, PARTS, masks, strict=True)
        for row, bone in enumerate(bones) for column, part in enumerate(parts)
        for begin, end in runs(mask[:, row, column])
    ]  # fmt: skip


def masks(ob: bpy.types.Object, names: Touching[list[str]], frames: Sequence[int]) -> Touching[np.ndarray]:
    """The frames (F, L, K) on which the parts of L bones are in contact, as an object's contacts have it."""
    at = np.asarray(frames)
    found = Touching(*(np.zeros((len(frames), len(bones), len(parts)), dtype=bool)
                       for bones, parts in zip(names, PARTS, strict=True)))  # fmt: skip
    for _, one in shown(ob):
        row, column = rank(one.part)
        if one.bone in names[row]:
            inside = (at >= one.first) & (at <= one.last)
            found[row][inside, names[row].index(one.bone), column] = True
    return found


def check(ob: bpy.types.Object, names: Touching[list[str]]) -> None:
    """Raise `Refused` if a contact is of a bone that is not among those that can be planted."""
    for _, one in shown(ob):
        if one.bone not in names[rank(one.part)[0]]:
            raise Refused(Note("Contacts of {} cannot be planted: mute what moves its arm, set its Role, or remove "
                               "them", repr(one.bone)))


def store(ob: bpy.types.Object, ranges: Iterable[ContactRange], action: bpy.types.Action | None = None) -> None:
    """Replace an object's contacts; they belong to its motion from now on. action : in which they were found.

    A library override cannot remove those of its library: they become others, or are left out.
    """
    settings, wanted = ob.dqik, list(ranges)
    clear(ob)
    kept = list(settings.contacts)
    for one in wanted:
        _set(kept.pop(0) if kept else settings.contacts.add(), one)
    for number, one in enumerate(settings.contacts):
        one.name = f"Contact {number + 1}"
    settings.active_contact = 0
    settings.contacts_of = action or _of(ob)


def _set(one: bpy.types.PropertyGroup, value: ContactRange) -> None:
    one.bone, one.part, one.mute = value.bone, value.part, False
    one.frame_end = value.last  # which takes a start that is later along
    one.frame_start = value.first


def _of(ob: bpy.types.Object) -> bpy.types.Action | None:
    """To which action contacts belong: as before, if this is of the motion, else to the object's."""
    own = ob.dqik.contacts_of
    return own if own is not None and are_of_motion(ob) else next(originals.line(ob), None)


def clear(ob: bpy.types.Object) -> None:
    """Remove an object's contacts. Those of the library of an override are left out instead."""
    for number in reversed(range(len(ob.dqik.contacts))):
        remove(ob, number)


def remove(ob: bpy.types.Object, number: int) -> None:
    """Remove a contact; one of the library of an override is left out instead."""
    settings = ob.dqik
    try:
        settings.contacts.remove(number)
    except TypeError:  # raised for a contact of the library
        settings.contacts[number].mute = True
    settings.active_contact = max(min(settings.active_contact, len(settings.contacts) - 1), 0)


def add(ob: bpy.types.Object, wanted: ContactRange) -> bpy.types.PropertyGroup:
    """Add a contact, in front of which those of another motion give way; returns it."""
    if not are_of_motion(ob):
        clear(ob)
    settings = ob.dqik
    names = settings.contacts.keys()
    made = settings.contacts.add()
    made.name = next(name for number in range(1, len(names) + 2) if (name := f"Contact {number}") not in names)
    _set(made, wanted)
    settings.active_contact = len(settings.contacts) - 1
    settings.contacts_of = _of(ob)
    return made


def free(ob: bpy.types.Object, bone: str, part: str, frame: int, most: int) -> tuple[int, int] | None:
    """Up to so many frames from a frame on, on which a part of a bone has no other contact; None if it has one there.

    They end a frame before the next contact: else the two were one.
    """
    after = [one.first for _, one in shown(ob) if (one.bone, one.part) == (bone, part) and one.last >= frame - 1]
    last = min([frame + most - 1, *(first - 2 for first in after)])
    return None if last < frame else (frame, last)


def moved(ob: bpy.types.Object, number: int, end: str, by: int, before: ContactRange | None = None) -> ContactRange:
    """A contact of which an end, or all, is moved by some frames from where it is, or from where it was before.

    It keeps a frame of its own, and stays a frame apart from those beside it on the same part: else they were one.
    """
    own = at(ob, number) if before is None else before
    others = [one for other, one in shown(ob) if other != number and (one.bone, one.part) == (own.bone, own.part)]
    lo = max((one.last + 2 for one in others if one.last < own.first), default=None)
    hi = min((one.first - 2 for one in others if one.first > own.last), default=None)
    first, last = own.first, own.last
    if end == "WHOLE":
        by = by if hi is None else min(by, hi - last)
        by = by if lo is None else max(by, lo - first)
        return own._replace(first=first + by, last=last + by)
    if end == "START":
        first = min(first + by, last)
        return own._replace(first=first if lo is None else min(max(first, lo), last))
    last = max(last + by, first)
    return own._replace(last=last if hi is None else max(min(last, hi), first))


def move(ob: bpy.types.Object, number: int, value: ContactRange) -> None:
    """Give a contact other frames."""
    _set(ob.dqik.contacts[number], value)
