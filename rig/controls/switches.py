# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of generated rigs between their controls: with them set to FK, the body follows what goals move."""

import json
from collections.abc import Mapping
from itertools import groupby

import bpy
from mathutils import Matrix

from ..blender import animation, generated_rigs
from ..figure.character import Character
from ..notes import Note


def others(ob: bpy.types.Object) -> list[tuple[bpy.types.PoseBone, str, float]]:
    """The switches of an armature object that are not set to FK: bone, name of the property, and its value for FK."""
    kind = generated_rigs.kind_of(ob.pose.bones.keys())
    wanted = {} if kind is None else kind.switches
    return [(bone, name, value) for name, value in wanted.items() for bone in ob.pose.bones
            if name in bone and bone[name] != value]  # fmt: skip


def refusal(ob: bpy.types.Object) -> Note | None:
    """Why switches cannot be set for good; None if they can."""
    for bone, name, _ in others(ob):
        if animation.animates(ob, f'{bone.path_from_id()}["{bpy.utils.escape_identifier(name)}"]'):
            return Note("{} of {} would switch back from FK: delete its keys, strips or driver first",
                        repr(name), repr(bone.name))
    return None


def to_fk(ob: bpy.types.Object) -> None:
    """Set all switches to FK; `restore` sets them back. The pose is not kept."""
    for bone, name, value in others(ob):
        bone.dqik_made_switches = json.dumps({**_before(bone), name: bone[name]})
        bone[name] = value
    ob.update_tag()
    bpy.context.view_layer.update()


def restore(ob: bpy.types.Object) -> None:
    """Set the switches back that were set for goals, unless keys of FK controls need them too. Neck and head stay."""
    set_here = [bone for bone in ob.pose.bones if bone.dqik_made_switches]
    if not set_here:
        return
    heads = [ob.pose.bones[bone] for bone, role in Character.of(ob).figure.roles.items()
             if role.name in ("neck", "head")]  # fmt: skip
    keyed, wanted = _is_keyed(ob), {bone.name: bone.matrix.copy() for bone in heads}
    for bone in set_here:
        for name, value in ({} if keyed else _before(bone)).items():
            if name in bone:
                bone[name] = value
        bone.property_unset("dqik_made_switches")
    if not keyed:
        ob.update_tag()
        bpy.context.view_layer.update()
        turn(ob, wanted)


def turn(ob: bpy.types.Object, wanted: Mapping[str, Matrix]) -> None:
    """Turn bones as they are wanted in armature space, whatever is between them; their locations and scales stay."""
    def depth(name: str) -> int:
        return len(ob.pose.bones[name].parent_recursive)

    for _, level in groupby(sorted(wanted, key=depth), depth):
        for name in level:
            bone = ob.pose.bones[name]
            location, scale = bone.location.copy(), bone.scale.copy()
            bone.matrix = wanted[name]
            bone.location, bone.scale = location, scale
        bpy.context.view_layer.update()


def _before(bone: bpy.types.PoseBone) -> dict[str, float]:
    """The values that switches of a bone had."""
    return json.loads(bone.dqik_made_switches or "{}")


def _is_keyed(ob: bpy.types.Object) -> bool:
    """Whether keys move FK controls."""
    kind, names = generated_rigs.kind_of(ob.pose.bones.keys()), [bone.name for bone in ob.pose.bones]
    return kind is not None and any(animation.moves(ob, name) for name in names if kind.name(name))
