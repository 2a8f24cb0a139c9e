# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part of a body is under the pointer: the bone of the skin that a ray meets, and what selects or moves it."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector
from mathutils.geometry import intersect_point_line

from ..blender.dependencies import Bone
from ..blender.places import owner_of
from ..controls import selection
from ..figure import skin
from ..figure.character import Character

_WIRES = {"BOUNDS", "WIRE"}  # of meshes that are no skin
_ENDS = {"head", "hand", "foot"}  # small bones of face, palm and foot belong to these
_SMALL = {"finger", "toes"}  # and these where they are hidden

ToScreen = Callable[[Vector], Vector | None]
"""From a place in the world to one on the screen [pixels]; None behind the viewer."""


class Picked(NamedTuple):
    """A part of a body: an armature object, the name of a bone, and a place in the world."""

    ob: bpy.types.Object
    bone: str
    point: Vector


def pick(
    armatures: Iterable[bpy.types.Object], origin: Vector, direction: Vector, depsgraph: bpy.types.Depsgraph,
    view: bpy.types.SpaceView3D | None = None,
) -> Picked | None:  # fmt: skip
    """What a ray meets first of the visible skins of armature objects; None if it meets none.

    origin, direction : in the world. view : the 3D view, which may hide objects.
    """
    nearest, found = np.inf, None
    for ob in armatures:
        for mesh in skin.meshes(ob):
            if mesh.display_type in _WIRES or not _is_shown(mesh, depsgraph, view):
                continue
            evaluated = mesh.evaluated_get(depsgraph)
            to_world = evaluated.matrix_world
            inverse = to_world.inverted_safe()
            start = inverse @ origin
            hit, place, _, face = evaluated.ray_cast(start, inverse @ (origin + direction) - start, depsgraph=depsgraph)
            away = (to_world @ place - origin).length if hit else np.inf
            if away < nearest:
                point = to_world @ place
                bone = _bone_of(ob, evaluated, face, place) or _nearest(ob, point, depsgraph)
                if bone:
                    nearest, found = away, Picked(ob, part_of(ob, bone), point)
    return found


def near(
    armatures: Iterable[bpy.types.Object], pointer: Vector, to_screen: ToScreen, reach: float,
    depsgraph: bpy.types.Depsgraph,
) -> Picked | None:  # fmt: skip
    """The visible bone that is nearest to the pointer on the screen, within a reach [pixels]; None if there is none."""
    found = None
    for ob in armatures:
        evaluated = ob.evaluated_get(depsgraph)
        for bone in evaluated.pose.bones:
            ends = [evaluated.matrix_world @ end for end in (bone.head, bone.tail)]
            shown = [to_screen(end) for end in ends]
            if None in shown or not selection.is_visible(ob, bone.name):
                continue
            share = _share(pointer, *shown)
            away = (shown[0].lerp(shown[1], share) - pointer).length
            if away <= reach:
                reach, found = away, Picked(ob, bone.name, ends[0].lerp(ends[1], share))
    return found


def part_of(ob: bpy.types.Object, bone: str) -> str:
    """The bone of the part of the body to which a bone of the skin belongs: a twist bone to the limb's bone above it.

    Small bones of face, palm and foot belong to head, hand and foot, unless goals reach for them. Fingers and toes do
    where they are hidden.
    """
    found = Character.of(ob).figure.roles
    names = ob.pose.bones.keys()
    role_of = {names[number]: role.name for number, role in found.items()}
    own = ob.pose.bones[bone]
    while role_of.get(own.name) == "twist" and own.parent is not None:
        own = own.parent
    role, is_goal = role_of.get(own.name), any(own.name == goal.bone for goal in ob.dqik.goals)
    if is_goal or (role and (role not in _SMALL or selection.is_visible(ob, own.name))):
        return own.name
    above = next((one.name for one in own.parent_recursive if role_of.get(one.name, "finger") not in _SMALL), "")
    return above if role_of.get(above) in _ENDS else own.name


def goal_of(ob: bpy.types.Object, bone: str) -> int:
    """The number of the goal whose target moves a bone now; -1 where Live is off, or no target does."""
    if ob.dqik.live:
        for number, goal in enumerate(ob.dqik.goals):
            moves = goal.kind == "REACH" and not goal.mute and goal.influence > 0.0 and goal.use_position
            if moves and goal.bone == bone and goal.target is not None and owner_of(goal.target, goal.subtarget):
                return number
    return -1


def selects(ob: bpy.types.Object, bone: str) -> Bone:
    """The bone that a click on a bone selects: the control that moves it, if that can be selected, else itself."""
    number = goal_of(ob, bone)
    if number >= 0:
        goal = ob.dqik.goals[number]
        target = goal.target
        is_bone = target.type == "ARMATURE" and goal.subtarget in target.pose.bones
        if is_bone and target.mode == ob.mode and selection.is_visible(target, goal.subtarget):
            return target, goal.subtarget
    return ob, bone


# -- inside ------------------------------------------------------------------------------------------------------------


def _is_shown(mesh: bpy.types.Object, depsgraph: bpy.types.Depsgraph, view: bpy.types.SpaceView3D | None) -> bool:
    layer = depsgraph.view_layer
    return mesh.name in layer.objects and mesh.visible_get(view_layer=bpy.context.view_layer, viewport=view)


def _bone_of(ob: bpy.types.Object, mesh: bpy.types.Object, face: int, place: Vector) -> str:
    """The bone that a face of an evaluated mesh follows most at a place; empty if it follows none."""
    if mesh.parent_type == "BONE" and mesh.parent is not None and mesh.parent.original == ob:
        return mesh.parent_bone if mesh.parent_bone in ob.pose.bones else ""
    weights: dict[str, float] = {}
    names = [group.name for group in mesh.vertex_groups]
    for name, weight in _weights(mesh.data, face, place, names):
        bone = ob.data.bones.get(name)
        if bone is not None and bone.use_deform:
            weights[name] = weights.get(name, 0.0) + weight
    return max(weights, key=lambda name: weights[name], default="")


def _weights(mesh: bpy.types.Mesh, face: int, place: Vector, names: list[str]) -> Iterator[tuple[str, float]]:
    """The vertex groups of a face's vertices and their weights, more for vertices that are near a place."""
    if face >= len(mesh.polygons):
        return
    corners = [mesh.vertices[number] for number in tuple(mesh.polygons[face].vertices)]
    away = [(corner.co - place).length for corner in corners]
    size = max(away) or 1.0
    for corner, distance in zip(corners, away, strict=True):
        for group in corner.groups:
            if group.group < len(names):
                yield names[group.group], group.weight * (1.01 - distance / size)


def _nearest(ob: bpy.types.Object, point: Vector, depsgraph: bpy.types.Depsgraph) -> str:
    """The deforming bone that is nearest to a place in the world; empty if none deforms."""
    evaluated = ob.evaluated_get(depsgraph)
    own = evaluated.matrix_world.inverted_safe() @ point
    bones = [bone for bone in evaluated.pose.bones if bone.bone.use_deform]
    return min(bones, key=lambda bone: _away(own, bone.head, bone.tail)).name if bones else ""


def _away(point: Vector, head: Vector, tail: Vector) -> float:
    return (head.lerp(tail, _share(point, head, tail)) - point).length


def _share(point: Vector, head: Vector, tail: Vector) -> float:
    """Where on the way from head to tail a point is nearest, 0 to 1."""
    if (tail - head).length == 0.0:
        return 0.0
    return min(max(intersect_point_line(point, head, tail)[1], 0.0), 1.0)
