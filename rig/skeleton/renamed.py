# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that were renamed: goals, couplings and contacts name them anew, as Blender's constraints do.

Each bone that something names gets a random number, stored on the bone of the armature, where Blender's paste of poses
does not reach. What names a bone keeps the name that it knew and the bone's number. Where the known name is still the
one that is stored, but another bone has the number now, the bone was renamed. Where the stored name is another one,
somebody chose another bone. Numbers are part of the file and of undo, so it does not matter when a rename is noticed,
in which mode it was made, or how many there were.
"""

import json
from collections.abc import Iterator
from secrets import randbelow

import bpy

_NUMBERS = 1 << 31
_NAMES = {"goals": {"bone": "", "subtarget": "target", "pole_subtarget": "pole_target"},
          "couplings": {"bone": "", "leader": ""}, "contacts": {"bone": ""}}  # fmt: skip
"""What names bones: lists of settings, and of each the properties and that with the armature; empty for its own."""

_seen: dict[int, tuple] = {}  # by the `session_uid` of the object: the names when it was looked at last


def forget() -> None:
    """Look at all armatures again."""
    _seen.clear()


def follow(ob: bpy.types.Object) -> bool:
    """Let what an original armature object stores name its bones as they are called now; returns whether it did."""
    named = [(one, name, armature) for one, name, armature in _named(ob) if armature.mode != "EDIT"]
    armatures = {armature.session_uid: armature for *_, armature in named}
    now = (
        tuple((uid, tuple(one.data.bones.keys())) for uid, one in armatures.items()),
        tuple((name, getattr(one, name), armature.session_uid) for one, name, armature in named),
    )
    if _seen.get(ob.session_uid) == now or ob.library is not None:
        return False
    numbered = {uid: _numbered(one.data) for uid, one in armatures.items()}
    renamed = [_follow(ob, one, name, armature, numbered[armature.session_uid]) for one, name, armature in named]
    for one, name, armature in named:
        _note(one, name, armature.data)
    _seen.pop(ob.session_uid, None)
    if not any(renamed):
        _seen[ob.session_uid] = now
    return any(renamed)


def _named(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.PropertyGroup, str, bpy.types.Object]]:
    """All settings of an object that name a bone: the group, the property and the armature object with the bone."""
    for group, names in _NAMES.items():
        for one in getattr(ob.dqik, group):
            for name, owner in names.items():
                armature = getattr(one, owner) if owner else ob
                if getattr(one, name) and armature is not None and armature.type == "ARMATURE":
                    yield one, name, armature


def _numbered(armature: bpy.types.Armature) -> dict[int, str]:
    """The names of the bones that have a number. Of copies, which come later, the first one is meant."""
    found = dict[int, str]()
    for bone in armature.bones:
        if bone.dqik_number:
            found.setdefault(bone.dqik_number, bone.name)
    return found


def _follow(
    ob: bpy.types.Object, one: bpy.types.PropertyGroup, name: str, armature: bpy.types.Object, numbered: dict[int, str]
) -> bool:  # fmt: skip
    """Let a property name a renamed bone by its present name; returns whether it did."""
    present = getattr(one, name)
    known, number = _known(one).get(name, ("", 0))
    bone = armature.data.bones.get(present)
    if known != present or (bone is not None and bone.dqik_number == number):
        return False
    called = numbered.get(number)
    if called is None or called == present:
        return False
    if getattr(one, "name", "") == present and name == "bone":
        one.name = called
    setattr(one, name, called)
    return True


def _note(one: bpy.types.PropertyGroup, name: str, armature: bpy.types.Armature) -> None:
    """Note the bone that a property names, by its name and number."""
    present = getattr(one, name)
    bone = armature.bones.get(present)
    if bone is None:
        return
    if not bone.dqik_number and armature.library is None:
        bone.dqik_number = 1 + randbelow(_NUMBERS - 1)
    known = _known(one)
    if known.get(name) != (present, bone.dqik_number):
        one.known_bones = json.dumps(known | {name: (present, bone.dqik_number)})


def _known(one: bpy.types.PropertyGroup) -> dict[str, tuple[str, int]]:
    """The bones that settings knew, by the property that names them."""
    try:
        return {name: (str(bone), int(number)) for name, (bone, number) in json.loads(one.known_bones or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}
