# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for the ends of a human figure."""

from dataclasses import dataclass, field

import bpy

from ..blender.armature import Armature
from . import constraints, roles
from .roles import Role

ENDS = {
    Role("hand", roles.LEFT): "left hand", Role("hand", roles.RIGHT): "right hand",
    Role("foot", roles.LEFT): "left foot", Role("foot", roles.RIGHT): "right foot",
    Role("head"): "head",
}  # fmt: skip


@dataclass
class SetUp:
    """What was done: bones that got a goal, that had one, the hips that may move, and what was not found."""

    made: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    hips: str = ""
    missing: list[str] = field(default_factory=list)


def set_up(ob: bpy.types.Object, scene: bpy.types.Scene, use_rotation: bool) -> SetUp:
    """Goals for hands, feet and head that move all bones up to the hips, which may then move as well as turn.

    Targets are empties at the bones' heads (wrists, ankles, the top of the neck), in a collection of their own; at the
    tails where goals ask for no rotation. Bones that have a goal keep it.
    """
    armature, done = Armature(ob), SetUp()
    found = roles.find(list(armature.index), armature.parent.tolist())
    bones = {role: bone for bone, role in found.items()}
    names = list(armature.index)
    hips = bones.get(Role("hips"))
    served = {goal.bone for goal in ob.dqik.goals}
    for role, words in ENDS.items():
        bone = bones.get(role)
        if bone is None:
            done.missing.append(words)
        elif names[bone] in served:
            done.there.append(names[bone])
        else:
            _add_goal(ob, scene, names[bone], _chain_length(armature, bone, hips, use_rotation), use_rotation)
            done.made.append(names[bone])
    if done.made or done.there:
        if hips is None:
            done.missing.append("hips")
        else:
            ob.pose.bones[names[hips]].dqik_translate = True
            done.hips = names[hips]
    return done


def _chain_length(armature: Armature, bone: int, hips: int | None, use_rotation: bool) -> int:
    """Bones from one end to the hips; 0, which is to the root, where there is nothing above the hips."""
    above = armature.above(bone)
    if hips not in above or above[-1] == hips:
        return 0
    return above.index(hips) + (0 if use_rotation else 1)  # a goal at a bone's head counts from the parent


def _add_goal(ob: bpy.types.Object, scene: bpy.types.Scene, bone: str, chain_length: int, use_rotation: bool) -> None:
    goal = constraints.new_goal(ob, bone, chain_length, use_rotation)
    goal.use_tail = not use_rotation
    goal.target = constraints.new_target(ob, bone, goal.use_tail, _collection(ob, scene))


def _collection(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of an armature's targets."""
    name = f"{ob.name} targets"
    known = next((child for child in scene.collection.children_recursive if child.name == name), None)
    if known is None:
        known = bpy.data.collections.new(name)
        scene.collection.children.link(known)
    return known
