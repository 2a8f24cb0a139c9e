# SPDX-License-Identifier: GPL-3.0-or-later
"""What an armature's bones keep out of: the floor and chosen objects, each a shape in its own space.

A shape is placed in each frame by four points, which move with its object; see `solvers.Contacts`.
"""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np

from ... import solvers as ik
from ..blender import dependencies
from ..figure.skin import coordinates
from ..notes import Note

TYPES = {"MESH", "EMPTY"}  # of objects that may be obstacles
_FLAT = 1e-4  # of its largest extent: a mesh thinner than this is a plate
_PLATE = 0.2  # thickness of a plate behind its face, as a share of its largest extent
_AT_CORNER = 1e-4  # of its extents: a mesh is a box if all its vertices are as near to corners of its bounds
_DIRECTIONS = 100  # in which the outermost vertices of a mesh are taken, where its hull has more corners


class Obstacle(NamedTuple):
    """An obstacle that can be avoided.

    number : its place in `dependencies.obstacles`. shape : in the object's space. points : (4, 3) that place it there.
    """

    number: int
    shape: ik.Plane | ik.Box | ik.Convex
    points: np.ndarray

    @property
    def is_plane(self) -> bool:
        """Whether its last point is along a normal, which the first three fix."""
        return isinstance(self.shape, ik.Plane)


def settings(ob: bpy.types.Object) -> tuple:
    """What is avoided, as plain values; empty where nothing is. ob : an object, evaluated or original."""
    own = ob.dqik
    if not (own.avoid_self or own.use_floor or len(own.avoid)):
        return ()
    others = dependencies.obstacles(ob)
    return own.avoid_self, own.use_floor, [0 if other is None else other.original.session_uid for other in others]


def contents(ob: bpy.types.Object) -> tuple:
    """The meshes of the obstacles of an armature object: their vertices."""
    meshes = (other.data for other in dependencies.obstacles(ob.original) if other is not None and _has_mesh(other))
    return tuple(coordinates(mesh).tobytes() for mesh in meshes)


def of(ob: bpy.types.Object, moved: set[str], notes: list[Note]) -> list[Obstacle]:
    """The obstacles of an armature object; notes about those that cannot be avoided. moved : names of solved bones."""
    own, found, behind = ob.original, list[Obstacle](), dependencies.Dependencies()
    for number, other in enumerate(dependencies.obstacles(own)):
        floor = own.dqik.use_floor and number == 0
        if other is None:
            if floor:
                found.append(_obstacle(number, ik.Plane()))
            continue
        names = {name for owner, name in behind.bones_behind(other) if owner == own and name in moved}
        solved = sorted(names, key=own.pose.bones.find)
        if solved:
            notes.append(Note("Obstacle {}: it follows bone {}, which is solved", repr(other.name), repr(solved[-1])))
            continue
        shape = ik.Plane() if floor or other.type == "EMPTY" else _shape(other)
        if shape is None:
            notes.append(Note("Obstacle {}: it has no faces: choose a mesh or an empty", repr(other.name)))
        else:
            found.append(_obstacle(number, shape))
    return found


def _obstacle(number: int, shape: ik.Plane | ik.Box | ik.Convex) -> Obstacle:
    return Obstacle(number, shape, shape.points())


def _has_mesh(ob: bpy.types.Object) -> bool:
    return ob.type == "MESH" and ob.data is not None


def _shape(ob: bpy.types.Object) -> ik.Box | ik.Convex | None:
    """The convex hull of a mesh: a box where it is one, and of a flat mesh a plate behind its face."""
    if not _has_mesh(ob):
        return None
    vertices = coordinates(ob.data).astype(float)
    if len(vertices) < 3 or not np.isfinite(vertices).all():
        return None
    lo, hi = vertices.min(0), vertices.max(0)
    size, centre = hi - lo, 0.5 * (lo + hi)
    largest = float(size.max())
    thin = np.flatnonzero(size <= _FLAT * largest)
    if len(thin) > 1:
        return None
    if len(thin):
        return _plate(ob.data, int(thin[0]), centre, size, largest)
    at_corner = np.minimum(np.abs(vertices - lo), np.abs(vertices - hi)) <= _AT_CORNER * size
    if at_corner.all() and len(np.unique(vertices > centre, axis=0)) == 8:
        return ik.Box(tuple(centre), tuple(size))
    return _hull((vertices - centre) / size, centre, size)


def _plate(mesh: bpy.types.Mesh, axis: int, centre: np.ndarray, size: np.ndarray, largest: float) -> ik.Box | None:
    """A box whose face is a flat mesh, behind which it lies."""
    if not mesh.polygons:
        return None
    normal = sum(np.array(face.normal)[axis] * face.area for face in mesh.polygons)
    size[axis] = _PLATE * largest
    centre[axis] -= 0.5 * size[axis] * (1.0 if normal >= 0.0 else -1.0)
    return ik.Box(tuple(centre), tuple(size))


def _hull(vertices: np.ndarray, centre: np.ndarray, size: np.ndarray) -> ik.Convex | ik.Box:
    """The convex hull of vertices (V, 3), shrunk to a cube of side 1 about 0; their box where rounding leaves none."""
    corners, faces = _hulled(vertices)
    if len(corners) > _DIRECTIONS:
        every = corners
        corners, faces = _hulled(every[np.unique(np.argmax(every @ _even_directions().T, axis=0))])
        corners = corners * _growth(corners, faces, every)
    try:
        return ik.Convex(centre + corners * size, faces)
    except ik.InvalidOptions:
        return ik.Box(tuple(centre), tuple(size))


def _hulled(vertices: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """The corners (V, 3) and faces of the convex hull of vertices."""
    made = bmesh.new()
    try:
        for vertex in vertices:
            made.verts.new(vertex)
        bmesh.ops.convex_hull(made, input=made.verts[:], use_existing_faces=False)
        used = [vertex for vertex in made.verts if vertex.link_faces]
        number = {vertex: place for place, vertex in enumerate(used)}
        corners = np.array([vertex.co for vertex in used], dtype=float).reshape(-1, 3)
        return corners, [[number[vertex] for vertex in face.verts] for face in made.faces]
    finally:
        made.free()


def _growth(corners: np.ndarray, faces: list[list[int]], vertices: np.ndarray) -> float:
    """How many times a hull about 0 must grow to hold all vertices."""
    a, b, c = (corners[[face[k] for face in faces]] for k in range(3))
    normals = np.cross(b - a, c - a)
    levels = (normals * a).sum(-1)
    fit = np.abs(levels) > _FLAT * np.linalg.norm(normals, axis=-1)
    return max(1.0, float((vertices @ (normals[fit] / levels[fit, None]).T).max(initial=1.0)))


def _even_directions() -> np.ndarray:
    """Directions (D, 3) that a spiral spreads evenly over the sphere."""
    height = 1.0 - (2.0 * np.arange(_DIRECTIONS) + 1.0) / _DIRECTIONS
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(_DIRECTIONS)
    wide = np.sqrt(1.0 - height * height)
    return np.stack([wide * np.cos(turn), wide * np.sin(turn), height], axis=-1)
