# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets of pictures of a person: scenes without something above, the same scenes with it below."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterable
from math import radians
from pathlib import Path

import bpy
import numpy as np
from clothed_person import person
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "characters"))

import measure

SIZE = 300

View = tuple[Vector, float, float, float]
"""The middle of a picture, its size in metres, and from where it is seen: degrees around from the front, and above."""


def draw(names: Iterable[str], scene: Callable[[str, bool], View], path: Path) -> None:
    """Draw scenes side by side. scene : makes the one of a name, without and with what the sheet is about."""
    measure.load()
    folder, columns = Path(bpy.app.tempdir), list[list[Path]]()
    for name in names:
        column = [folder / f"{name} {has_it}.png" for has_it in (False, True)]
        for has_it, picture in enumerate(column):
            with contextlib.redirect_stdout(io.StringIO()):
                view = scene(name, bool(has_it))
            photograph(*view, picture)
        columns.append(column)
    sheet(columns, path)


def lone_person() -> tuple[bpy.types.Object, bpy.types.Object]:
    """The armature, which is active, and the body of the person in a scene with nothing else."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ob, body = person()
    ob.hide_render = True
    bpy.context.view_layer.objects.active = ob
    return ob, body


def photograph(middle: Vector, size: float, around: float, above: float, path: Path) -> None:
    """Render a part of the scene."""
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", size
    turn = Matrix.Rotation(radians(around), 3, "Z") @ Matrix.Rotation(radians(90.0 - above), 3, "X")
    camera.matrix_world = Matrix.LocRotScale(middle + turn @ Vector((0.0, 0.0, 5.0)), turn.to_quaternion(), None)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.light, shading.color_type, shading.show_cavity = "STUDIO", "MATERIAL", True
    scene.display.render_aa = "16"
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.film_transparent = True
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


def sheet(columns: list[list[Path]], path: Path) -> None:
    """All pictures in one, on white."""
    whole = np.ones((2 * SIZE, len(columns) * SIZE, 4), dtype=np.float32)
    for column, pictures in enumerate(columns):
        for row, picture in enumerate(reversed(pictures)):
            image = bpy.data.images.load(str(picture))
            pixels = np.empty(SIZE * SIZE * 4, dtype=np.float32)
            image.pixels.foreach_get(pixels)
            own = pixels.reshape(SIZE, SIZE, 4)
            spot = whole[row * SIZE :, column * SIZE :][:SIZE, :SIZE]
            spot[..., :3] = own[..., :3] * own[..., 3:] + 1.0 - own[..., 3:]
    result = bpy.data.images.new("Sheet", len(columns) * SIZE, 2 * SIZE)
    result.pixels.foreach_set(whole.ravel())
    result.filepath_raw, result.file_format = str(path), "PNG"
    result.save()
