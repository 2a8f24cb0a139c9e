# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground on which the feet of a motion stand: level, or a mesh."""

from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..notes import Note, Refused

LOWEST, LEVEL, MESH = "LOWEST", "LEVEL", "MESH"
_DOWN = Vector((0.0, 0.0, -1.0))


class Ground(NamedTuple):
    """A kind of ground, the height of a level one, and the object of a mesh."""

    kind: str = LOWEST
    height: float = 0.0
    ob: bpy.types.Object | None = None


def heights(
    ground: Ground, points: np.ndarray, above: float, depsgraph: bpy.types.Depsgraph, place: np.ndarray | None
) -> np.ndarray | None:  # fmt: skip
    """How high (...) the ground is under points (..., 3) of the world, NaN where there is none; None if not known.

    above : how far over a point the ground of a mesh is looked for. place : (4, 4), where the mesh is. Raises `Refused`
    if the mesh has no faces.
    """
    if ground.kind == LOWEST:
        return None
    if ground.kind == LEVEL:
        return np.full(points.shape[:-1], ground.height)
    shown = ground.ob.evaluated_get(depsgraph)
    if not len(shown.data.polygons):
        raise Refused(Note("{} has no faces to stand on: choose another mesh as the ground", repr(ground.ob.name)))
    to_world = shown.matrix_world if place is None else Matrix(place.tolist())
    inverse = to_world.inverted_safe()
    way = inverse.to_3x3() @ _DOWN
    found = np.full(points.shape[:-1], np.nan)
    for number in np.ndindex(found.shape):
        start = inverse @ (Vector(points[number]) - above * _DOWN)
        hit, struck, _, _ = shown.ray_cast(start, way)
        if hit:
            found[number] = (to_world @ struck).z
    return found
