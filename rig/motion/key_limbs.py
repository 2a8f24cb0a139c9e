# SPDX-License-Identifier: GPL-3.0-or-later
"""What is keyed on the same frames: the bones of a limb, with the controls that lead it."""

from collections.abc import Sequence

import bpy

from ..controls import goals
from ..figure.character import Character
from ..figure.parts import LIMBS
from .reduce_keys import Dense, key_of

_LIMBS = {part: limb for limb, parts in LIMBS.items() for part in parts} | {
    "finger": "fingers", "spine": "trunk", "neck": "trunk", "head": "trunk",
}  # fmt: skip

_Limb = tuple[str, ...]


def number_limbs(ob: bpy.types.Object, every: Sequence[Dense]) -> None:
    """Give everything that has dense keys the number of its limb.

    Limbs are arms, legs, the fingers of a hand, and spine, neck and head as one. A bone without a role goes with the
    one above if that has no other child, so tails and strands of hair are limbs too. A control goes with the bones that
    its goals lead.
    """
    bones = _of_bones(ob)
    led = dict[tuple[str, str], set[_Limb]]()
    for goal in goals.counting(ob):
        for target in goals.target_owners([goal]):
            led.setdefault(key_of(target), set()).add(bones[goal.bone])
    numbers = dict[_Limb, int]()
    for one in every:
        key = one.ob.name, one.bone
        limb: _Limb = bones.get(one.bone, key) if one.ob == ob else key
        if len(led.get(key, ())) == 1:
            limb = next(iter(led[key]))
        one.limb = numbers.setdefault(limb, len(numbers))


def _of_bones(ob: bpy.types.Object) -> dict[str, _Limb]:
    """The limb of each bone."""
    names, found = ob.pose.bones.keys(), dict[str, _Limb]()
    roles = {names[bone]: role for bone, role in Character.of(ob).figure.all_roles.items() if role.name != "twist"}
    for bone in sorted(ob.pose.bones, key=lambda bone: len(bone.parent_recursive)):
        role, above = roles.get(bone.name), bone.parent
        if role is not None:
            found[bone.name] = _LIMBS.get(role.name, role.name), role.side
        elif above is not None and len(above.children) == 1:
            found[bone.name] = found[above.name]
        else:
            found[bone.name] = bone.name, "only"
    return found
