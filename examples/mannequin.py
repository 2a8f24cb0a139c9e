# SPDX-License-Identifier: GPL-3.0-or-later
"""What a viewer of the demonstration sees: bodies for the skeletons, a lit floor, names, and a view that shows them."""

from collections.abc import Sequence
from math import pi

import bpy
import numpy as np
from mathutils import Euler

SKIN, SHIRT, TROUSERS, SHOES = (0.80, 0.58, 0.46), (0.10, 0.42, 0.50), (0.16, 0.18, 0.26), (0.62, 0.17, 0.10)
OTHER_SHIRT = (0.55, 0.36, 0.12)
_RINGS, _AROUND = 12, 20

# Radii at both ends and at the widest place between, as shares of the figure's height, by what is in a bone's name.
_PARTS: Sequence[tuple[str, tuple[float, float, float], str]] = (
    ("Head", (0.045, 0.068, 0.055), "skin"), ("Neck", (0.034, 0.036, 0.036), "skin"),
    ("LowerBack", (0.085, 0.088, 0.082), "shirt"), ("Spine", (0.082, 0.094, 0.072), "shirt"),
    ("Shoulder", (0.05, 0.052, 0.044), "shirt"), ("ForeArm", (0.028, 0.029, 0.02), "skin"),
    ("Arm", (0.038, 0.038, 0.029), "shirt"), ("Hand", (0.02, 0.024, 0.016), "skin"),
    ("HipJoint", (0.06, 0.066, 0.06), "trousers"), ("Hips", (0.085, 0.09, 0.085), "trousers"),
    ("UpLeg", (0.058, 0.056, 0.04), "trousers"), ("Leg", (0.041, 0.042, 0.026), "trousers"),
    ("Foot", (0.027, 0.031, 0.024), "shoes"), ("ToeBase", (0.024, 0.024, 0.016), "shoes"),
)  # fmt: skip


def dress(rig: bpy.types.Object, height: float, shirt: Sequence[float]) -> None:
    """Give each bone of a captured skeleton a rounded body that goes with it."""
    colors = {"skin": SKIN, "shirt": shirt, "trousers": TROUSERS, "shoes": SHOES}
    coats = {name: _material(f"{rig.name} {name}", color) for name, color in colors.items()}
    for bone in rig.data.bones:
        found = next((part for part in _PARTS if part[0] in bone.name), None)
        if found is None or bone.length < 0.01 * height:
            continue
        _, radii, color = found
        mesh = _rounded(bone.name, bone.length, *(height * radius for radius in radii))
        mesh.materials.append(coats[color])
        made = bpy.data.objects.new(f"{rig.name} {bone.name}", mesh)
        bpy.context.scene.collection.objects.link(made)
        made.parent, made.parent_type, made.parent_bone = rig, "BONE", bone.name
        made.location = (0.0, -bone.length, 0.0)
        made.hide_select = True
    rig.show_in_front, rig.data.display_type = False, "STICK"


def name(rig: bpy.types.Object, words: str, place: Sequence[float], size: float) -> None:
    """Write words on the floor before a figure."""
    curve = bpy.data.curves.new(words, "FONT")
    curve.body, curve.size, curve.align_x = words, size, "CENTER"
    made = bpy.data.objects.new(words, curve)
    bpy.context.scene.collection.objects.link(made)
    made.location, made.hide_select = place, True
    curve.materials.append(_material(f"{rig.name} name", (0.12, 0.14, 0.18)))


def floor(place: Sequence[float], size: float) -> None:
    """A floor and a sun."""
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(x * size, y * size, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], [], [(0, 1, 2, 3)])
    mesh.materials.append(_material("Floor", (0.62, 0.64, 0.67)))
    made = bpy.data.objects.new("Floor", mesh)
    made.location, made.hide_select = place, True
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 3.0, (0.7, 0.2, 0.5)
    for ob in (made, sun):
        bpy.context.scene.collection.objects.link(ob)


def show(middle: Sequence[float], height: float) -> None:
    """Have the 3D views show the figures in their colours, with shadows, and the sidebar."""
    for screen in bpy.data.screens:
        for area in (area for area in screen.areas if area.type == "VIEW_3D"):
            space = area.spaces[0]
            space.clip_end, space.show_region_ui = 100.0 * height, True
            shading, view = space.shading, space.region_3d
            shading.type, shading.color_type, shading.light = "SOLID", "MATERIAL", "STUDIO"
            shading.show_shadows, shading.show_cavity, shading.shadow_intensity = True, True, 0.4
            space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
            space.overlay.show_relationship_lines = False
            view.view_location, view.view_distance = middle, 3.4 * height
            view.view_rotation = Euler((80.0 * pi / 180.0, 0.0, 12.0 * pi / 180.0)).to_quaternion()


def _rounded(words: str, length: float, first: float, middle: float, last: float) -> bpy.types.Mesh:
    """A rounded cone along Y, from the origin, with a wider place between its ends."""
    angle = np.linspace(-pi / 2, pi / 2, 2 * _RINGS)
    ends = [(first * np.cos(a), first * np.sin(a)) for a in angle[:_RINGS]]
    ends += [(middle * 0.5 + 0.25 * (first + last), 0.4 * length)]
    ends += [(last * np.cos(a), length + last * np.sin(a)) for a in angle[_RINGS:]]
    turn = np.linspace(0.0, 2.0 * pi, _AROUND, endpoint=False)
    points = [(radius * np.cos(t), y, radius * np.sin(t)) for radius, y in ends for t in turn]
    faces = [
        (i * _AROUND + j, i * _AROUND + (j + 1) % _AROUND, (i + 1) * _AROUND + (j + 1) % _AROUND, (i + 1) * _AROUND + j)
        for i in range(len(ends) - 1) for j in range(_AROUND)
    ]  # fmt: skip
    mesh = bpy.data.meshes.new(words)
    mesh.from_pydata(points, [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    return mesh


def _material(words: str, color: Sequence[float]) -> bpy.types.Material:
    material = bpy.data.materials.new(words)
    material.diffuse_color, material.roughness = (*color, 1.0), 0.6
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    for node in material.node_tree.nodes if material.node_tree else ():
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = material.diffuse_color
            node.inputs["Roughness"].default_value = 0.6
    return material
