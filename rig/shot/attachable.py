# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be attached to what."""

from collections.abc import Iterable
from typing import Any

import bpy

from ..blender import animation
from ..blender.dependencies import Bone, Dependencies, aimed_bones, aims_of
from ..blender.places import owner_of, world_matrix
from ..controls import goals
from ..figure.character import Character
from ..figure.short_names import called
from ..keys import attachments, keyable
from ..notes import Code, Note
from ..skeleton import couplings
from ..skeleton.plan import chain_of


def of_bone(ob: bpy.types.Object, name: str) -> Bone:
    """What moves a bone: the target of its goal, or the bone itself."""
    for goal in ob.dqik.goals:
        if goal.bone == name and goal.kind == "REACH" and goal.target is not None:
            return goal.target, goal.subtarget if goal.target.type == "ARMATURE" else ""
    return ob, name


def hand_of(ob: bpy.types.Object, name: str) -> Bone:
    """The bone that a control moves, or the bone itself if it is no control."""
    for goal in ob.dqik.goals:
        if goal.target == ob and goal.subtarget == name and goal.kind == "REACH":
            return ob, goal.bone
    return ob, name


def goal_of(owner: Bone) -> bpy.types.PropertyGroup | None:
    """The goal of which a bone or an object is the target."""
    ob, bone = owner
    for other in [ob] if bone else [one for one in bpy.context.view_layer.objects if one.type == "ARMATURE"]:
        for goal in other.dqik.goals:
            if goal.target == ob and goal.subtarget == bone and goal.kind == "REACH":
                return goal
    return None


def figure_of(goal: bpy.types.PropertyGroup) -> bpy.types.Object:
    """The armature object of a goal."""
    figure: Any = goal.id_data
    return figure


def name_of(tie: Bone) -> str:
    """The name of a bone, or of an object, as refusals have it."""
    return repr(tie[1] or tie[0].name)


def called_of(tie: Bone) -> str:
    """The part of the body that a bone is or moves, or the name of an object, as panels and reports have it."""
    ob, bone = tie
    return called(ob, bone) if bone and ob.type == "ARMATURE" else ob.name


def target_problem(target: Bone, depsgraph: bpy.types.Depsgraph) -> Note | None:
    """Why nothing can be attached to an object or a bone; None if it can."""
    ob, bone = target
    if bone and (ob.pose is None or bone not in ob.pose.bones):
        return Note(Code.HAS_NO_BONE, repr(ob.name), repr(bone))
    if (still := keyable.stands_still(ob, depsgraph)) is not None:
        return still
    if not abs(world_matrix(ob, bone, depsgraph).determinant()) > 0.0:
        return Note(Code.HAS_NO_SIZE, name_of(target))
    return None


def problem(owner: Bone, target: Bone | None = None) -> Note | None:
    """Why an owner cannot be attached to a target, or let go if there is none; None if it can."""
    ob, bone = owner
    held = owner_of(ob, bone)
    if held is None:
        return Note(Code.HAS_NO_BONE, repr(ob.name), repr(bone))
    note, goal = keyable.of_owners([held], ["scale"]), goal_of(owner)
    if note is None and goal is not None:
        figure, path = figure_of(goal), goal.path_from_id("rotation_follows")
        turns = goal.rotation_follows > 0.0 or animation.animates(figure, path)
        note = keyable.problem(figure, [path]) if turns else None
    if note is not None:
        return note
    if not attachments.are_all(held):
        return Note(Code.PLACE_NOT_OWN, name_of(owner))
    if bone and bone in solved_bones(ob):
        return Note("Goals move bone {}: select its control instead", repr(bone))
    if bone and held.bone.use_connect and held.parent is not None:
        return Note(Code.CANNOT_SLIDE, repr(bone))
    if target is not None and follows(target, owner):
        return Note("{} cannot be attached to {}, which follows it: attach it to something that does not",
                    name_of(owner), name_of(target))
    return None


def follows(target: Bone, owner: Bone) -> bool:
    """Whether the place of a target depends on that of what would be attached to it.

    Bones that goals move depend on all that their armature's solve reads. Armatures are solved one after the other, so
    one that reads any bone of another follows all of it.
    """
    links, seen = Dependencies(), set[tuple[Bone, bool]]()
    left: list[tuple[Bone, bool]] = [(target, False)]
    while left:
        here, by_solve = left.pop()
        if (here, by_solve) in seen:
            continue
        seen.add((here, by_solve))
        ob, name = here
        if here == owner or (by_solve and owner[1] and name and ob == owner[0]):
            return True
        left += ((other, by_solve) for other in links.direct(ob, name))
        if name and len(ob.dqik.goals):
            other_figure = ob != owner[0]
            if other_figure or name in solved_bones(ob):
                left += ((aim, other_figure or by_solve) for aim in aims_of(ob))
    return False


def solved_bones(ob: bpy.types.Object) -> set[str]:
    """The names of the bones that the goals of an armature object may move, also goals that count on other frames.

    Bones that are coupled to these move with them.
    """
    armature, names = Character.of(ob).armature, ob.pose.bones.keys()
    moved: set[int] = set()
    counting = goals.counting(ob)
    for goal in counting:
        number = armature.index[goal.bone]
        moved |= set(chain_of(goal, armature.above(number), ob.pose.bones[number].dqik_translate))
    found = _named(names, couplings.together(couplings.links(ob, armature.index, []), moved))
    for name in aimed_bones(ob.original, counting):
        found -= _named(names, armature.above(armature.index[name]))
    return found


def hidden_by_live(ob: bpy.types.Object, names: Iterable[str]) -> Note | None:
    """Why keys of bones would not be seen: Live's goals move one of them; None if they do not."""
    moved = solved_bones(ob) if ob.dqik.live else set[str]()
    return next((Note("Bone {} is moved by a goal: mute the goal, or bake first",
                      repr(name)) for name in names if name in moved), None)


def _named(names: list[str], bones: Iterable[int]) -> set[str]:
    return {names[bone] for bone in bones}
