# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom shapes of control bones: wire meshes of size 1 that no scene holds."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import cos, pi, sin

import bpy

BOX, RING, BALL = "BOX", "RING", "BALL"

_NAMES = {BOX: "DQIK box", RING: "DQIK ring", BALL: "DQIK ball"}
_MADE = "dqik_made"  # a custom property that marks our objects: users may give theirs the same names
_SEGMENTS = 32  # of a circle

_Wire = tuple[list[tuple[float, ...]], list[tuple[int, int]]]


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
