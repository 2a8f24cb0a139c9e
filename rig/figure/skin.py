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
    vertices = coordinates(mesh.data).astype(float)
    if not len(vertices) or not np.isfinite(vertices).all():
        return
    if _hangs(mesh, ob):
        bone = ob.pose.bones.get(mesh.parent_bone)
        if bone is not None:
            number = armature.index[bone.name]
            to_bone = np.array((ob.matrix_world @ bone.matrix).inverted_safe() @ mesh.matrix_world)
            yield number, _moved(armature.rest[number] @ to_bone, vertices)
        return
    to_armature = np.array(ob.matrix_world.inverted_safe() @ mesh.matrix_world)
    step = -(-len(vertices) // MOST)
    owners = _owners(mesh, armature, step)
    vertices = _moved(to_armature, vertices[::step])
    for number in np.unique(owners[owners >= 0]).tolist():
        yield number, vertices[owners == number]


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
