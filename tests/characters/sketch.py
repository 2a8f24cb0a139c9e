# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a posed armature as sticks from joint to joint, with Blender's Workbench."""

from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

COLOURS = {"L": (0.1, 0.3, 0.9, 1.0), "R": (0.9, 0.2, 0.1, 1.0), "": (0.25, 0.25, 0.25, 1.0)}


def draw(ob: bpy.types.Object, path: Path) -> None:
    """Render the evaluated pose to a PNG, from the front right of a figure that faces -Y."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = shown.matrix_world
    heads = {bone.name: world @ bone.head for bone in shown.pose.bones}
    spots = np.array([tuple(spot) for spot in heads.values()])
    size, centre = float(np.ptp(spots, axis=0).max()), Vector((spots.max(0) + spots.min(0)) / 2)
    made = [
        stick(heads[bone.parent.name], heads[bone.name], 0.012 * size, COLOURS[_side(bone.name)])
        for bone in shown.pose.bones if bone.parent is not None
    ]  # fmt: skip
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", 1.25 * size
    away = Vector((-0.6, -1.0, 0.35)).normalized()
    camera.location = centre + away * 3.0 * size
    camera.rotation_euler = (-away).to_track_quat("-Z", "Y").to_euler()
    camera.data.clip_start, camera.data.clip_end = 0.01 * size, 10.0 * size
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.display.shading.color_type, scene.display.shading.light = "OBJECT", "STUDIO"
    scene.render.resolution_x = scene.render.resolution_y = 480
    scene.render.filepath = str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.render.render(write_still=True)
    for ob in (*made, camera):
        bpy.data.objects.remove(ob)


def _side(name: str) -> str:
    """A guess for the colour alone."""
    low = name.lower()
    if "left" in low or low.endswith((".l", "_l")) or "_l_" in low or " l " in low or "左" in name:
        return "L"
    return "R" if "right" in low or low.endswith((".r", "_r")) or "_r_" in low or " r " in low or "右" in name else ""


def stick(a: Vector, b: Vector, radius: float, colour: tuple[float, ...]) -> bpy.types.Object:
    """A thin double pyramid between two points."""
    line = b - a
    ring = [Vector((radius, 0, 0)), Vector((0, radius, 0)), Vector((-radius, 0, 0)), Vector((0, -radius, 0))]
    turn = line.to_track_quat("Z", "Y") if line.length > 1e-9 else Matrix.Identity(3).to_quaternion()
    corners = [a, *(a + line * 0.2 + turn @ spot for spot in ring), b]
    faces = [(0, 1 + k, 1 + (k + 1) % 4) for k in range(4)] + [(5, 1 + (k + 1) % 4, 1 + k) for k in range(4)]
    mesh = bpy.data.meshes.new("Stick")
    mesh.from_pydata([tuple(corner) for corner in corners], [], faces)
    stick = bpy.data.objects.new("Stick", mesh)
    stick.color = colour
    bpy.context.scene.collection.objects.link(stick)
    return stick
