# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of meshes that an armature's bones carry, by bone, from where radii of bodies are measured."""

from collections.abc import Iterator
from itertools import islice

import bpy
import numpy as np

from ..blender import bulk
from ..blender.armature import Armature

MOST = 20_000  # vertices of a mesh that are read; of larger ones, every second, third, ...
_LEAST_WEIGHT = 0.3  # of a vertex in a bone's group, for the vertex to be the bone's


def meshes(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The original meshes that an armature object deforms, or whose parents its bones are."""
    own = ob.original
    return [
        other for other in bpy.data.objects
        if other.type == "MESH" and other.data is not None and (_is_deformed(other, own) or _hangs(other, own))
    ]  # fmt: skip


def contents(ob: bpy.types.Object) -> tuple:
    """What `points` depends on, as far as it is read quickly: the meshes, and where their vertices are."""
    return tuple((other.session_uid, coordinates(other.data).tobytes()) for other in meshes(ob))


def points(ob: bpy.types.Object, armature: Armature) -> dict[int, np.ndarray]:
    """For bones by number, the vertices (n, 3) that are theirs most, at rest and in armature space."""
    own, found = ob.original, dict[int, list[np.ndarray]]()
    for other in meshes(own):
        for bone, vertices in _of_mesh(other, own, armature):
            found.setdefault(bone, []).append(vertices)
    return {bone: np.concatenate(parts) for bone, parts in found.items()}


def triangles(ob: bpy.types.Object, armature: Armature) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surface of what the bones carry, at rest and in armature space.

    Vertices (n, 3), the bone (n,) that each of them follows most, -1 for none, and triangles (m, 3) of vertices.
    """
    own, parts, count = ob.original, [(np.zeros((0, 3)), np.zeros(0, np.intp), np.zeros((0, 3), np.intp))], 0
    for other in meshes(own):
        vertices, owners = _carried(other, own, armature, 1)
        other.data.calc_loop_triangles()
        corners = bulk.read(other.data.loop_triangles, "vertices", 3).reshape(-1, 3).astype(np.intp)
        if len(vertices):
            parts.append((vertices, owners, corners + count))
            count += len(vertices)
    vertices, owners, corners = (np.concatenate(each) for each in zip(*parts, strict=True))
    return vertices, owners, corners


def coordinates(mesh: bpy.types.Mesh) -> np.ndarray:
    """The vertices (n, 3) of a mesh, in its own space."""
    return bulk.read(mesh.vertices, "co", 3)


def _is_deformed(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    by_modifier = any(one.type == "ARMATURE" and one.object == ob for one in mesh.modifiers)
    return by_modifier or (mesh.parent == ob and mesh.parent_type == "ARMATURE")


def _hangs(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    return mesh.parent == ob and mesh.parent_type == "BONE"


def _of_mesh(
    mesh: bpy.types.Object, ob: bpy.types.Object, armature: Armature
) -> Iterator[tuple[int, np.ndarray]]:  # fmt: skip
    """Bones, and vertices (n, 3) of one mesh that are theirs."""
    vertices, owners = _carried(mesh, ob, armature, 1 if _hangs(mesh, ob) else -(-len(mesh.data.vertices) // MOST))
    for number in np.unique(owners[owners >= 0]).tolist():
        yield number, vertices[owners == number]


def _carried(
    mesh: bpy.types.Object, ob: bpy.types.Object, armature: Armature, step: int
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Every `step`-th vertex (n, 3) of a mesh, in armature space, and the bone (n,) that it follows; none if broken."""
    vertices = coordinates(mesh.data).astype(float)
    if not len(vertices) or not np.isfinite(vertices).all():
        return np.zeros((0, 3)), np.zeros(0, np.intp)
    if _hangs(mesh, ob):
        bone = ob.pose.bones.get(mesh.parent_bone)
        if bone is None:
            return vertices, np.full(len(vertices), -1)
        number = armature.index[bone.name]
        to_bone = np.array((ob.matrix_world @ bone.matrix).inverted_safe() @ mesh.matrix_world)
        return _moved(armature.rest[number] @ to_bone, vertices), np.full(len(vertices), number)
    to_armature = np.array(ob.matrix_world.inverted_safe() @ mesh.matrix_world)
    return _moved(to_armature, vertices[::step]), _owners(mesh, armature, step)


def _owners(mesh: bpy.types.Object, armature: Armature, step: int) -> np.ndarray:
    """For every `step`-th vertex the bone that it follows most; -1 where it follows none."""
    bone_of = {group.index: armature.index.get(group.name, -1) for group in mesh.vertex_groups}
    found = []
    for vertex in islice(mesh.data.vertices, 0, None, step):
        weight, owner = _LEAST_WEIGHT, -1
        for group in vertex.groups:
            bone = bone_of.get(group.group, -1)
            if bone >= 0 and group.weight > weight:
                weight, owner = group.weight, bone
        found.append(owner)
    return np.array(found, dtype=np.intp)


def _moved(matrix: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    return vertices @ matrix[:3, :3].T + matrix[:3, 3]
