# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that turn with their forearm turn with what they are attached to meanwhile.

The goal's *Follow Limb* has keys for that. It changes over some frames, not at once, because a body whose hand is asked
to turn otherwise settles a little differently: the body would jump.
"""

from math import inf

import bpy
from mathutils import Matrix

from .. import curves
from ..blender import rotation
from ..blender.dependencies import Bone
from ..blender.places import owner_of, world_matrix
from ..controls import goals, rotation_space
from ..keys import attachments, keying, splits
from . import attachable, keys, rekey

FRAMES = 8.0
"""Over which the rotation goes over to the other space."""
_SHARE = "rotation_follows"
_ROUNDS = 3  # the limb may turn a little in the new space, and would carry the bone along


def share(goal: bpy.types.PropertyGroup | None, time: float) -> float:
    """How far the rotation of a goal follows its limb at a time."""
    if goal is None or not goal.use_rotation:
        return 0.0
    found = curves.of_property(goal, _SHARE)
    return found[0].evaluate(time) if found else goal.rotation_follows


def own_share(owner: Bone) -> float:
    """How far the rotation of an owner's goal follows its limb where the owner is not attached."""
    starts = [one.start for one in attachments.of(*owner)]
    return share(attachable.goal_of(owner), min(starts, default=-inf))


def requested(owner: Bone, follows: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of an owner, turned as its goal asks of the bone in the evaluated pose."""
    matrix, goal = world_matrix(*owner, depsgraph).copy(), attachable.goal_of(owner)
    figure = None if goal is None else goal.id_data.evaluated_get(depsgraph)
    if follows <= 0.0 or figure is None or goal.bone not in figure.pose.bones:
        return matrix
    own = rotation_space.own_turn(matrix, figure, owner[1], follows) if owner[0] == goal.id_data else matrix
    place, turn, scale = (figure.matrix_world.inverted_safe() @ own).decompose()
    turn = rotation_space.carrying(figure, goal.bone, follows) @ turn
    return figure.matrix_world @ Matrix.LocRotScale(place, turn, scale)


def asking(owner: Bone, matrix: Matrix, follows: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of an owner with which its goal asks for another one, in the evaluated pose."""
    goal = attachable.goal_of(owner)
    if goal is None or follows <= 0.0:
        return matrix
    figure = goal.id_data.evaluated_get(depsgraph)
    own = figure.matrix_world.inverted_safe() @ matrix
    return figure.matrix_world @ rotation_space.target_for(figure, goal, follows, own)


def fade(goal: bpy.types.PropertyGroup, start: float, end: float, follows: float, until: float = -inf) -> None:
    """Key the share from what it is at a time to another value at a later one. until : keys up to there are removed."""
    first = share(goal, start)
    for curve in curves.of_property(goal, _SHARE):
        splits.split(curve, start)
    clear(goal, start, max(end, until))
    for time, value in ((start, first), (end, follows)):
        key(goal, time, value)
    goal.rotation_follows = first
    for curve in curves.of_property(goal, _SHARE):
        splits.level(curve, start)


def key(goal: bpy.types.PropertyGroup, time: float, follows: float) -> None:
    """Key the share at a time; its present value stays."""
    present, goal.rotation_follows = goal.rotation_follows, follows
    keying.key_path(goal, _SHARE, time)
    goal.rotation_follows = present


def clear(goal: bpy.types.PropertyGroup, start: float, end: float) -> None:
    """Remove the keys of the share after a time and up to another."""
    curves.remove_keys(curves.of_property(goal, _SHARE), start + 2.0 * curves.SAME_FRAME, end)


def key_times(goal: bpy.types.PropertyGroup) -> list[float]:
    """The times of the keys of the rotation of a goal's target."""
    owner = owner_of(goal.target, goal.subtarget)
    return curves.times(keys.curves_of(owner, rotation.PATHS[owner.rotation_mode]))


def switch_space(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, follows: float, context: bpy.types.Context
) -> None:  # fmt: skip
    """Let the rotation of a goal's target follow by another share, and turn the target at its keys."""
    owner = (goal.target, goal.subtarget)
    by_time = {time: [owner] for time in key_times(goal)}

    def end(_: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
        del time
        return goals.end_of(ob.evaluated_get(depsgraph), goal.bone, goal.use_tail)

    ends = rekey.visited(by_time, end, context)

    def place(_: Bone, time: float, depsgraph: bpy.types.Depsgraph) -> Matrix:
        shown = ob.evaluated_get(depsgraph)
        found = shown.matrix_world @ rotation_space.target_for(shown, goal, follows, ends[time][owner])
        found.translation = world_matrix(*owner, depsgraph).translation
        return found

    def insert(_: Bone, time: float) -> None:
        held = owner_of(*owner)
        keying.key_path(held, rotation.PATHS[held.rotation_mode], time)

    for _ in range(_ROUNDS):
        turned = rekey.visited(by_time, place, context)
        goal.rotation_follows = follows
        rekey.rekey(turned, context, insert)
