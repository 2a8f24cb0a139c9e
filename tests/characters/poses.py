# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that people can take, for any of the characters: made from joint positions and true roles alone.

Directions are those of the figure as it was built (left +X, forward -Y, up +Z, turned by its facing), so nothing here
depends on the axes of bones, on names, or on how DQIK finds limbs.
"""

from dataclasses import dataclass
from math import radians

import bpy
import numpy as np
from conventions import Character
from mathutils import Matrix, Quaternion, Vector
from metarigs import Metarig

LIMBS = {"arm": ("arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot")}


@dataclass
class Limb:
    """A limb of a character: the names of its upper, lower and end bone; its neutral direction and its bend's axis.

    The axis is that of a positive bend, in the armature's space, of the limb in its neutral direction. end_turn : how
    far the end may turn about it, in degrees. An animal's neutral direction is that at rest, and it bends further the
    way that it is bent at rest.
    """

    kind: str
    side: str
    bones: tuple[str, str, str]
    neutral: Vector
    axis: Vector
    out: Vector
    forward: Vector
    end_turn: tuple[float, float]
    human: bool = True


def limbs(character: Character | Metarig, roles: dict, ob: bpy.types.Object) -> list[Limb]:
    """The limbs of a character. roles : true roles by bone."""
    by_role = {}
    for name, role in roles.items():
        if role is not None:
            by_role.setdefault(role, name)
    if not character.human:
        return _animal_limbs(by_role, ob)
    left, forward, up = frame(roles, ob)
    found = []
    for kind, parts in LIMBS.items():
        for side, sign in (("L", 1.0), ("R", -1.0)):
            bones = tuple(by_role.get((part, side)) for part in parts)
            if None in bones:
                continue
            out = left * sign
            neutral = out if kind == "arm" else -up
            toward = forward if kind == "arm" else -forward
            turns = (-8.0, 0.0 if character.feet and kind == "leg" else 8.0)  # feet that point down go no further
            found.append(Limb(kind, side, bones, neutral, neutral.cross(toward).normalized(), out, forward, turns))
    return found


def _animal_limbs(by_role: dict, ob: bpy.types.Object) -> list[Limb]:
    """The limbs of an animal."""
    found = []
    for kind, parts in LIMBS.items():
        for side in "LR":
            bones = tuple(by_role.get((part, side)) for part in parts)
            if None not in bones:
                heads = [ob.data.bones[bone].head_local for bone in bones]
                upper, lower = (heads[1] - heads[0]).normalized(), (heads[2] - heads[1]).normalized()
                axis = upper.cross(lower).normalized()
                found.append(Limb(kind, side, bones, upper, axis, axis, axis.cross(upper), (-15.0, 15.0), False))
    return found


def frame(roles: dict, ob: bpy.types.Object) -> tuple[Vector, Vector, Vector]:
    """Left, forward and up of the figure in armature space, from the true roles."""
    at = {role: ob.data.bones[name].head_local for name, role in reversed(roles.items()) if role is not None}
    left = (at["thigh", "L"] - at["thigh", "R"]).normalized()
    up = at["arm", "L"] + at["arm", "R"] - at["thigh", "L"] - at["thigh", "R"]
    up = (up - left * up.dot(left)).normalized()
    return left, left.cross(up), up


def rested(ob: bpy.types.Object, limb: Limb) -> tuple[Vector, Vector]:
    """The directions of a limb's upper and lower bone at rest."""
    heads = [ob.data.bones[bone].head_local for bone in limb.bones]
    return (heads[1] - heads[0]).normalized(), (heads[2] - heads[1]).normalized()


def reach(ob: bpy.types.Object, limb: Limb, random: np.random.Generator) -> Matrix:
    """Pose a limb as people or the animal can, return the matrix of its end in the world, and put it back."""
    upper, lower, end = (ob.pose.bones[bone] for bone in limb.bones)
    raised, axis, bend = (_drawn if limb.human else _drawn_about_rest)(ob, limb, random)
    turn(ob, upper, raised)
    turn(ob, lower, Quaternion(axis, bend) @ raised)
    turn(ob, end, Quaternion(axis, bend) @ raised @ Quaternion(limb.axis, radians(random.uniform(*limb.end_turn))))
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = shown.matrix_world @ shown.pose.bones[end.name].matrix
    for bone in (upper, lower, end):
        bone.matrix_basis = Matrix()
    bpy.context.view_layer.update()
    return matrix


def _drawn(ob: bpy.types.Object, limb: Limb, random: np.random.Generator) -> tuple[Quaternion, Vector, float]:
    """A person's limb at random: the rotation of its upper bone from rest, its bend's axis then, and the bend."""
    if limb.kind == "arm":
        toward = limb.out * random.uniform(0.25, 1.0) + limb.forward * random.uniform(0.0, 1.0)
        toward += limb.out.cross(limb.forward) * (1 if limb.side == "L" else -1) * random.uniform(-0.6, 0.6)
        bend = radians(random.uniform(5.0, 110.0))
    else:
        toward = limb.neutral + limb.forward * random.uniform(-0.15, 1.2) + limb.out * random.uniform(-0.1, 0.3)
        bend = radians(random.uniform(5.0, 100.0))
    swing = limb.neutral.rotation_difference(toward)
    return swing @ rested(ob, limb)[0].rotation_difference(limb.neutral), swing @ limb.axis, bend


def _drawn_about_rest(
    ob: bpy.types.Object, limb: Limb, random: np.random.Generator
) -> tuple[Quaternion, Vector, float]:  # fmt: skip
    """An animal's limb at random near its rest: as `_drawn`. It is always bent by 4 degrees or more its own way."""
    upper, lower = rested(ob, limb)
    swing = Quaternion(Vector(random.normal(size=3)).normalized(), radians(random.uniform(0.0, 30.0)))
    least = radians(4.0) - upper.angle(lower)
    return swing, swing @ limb.axis, max(radians(random.uniform(-20.0, 45.0)), least)


def turn(ob: bpy.types.Object, bone: bpy.types.PoseBone, by: Quaternion) -> None:
    """Turn a bone from rest by a rotation in armature space; bones above it first."""
    bpy.context.view_layer.update()
    matrix = (by @ bone.bone.matrix_local.to_quaternion()).to_matrix().to_4x4()
    matrix.translation = bone.head
    bone.matrix = matrix
    bpy.context.view_layer.update()


def bend(ob: bpy.types.Object, limb: Limb) -> tuple[float, float]:
    """How far a limb is bent the way people bend it, and to the side, in degrees; measured in the upper bone's frame.

    ob : evaluated. At rest the upper bone's frame is the figure's, in the limb's neutral direction.
    """
    upper = rested(ob, limb)[0]
    bones = [ob.pose.bones[bone] for bone in limb.bones]
    back = (bones[0].matrix.to_quaternion() @ bones[0].bone.matrix_local.to_quaternion().inverted()).inverted()
    now = back @ (bones[2].head - bones[1].head).normalized()
    turned = upper.rotation_difference(limb.neutral)
    axis = turned.inverted() @ limb.axis
    forward = axis.cross(upper)
    side = now.dot(axis)
    bent = np.degrees(np.arctan2(now.dot(forward), now.dot(upper)))
    return float(bent), float(np.degrees(np.arcsin(np.clip(side, -1.0, 1.0))))
