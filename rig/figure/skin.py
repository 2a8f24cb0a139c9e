# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of a figure's skin by bone, from where radii of bodies and soles of feet are measured.

Hair, skirts, capes and what a figure holds or wears are no skin: what hangs on bones for these, or as a rigid mesh on a
bone that another mesh covers, and meshes that neither the viewport nor a render shows.
"""

from itertools import islice

import bpy
import numpy as np

from ..blender import bulk
from ..blender.armature import Armature
from ..remembered import Remembered
from . import bone_names, roles
from .character import Character
from .roles import Figure

MOST = 20_000  # vertices of a mesh that are read; of larger ones, every second, third, ...
_LEAST_WEIGHT = 0.3  # of a vertex in a bone's group, for the vertex to be the bone's
_HANGS_FAR = 0.15  # of the figure's size: chains of bones without a role that reach further are hair, skirts, capes
_HELD = 0.25  # of the figure's size: what a hand or a foot carries rigidly reaches further than they do
_ENDS = ("hand", "finger", "foot", "toes")

_measured: Remembered[tuple, dict[int, np.ndarray]] = Remembered(8)


def meshes(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The original meshes that an armature object deforms, or whose parents its bones are."""
    own = ob.original
    return [
        other for other in bpy.data.objects
        if other.type == "MESH" and other.data is not None and (is_deformed(other, own) or _hangs(other, own))
    ]  # fmt: skip


def contents(ob: bpy.types.Object) -> tuple:
    """What `points` depends on, as far as it is read quickly: the meshes, and where their vertices are."""
    return tuple((other.session_uid, coordinates(other.data).tobytes()) for other in _shown(ob))


def points(ob: bpy.types.Object, own: Character) -> dict[int, np.ndarray]:
    """For bones by number, the vertices (n, 3) of the skin that are theirs most, at rest and in armature space."""
    key = (own.armature.rest.tobytes(), *own.armature.index, tuple(own.figure.roles.items()), contents(ob))
    return _measured.of(key, lambda: _points(ob.original, own))


def _points(ob: bpy.types.Object, own: Character) -> dict[int, np.ndarray]:
    found = dict[int, list[np.ndarray]]()
    for _, vertices, owners in _skins(ob, own, MOST):
        for number in np.unique(owners[owners >= 0]).tolist():
            found.setdefault(number, []).append(vertices[owners == number])
    return {bone: np.concatenate(parts) for bone, parts in found.items()}


def triangles(ob: bpy.types.Object, own: Character) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surface of the skin at rest and in armature space.

    Vertices (n, 3), the bone (n,) that each of them follows most, -1 for none, and triangles (m, 3) of vertices.
    """
    parts, count = [(np.zeros((0, 3)), np.zeros(0, np.intp), np.zeros((0, 3), np.intp))], 0
    for other, vertices, owners in _skins(ob.original, own, 0):
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


def is_deformed(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    """Whether an armature object deforms another object."""
    by_modifier = any(one.type == "ARMATURE" and one.object == ob for one in mesh.modifiers)
    return by_modifier or (mesh.parent == ob and mesh.parent_type == "ARMATURE")


def _hangs(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    return mesh.parent == ob and mesh.parent_type == "BONE"


def _shown(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes of an armature object that the viewport or a render shows."""
    return [other for other in meshes(ob) if not (other.hide_render and (other.hide_viewport or other.hide_get()))
            and not all(one.hide_render and one.hide_viewport for one in other.users_collection)]  # fmt: skip


def _skins(
    ob: bpy.types.Object, own: Character, most: int
) -> list[tuple[bpy.types.Object, np.ndarray, np.ndarray]]:  # fmt: skip
    """The meshes of a figure's skin, their vertices (n, 3), and the bone (n,) of each, -1 for what is no skin.

    most : vertices of a mesh that are read; 0 for all.
    """
    armature, figure = own.armature, own.figure
    bare, found = _without_skin(ob, armature, figure), []
    for other in _shown(ob):
        step = 1 if not most or _hangs(other, ob) else max(-(-len(other.data.vertices) // most), 1)
        vertices, owners = _carried(other, ob, armature, step)
        owners = np.where(bare[owners] & (owners >= 0), -1, owners)
        found.append((other, vertices, owners))
    rigid = [_rigid_bone(owners) for _, _, owners in found]
    covered = {bone for (_, _, owners), one in zip(found, rigid, strict=True) if one < 0
               for bone in np.unique(owners).tolist()}  # fmt: skip
    return [
        (other, vertices, np.full_like(owners, -1) if one >= 0 and figure.roles and (
            one in covered or bone_names.is_worn(other.name) or _is_held(armature, figure, one, vertices)
        ) else owners)
        for (other, vertices, owners), one in zip(found, rigid, strict=True)
    ]  # fmt: skip


def _without_skin(ob: bpy.types.Object, armature: Armature, figure: Figure) -> np.ndarray:
    """(N + 1,) bones that carry hair, clothes or what is held: so named, or in a chain without roles that reaches far.

    The last one is no bone.
    """
    found = np.zeros(len(armature.parent) + 1, dtype=bool)
    if not figure.roles:
        return found
    names, tree = roles.named_tree(ob, armature).names, armature.tree
    for bone in sorted(range(len(names)), key=tree.depth):
        above = tree.parent[bone]
        if figure.role(bone) is not None or above < 0:
            continue
        if found[above] or bone_names.is_worn_bone(names[bone]):
            found[bone] = True
        elif figure.role(above) is not None:
            lead = not any(figure.role(one) is not None for one in tree.below(bone))
            found[bone] = lead and tree.distance(above, bone) + tree.reach[bone] > _HANGS_FAR * tree.size
    return found


def _rigid_bone(owners: np.ndarray) -> int:
    """The only bone that a mesh follows; -1 if it follows several or none."""
    bones = np.unique(owners)
    return int(bones[0]) if len(bones) == 1 else -1


def _is_held(armature: Armature, figure: Figure, bone: int, vertices: np.ndarray) -> bool:
    """Whether a rigid mesh reaches further than the hand or foot that carries it."""
    role = next((role for one in armature.above(bone) if (role := figure.role(one)) is not None), None)
    reach = np.linalg.norm(vertices - armature.heads[bone], axis=-1).max(initial=0.0)
    return role is not None and role.name in _ENDS and reach > _HELD * armature.tree.size


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
