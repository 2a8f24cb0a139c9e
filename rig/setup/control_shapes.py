# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom shapes of control bones: wire meshes of size 1 that no scene holds."""

from collections.abc import Sequence
from itertools import product
from math import cos, pi, sin

import bpy

BOX, RING, BALL = "BOX", "RING", "BALL"

_NAMES = {BOX: "DQIK box", RING: "DQIK ring", BALL: "DQIK ball"}
_SEGMENTS = 32  # of a circle

_Wire = tuple[list[tuple[float, ...]], list[tuple[int, int]]]


def shape(kind: str) -> bpy.types.Object:
    """The object of a shape, shared by all armatures of the file; created if there is none."""
    name = _NAMES[kind]
    ob = bpy.data.objects.get((name, None))
    if ob is None:
        points, edges = _box() if kind == BOX else _circles(((0, 2),) if kind == RING else ((0, 1), (1, 2), (0, 2)))
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(points, edges, [])
        ob = bpy.data.objects.new(name, mesh)
    return ob


def remove_unused() -> None:
    """Remove the shapes that no bone uses any more."""
    for name in _NAMES.values():
        ob = bpy.data.objects.get((name, None))
        if ob is not None and ob.users == 0:
            mesh = ob.data
            bpy.data.objects.remove(ob)
            if mesh.users == 0:
                bpy.data.meshes.remove(mesh)


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
