# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of other proportions, made from the person by scaling its bones."""

from dataclasses import dataclass, field

import bpy
import numpy as np
from clothed_person import person
from mathutils import Matrix, Vector
from stage import Point, coat

_PARTS = {
    "head": ("head",), "neck": ("neck",), "chest": ("spine.001", "chest"), "belly": ("hips", "spine"),
    "shoulders": ("shoulder",), "arms": ("upper_arm", "forearm"), "hands": ("hand", "f_"),
    "legs": ("thigh", "shin"), "feet": ("foot", "toe"),
}  # fmt: skip
_MATERIALS = {"shirt": (0,), "trousers": (1,), "shoes": (2, 3), "skin": (4, 5, 6), "hair": (7,)}


@dataclass(frozen=True)
class Shape:
    """A body. size : of all of it. parts : (thickness, length) of those that differ. wide : its place beside others."""

    size: float = 1.0
    parts: dict[str, tuple[float, float]] = field(default_factory=dict)
    colors: dict[str, Point] = field(default_factory=dict)
    wide: float = 0.95

    def scale(self, bone: str) -> Vector:
        """The factors along the bone's axes."""
        part = next((part for part, names in _PARTS.items() if bone.startswith(names)), "")
        thick, length = self.parts.get(part, (1.0, 1.0))
        return self.size * Vector((thick, length, thick))


SHAPES = (
    Shape(1.3, {"arms": (1.0, 1.3), "hands": (1.15, 1.15), "head": (0.8, 0.8), "shoulders": (1.1, 1.25),
                "chest": (1.12, 1.05)}, {"shirt": (0.30, 0.12, 0.38), "hair": (0.02, 0.02, 0.02)}, 1.3),
    Shape(0.6, {"head": (1.5, 1.45), "legs": (1.1, 0.92)}, {"shirt": (0.75, 0.48, 0.05), "hair": (0.35, 0.16, 0.04)},
          0.8),
    Shape(1.0, {}, {}, 0.95),
    Shape(1.02, {"legs": (1.3, 0.62), "belly": (1.35, 1.05), "chest": (1.22, 1.05), "arms": (1.25, 0.9)},
          {"shirt": (0.10, 0.38, 0.14), "hair": (0.3, 0.3, 0.3)}, 1.1),
    Shape(1.0, {"legs": (1.25, 0.68), "arms": (1.6, 1.3), "hands": (1.4, 1.15), "chest": (1.4, 1.0),
                "belly": (1.3, 1.0), "shoulders": (1.5, 1.35), "neck": (1.4, 0.7), "feet": (1.25, 1.2)},
          dict.fromkeys(("shirt", "trousers", "shoes", "hair"), (0.075, 0.052, 0.04)) | {"skin": (0.30, 0.21, 0.17)},
          1.25),
)  # fmt: skip
"""A giant with long arms, a child, the person, one with short legs, and a gorilla."""


def reshape(shape: Shape) -> bpy.types.Object:
    """The armature of a person of a shape, which moves its body."""
    ob, body = person()
    ob.hide_render = True
    old = {bone.name: bone.matrix_local.copy() for bone in ob.data.bones}
    new = _scaled(ob, shape, old)
    corners = _moved(body, old, new, shape)
    sole = float(corners[:, 2].min())
    corners[:, 2] -= sole
    body.data.vertices.foreach_set("co", corners.ravel().astype(np.float32))
    body.data.update()
    _put_bones(ob, shape, new, sole)
    for part, color in shape.colors.items():
        for number in _MATERIALS[part]:
            body.data.materials[number].diffuse_color = (*color, 1.0)
    coat(body, ())
    return ob


def _scaled(ob: bpy.types.Object, shape: Shape, old: dict[str, Matrix]) -> dict[str, Matrix]:
    """Where the bones are: turned as before, the heads moved with the parts that they hang on."""
    new: dict[str, Matrix] = {}
    for bone in ob.data.bones:  # parents first
        new[bone.name] = matrix = old[bone.name].copy()
        if bone.parent is not None:
            above = bone.parent.name
            away = old[above].inverted() @ old[bone.name].translation
            matrix.translation = new[above] @ (away * shape.scale(above))
    return new


def _moved(body: bpy.types.Object, old: dict, new: dict, shape: Shape) -> np.ndarray:
    """The corners (V, 3) of the body's mesh, moved and scaled with its bones."""
    corners = np.array([vertex.co for vertex in body.data.vertices])
    weights = np.zeros((len(corners), len(body.vertex_groups)))
    for vertex in body.data.vertices:
        for group in vertex.groups:
            weights[vertex.index, group.group] = group.weight
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-9)
    result = np.zeros_like(corners)
    for group in body.vertex_groups:
        scaled = Matrix.Diagonal((*shape.scale(group.name), 1.0))
        change = np.array(new[group.name] @ scaled @ old[group.name].inverted())
        result += weights[:, group.index, None] * (corners @ change[:3, :3].T + change[:3, 3])
    return result


def _put_bones(ob: bpy.types.Object, shape: Shape, new: dict[str, Matrix], sole: float) -> None:
    """Give the bones their places, with the sole of the body on the ground."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ob.data.edit_bones:
        matrix, length = new[bone.name].copy(), bone.length * shape.scale(bone.name).y
        if bone.parent is not None:
            matrix.translation.z -= sole
        bone.length = length
        bone.matrix = matrix
    bpy.ops.object.mode_set(mode="OBJECT")
