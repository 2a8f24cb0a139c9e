# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether targets stay where they were put, measured on what Blender evaluates: whatever moves them is found."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from math import tau

import bpy
from mathutils import Matrix, Vector

from ..blender import animation, scene_state
from ..blender.dependencies import aims
from ..blender.places import Owner, owner_of, world_matrix
from ..figure.character import Character
from . import goals
from .goals import Place

NEAR = 1e-3  # of the armature's size: a target within it is at its place
_TURNED = 0.01  # radians
_ROUNDS = 4  # of targets that are parented to each other, the parents come first
_AWAY = Matrix.LocRotScale(Vector((0.7, -0.9, 1.1)), Matrix.Rotation(1.0, 3, (0.3, 0.5, 0.8)), None)


def put(ob: bpy.types.Object, wanted: Mapping[int, Place], context: bpy.types.Context) -> set[int]:
    """Move the targets and poles of goals to places, by number. Returns the goals whose targets are not there then."""
    left, before = dict(wanted), set[int]()
    for _ in range(_ROUNDS):
        goals.put_targets(ob, left, context.evaluated_depsgraph_get())
        context.view_layer.update()
        away = off(ob, wanted, context.evaluated_depsgraph_get())
        if not away or away == before:
            return away
        left, before = {number: wanted[number] for number in away}, away
    return before


def off(ob: bpy.types.Object, wanted: Mapping[int, Place], depsgraph: bpy.types.Depsgraph) -> set[int]:
    """The goals whose targets or poles are not at their places, in the present evaluation."""
    near = NEAR * Character.of(ob).size * max(map(abs, ob.evaluated_get(depsgraph).matrix_world.to_scale()))
    found: set[int] = set()
    for number, place in wanted.items():
        goal = ob.dqik.goals[number]
        if goal.target is None or (goal.target.type == "ARMATURE" and goal.subtarget not in goal.target.data.bones):
            found.add(number)
            continue
        shown = world_matrix(goal.target, goal.subtarget, depsgraph)
        away = not (shown.translation - place.end.translation).length <= near  # also if it is not a number
        if goal.use_rotation:
            angle = shown.to_quaternion().rotation_difference(place.end.to_quaternion()).angle
            away |= min(angle, abs(angle - tau)) > _TURNED
        if place.pole is not None:
            pole = world_matrix(goal.pole_target, goal.pole_subtarget, depsgraph).translation
            away |= not (pole - place.pole).length <= near
        if away or any(owner_of(*aim) is None for aim in aims(goal)):
            found.add(number)
    return found


def goes_back(
    ob: bpy.types.Object, wanted: Mapping[int, Place], context: bpy.types.Context, keyed: bool
) -> set[int]:  # fmt: skip
    """The goals whose targets the animation of these puts elsewhere on the present frame.

    keyed : the targets have been keyed: they must come back from elsewhere.
    """
    owners = goals.target_owners(ob.dqik.goals[number] for number in wanted)
    objects = {owner.id_data for owner in owners}
    with _restored(objects, owners):
        for owner in owners if keyed else ():
            owner.matrix_basis = _AWAY @ owner.matrix_basis
        for target in objects:
            target.update_tag(refresh={"OBJECT", "TIME"})
        context.view_layer.update()
        found = off(ob, wanted, context.evaluated_depsgraph_get())
    context.view_layer.update()
    return found


@contextmanager
def _restored(objects: Iterable[bpy.types.Object], owners: Iterable[Owner]) -> Generator[None]:
    """Restore everything that the animation of some objects sets, and the channels of targets, at the end."""
    values = [(ob, path, index, value) for ob in objects for path, index, value in animation.present_values(ob)]
    places = [(owner, scene_state.transform(owner)) for owner in owners]
    try:
        yield
    finally:
        for ob, path, index, value in values:
            animation.set_value(ob, path, index, value)
        for owner, transform in places:
            scene_state.set_transform(owner, transform)
        for ob in objects:
            ob.update_tag(refresh={"OBJECT", "DATA"} if ob.type == "ARMATURE" else {"OBJECT"})
