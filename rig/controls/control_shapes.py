# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom shapes of control bones: wire meshes of size 1 that no scene holds, how large they are, and where drawn.

A control is as large as the limb that a hand takes hold of.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import cos, pi, sin
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...solvers.rest import SMALL
from ..figure.body import RestBody
from ..figure.parts import Role

BOX, RING, BALL = "BOX", "RING", "BALL"

_NAMES = {BOX: "DQIK box", RING: "DQIK ring", BALL: "DQIK ball"}
_MADE = "dqik_made"  # a custom property that marks our objects: users may give theirs the same names
_SEGMENTS = 32  # of a circle

_Wire = tuple[list[tuple[float, ...]], list[tuple[int, int]]]
_BOUNDS = 0.5, 1.6  # of a person's: a shape that is smaller cannot be grabbed, a larger one hides the body


class _Measure(NamedTuple):
    """What a control's size goes by: the line between two joints, and its length on people as a share of their size."""

    start: str
    end: str
    usual: float


_MEASURES = {
    "hand": _Measure("forearm", "hand", 0.155), "foot": _Measure("shin", "foot", 0.235),
    "toes": _Measure("shin", "foot", 0.235), "head": _Measure("hips", "head", 0.33),
    "hips": _Measure("hips", "head", 0.33), "spine": _Measure("hips", "head", 0.33),
    "collar": _Measure("arm", "forearm", 0.165), "forearm": _Measure("arm", "forearm", 0.165),
    "shin": _Measure("thigh", "shin", 0.245),
}  # fmt: skip


def shape(kind: str) -> bpy.types.Object:
    """The object of a shape, shared by all armatures of the file; created if there is none."""
    name = _NAMES[kind]
    ob = next(_made(name), None)
    if ob is None:
        points, edges = _box() if kind == BOX else _circles(((0, 2),) if kind == RING else ((0, 1), (1, 2), (0, 2)))
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(points, edges, [])
        ob = bpy.data.objects.new(name, mesh)
        ob[_MADE] = name
    return ob


def remove_unused() -> None:
    """Remove the shapes that no bone uses any more."""
    for name in _NAMES.values():
        for ob in list(_made(name)):
            mesh = ob.data
            if ob.users:
                continue
            bpy.data.objects.remove(ob)
            if mesh is not None and mesh.users == 0:
                bpy.data.meshes.remove(mesh)


def size(body: RestBody, role: Role, usual: float) -> float:
    """The size of a control's shape, as a fraction of the armature's. usual : that of a person."""
    measure = _MEASURES[role.name]
    ends = [body.bone(name, role.side if Role(name).part.sided else "") for name in (measure.start, measure.end)]
    if None in ends:
        return usual
    heads = body.armature.heads
    length = float(np.linalg.norm(heads[ends[1]] - heads[ends[0]])) / body.armature.size
    return usual * float(np.clip(length / measure.usual, *_BOUNDS))


def shift(body: RestBody, bone: int, share: float) -> Vector | None:
    """A place along a bone's limb in the bone's frame. share : of the way to the next joint, or of its length."""
    along = body.along(bone) if share else None
    if along is None:
        return None
    armature = body.armature
    ends = [armature.heads[child] - armature.heads[bone] for child in np.flatnonzero(armature.parent == bone)]
    reach = max((float(end @ along) for end in ends), default=0.0)
    reach = reach if reach > SMALL * armature.size else float(armature.length[bone])
    return Vector(share * reach * (armature.rest[bone, :3, :3].T @ along))


def normal(body: RestBody, bone: int) -> Vector | None:
    """The direction of a bone's limb in the bone's frame, about which a ring is drawn; None if it is not known."""
    along = body.along(bone)
    return None if along is None else Vector(body.armature.rest[bone, :3, :3].T @ along)


def _made(name: str) -> Iterator[bpy.types.Object]:
    """The objects of a shape that were made here and not changed to something else since."""
    for ob in bpy.data.objects:
        if ob.library is None and ob.type == "MESH" and ob.get(_MADE) == name:
            yield ob


def _box() -> _Wire:
    corners = list(product((-0.5, 0.5), repeat=3))
    edges = [
        (one, other) for one in range(8) for other in range(one)
        if sum(a != b for a, b in zip(corners[one], corners[other], strict=True)) == 1
    ]  # fmt: skip
    return corners, edges


def _circles(planes: Sequence[tuple[int, int]]) -> _Wire:
    """Circles of diameter 1 in planes that are named by their axes."""
    points, edges = [], []
    for first, second in planes:
        start = len(points)
        for step in range(_SEGMENTS):
            point = [0.0, 0.0, 0.0]
            point[first], point[second] = 0.5 * cos(2 * pi * step / _SEGMENTS), 0.5 * sin(2 * pi * step / _SEGMENTS)
            points.append(tuple(point))
            edges.append((start + step, start + (step + 1) % _SEGMENTS))
    return points, edges
