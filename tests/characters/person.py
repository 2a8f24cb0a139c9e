# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a human character a simple body: skin and clothes around its joints, bound to its bones.

The body is made from the figure's joints at rest and the true roles of its bones alone, so it fits any convention.
"""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

SKIN, SHIRT, TROUSERS, SHOES, HAIR = range(5)
COLOURS = ((0.83, 0.6, 0.46), (0.2, 0.42, 0.62), (0.2, 0.21, 0.27), (0.1, 0.08, 0.07), (0.12, 0.07, 0.04))
VOXEL = 0.006  # of the height: size of the body's faces
_BINDING = 0.022  # of the height: a vertex follows bones that are further from it than the nearest by less


class Part(NamedTuple):
    """An ellipsoid: its centre and half axes as columns (3, 3) in the world, its colour, and the bone it belongs to."""

    centre: Vector
    axes: Matrix
    colour: int
    bone: str


class Figure:
    """The joints of a human character at rest, in the world. roles : true (role, side) by bone."""

    def __init__(self, ob: bpy.types.Object, roles: dict[str, tuple[str, str] | None]) -> None:
        self.ob, self.roles = ob, roles
        self.bones: dict[tuple[str, str], list[str]] = {}
        for name, role in roles.items():
            if role is not None:
                self.bones.setdefault(role, []).append(name)
        self.left = (self.at("thigh", "L") - self.at("thigh", "R")).normalized()
        up = self.at("head") - 0.5 * (self.at("thigh", "L") + self.at("thigh", "R"))
        self.up = (up - self.left * up.dot(self.left)).normalized()
        self.forward = self.left.cross(self.up)
        heads = [self.ob.matrix_world @ bone.head_local for bone in ob.data.bones if roles.get(bone.name)]
        low = min(head.dot(self.up) for head in heads)
        self.size = (self.at("head").dot(self.up) - low) / 0.89  # the height of the body, head and all

    def bone(self, role: str, side: str = "") -> str:
        """The first bone of a role; the hips' where there is none."""
        return (self.bones.get((role, side)) or self.bones.get(("hips", "")) or [""])[0]

    def at(self, role: str, side: str = "") -> Vector:
        """The first joint of a role."""
        return self.ob.matrix_world @ self.ob.data.bones[self.bones[role, side][0]].head_local


def body(ob: bpy.types.Object, roles: dict[str, tuple[str, str] | None]) -> bpy.types.Object:
    """A mesh around a human character at rest, bound to it."""
    figure = Figure(ob, roles)
    parts = [*_trunk(figure), *_head(figure), *(part for side in "LR" for part in (*_arm(figure, side),
                                                                                 *_leg(figure, side)))]  # fmt: skip
    mesh = _merged(parts, VOXEL * figure.size)
    person = bpy.data.objects.new("Person", mesh)
    bpy.context.scene.collection.objects.link(person)
    points = np.array([vertex.co for vertex in mesh.vertices])
    nearest = np.argmin([_distance(part, points) for part in parts], axis=0)
    for number, colour in enumerate(COLOURS):
        material = bpy.data.materials.new(f"Colour {number}")
        material.diffuse_color = (*colour, 1.0)
        mesh.materials.append(material)
    for face in mesh.polygons:
        face.material_index = parts[int(nearest[face.vertices[0]])].colour
        face.use_smooth = True
    _bind(person, figure, points, parts)
    return person


# -- parts -------------------------------------------------------------------------------------------------------------


def _ellipsoid(figure: Figure, centre: Vector, half: tuple[float, float, float], colour: int, bone: str) -> Part:
    """An ellipsoid along the figure's directions. half : its half axes to the left, forward and up, of its height."""
    axes = Matrix([figure.size * length * way for length, way in
                   zip(half, (figure.left, figure.forward, figure.up), strict=True)]).transposed()  # fmt: skip
    return Part(centre, axes, colour, bone)


def _along(a: Vector, b: Vector, across: float, deep: float, way: Vector, colour: int, bone: str) -> Part:
    """An ellipsoid from one point to another. across, deep : its half axes along `way` and across it, in metres."""
    line = b - a
    side = (way - line * way.dot(line) / line.length_squared).normalized()
    other = line.normalized().cross(side)
    return Part((a + b) / 2, Matrix([side * across, other * deep, line / 2]).transposed(), colour, bone)


def _tube(figure: Figure, a: Vector, b: Vector, radii: tuple[float, ...], colour: int, bone: str) -> list[Part]:
    """Balls along a line. radii : of the height, from the one end to the other."""
    steps = 14
    spots = np.linspace(0.0, 1.0, steps)
    sizes = np.interp(spots, np.linspace(0.0, 1.0, len(radii)), radii)
    return [_ellipsoid(figure, a.lerp(b, spot), (size,) * 3, colour, bone)
            for spot, size in zip(spots.tolist(), sizes.tolist(), strict=True)]  # fmt: skip


def _trunk(figure: Figure) -> list[Part]:
    up, forward, size = figure.up, figure.forward, figure.size
    groin = 0.5 * (figure.at("thigh", "L") + figure.at("thigh", "R"))
    shoulders = 0.5 * (figure.at("arm", "L") + figure.at("arm", "R"))
    tall = (shoulders - groin).dot(up)
    spine = figure.bones.get(("spine", ""), [figure.bone("hips")])
    low, middle, high = spine[0], spine[len(spine) // 2], spine[-1]
    base = groin + forward * 0.005 * size
    parts = [
        _ellipsoid(figure, base + up * 0.02 * tall, (0.098, 0.068, 0.062), TROUSERS, figure.bone("hips")),
        _ellipsoid(figure, base + up * 0.15 * tall, (0.09, 0.062, 0.06), TROUSERS, figure.bone("hips")),
        _ellipsoid(figure, base + up * 0.32 * tall, (0.08, 0.056, 0.07), SHIRT, low),
        _ellipsoid(figure, base + up * 0.5 * tall, (0.083, 0.058, 0.07), SHIRT, middle),
        _ellipsoid(figure, base + up * 0.72 * tall + forward * 0.002 * size, (0.095, 0.066, 0.09), SHIRT, high),
        _ellipsoid(figure, base + up * 0.88 * tall, (0.088, 0.052, 0.06), SHIRT, high),
    ]
    neck, head = figure.at("neck") if ("neck", "") in figure.bones else shoulders, figure.at("head")
    parts += _tube(figure, neck - up * 0.02 * size, head + up * 0.02 * size, (0.036, 0.031), SKIN, figure.bone("neck"))
    for side in "LR":
        collar = figure.bone("collar", side)
        parts += _tube(figure, neck - up * 0.005 * size, figure.at("arm", side), (0.032, 0.031, 0.034), SHIRT, collar)
    return parts


def _head(figure: Figure) -> list[Part]:
    size, bone = figure.size, figure.bone("head")
    middle = figure.at("head") + figure.up * 0.058 * size + figure.forward * 0.012 * size
    return [
        _ellipsoid(figure, middle, (0.043, 0.053, 0.058), SKIN, bone),
        _ellipsoid(figure, middle - figure.up * 0.03 * size + figure.forward * 0.014 * size, (0.033, 0.037, 0.033),
                   SKIN, bone),
        _ellipsoid(figure, middle - figure.up * 0.008 * size + figure.forward * 0.052 * size, (0.008, 0.012, 0.012),
                   SKIN, bone),
        _ellipsoid(figure, middle + figure.up * 0.012 * size - figure.forward * 0.009 * size, (0.047, 0.052, 0.056),
                   HAIR, bone),
    ]  # fmt: skip


def _arm(figure: Figure, side: str) -> list[Part]:
    size = figure.size
    arm, elbow, wrist = (figure.at(role, side) for role in ("arm", "forearm", "hand"))
    bones = [figure.bone(role, side) for role in ("arm", "forearm", "hand")]
    on = (wrist - elbow).normalized()
    palm = figure.forward  # the hand is broad from the thumb, in front, to the little finger
    flat = (palm - on * palm.dot(on)).normalized()
    tip = wrist + on * 0.1 * size
    return [
        *_tube(figure, arm, arm.lerp(elbow, 0.45), (0.034, 0.031), SHIRT, bones[0]),
        *_tube(figure, arm.lerp(elbow, 0.5), elbow, (0.027, 0.024), SKIN, bones[0]),
        *_tube(figure, elbow, wrist, (0.024, 0.025, 0.021, 0.016), SKIN, bones[1]),
        _along(wrist - on * 0.008 * size, wrist + on * 0.062 * size, 0.024 * size, 0.012 * size, flat, SKIN, bones[2]),
        _along(wrist + on * 0.035 * size, tip, 0.02 * size, 0.009 * size, flat, SKIN, bones[2]),
        _along(wrist + on * 0.008 * size + flat * 0.01 * size, wrist + on * 0.055 * size + flat * 0.036 * size,
               0.009 * size, 0.009 * size, flat, SKIN, bones[2]),
    ]  # fmt: skip


def _leg(figure: Figure, side: str) -> list[Part]:
    size = figure.size
    thigh, knee, ankle = (figure.at(role, side) for role in ("thigh", "shin", "foot"))
    bones = [figure.bone(role, side) for role in ("thigh", "shin", "foot")]
    ground = min(ankle.dot(figure.up), figure.at("toes", side).dot(figure.up) if ("toes", side) in figure.bones
                 else ankle.dot(figure.up) - 0.03 * size)  # fmt: skip
    sole = ankle - figure.up * (ankle.dot(figure.up) - ground)
    toes = figure.bone("toes", side) if ("toes", side) in figure.bones else bones[2]
    return [
        *_tube(figure, thigh, knee, (0.054, 0.05, 0.042, 0.034), TROUSERS, bones[0]),
        *_tube(figure, knee, ankle, (0.033, 0.034, 0.029, 0.024), TROUSERS, bones[1]),
        _ellipsoid(figure, sole - figure.forward * 0.004 * size + figure.up * 0.012 * size, (0.024, 0.036, 0.024),
                   SHOES, bones[2]),
        _ellipsoid(figure, sole + figure.forward * 0.045 * size + figure.up * 0.008 * size, (0.027, 0.05, 0.02),
                   SHOES, bones[2]),
        _ellipsoid(figure, sole + figure.forward * 0.085 * size + figure.up * 0.003 * size, (0.028, 0.034, 0.015),
                   SHOES, toes),
    ]  # fmt: skip


# -- mesh --------------------------------------------------------------------------------------------------------------


def _merged(parts: list[Part], voxel: float) -> bpy.types.Mesh:
    """One smooth surface around all parts."""
    sphere = bpy.data.meshes.new("Ball")
    ball = bmesh.new()
    bmesh.ops.create_icosphere(ball, subdivisions=3, radius=1.0)
    ball.to_mesh(sphere)
    ball.free()
    base = np.array([vertex.co for vertex in sphere.vertices])
    faces = np.array([face.vertices[:] for face in sphere.polygons])
    points = np.concatenate([base @ np.array(part.axes).T + np.array(part.centre) for part in parts])
    mesh = bpy.data.meshes.new("Person")
    mesh.from_pydata(points.tolist(), [], np.concatenate(
        [(faces if np.linalg.det(np.array(part.axes)) > 0.0 else faces[:, ::-1]) + k * len(base)
         for k, part in enumerate(parts)]).tolist())  # fmt: skip
    whole = bpy.data.objects.new("Whole", mesh)
    bpy.context.scene.collection.objects.link(whole)
    remesh = whole.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", voxel
    smooth = whole.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, 6
    shown = whole.evaluated_get(bpy.context.evaluated_depsgraph_get())
    result = bpy.data.meshes.new_from_object(shown)
    bpy.data.objects.remove(whole)
    bpy.data.meshes.remove(mesh)
    bpy.data.meshes.remove(sphere)
    return result


def _distance(part: Part, points: np.ndarray) -> np.ndarray:
    """How far points (V, 3) are outside of a part, in metres, nearly."""
    axes = np.array(part.axes)
    inside = (points - np.array(part.centre)) @ np.linalg.inv(axes).T
    length = np.linalg.norm(inside, axis=-1)
    return (length - 1.0) * np.linalg.norm(axes, axis=0).min()


def _bind(person: bpy.types.Object, figure: Figure, points: np.ndarray, parts: list[Part]) -> None:
    """Weights by the distance to the parts of each bone; a vertex follows bones that touch each other."""
    bones = sorted({part.bone for part in parts if part.bone})
    away = np.array([np.min([_distance(part, points) for part in parts if part.bone == bone], axis=0)
                     for bone in bones])  # fmt: skip
    near = away.min(0)
    weights = np.clip(1.0 - (away - near) / (_BINDING * figure.size), 0.0, None) ** 2
    weights *= _joined(figure, bones)[away.argmin(0)].T
    weights /= weights.sum(0)
    groups = [person.vertex_groups.new(name=bone) for bone in bones]
    for group, own in zip(groups, weights, strict=True):
        for vertex in np.flatnonzero(own > 1e-3).tolist():
            group.add([vertex], float(own[vertex]), "REPLACE")
    modifier = person.modifiers.new("Armature", "ARMATURE")
    modifier.object = figure.ob
    person.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = 8


def _joined(figure: Figure, bones: list[str]) -> np.ndarray:
    """(B, B) whether two bones are the same, or the one is the next one above the other among `bones`."""
    number = {bone: k for k, bone in enumerate(bones)}
    joined = np.eye(len(bones))
    for bone in bones:
        above = figure.ob.data.bones[bone].parent
        while above is not None and above.name not in number:
            above = above.parent
        if above is not None:
            joined[number[bone], number[above.name]] = joined[number[above.name], number[bone]] = 1.0
    return joined


def facing(figure: Figure, around: float, above: float) -> Quaternion:
    """The rotation of a camera that looks at a figure. around : degrees to its left from its front. above : degrees."""
    way = (Matrix.Rotation(np.radians(around), 3, figure.up) @ figure.forward).normalized()
    away = way * float(np.cos(np.radians(above))) + figure.up * float(np.sin(np.radians(above)))
    right = figure.up.cross(away).normalized()
    return Matrix([right, away.cross(right), away]).transposed().to_quaternion()
