# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the poles of goals have to be so that limbs stay bent as they are."""

from functools import cached_property

import bpy
from mathutils import Quaternion, Vector

from ..blender.armature import Armature
from ..blender.places import world_matrix
from ..figure import bend, roles
from ..figure.bend import Chain
from ..figure.body import RestBody
from .plan import chain_of

_STRAIGHT = 1e-3  # of its length: a limb that is bent by less points nowhere
_NEAR = 0.1  # of its length: poles that are nearer to the limb's line are put as far away as its middle is


class Poles:
    """The poles of an evaluated armature object's goals."""

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self._ob, self._depsgraph = ob, depsgraph

    @cached_property
    def _armature(self) -> Armature:
        return Armature(self._ob)

    @cached_property
    def _body(self) -> RestBody:
        return RestBody(self._armature, roles.of(self._ob, self._armature))

    def spot(self, goal: bpy.types.PropertyGroup) -> Vector | None:
        """Where in the world a goal's pole has to be: turned about the line of its limb from where it is.

        None for goals without a pole, and for straight limbs.
        """
        pole = self._place(goal)
        if pole is None:
            return None
        points = self._points(goal)
        if points is None:
            return None
        root, middle, end = points
        line, size = (end - root).normalized(), (middle - root).length + (end - middle).length
        out = _off(middle - root, line)
        if out.length < _STRAIGHT * size:
            return None
        away = _off(pole - root, line)
        distance = away.length if away.length > _NEAR * size else (middle - root).length
        toward = Quaternion(line, -goal.pole_angle) @ out.normalized()
        return self._ob.matrix_world @ (pole - away + distance * toward)

    def _place(self, goal: bpy.types.PropertyGroup) -> Vector | None:
        """A pole's place in armature space; None if there is none."""
        if goal.pole_target is None:
            return None
        matrix = world_matrix(goal.pole_target, goal.pole_subtarget, self._depsgraph)
        return None if matrix is None else (self._ob.matrix_world.inverted_safe() @ matrix).translation

    def _points(self, goal: bpy.types.PropertyGroup) -> tuple[Vector, Vector, Vector] | None:
        """Root, middle and end in armature space of the limb that a pole turns; of the whole chain if it has none."""
        pose, number = self._ob.pose.bones, self._armature.index[goal.bone]
        above = self._armature.above(number)
        chain = chain_of(goal, above, pose[number].dqik_translate)
        own = pose[number]
        end = own.tail if goal.use_tail else own.head
        limb = next(iter(bend.find_limbs(self._body, [Chain(chain, number, goal.use_tail)])), None)
        if limb is None:
            heads = [pose[bone].head for bone in chain]
            return (heads[-1], sum(heads[:-1], Vector()) / len(heads[:-1]), end) if len(chain) > 1 else None
        below = [bone for bone in above[: above.index(limb.lower)] if not self._divides(bone)]
        if below:
            end = pose[below[-1]].head
        return pose[limb.upper].head, pose[limb.lower].head, end

    def _divides(self, bone: int) -> bool:
        role = self._body.roles.get(bone)
        return role is not None and role.name == "twist"


def _off(way: Vector, line: Vector) -> Vector:
    """What of a way is square to a unit line."""
    return way - line * way.dot(line)
