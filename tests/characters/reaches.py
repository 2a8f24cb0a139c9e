# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws ordinary reaches without and with the natural pose beside each other: docs/images/natural-pose.png.

    python tests/characters/reaches.py [--path FILE] [--character "motion builder"]

Run it with a Python that has bpy. Both rows have the same targets for hands, feet, head and hips, which are met.
"""

import argparse
import contextlib
import importlib.util
import io
import sys
from math import radians
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from conventions import BY_NAME  # noqa: E402

import build  # noqa: E402

SIZE = (1500, 960)
_APART, _ROW = 1.2, 2.3  # metres from figure to figure, and from row to row
_TURN = Matrix.Rotation(radians(35.0), 4, "Z")
_RADII = {"head": 0.085, "hips": 0.11, "spine": 0.11, "neck": 0.05, "collar": 0.06, "arm": 0.05, "forearm": 0.04,
          "hand": 0.035, "thigh": 0.075, "shin": 0.052, "foot": 0.04, "toes": 0.032}  # fmt: skip
_COLOURS = {"L": (0.20, 0.42, 0.75, 1.0), "R": (0.80, 0.36, 0.24, 1.0), "": (0.55, 0.55, 0.57, 1.0)}
_TARGET = (0.1, 0.75, 0.3, 1.0)
_TEXT = (0.05, 0.05, 0.05, 1.0)


class Reach(NamedTuple):
    """Places of targets [m] and where hands point, for a figure that faces -Y with its left at +X, 1.75 m tall.

    hands : left and right, a place and a direction. feet, head, hips : how far they move, left foot first.
    """

    hands: tuple[tuple[Vector, Vector], tuple[Vector, Vector]]
    feet: tuple[Vector, Vector] = (Vector(), Vector())
    head: Vector = Vector()
    hips: Vector = Vector()


Hand = tuple[tuple[float, ...], tuple[float, ...]]


def _hands(left: Hand, right: Hand | None = None) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    """Both hands; a missing right one mirrors the left one."""
    other = right or tuple((-x, y, z) for x, y, z in left)
    (place, line), (other_place, other_line) = left, other
    return (Vector(place), Vector(line).normalized()), (Vector(other_place), Vector(other_line).normalized())


_DOWN = ((-0.24, 0.0, 0.86), (-0.15, -0.1, -1.0))  # a right hand that hangs
REACHES = (
    Reach(_hands(((0.17, -0.42, 1.08), (-0.1, -1.0, -0.15)))),
    Reach(_hands(((0.13, -0.10, 1.52), (-0.5, 0.1, 1.0)), ((-0.27, -0.02, 0.98), (0.6, -0.7, -0.4)))),
    Reach(_hands(((0.05, -0.30, 1.22), (-1.0, -0.25, 0.1)), ((-0.05, -0.26, 1.14), (1.0, -0.25, 0.1)))),
    Reach(_hands(((0.24, -0.22, 1.93), (0.0, -0.25, 1.0)), _DOWN)),
    Reach(_hands(((0.20, -0.42, 0.42), (-0.1, -0.6, -1.0))), head=Vector((0, -0.28, -0.52)),
          hips=Vector((0, 0.12, -0.42))),
    Reach(_hands(((0.30, -0.25, 1.15), (-0.1, -1.0, 0.1)), ((-0.30, 0.18, 0.95), (-0.1, 0.1, -1.0))),
          feet=(Vector((0, -0.38, 0.36)), Vector((0, 0.05, 0))), head=Vector((0, -0.06, 0.0)),
          hips=Vector((0, -0.06, 0.0))),
)  # fmt: skip


def load() -> None:
    """Register the extension from its source."""
    spec = importlib.util.spec_from_file_location("dqik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    sys.modules["dqik"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()


def main() -> None:
    """Pose and draw."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", type=Path, default=ROOT / "docs" / "images" / "natural-pose.png")
    parser.add_argument("--character", default="motion builder")
    arguments = parser.parse_args()
    character = BY_NAME[arguments.character]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    load()
    ob = build.native(character)
    role_of = {name: role for name, role in build.truth(character).items() if role is not None}
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    targets = {role_of[goal.bone]: goal.target for goal in ob.dqik.goals}
    places = {role: target.matrix_world.copy() for role, target in targets.items()}
    ob.dqik.live = True
    for row, amount in enumerate((0.0, 1.0)):
        ob.dqik.natural_pose = amount
        for column, reach in enumerate(REACHES):
            pose(targets, places, reach)
            bpy.context.view_layer.update()
            print(f"{amount:.0f} {column}: {ob.dqik.status.message or 'met'} {ob.dqik.status.converged}")
            draw(ob, targets, role_of, Matrix.Translation((_APART * column, 0.0, -_ROW * row)) @ _TURN)
    ob.hide_render = True
    for row, words in enumerate(("without", "with natural pose")):
        write(words, Vector((-0.62, 0.0, 1.95 - _ROW * row)))
    render(arguments.path)


def pose(targets: dict, places: dict, reach: Reach) -> None:
    """Move and turn the targets."""
    for role, target in targets.items():
        name, side = role
        place, rotation, scale = places[role].decompose()
        if name == "hand":
            place, line = reach.hands["LR".index(side)]
            rest = Vector((1.0 if side == "L" else -1.0, 0.0, 0.0))
            rotation = turned(rest, line, side) @ rotation
        elif name == "foot":
            place = place + reach.feet["LR".index(side)]
        else:
            place = place + {"head": reach.head, "hips": reach.hips}[name]
        target.matrix_world = Matrix.LocRotScale(place, rotation, scale)


def turned(rest: Vector, line: Vector, side: str) -> Quaternion:
    """The turn of a hand from its rest, palm down, so that it points along a line with its thumb up or inward."""
    forward = Vector((0.0, -1.0, 0.0))  # where thumbs point at rest
    thumb = Vector((-0.5 if side == "L" else 0.5, -0.3, 1.0))
    thumb = (thumb - line * thumb.dot(line)).normalized()
    before = Matrix((rest, forward, rest.cross(forward))).transposed()
    after = Matrix((line, thumb, line.cross(thumb))).transposed()
    return (after @ before.transposed()).to_quaternion()


def draw(ob: bpy.types.Object, targets: dict, role_of: dict, place: Matrix) -> None:
    """Draw the evaluated pose at a place, as rounded cones from joint to joint, and the targets."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = place @ shown.matrix_world
    for bone in shown.pose.bones:
        role = role_of.get(bone.name)
        if role is None or role[0] not in _RADII:
            continue
        name, side = role
        inner = [child for child in bone.children if role_of.get(child.name, ("",))[0] in (*_RADII, "finger")]
        if name == "hand":
            inner = [child for child in bone.children_recursive if "Middle" in child.name][1:2] or inner
        middle = [child for child in inner if role_of[child.name][1] == side]
        start = world @ bone.head
        end = world @ (middle or inner)[0].head if inner else world @ bone.tail
        if name == "head":
            ball(start.lerp(end, 0.5), 0.105, 0.135, _COLOURS[side])
            continue
        cone(start, end, _RADII[name], _COLOURS[side])
    for target in targets.values():
        cube(place @ target.matrix_world)


def mesh(name: str, corners: np.ndarray, faces: list, colour: tuple) -> bpy.types.Object:
    """A mesh object of a colour."""
    data = bpy.data.meshes.new(name)
    data.from_pydata([tuple(corner) for corner in corners], [], faces)
    for face in data.polygons:
        face.use_smooth = True
    made = bpy.data.objects.new(name, data)
    made.color = colour
    bpy.context.scene.collection.objects.link(made)
    return made


def cone(start: Vector, end: Vector, radius: float, colour: tuple) -> None:
    """A rounded cone between two points."""
    line = end - start
    if line.length < 1e-4:
        return
    turn = np.array(line.to_track_quat("Z", "Y").to_matrix())
    around = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(around), np.sin(around), np.zeros(24)], -1)
    rings = []
    for angle in np.linspace(-0.5 * np.pi, 0.5 * np.pi, 12):
        below = angle < 0.0
        size = radius if below else 0.82 * radius
        height = size * np.sin(angle) + (0.0 if below else line.length)
        rings.append(size * np.cos(angle) * ring + [0.0, 0.0, height])
    corners = np.concatenate(rings) @ turn.T + np.array(start)
    faces = [(24 * k + i, 24 * k + (i + 1) % 24, 24 * k + 24 + (i + 1) % 24, 24 * k + 24 + i)
             for k in range(11) for i in range(24)]  # fmt: skip
    mesh("Cone", corners, faces, colour)


def ball(centre: Vector, width: float, height: float, colour: tuple) -> None:
    """An upright egg."""
    cone(centre - Vector((0, 0, height - width)), centre + Vector((0, 0, height - width)), width, colour)


def cube(place: Matrix) -> None:
    """A target."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.028
    matrix = np.array(place)
    corners = corners @ matrix[:3, :3].T + matrix[:3, 3]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh("Target", corners, faces, _TARGET)


def write(words: str, place: Vector) -> None:
    """A line of text that faces the camera."""
    text = bpy.data.curves.new("Text", "FONT")
    text.body, text.size = words, 0.16
    made = bpy.data.objects.new("Text", text)
    made.location, made.color = place, _TEXT
    made.rotation_euler = (radians(90.0), 0.0, 0.0)
    bpy.context.scene.collection.objects.link(made)


def render(path: Path) -> None:
    """Render to a PNG."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", _APART * len(REACHES) + 0.15
    away = Vector((0.0, -1.0, 0.12)).normalized()
    middle = Vector((_APART * (len(REACHES) - 1) / 2.0, 0.0, 0.98 - _ROW / 2.0))
    camera.location = middle + away * 20.0
    camera.rotation_euler = (-away).to_track_quat("-Z", "Y").to_euler()
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.color_type, shading.light, shading.show_cavity, shading.show_shadows = "OBJECT", "STUDIO", True, False
    shading.background_type, shading.background_color = "VIEWPORT", (1.0, 1.0, 1.0)
    scene.view_settings.view_transform = "Standard"
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
    scene.world.color = (1.0, 1.0, 1.0)
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.filepath = str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
