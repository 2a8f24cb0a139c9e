# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the poles of goals have to be so that limbs stay bent as they are."""

from functools import cached_property
from math import atan2

import bpy
from mathutils import Quaternion, Vector

from ...solvers.rest import FoldingLimb, GoalChain
from ..blender.places import world_matrix
from ..figure import bend
from ..figure.character import Character
from .plan import chain_of

_STRAIGHT = 1e-3  # of its length: a limb that is bent by less points nowhere
_ROUNDED = 1e-5  # of its length: the bend of a limb that is bent by less is rounding
_NEAR = 0.1  # of its length: poles that are nearer to the limb's line are put as far away as its middle is


class Poles:
    """The poles of an evaluated armature object's goals."""

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self._ob, self._depsgraph = ob, depsgraph

    @cached_property
    def _figure(self) -> Character:
        return Character.of(self._ob)

    def spot(self, goal: bpy.types.PropertyGroup) -> Vector | None:
        """Where in the world a goal's pole has to be: turned about the line of its limb from where it is.

        A straight limb points where it would bend. None for goals without a pole, and where a limb points nowhere.
        """
        found = self._bend(goal)
        if found is None:
            return None
        pole, away, out, (root, middle, end) = found
        line, size = (end - root).normalized(), (middle - root).length + (end - middle).length
        distance = away.length if away.length > _NEAR * size else (middle - root).length
        toward = Quaternion(line, -goal.pole_angle) @ out
        return self._ob.matrix_world @ (pole - away + distance * toward)

    def angle(self, goal: bpy.types.PropertyGroup) -> float | None:
        """The Pole Angle [rad] with which a limb stays bent as it is, its pole being where it is.

        None for goals without a pole, and where a limb or its pole points nowhere.
        """
        found = self._bend(goal)
        if found is None or found[1].length == 0.0:
            return None
        _, away, out, (root, _, end) = found
        return atan2((end - root).normalized().dot(away.cross(out)), away.dot(out))

    def for_control(self, goal: bpy.types.PropertyGroup) -> tuple[Vector, Vector] | None:
        """Where a pole of a goal without one belongs at rest, and in the pose, in armature space; None if unknown.

        It is as far from the middle joint as the limb's root is, toward where the limb bends, or prefers to bend.
        """
        rest, posed = self._points(goal, at_rest=True), self._points(goal)
        if rest is None or posed is None or (rest[2] - rest[0]).length == 0.0 or (posed[2] - posed[0]).length == 0.0:
            return None
        out, _ = self._bend_at_rest(goal, rest)
        if out is None:
            return None
        return _beyond(rest, out), _beyond(posed, _out(*posed, _ROUNDED) or self._would_bend(goal, posed))

    def _bend(
        self, goal: bpy.types.PropertyGroup
    ) -> tuple[Vector, Vector, Vector, tuple[Vector, Vector, Vector]] | None:
        """A goal's pole, the way to it from its limb's line, where the limb bends, and `_points`; None if unknown."""
        pole = self._place(goal)
        points = None if pole is None else self._points(goal)
        if pole is None or points is None:
            return None
        out = _out(*points) or self._would_bend(goal, points)
        away = _off(pole - points[0], (points[2] - points[0]).normalized())
        return None if out is None else (pole, away, out, points)

    def _bend_at_rest(
        self, goal: bpy.types.PropertyGroup, rest: tuple[Vector, Vector, Vector]
    ) -> tuple[Vector | None, Quaternion]:
        """Where a limb bends at rest, or prefers to bend, and how far it has turned from there."""
        out, limb = _out(*rest), self._limb(goal)
        if limb is None:
            return out, Quaternion()
        upper = self._ob.pose.bones[limb.upper]
        turn = upper.matrix.to_quaternion() @ upper.bone.matrix_local.to_quaternion().inverted()
        return out or (rest[2] - rest[1]).cross(Vector(limb.axis)).normalized(), turn

    def _would_bend(
        self, goal: bpy.types.PropertyGroup, posed: tuple[Vector, Vector, Vector]
    ) -> Vector | None:
        """The unit direction into which a straight limb would bend; None if unknown."""
        rest = self._points(goal, at_rest=True)
        out, turn = (None, Quaternion()) if rest is None else self._bend_at_rest(goal, rest)
        return None if out is None else _off(turn @ out, (posed[2] - posed[0]).normalized()).normalized()

    def _place(self, goal: bpy.types.PropertyGroup) -> Vector | None:
        """A pole's place in armature space; None if there is none."""
        if goal.pole_target is None:
            return None
        matrix = world_matrix(goal.pole_target, goal.pole_subtarget, self._depsgraph)
        return None if matrix is None else (self._ob.matrix_world.inverted_safe() @ matrix).translation

    def _chain(self, goal: bpy.types.PropertyGroup) -> tuple[int, list[int]]:
        """The number of a goal's bone, and its chain upward."""
        number = self._figure.armature.index[goal.bone]
        return number, chain_of(goal, self._figure.armature.above(number), self._ob.pose.bones[number].dqik_translate)

    def _limb(self, goal: bpy.types.PropertyGroup) -> FoldingLimb | None:
        """The limb that a goal's pole turns; None if that is the whole chain."""
        number, chain = self._chain(goal)
        return next(iter(bend.find_limbs(self._figure.body, [GoalChain(chain, number, goal.use_tail)])), None)

    def _points(self, goal: bpy.types.PropertyGroup, at_rest: bool = False) -> tuple[Vector, Vector, Vector] | None:
        """Root, middle and end in armature space of the limb that a pole turns; of the whole chain if it has none."""
        number, chain = self._chain(goal)
        bones = [bone.bone if at_rest else bone for bone in self._ob.pose.bones]
        name = "head_local" if at_rest else "head"
        heads = [getattr(bone, name) for bone in bones]
        end = getattr(bones[number], name.replace("head", "tail")) if goal.use_tail else heads[number]
        limb = self._limb(goal)
        if limb is None:
            places = [heads[bone] for bone in chain]
            return (places[-1], sum(places[:-1], Vector()) / len(places[:-1]), end) if len(chain) > 1 else None
        above = self._figure.armature.above(number)
        below = [bone for bone in above[: above.index(limb.lower)] if not self._divides(bone)]
        if below:
            end = heads[below[-1]]
        return heads[limb.upper], heads[limb.lower], end

    def _divides(self, bone: int) -> bool:
        role = self._figure.body.roles.get(bone)
        return role is not None and role.name == "twist"


def _out(root: Vector, middle: Vector, end: Vector, straight: float = _STRAIGHT) -> Vector | None:
    """The unit direction from a limb's line to its middle joint; None if it is straight."""
    out = _off(middle - root, (end - root).normalized())
    return out.normalized() if out.length >= straight * ((middle - root).length + (end - middle).length) else None


def _beyond(points: tuple[Vector, Vector, Vector], way: Vector) -> Vector:
    """The place a limb's upper length away from its middle."""
    return points[1] + (points[1] - points[0]).length * way


def _off(way: Vector, line: Vector) -> Vector:
    """What of a way is square to a unit line."""
    return way - line * way.dot(line)
