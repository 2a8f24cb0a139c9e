# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of bones that Blender's mirrored paste has copied from the other side.

Blender pastes custom properties with the pose, and mirrors only the pose. So each bone stores whose role, limits and
preferred bend it has; if they are the counterpart's, they are replaced by their mirror images.

Whether a limb follows its goal is a setting of the goal, which no paste reaches. So the goal's bone and the bone that
is its target store it too (`dqik_switch`), with whose it is. Where both have come from the other side, the goal takes
over what the goal there had when the pose was copied.
"""

from collections.abc import Iterable
from functools import cache
from zlib import crc32

import bpy

from ..figure import roles
from . import mirror


@cache
def number(name: str) -> int:
    """A positive number for the name of a bone, to be stored as the owner of settings, also in single precision."""
    return crc32(name.encode()) % 0xFFFFFF + 1


def mend(ob: bpy.types.Object) -> None:
    """Mirror the settings of bones that come from their counterparts."""
    bones = [bone for bone in ob.pose.bones if is_counterparts(bone, bone.dqik_owner)]
    for bone in bones:
        bone.dqik_role = roles.mirrored(bone.dqik_role)
    if bones:
        mirror.mirror_pasted(ob, bones)


def is_counterparts(bone: bpy.types.PoseBone, owner: int) -> bool:
    """Whether the owner of a bone's settings is its counterpart, which exists."""
    if owner in (0, number(bone.name)):
        return False
    other = bpy.utils.flip_name(bone.name)
    return other in bone.id_data.pose.bones and owner == number(other)


def note_switches(ob: bpy.types.Object) -> None:
    """Store how far goals lead their limbs now on the bones that are their targets, and whose these are on both."""
    targets: dict[str, tuple[float, float, float]] = {}
    for goal in ob.dqik.goals:
        for bone in _bones(ob, goal)[:1]:
            if bone.dqik_switch[2] != number(bone.name):
                bone.dqik_switch[2] = number(bone.name)
            share = 0.0 if goal.mute else goal.influence
            targets.setdefault(goal.subtarget, (share, float(goal.leads_body), float(number(goal.subtarget))))
    for name, values in targets.items():
        if tuple(ob.pose.bones[name].dqik_switch) != values:
            ob.pose.bones[name].dqik_switch = values


def switched(ob: bpy.types.Object) -> list[int]:
    """The goals, by number, whose bones and targets have both come from the other side and were not mended yet."""
    return [
        number for number, goal in enumerate(ob.dqik.goals)
        if (bones := _bones(ob, goal)) and all(is_counterparts(bone, int(bone.dqik_switch[2])) for bone in bones)
    ]  # fmt: skip


def are_all(ob: bpy.types.Object, numbers: Iterable[int]) -> bool:
    """Whether these goals are all that a mirrored paste can reach."""
    return set(numbers) == {number for number, goal in enumerate(ob.dqik.goals) if _bones(ob, goal)}


def mend_switches(ob: bpy.types.Object, numbers: Iterable[int]) -> None:
    """Let goals lead their limbs as the goals of the other side did when the pose was copied."""
    for number in numbers:
        goal = ob.dqik.goals[number]
        share, leads = tuple(_bones(ob, goal)[-1].dqik_switch)[:2]
        goal.influence = share
        goal.mute &= share == 0.0
        goal.leads_body |= bool(leads)


def _bones(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> tuple[bpy.types.PoseBone, ...]:
    """The bone of a goal that has a side, and the bone of the armature that is its target; none if one is lacking."""
    bone, target = ob.pose.bones.get(goal.bone), ob.pose.bones.get(goal.subtarget)
    if bone is None or target is None or goal.target is None or goal.target.original != ob.original:
        return ()
    return (bone, target) if bpy.utils.flip_name(bone.name) != bone.name else ()
