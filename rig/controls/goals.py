# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding goals with their own targets, putting targets where bones are, and removing goals with what belongs to them.

A target made for a goal is a control bone of the armature, or an empty where the armature cannot be edited. The goal
owns it: it is removed with the goal.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from .. import curves
from ..blender import animation
from ..blender.armature import is_finite
from ..blender.dependencies import aims, control_bones
from ..blender.limit_frame import LimitFrame
from ..blender.places import Owner, converted, owner_of, world_matrix
from ..figure.character import Character
from ..keys import attachments, keying, users
from ..notes import Note
from ..skeleton import foot_roll, limits
from ..skeleton.poles import Poles
from . import control_parents, controls, rotation_space, selection, switches
from .controls import Control

KEYED_INFLUENCE = 1e-3
"""With this influence a goal holds its bone where keys put it, wherever its target is; at 0 it would have no effect."""

MADE = "dqik_made"
"""A custom property that marks collections which were made for targets, and may be removed with the last of these."""

PIN, REPLACED, RAISED = 1, 2, 3
"""What `pin` of a goal says: it is a pin; a pin has muted it; an earlier version has made it the pin of its bone."""

_NOTES = 3  # most things that stay which one report names
TARGET_SIZE = 0.04  # of the armature's size: an empty's
_GOAL_PATH = re.compile(r"dqik\.goals\[(\d+)\]")
_REMOVED = "removed."  # what the data paths of curves that go begin with meanwhile


def new_goal(
    ob: bpy.types.Object, bone: str, chain_length: int = 0, use_rotation: bool = False
) -> bpy.types.PropertyGroup:
    """Add a goal for a bone and make it the active one."""
    settings = ob.dqik
    goal = settings.goals.add()
    goal.name = goal.bone = bone
    goal.chain_length, goal.use_rotation = chain_length, use_rotation
    with selection.quiet():
        settings.active_goal = len(settings.goals) - 1
    return goal


def add_control_bones(ob: bpy.types.Object, wanted: Sequence[tuple[int, Control]]) -> None:
    """Add a control bone for each goal, given by its number, as its target; at the bone's present place."""
    if wanted:
        names = controls.add(ob, [control for _, control in wanted], Character.of(ob).size)
        aim_at_controls(ob, dict(zip((number for number, _ in wanted), names, strict=True)))


def aim_at_controls(ob: bpy.types.Object, own: Mapping[int, str]) -> None:
    """Make new control bones the targets of goals, by number, and put them at their bones' present places."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = places(ob, own, depsgraph, own=own)  # before the goals count, which may move the bones
    for number, name in own.items():
        goal = ob.dqik.goals[number]
        goal.target, goal.subtarget, goal.own_target = ob, name, True
        rotation_space.show_control(ob, goal)
    put_targets(ob, found, depsgraph)


def add_empty(ob: bpy.types.Object, number: int, collection: bpy.types.Collection | None = None) -> None:
    """Give a goal, by its number, an empty of its own as its target; at its bone's present place."""
    goal = ob.dqik.goals[number]
    empty = new_empty(ob, goal.bone, goal.use_tail, collection)
    end = end_of(ob, goal.bone, goal.use_tail)
    wanted = ob.matrix_world @ rotation_space.target_for(ob, goal, goal.rotation_follows, end)
    empty.rotation_quaternion = wanted.to_quaternion()
    goal.target, goal.own_target, goal.made_empty = empty, True, empty


def drop_empty(ob: bpy.types.Object, empty: bpy.types.Object) -> None:
    """Remove an empty that was a goal's own target, unless it is keyed, linked, or anything else uses it."""
    if curves.action_of(empty) is None and empty.library is None and not users.kept(ob, [], [empty]):
        _remove_empty(empty)


def new_empty(
    ob: bpy.types.Object, bone: str, at_tail: bool = True, collection: bpy.types.Collection | None = None
) -> bpy.types.Object:
    """Create an empty at a bone's tail or head, turned like the bone. Its collection is the armature's by default."""
    empty = bpy.data.objects.new(f"{bone} target", None)
    size = max(ob.dimensions)
    empty.empty_display_type = "CUBE"
    empty.empty_display_size = TARGET_SIZE * max(size, 1e-3) if size > 0.0 else ob.pose.bones[bone].length / 2
    empty.rotation_mode = "QUATERNION"
    matrix = ob.matrix_world @ end_of(ob, bone, at_tail)
    empty.location, empty.rotation_quaternion = matrix.translation, matrix.to_quaternion()
    own = [holder for holder in ob.users_collection if holder.library is None and holder.override_library is None]
    for holder in [collection] if collection else own or [bpy.context.scene.collection]:
        holder.objects.link(empty)
    if ob.dqik.targets_follow:
        set_follow(ob, [empty], True)
    return empty


def set_follow(ob: bpy.types.Object, targets: Iterable[bpy.types.Object], follow: bool) -> None:
    """Parent targets without a parent to the armature object, or clear that parent; they stay where they are."""
    for target in targets:
        if follow and target.parent is None and target.library is None:
            target.parent, target.matrix_parent_inverse = ob, ob.matrix_world.inverted_safe()
        elif not follow and target.parent == ob and target.parent_type == "OBJECT":
            matrix = ob.matrix_world @ target.matrix_parent_inverse @ target.matrix_basis
            target.parent = None
            target.matrix_basis = matrix


def own_empties(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects, other than the armature, that are targets or poles of its goals, each once."""
    targets = (target for goal in ob.dqik.goals for target, _ in aims(goal))
    return list(dict.fromkeys(target for target in targets if target.type != "ARMATURE"))


class Place(NamedTuple):
    """Where a goal's target belongs for its bone to be where it is, and where its pole belongs, if anywhere.

    end : a world matrix, at the bone's tail or head. own : the same in the space of the armature, if that is known: the
    way through the world rounds where the armature is far away.
    """

    end: Matrix
    pole: Vector | None
    own: Matrix | None = None


def places(
    ob: bpy.types.Object, numbers: Iterable[int], depsgraph: bpy.types.Depsgraph, follows: float | None = None,
    own: Mapping[int, str] | None = None, rolls: bool = True,
) -> dict[int, Place]:  # fmt: skip
    """The places of goals in the present pose, by number.

    follows : replaces their `rotation_follows`. own : the control bones that become their targets, by number.
    rolls : whether feet roll as they do; else they will not.
    """
    evaluated, found = ob.evaluated_get(depsgraph), {}
    poles = Poles(evaluated, depsgraph)
    for number in numbers:
        goal = ob.dqik.goals[number]
        if goal.bone in ob.pose.bones and belongs_at_bone(goal):
            share = goal.rotation_follows if follows is None else follows
            end = end_of(evaluated, goal.bone, goal.use_tail)
            end = rotation_space.target_for(evaluated, goal, share, end, own[number] if own else "", rolls)
            pole = poles.spot(goal) if goal.pin != PIN else None  # a pin's is another goal's
            found[number] = Place(evaluated.matrix_world @ end, pole, end)
    return found


def belongs_at_bone(goal: bpy.types.PropertyGroup) -> bool:
    """Whether the target of a goal is put to its bone: that of a Reach goal, unless bones of a closed loop carry it."""
    return goal.kind == "REACH" and not goal.close_loop


def end_of(ob: bpy.types.Object, bone: str, at_tail: bool) -> Matrix:
    """The matrix of a bone's tail or head, in the space of its armature object."""
    found = ob.pose.bones[bone]
    matrix = found.matrix.copy()
    matrix.translation = found.tail if at_tail else found.head
    return matrix


def put_targets(
    ob: bpy.types.Object, wanted: dict[int, Place], depsgraph: bpy.types.Depsgraph,
    staying: Mapping[str, Matrix] | None = None,
) -> list[str]:  # fmt: skip
    """Move the targets and poles of goals to places, by number. Returns the names of goals for which it cannot.

    staying : other bones of the armature that stay, by name, at matrices in its space, though what they hang on moves.
    """
    left: list[str] = []
    moved: dict[tuple[bpy.types.Object, str], Matrix] = {}  # bones whose children come after them
    staying, world = staying or {}, ob.evaluated_get(depsgraph).matrix_world
    # Sorted by depth, so that the parents come first.
    for number in sorted([*wanted, *staying], key=lambda one: _depth(*_target_of(ob, one))):
        if isinstance(number, str):
            _put(ob, number, world @ staying[number], True, depsgraph, moved)
            continue
        goal = ob.dqik.goals[number]
        turn = goal.use_rotation or goal.own_target
        fixed = goal.target is None or (goal.use_position and is_connected(goal.target, goal.subtarget))
        end, _, own = wanted[number]
        own = own if goal.target == ob else None
        done = not fixed and _put(goal.target, goal.subtarget, end, turn, depsgraph, moved, own)
        if not done or any(owner_of(*aim) is None for aim in aims(goal)):
            left.append(goal.name)
    for number, (_, pole, _) in wanted.items():  # after the targets, on which they may hang
        goal = ob.dqik.goals[number]
        if pole is not None:
            matrix = world_matrix(goal.pole_target, goal.pole_subtarget, depsgraph).copy()
            matrix.translation = pole
            fixed = is_connected(goal.pole_target, goal.pole_subtarget)
            if fixed or not _put(goal.pole_target, goal.pole_subtarget, matrix, False, depsgraph, moved):
                left.append(goal.name)
    return list(dict.fromkeys(left))


def key_targets(ob: bpy.types.Object, numbers: Iterable[int], frame: float, auto: bool = False) -> bool:
    """Key the place and rotation of the targets and poles of goals at a frame. auto : as in `keying.adds_curves`.

    Returns False if Blender's preferences have left one out.
    """
    keyed = True
    for owner in target_owners(ob.dqik.goals[number] for number in numbers):
        keyed &= key_target(owner, frame, auto)
    return keyed or keying.adds_curves(auto)


def key_target(owner: Owner, frame: float, auto: bool = False) -> bool:
    """Key the place and rotation of a target, an object or a bone, at a frame. Returns whether they were keyed.

    auto : as in `keying.adds_curves`.
    """
    data = owner.id_data.animation_data
    if data is not None and data.action is not None and data.action.library is not None:
        return False  # the keys would be lost
    try:
        return keying.key(owner, frame, auto)
    except RuntimeError:  # its action is linked, or the NLA refuses: `placing` finds that
        return False


def key_control(owner: Owner, frame: float) -> bool:
    """Key the place and rotation of a control at a frame, and its roll if that is in use; returns whether it was."""
    keyed = key_target(owner, frame)
    if keyed and foot_roll.is_used_by(owner):
        keying.key_path(owner, foot_roll.ROLL, frame)
    return keyed


def controls_of(ob: bpy.types.Object) -> list[Owner]:
    """What animates a body, each once: targets and poles that are no other bodies', and other controls not hidden."""
    bones, found = control_bones(ob), list[Owner]()
    for owner in target_owners(ob.dqik.goals):
        other = owner.type == "ARMATURE" if isinstance(owner, bpy.types.Object) else owner.id_data != ob
        if not other and (owner == owner.id_data or owner.name in bones):
            found.append(owner)
    if ob.library is None:
        found += (bone for bone in controls.of(ob) if not control_parents.is_pivot(bone.name))
    return list(dict.fromkeys(found))


def target_owners(goals: Iterable[bpy.types.PropertyGroup]) -> list[Owner]:
    """The targets and poles of goals that are not linked: objects, or bones."""
    ends = [aim for goal in goals for aim in aims(goal) if aim[0].library is None]
    return [owner_of(target, name) or target for target, name in ends]


def counting(ob: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """The goals of an armature's bones that count on some frame: they are not muted, or their mute is animated."""
    return [goal for goal in ob.dqik.goals if goal.bone in ob.pose.bones
            and not (goal.mute and not animation.animates(ob, goal.path_from_id("mute")))]  # fmt: skip


def remove(ob: bpy.types.Object, numbers: Iterable[int]) -> list[Note]:
    """Remove goals with the targets that they own; after the last one, the settings made for them go back too.

    Targets that anything else uses stay. A library override cannot remove a goal of its library: such goals are muted.
    Returns notes about what stays.
    """
    settings, notes = ob.dqik, list[Note]()
    bones: list[str] = []
    empties: list[bpy.types.Object] = []
    for number in sorted(numbers, reverse=True):
        goal = settings.goals[number]
        own = (goal.target, goal.subtarget) if goal.own_target else (None, "")
        pole = _own_pole(ob, goal)
        try:
            settings.goals.remove(number)
        except TypeError:  # raised for a goal of the library
            settings.goals[number].mute = True
            name = settings.goals[number].name
            notes.append(Note("Goal {} belongs to the library file, so it was muted instead of removed", repr(name)))
            continue
        if pole and pole not in bones:
            bones.append(pole)
        _drop_keys(ob, number)
        if own[0] == ob and own[1] not in bones:
            bones.append(own[1])
        elif own[0] is not None and own[0].type == "EMPTY" and own[0].library is None and own[0] not in empties:
            empties.append(own[0])
    with selection.quiet():
        settings.active_goal = max(min(settings.active_goal, len(settings.goals) - 1), 0)
    last = not any(goal.own_target for goal in settings.goals)
    bones += control_parents.left_over(ob, bones, last)
    control_parents.release(ob, bones)
    kept = users.kept(ob, bones, empties)
    for (target, bone), user in kept.items():
        notes.append(Note("Kept control bone {}: {}" if bone else "Kept target {}: {}",
                          repr(bone or target.name), user.how))
    notes += controls.remove(ob, [bone for bone in bones if (ob, bone) not in kept])
    for empty in empties:
        if (empty, "") not in kept:
            _remove_empty(empty)
    if last:
        restore(ob)
    settings.solver = settings.solver  # remove() calls no update callback, so set a property that does
    return [*notes[:_NOTES], Note("and {} more", len(notes) - _NOTES)] if len(notes) > _NOTES else notes


def let_translate(bone: bpy.types.PoseBone) -> None:
    """Switch Translate on for the goals; `restore` switches it off again."""
    if not bone.dqik_translate:
        bone.dqik_translate = bone.dqik_made_translate = True


def stiffen(bone: bpy.types.PoseBone, stiffness: float) -> None:
    """Set the stiffness of a bone that has none, for the goals; `restore` takes it away again."""
    if bone.dqik_stiffness == 0.0:
        bone.dqik_stiffness = stiffness
        bone.dqik_made_stiffness = bone.dqik_stiffness


def limit(bone: bpy.types.PoseBone, lo: Iterable[float], hi: Iterable[float], frame: LimitFrame) -> None:
    """Set the limits of a bone that has none, for the goals; `restore` takes them away again."""
    limits.put(bone, lo, hi, frame)
    bone.dqik_made_limits = limits.values(bone)


def restore(ob: bpy.types.Object) -> None:
    """Put settings that were made for goals back, where the user has not changed them since."""
    for bone in ob.pose.bones:
        if bone.dqik_made_translate:
            bone.dqik_translate = bone.dqik_made_translate = False
        if bone.dqik_made_stiffness:
            if bone.dqik_stiffness == bone.dqik_made_stiffness:
                bone.dqik_stiffness = 0.0
            bone.dqik_made_stiffness = 0.0
        if any(bone.dqik_made_limits):
            if bone.dqik_use_limits and limits.values(bone) == tuple(bone.dqik_made_limits):
                limits.clear([bone])
            bone.property_unset("dqik_made_limits")
    switches.restore(ob)


# -- inside ------------------------------------------------------------------------------------------------------------


def _own_pole(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> str:
    """The name of the control bone that was made as a goal's pole; empty if there is none."""
    bone = ob.data.bones.get(goal.pole_subtarget) if goal.pole_target == ob else None
    targets = ((one.target, one.subtarget) for one in ob.dqik.goals)
    return bone.name if bone is not None and controls.is_control(bone) and (ob, bone.name) not in targets else ""


def _target_of(ob: bpy.types.Object, which: int | str) -> tuple[bpy.types.Object | None, str]:
    """The target of a goal, by number, or a bone of the armature, by name."""
    return (ob, which) if isinstance(which, str) else (ob.dqik.goals[which].target, ob.dqik.goals[which].subtarget)


def _depth(target: bpy.types.Object | None, name: str) -> int:
    """The number of bones above a target bone; 0 for an object."""
    bone = target.data.bones.get(name) if target is not None and target.type == "ARMATURE" else None
    return 0 if bone is None else len(bone.parent_recursive)


def is_connected(target: bpy.types.Object, name: str) -> bool:
    """Whether a target is a bone whose head stays at its parent's tail, whatever its location is."""
    bone = target.data.bones.get(name) if target.type == "ARMATURE" else None
    return bone is not None and bone.use_connect and bone.parent is not None


def _matrix_after(
    bone: bpy.types.PoseBone, evaluated: bpy.types.Object, moved: dict[tuple[bpy.types.Object, str], Matrix]
) -> Matrix:  # fmt: skip
    """Where a bone will be in the space of its armature, after some bones have moved: it goes along with its parent."""
    matrix, parent = evaluated.pose.bones[bone.name].matrix, bone.parent
    if (bone.id_data, bone.name) in moved:
        return moved[bone.id_data, bone.name]
    if not any((bone.id_data, above.name) in moved for above in bone.parent_recursive):
        return matrix
    basis = converted(bone.bone, matrix, evaluated.pose.bones[parent.name].matrix, invert=True)
    return converted(bone.bone, basis, _matrix_after(parent, evaluated, moved))


def _put(
    target: bpy.types.Object, bone: str, matrix: Matrix, use_rotation: bool, depsgraph: bpy.types.Depsgraph,
    moved: dict[tuple[bpy.types.Object, str], Matrix], within: Matrix | None = None,
) -> bool:  # fmt: skip
    """Move an object, or one of its bones, to a world matrix; returns whether that is possible.

    moved : armature-space matrices of bones that were moved since the evaluation; a bone is added. within : that of a
    bone without attachments, if it is known.
    """
    evaluated = target.evaluated_get(depsgraph)
    owner = owner_of(target, bone)
    own = () if owner is None else attachments.constraints(owner)
    if owner is None or target.library is not None or any(not one.mute for one in owner.constraints if one not in own):
        return False
    own_before = owner.matrix_basis.copy()
    if own:
        if not use_rotation:
            matrix = Matrix.LocRotScale(matrix.translation, world_matrix(target, bone, depsgraph).to_quaternion(), None)
        free = attachments.before(target, bone, matrix, depsgraph)
        if free is None:
            return False
        matrix = free
    if owner != target:
        above = None
        if owner.parent is not None:
            above = _matrix_after(owner.parent, evaluated, moved)
        own = within if within and not own else evaluated.matrix_world.inverted_safe() @ matrix
        controls.place(owner, own, above, use_rotation)
        moved[target, bone] = Matrix.LocRotScale(*own.decompose()[:2], evaluated.pose.bones[bone].matrix.to_scale())
    else:
        place, turn, _ = matrix.decompose()
        _, before, scale = evaluated.matrix_world.decompose()
        target.matrix_world = Matrix.LocRotScale(place, turn if use_rotation else before, scale)
    if not is_finite(owner.matrix_basis):  # the armature, or what the target hangs on, has no place
        owner.matrix_basis = own_before
        return False
    target.update_tag(refresh={"OBJECT"})
    return True


def _remove_empty(target: bpy.types.Object) -> None:
    """Remove an empty that was made as a target, and its collection if that was made for targets and is empty."""
    holders = list(target.users_collection)
    bpy.data.objects.remove(target)
    for holder in holders:
        if MADE in holder and not holder.all_objects and not holder.children and users.is_sole(holder):
            bpy.data.collections.remove(holder)


def _drop_keys(ob: bpy.types.Object, number: int) -> None:
    """Remove the curves and drivers of a goal that was removed; those of later goals follow these.

    The curves of an action that something else plays stay as they are.
    """
    data = ob.animation_data
    if data is None:
        return
    shared = data.action is None or data.action.library is not None or any(users.players(ob))
    own_curves = () if shared else curves.fcurves(data)
    for curve in [*own_curves, *data.drivers]:
        match = _GOAL_PATH.match(curve.data_path)
        own = -1 if match is None else int(match[1])
        if own > number:
            curve.data_path = _GOAL_PATH.sub(f"dqik.goals[{own - 1}]", curve.data_path, count=1)
        elif own == number:
            curve.data_path = _REMOVED + curve.data_path
    for path in {curve.data_path for curve in own_curves}:
        if path.startswith(_REMOVED):
            curves.remove_path(ob, path)
    for curve in [curve for curve in data.drivers if curve.data_path.startswith(_REMOVED)]:
        data.drivers.remove(curve)
