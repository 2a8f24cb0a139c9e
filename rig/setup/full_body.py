# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for hands, feet and head of a human figure."""

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
    """Bones with a new goal, bones that had a goal before, the hips that may now move, and the parts not found."""

    new_goals: list[str] = field(default_factory=list)
    old_goals: list[str] = field(default_factory=list)
    hips: str = ""
    missing: list[str] = field(default_factory=list)


def set_up(ob: bpy.types.Object, scene: bpy.types.Scene, use_rotation: bool) -> SetUp:
    """Add goals for hands, feet and head. They move all bones up to the hips, which may then move as well as turn.

    Targets are empties in a collection of their own. They are at the bones' heads (wrists, ankles, the top of the
    neck), or at the tails if `use_rotation` is off. Bones that have a goal keep it.
    """
    armature, result = Armature(ob), SetUp()
    bone_roles = roles.of(ob, armature).roles
    bones = {role: bone for bone, role in bone_roles.items()}
    names = list(armature.index)
    hips = bones.get(Role("hips"))
    bones_with_goals = {goal.bone for goal in ob.dqik.goals}
    for role, words in ENDS.items():
        bone, turns = bones.get(role), use_rotation
        if bone is None and role.name == "foot":  # a leg without a foot has its goal at the end of the shin
            bone, turns = bones.get(Role("shin", role.side)), False
        if bone is None:
            result.missing.append(words)
        elif names[bone] in bones_with_goals:
            result.old_goals.append(names[bone])
        else:
            _add_goal(ob, scene, names[bone], _chain_length(armature, bone, hips, turns), turns)
            result.new_goals.append(names[bone])
    if result.new_goals or result.old_goals:
        if hips is None:
            result.missing.append("hips")
        else:
            ob.pose.bones[names[hips]].dqik_translate = True
            result.hips = names[hips]
    return result


def _chain_length(armature: Armature, bone: int, hips: int | None, use_rotation: bool) -> int:
    """The number of bones from an end to the hips; 0 (to the root) if the hips are the root."""
    above = armature.above(bone)
    if hips not in above or above[-1] == hips:
        return 0
    return above.index(hips) + (0 if use_rotation else 1)  # the chain of a goal at the head begins with the parent


def _add_goal(ob: bpy.types.Object, scene: bpy.types.Scene, bone: str, chain_length: int, use_rotation: bool) -> None:
    goal = constraints.new_goal(ob, bone, chain_length, use_rotation)
    goal.use_tail = not use_rotation
    goal.target = constraints.new_target(ob, bone, goal.use_tail, _collection(ob, scene))


def _collection(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of an armature's targets; created if there is none."""
    name = f"{ob.name} targets"
    collection = next((child for child in scene.collection.children_recursive if child.name == name), None)
    if collection is None:
        collection = bpy.data.collections.new(name)
        scene.collection.children.link(collection)
    return collection
