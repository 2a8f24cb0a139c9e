# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a posed armature as sticks from joint to joint, with Blender's Workbench."""

from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

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
    turn = Vector((-0.6, -1.0, 0.35)).to_track_quat("Z", "Y")
    photograph(path, (480, 480), centre, turn, 1.25 * size, color_type="OBJECT")
    for ob in made:
        bpy.data.objects.remove(ob)


def photograph(
    path: Path, size: tuple[int, int], middle: Vector, turn: Quaternion, wide: float, clear: bool = False,
    **shading: object,
) -> None:  # fmt: skip
    """Render the scene with Workbench. wide : of its longer side. clear : without a background.

    middle, turn : of what is seen; it is seen from the turned Z axis. shading : settings of the display.
    """
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", wide
    camera.data.clip_start, camera.data.clip_end = 0.01 * wide, 10.0 * wide
    camera.matrix_world = Matrix.LocRotScale(middle + turn @ Vector((0.0, 0.0, 4.0 * wide)), turn, None)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    for name, value in {"light": "STUDIO", **shading}.items():
        setattr(scene.display.shading, name, value)
    scene.display.render_aa, scene.view_settings.view_transform = "16", "Standard"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.film_transparent = clear
    path.parent.mkdir(parents=True, exist_ok=True)
    scene.render.filepath = str(path.resolve())
    bpy.ops.render.render(write_still=True)
    bpy.data.objects.remove(camera)


def sheet(rows: list[list[Path]], size: tuple[int, int], path: Path) -> None:
    """Rows of clear pictures of a size in one, on white."""
    width, height = size
    whole = np.ones((len(rows) * height, max(map(len, rows)) * width, 4), dtype=np.float32)
    for row, pictures in enumerate(reversed(rows)):
        for column, picture in enumerate(pictures):
            image = bpy.data.images.load(str(picture))
            pixels = np.empty(width * height * 4, dtype=np.float32)
            image.pixels.foreach_get(pixels)
            own = pixels.reshape(height, width, 4)
            spot = whole[row * height :, column * width :][:height, :width]
            spot[..., :3] = own[..., :3] * own[..., 3:] + 1.0 - own[..., 3:]
            bpy.data.images.remove(image)
    result = bpy.data.images.new("Sheet", whole.shape[1], whole.shape[0])
    result.pixels.foreach_set(whole.ravel())
    result.filepath_raw, result.file_format = str(path), "PNG"
    result.save()


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
