# SPDX-License-Identifier: GPL-3.0-or-later
"""What an armature's goals ask for and may move, from the public properties and Blender's evaluation."""

from collections.abc import Iterator
from math import isfinite

import bpy
import numpy as np
from mathutils import Matrix
from rigs import evaluated
from vocabulary import armatures, library_of, shown

Key = tuple[str, str]


def key_of(ob: bpy.types.ID) -> Key:
    return ob.name, library_of(ob)


def size(ob: bpy.types.Object) -> float:
    """An armature's largest extent at rest, which tolerances refer to."""
    points = [point for one in ob.data.bones for point in (one.head_local, one.tail_local)]
    return float(np.ptp(np.array(points), axis=0).max()) if points else 1.0


def chain(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> list[bpy.types.PoseBone]:
    """The bones that a goal may move. As in Blender's own IK the length is counted from where the goal's end is."""
    one = ob.pose.bones.get(goal.bone)
    line = [] if one is None else [one, *one.parent_recursive]
    from_own = goal.use_tail or goal.kind == "LOOK_AT"
    return line[: goal.chain_length + (not from_own)] if goal.chain_length > 0 else line


def loop_carriers(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> list[bpy.types.PoseBone]:
    """The bones that carry the target of a goal with *Close Loop*, which it may move too."""
    target = ob.pose.bones.get(goal.subtarget) if goal.close_loop and goal.target == ob.original else None
    return [] if target is None or goal.kind != "REACH" else [target, *target.parent_recursive]


def turned(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> list[bpy.types.PoseBone]:
    """The bones of a goal's chain that it surely moves: a goal of balance moves those of the others."""
    if goal.kind == "BALANCE":
        return []
    from_own = goal.use_tail or goal.kind == "LOOK_AT" or (goal.kind == "REACH" and goal.use_rotation)
    return chain(ob, goal)[not from_own :]


def coupled(ob: bpy.types.Object, names: set[str]) -> set[str]:
    """Names of bones, and of those that are coupled to them, also through others."""
    pairs, found = [{one.bone, one.leader} for one in ob.dqik.couplings], set(names)
    while more := {name for pair in pairs if pair & found for name in pair} - found:
        found |= more
    return found


def chains(ob: bpy.types.Object) -> set[str]:
    """Names of the bones in the chains of an armature's goals, muted or not, and of those coupled to them."""
    return coupled(ob, {one.name for goal in ob.dqik.goals for one in (*chain(ob, goal), *loop_carriers(ob, goal))})


def target_matrix(goal: bpy.types.PropertyGroup) -> Matrix | None:
    """A goal's target in the world as Blender evaluates it, or None where there is none and one is needed."""
    if goal.target is None:
        return Matrix() if goal.kind == "BALANCE" and goal.side == "WITHIN" else None
    target = evaluated(goal.target)
    if goal.subtarget and target.type == "ARMATURE":
        one = target.pose.bones.get(goal.subtarget)
        return None if one is None else target.matrix_world @ one.matrix
    return target.matrix_world.copy()


def finite(matrix: Matrix) -> bool:
    return all(isfinite(x) for row in matrix for x in row)


def active_goals(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.PropertyGroup, Matrix]]:
    """The goals that have an effect at this frame, as the evaluated object holds them, and where their targets are."""
    for goal, original in zip(evaluated(ob).dqik.goals, ob.dqik.goals, strict=False):
        without = goal.kind == "REACH" and not (goal.use_position or goal.use_rotation)
        if goal.mute or goal.influence <= 0.0 or without:
            continue
        matrix = target_matrix(original)
        if goal.bone in ob.pose.bones and matrix is not None and finite(matrix):
            yield goal, matrix


def rolled(ob: bpy.types.Object) -> set[str]:
    """Names of the bones of goals whose control has a roll, which turns their targets, and of the bones below them."""
    names = set()
    for goal in ob.dqik.goals:
        own = None if goal.target is None else evaluated(goal.target)
        if own is not None and own.type == "ARMATURE":
            own = own.pose.bones.get(goal.subtarget)
        if getattr(own, "dqik_roll", 0.0) != 0.0:
            names.add(goal.bone)
    return {one.name for one in ob.pose.bones if names & {one.name, *(above.name for above in one.parent_recursive)}}


def is_live(ob: bpy.types.Object) -> bool:
    return evaluated(ob).dqik.live


def history_matters(previous: bool = True) -> bool:
    """Whether poses may depend on the frames before: by a setting, by a target that Blender does not evaluate, by a
    driver that Blender has given up until the file is read again, or since something follows itself.

    previous : count *Previous Frame* among the settings.
    """
    if any(not curve.driver.is_valid for ob in shown() if drives(ob) for curve in ob.animation_data.drivers):
        return True
    targets = [target for ob in shown() for goal in ob.dqik.goals for target in (goal.target, goal.pole_target)]
    targets += [other for ob in shown() for other in obstacles(ob)]
    if any(target is not None and target.hide_viewport for target in targets):
        return True
    return (previous and any(follows_previous(ob) for ob in shown())) or follows_itself()


def follows_previous(ob: bpy.types.Object) -> bool:
    return is_live(ob) and ob.dqik.start_from == "PREVIOUS"


def obstacles(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that an armature's bones keep out of."""
    found = [ob.dqik.floor if ob.dqik.use_floor else None, *(one.object for one in ob.dqik.avoid)]
    return [other for other in found if other is not None]


Node = tuple[bpy.types.Object, str]
"""An object, or one of its bones by name."""


def behind(ob: bpy.types.Object, name: str) -> Iterator[Node]:
    """What an object, or one of its bones, follows directly by parents, constraints and goals."""
    if ob.parent is not None:
        yield ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""
    owners = [ob]
    if ob.type == "ARMATURE" and name in ob.pose.bones:
        one = ob.pose.bones[name]
        yield ob, ""
        if one.parent is not None:
            yield ob, one.parent.name
        owners += [one, *_pulled(ob)]
        for goal in ob.dqik.goals:
            moved = (*chain(ob, goal), *loop_carriers(ob, goal))
            if (one in moved or goal.kind == "BALANCE") and not _takes_bone(goal):
                yield from _aims(goal)
        if name in chains(ob):
            yield from ((other, "") for other in obstacles(ob) if other.parent != ob)  # such a one is left out
    for owner in owners:
        for constraint in owner.constraints:
            yield from _aims(constraint)


def _takes_bone(goal: bpy.types.PropertyGroup) -> bool:
    """Whether a goal's target is a bone of its own armature that may be solved with it."""
    takes = goal.kind in ("LOOK_AT", "DISTANCE") or (goal.kind == "REACH" and goal.close_loop)
    return takes and goal.target == goal.id_data and goal.pole_target is None and not goal.rotation_follows


def _pulled(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The bones in chains of Blender's IK constraints, whose own constraints come before the whole chain."""
    ends = [(one, made.chain_count) for one in ob.pose.bones for made in one.constraints if made.type == "IK"]
    return [one for end, count in ends for one in (end, *end.parent_recursive)[: count or None]]


def _aims(owner: bpy.types.bpy_struct) -> Iterator[Node]:
    for end in ("", "pole_"):
        target = getattr(owner, f"{end}target", None)
        if target is not None:
            yield target, getattr(owner, f"{end}subtarget", "") if target.type == "ARMATURE" else ""


def all_behind(ob: bpy.types.Object, name: str = "") -> set[tuple[Key, str]]:
    """What an object, or one of its bones, follows, also through others."""
    seen: set[tuple[Key, str]] = set()
    left = [(ob, name)]
    while left:
        for other, part in behind(*left.pop()):
            if (key_of(other), part) not in seen:
                seen.add((key_of(other), part))
                left.append((other, part))
    return seen


def follows_itself() -> bool:
    """Whether what a goal or a constraint moves also moves its own target."""
    starts = [(ob, one.name) for ob in armatures() if ob.pose for one in ob.pose.bones]
    starts += [(ob, "") for ob in bpy.data.objects if len(ob.constraints)]
    return any((key_of(ob), name) in all_behind(ob, name) for ob, name in starts)


def carriers(ob: bpy.types.Object) -> set[str]:
    """Names of an armature's bones that goals' own targets follow, which no goal of it moves."""
    starts = [aim for goal, _ in active_goals(ob) if goal.own_target for aim in _aims(goal)]
    return {part for start in starts for key, part in all_behind(*start) if key == key_of(ob)}


def figures_behind(ob: bpy.types.Object) -> set[Key]:
    """The other armatures that an armature follows, with what it hangs on and what its goals aim at."""
    names = ["", *(one.name for one in ob.pose.bones)]
    found = {key for name in names for key, _ in all_behind(ob, name)}
    return found & {key_of(other) for other in armatures()} - {key_of(ob)}


def drives(ob: bpy.types.ID) -> bool:
    """Whether anything on an object is driven."""
    return ob.animation_data is not None and len(ob.animation_data.drivers) > 0


def solved_bones(ob: bpy.types.Object) -> set[str]:
    """Names of the bones in the chains of the goals that count, but those that are locked or do not turn at all."""
    goals = [goal for goal, _ in active_goals(ob)] if is_live(ob) else []
    names = coupled(ob, {one.name for goal in goals for one in (*chain(ob, goal), *loop_carriers(ob, goal))})
    return {one.name for one in evaluated(ob).pose.bones
            if one.name in names and not one.dqik_lock and one.dqik_stiffness < 1.0}  # fmt: skip


def solved_alone(ob: bpy.types.Object) -> set[str]:
    """Names of the bones that the goals surely move: nothing locks, constrains or drives them, the report has no
    objection, and no goal is left out."""
    if not is_live(ob) or ob.dqik.status.message or ob.data.pose_position == "REST" or drives(ob):
        return set()
    goals = [goal for goal, _ in active_goals(ob)]
    return {
        one.name for goal in goals for one in turned(ob, goal)
        if not one.dqik_lock and not len(one.constraints) and one.dqik_stiffness < 1.0
    }  # fmt: skip
