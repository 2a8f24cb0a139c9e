# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets of pictures of a person: scenes without something above, the same scenes with it below."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterable
from math import radians
from pathlib import Path

import bpy
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "characters"))

import measure
import sketch
from clothed_person import person

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
    sketch.sheet([list(row) for row in zip(*columns, strict=True)], (SIZE, SIZE), path)


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
    turn = Matrix.Rotation(radians(around), 3, "Z") @ Matrix.Rotation(radians(90.0 - above), 3, "X")
    sketch.photograph(path, (SIZE, SIZE), middle, turn.to_quaternion(), size, clear=True, color_type="MATERIAL",
                      show_cavity=True)  # fmt: skip
