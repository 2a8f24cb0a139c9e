# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the test characters in Blender, and sends them through FBX and glTF as people get them."""

import tempfile
import warnings
from dataclasses import dataclass
from math import radians
from pathlib import Path

import bpy
import numpy as np
from bodies import ARM, BODIES
from conventions import Character
from mathutils import Matrix, Vector
from metarigs import Metarig

SIDES = (("L", 1.0), ("R", -1.0))


@dataclass
class Line:
    """A bone of a character: its joint, its role, its side, the number of its parent, its head in metres."""

    name: str
    joint: str
    role: str
    side: str
    parent: int
    head: Vector


def lines(character: Character) -> list[Line]:
    """The bones of a character, both sides, parents first."""
    found: list[Line] = []
    above: list[dict[str, int]] = []  # by depth: the last bone of each side
    for text in character.table.strip("\n").splitlines():
        depth = len(text) - len(text.lstrip(" "))
        joint, rest = text.strip().split(" = ")
        name, role = rest.split(" : ")
        pair = name.split(" ") if character.name.startswith("no names") and " " in name else None
        sided, parents = "{" in name or pair is not None, above[depth - 1] if depth else {}
        own: dict[str, int] = {}
        for k, (side, sign) in enumerate(SIDES if sided else (("", 1.0),)):
            full = pair[k] if pair else name.format(*[character.sides[k]] if "/" not in character.sides[k] else
                                                    character.sides[k].split("/")) if sided else name  # fmt: skip
            parent = parents.get(side, parents.get("", -1))
            found.append(Line(full, joint, role, side, parent, _head(character, joint, sign)))
            own[side] = len(found) - 1
        above[depth:] = [own]
    return found


def truth(character: Character | Metarig) -> dict[str, tuple[str, str] | None]:
    """The true role of each bone by name, None for none; bones whose role does not matter are left out."""
    if isinstance(character, Metarig):
        return character.truth()
    return {line.name: None if line.role == "-" else (line.role, line.side)
            for line in lines(character) if line.role != "?"}  # fmt: skip


def _head(character: Character, joint: str, sign: float) -> Vector:
    """Where a joint is at rest, in metres."""
    body = BODIES[character.body]
    first, _, second = joint.partition("~")
    point = sum((_rested(character, name, body) for name in (first, second or first)), Vector()) / 2.0
    return Vector((sign * point.x, point.y, point.z))


def _rested(character: Character, joint: str, body: dict) -> Vector:
    point = Vector(body[joint])
    if joint.startswith(ARM) and character.arms:
        pivot = Vector(body["arm"])
        point = pivot + Matrix.Rotation(radians(character.arms), 3, "Y") @ (point - pivot)
    if joint in ("toes", "toetip", "heel") and character.feet:
        pivot = Vector(body["foot"])
        point = pivot + Matrix.Rotation(radians(character.feet), 3, "X") @ (point - pivot)
    return point


def native(character: Character | Metarig, name: str = "") -> bpy.types.Object:
    """The character as an armature object."""
    if isinstance(character, Metarig):
        return character.add()
    ob = bpy.data.objects.new(name or character.name, bpy.data.armatures.new(character.name))
    bpy.context.scene.collection.objects.link(ob)
    _select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    space = Matrix.Rotation(radians(character.facing), 4, "Z") @ Matrix.Scale(character.unit, 4)
    rows = lines(character)
    bones = [ob.data.edit_bones.new(line.name) for line in rows]
    for number, (line, bone) in enumerate(zip(rows, bones, strict=True)):
        tail = _tail(rows, number)
        _shape(bone, line.head, tail, character.axes)
        bone.parent = bones[line.parent] if line.parent >= 0 else None
    for bone in bones:
        bone.transform(space)
    names = [bone.name for bone in bones]
    assert names == [line.name for line in rows], "names of bones must differ"
    bpy.ops.object.mode_set(mode="OBJECT")
    if character.turned:
        parent = bpy.data.objects.new("Parent", None)
        bpy.context.scene.collection.objects.link(parent)
        parent.rotation_euler, parent.scale, parent.location = (0.4, -0.2, 1.1), (0.013,) * 3, (2.0, 1.0, 0.3)
        ob.parent = parent
    bpy.context.view_layer.update()
    return ob


def _tail(rows: list[Line], number: int) -> Vector:
    """Where a bone ends: at the child that is furthest from it, or on along its parent."""
    own = rows[number]
    ends = [row.head for row in rows if row.parent == number and (row.head - own.head).length > 1e-4]
    middle = [row.head for row in rows if row.parent == number and row.side == "" == own.side
              and (row.head - own.head).length > 1e-4]  # fmt: skip
    if own.joint == "pelvis" and not middle:
        middle = [own.head + Vector((0, 0, 0.08))]
    if ends:
        return max(middle or ends, key=lambda end: (end - own.head).length)
    above = rows[own.parent] if own.parent >= 0 else None
    along = Vector((0, 0, 1)) if above is None else own.head - above.head
    return own.head + (along.normalized() if along.length > 1e-4 else Vector((0, 0, 1))) * 0.08


def _shape(bone: bpy.types.EditBone, head: Vector, tail: Vector, axes: str) -> None:
    """Place a bone with its Y along the limb, its X along it, or its axes those of the world."""
    along = tail - head
    if axes == "along":
        bone.head, bone.tail = head, tail
    elif axes == "x":  # X along the limb, Y as near to the figure's front as may be
        x = along.normalized()
        y = Vector((0, -1, 0)) if abs(x.y) < 0.9 else Vector((0, 0, 1))
        y = (y - x * x.dot(y)).normalized()
        matrix = Matrix((x, y, x.cross(y))).transposed().to_4x4()
        bone.head, bone.tail = head, head + y * along.length
        matrix.translation = head
        bone.matrix = matrix
    else:
        bone.head, bone.tail = head, head + Vector((0, along.length, 0))


def through(ob: bpy.types.Object, way: str) -> bpy.types.Object:
    """An armature as it comes back from `fbx`, `fbx auto` (automatic bone orientation) or `gltf`; it is removed."""
    mesh = _bound_mesh(ob)
    _select(ob, mesh)
    before = set(bpy.data.objects)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Blender's own
        path = str(Path(folder) / ("a.glb" if way == "gltf" else "a.fbx"))
        if way == "gltf":
            bpy.ops.export_scene.gltf(filepath=path, use_selection=True, export_animations=False)
            _remove(ob, mesh)
            bpy.ops.import_scene.gltf(filepath=path)
        else:
            bpy.ops.export_scene.fbx(filepath=path, use_selection=True, add_leaf_bones=False, bake_anim=False)
            _remove(ob, mesh)
            bpy.ops.import_scene.fbx(filepath=path, automatic_bone_orientation=way == "fbx auto")
    found = next(new for new in bpy.data.objects if new not in before and new.type == "ARMATURE")
    _select(found)
    bpy.context.view_layer.update()
    return found


def _bound_mesh(ob: bpy.types.Object) -> bpy.types.Object:
    """A small mesh with a vertex group for each bone: importers take such bones for joints."""
    heads = [tuple(bone.head_local) for bone in ob.data.bones]
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([tuple(np.add(head, shift)) for head in heads for shift in np.eye(3) * 0.01],
                     [], [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(len(heads))])  # fmt: skip
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    for k, bone in enumerate(ob.data.bones):
        body.vertex_groups.new(name=bone.name).add(range(3 * k, 3 * k + 3), 1.0, "REPLACE")
    body.parent = ob
    body.modifiers.new("Armature", "ARMATURE").object = ob
    return body


def _select(*objects: bpy.types.Object) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(other in objects)
    bpy.context.view_layer.objects.active = objects[0]


def _remove(*objects: bpy.types.Object) -> None:
    for ob in objects:
        data = ob.data
        bpy.data.objects.remove(ob)
        (bpy.data.meshes if isinstance(data, bpy.types.Mesh) else bpy.data.armatures).remove(data)
