# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage of the gallery: a lit floor, a camera, handles that are seen, bodies of capsules, and loops as WebP."""

from collections.abc import Callable, Sequence
from math import pi
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector
from PIL import Image

RATE, SECONDS = 12, 6
FRAMES = RATE * SECONDS
SIZE = (480, 300)
SAMPLES = 6
_QUALITY = 78
TILES, _SKY = ((0.235, 0.26, 0.29), (0.275, 0.30, 0.33)), (0.50, 0.62, 0.78)
HANDLE = (1.0, 0.48, 0.05)

Point = Sequence[float]
Motion = Callable[[float], None]
"""Poses a scene at a share of the loop, 0 to 1; at both it is the same."""


def clear(tile: float = 0.5) -> None:
    """An empty file with floor, sun and sky."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    light(tile)


def light(tile: float = 0.5) -> bpy.types.Object:
    """Add floor, sun and sky to the scene. Returns the floor. tile : the width of its squares."""
    floor = tiled((400.0, 400.0), tile)
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.data.angle, sun.rotation_euler = 3.4, 0.2, (0.75, 0.25, 0.4)
    bpy.context.scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("Sky")
    bpy.context.scene.world = world
    if bpy.app.version < (5, 0, 0):
        world.use_nodes = True
    sky = world.node_tree.nodes["Background"]
    sky.inputs["Color"].default_value, sky.inputs["Strength"].default_value = (*_SKY, 1.0), 0.75
    return floor


def tiled(size: Sequence[float], tile: float, colors: Sequence[Point] = TILES) -> bpy.types.Object:
    """A flat piece of floor with squares of two colours, which go with it."""
    bpy.ops.mesh.primitive_plane_add(size=1.0)
    made = bpy.context.object
    for vertex in made.data.vertices:
        vertex.co.x, vertex.co.y = vertex.co.x * size[0], vertex.co.y * size[1]
    coat(made, colors[0], 0.8)
    tree = made.active_material.node_tree
    checker, place = tree.nodes.new("ShaderNodeTexChecker"), tree.nodes.new("ShaderNodeTexCoord")
    for name, color in zip(("Color1", "Color2"), colors, strict=True):
        checker.inputs[name].default_value = (*color, 1.0)
    checker.inputs["Scale"].default_value = 1.0 / tile
    shifted = tree.nodes.new("ShaderNodeVectorMath")  # off the floor's own plane, where squares would flicker
    shifted.inputs[1].default_value = (0.0, 0.0, 0.25 * tile)
    tree.links.new(place.outputs["Object"], shifted.inputs[0])
    tree.links.new(shifted.outputs["Vector"], checker.inputs["Vector"])
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(checker.outputs["Color"], shader.inputs["Base Color"])
    return made


def look(at: Point, distance: float, around: float, above: float) -> bpy.types.Object:
    """Put the camera. around, above : degrees from the front, and from the floor."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    turn = Matrix.Rotation(around * pi / 180.0, 3, "Z") @ Matrix.Rotation((90.0 - above) * pi / 180.0, 3, "X")
    camera.matrix_world = Matrix.LocRotScale(Vector(at) + turn @ Vector((0, 0, distance)), turn.to_quaternion(), None)
    camera.data.lens, camera.data.clip_end = 55.0, 500.0
    bpy.context.scene.camera = camera
    return camera


def coat(ob: bpy.types.Object, color: Point, rough: float = 0.55, metal: float = 0.0, glow: float = 0.0) -> None:
    """Give an object a material, or all of its materials nodes of their colours if `color` is empty."""
    if len(color):
        material = bpy.data.materials.new(ob.name)
        material.diffuse_color = (*color, 1.0)
        ob.data.materials.append(material)
    for material in ob.data.materials:
        if bpy.app.version < (5, 0, 0):
            material.use_nodes = True
        inputs = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
        inputs["Base Color"].default_value = material.diffuse_color
        inputs["Roughness"].default_value, inputs["Metallic"].default_value = rough, metal
        inputs["Emission Color"].default_value = material.diffuse_color
        inputs["Emission Strength"].default_value = glow


def ball(place: Point, radius: float, color: Point = HANDLE, glow: float = 0.35) -> bpy.types.Object:
    """A ball, by default as handles are drawn."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=place, segments=24, ring_count=12)
    made = bpy.context.object
    bpy.ops.object.shade_smooth()
    coat(made, color, 0.4, glow=glow)
    return made


def ring(radius: float, thick: float) -> bpy.types.Object:
    """A ring about Z, as handles are drawn."""
    bpy.ops.mesh.primitive_torus_add(major_radius=radius, minor_radius=thick)
    made = bpy.context.object
    bpy.ops.object.shade_smooth()
    coat(made, HANDLE, 0.4, glow=0.35)
    return made


def box(size: Point, place: Point, color: Point) -> bpy.types.Object:
    """A box."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    made = bpy.context.object
    made.scale = size
    coat(made, color)
    return made


def rod(length: float, radius: float, color: Point) -> bpy.types.Object:
    """A rod along X."""
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=length, rotation=(0.0, pi / 2.0, 0.0), vertices=24)
    bpy.ops.object.transform_apply(rotation=True)
    made = bpy.context.object
    bpy.ops.object.shade_smooth()
    coat(made, color, 0.45)
    return made


def armature(bones: dict[str, tuple[str, Point, Point]], name: str = "Rig") -> bpy.types.Object:
    """An armature object, active, by (parent, head, tail)."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail) in bones.items():
        made = ob.data.edit_bones.new(bone)
        made.head, made.tail = head, tail
        if parent:
            made.parent = ob.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.hide_render = True
    return ob


def shell(ob: bpy.types.Object, radii: dict[str, tuple[float, float]], colors: dict[str, Point]) -> None:
    """A body of rounded cones that go with the bones. radii : at both ends. colors : by bone, "" for the others."""
    for bone, (first, last) in radii.items():
        length = ob.data.bones[bone].length
        rings, around = 16, 24
        angle = np.linspace(-pi / 2, pi / 2, rings)
        ends = [(first * np.cos(a), first * np.sin(a)) for a in angle[: rings // 2]]
        ends += [(last * np.cos(a), length + last * np.sin(a)) for a in angle[rings // 2 :]]
        turn = np.linspace(0.0, 2.0 * pi, around, endpoint=False)
        points = [(r * np.cos(t), y, r * np.sin(t)) for r, y in ends for t in turn]
        faces = [
            (i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
            for i in range(rings - 1) for j in range(around)
        ]  # fmt: skip
        mesh = bpy.data.meshes.new(bone)
        mesh.from_pydata(points, [], faces)
        mesh.shade_smooth()
        made = bpy.data.objects.new(bone, mesh)
        bpy.context.scene.collection.objects.link(made)
        made.parent, made.parent_type, made.parent_bone = ob, "BONE", bone
        made.location = (0.0, -length, 0.0)
        coat(made, colors.get(bone, colors[""]), 0.35)


def film(motion: Motion, path: Path, folder: Path) -> None:
    """Render a loop."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.use_persistent_data = True
    pictures = []
    for frame in range(FRAMES):
        motion(frame / FRAMES)
        bpy.context.view_layer.update()
        scene.render.filepath = str(folder / f"{path.stem}{frame:03}.png")
        bpy.ops.render.render(write_still=True)
        pictures.append(Image.open(scene.render.filepath).convert("RGB"))
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=1000 // RATE, loop=0, quality=_QUALITY,
                     method=4)  # fmt: skip


def sheet(motion: Motion, path: Path, folder: Path, frames: int) -> None:
    """Draw frames of a loop side by side, four in a row, quickly."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 3, True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    columns = min(frames, 4)
    whole = Image.new("RGB", (columns * SIZE[0], -(-frames // columns) * SIZE[1]))
    for number in range(frames):
        motion(number / frames)
        bpy.context.view_layer.update()
        scene.render.filepath = str(folder / f"sheet{number}.png")
        bpy.ops.render.render(write_still=True)
        picture = Image.open(scene.render.filepath).convert("RGB")
        whole.paste(picture, (number % columns * SIZE[0], number // columns * SIZE[1]))
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.save(path)
