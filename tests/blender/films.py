# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene whose renders show where a hand is."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import ClassVar

import bpy
import numpy as np
import rigs


class _Probe(bpy.types.RenderEngine):
    """Instead of pictures it takes what the render's own depsgraph shows."""

    bl_idname, bl_label = "DQIK_TEST_PROBE", "Probe"
    look: ClassVar[Callable[[bpy.types.Depsgraph], object]]
    seen: ClassVar[dict[int, object]]

    def render(self, depsgraph: bpy.types.Depsgraph) -> None:
        _Probe.seen[depsgraph.scene.frame_current] = _Probe.look(depsgraph)


@contextmanager
def probed(look: Callable[[bpy.types.Depsgraph], object], folder: object) -> Generator[dict[int, object]]:
    """Renders meanwhile call `look`; what it returned, by frame."""
    _Probe.look, _Probe.seen = staticmethod(look), {}
    bpy.utils.register_class(_Probe)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.render.filepath = _Probe.bl_idname, f"{folder}/####"
    scene.render.resolution_x = scene.render.resolution_y = 4
    try:
        yield _Probe.seen
    finally:
        bpy.utils.unregister_class(_Probe)


def filmed(
    ob: bpy.types.Object, bone: str, size: float, wide: float, at: tuple, turn: tuple = (0, 0, 0)
) -> bpy.types.Scene:
    """Hang a cube on a bone's tail, before a camera of Cycles that sees `wide` in both directions."""
    corners = [(x * size, y * size, z * size) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    rigs.child(rigs.mesh(corners, sides, "Cube"), ob, bone)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.camera.data.type, scene.camera.data.ortho_scale = "ORTHO", wide
    scene.camera.location, scene.camera.rotation_euler = at, turn
    scene.collection.objects.link(scene.camera)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.device, scene.cycles.use_denoising = 16, "CPU", False
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    return scene


def picture(frame: int, folder: str) -> np.ndarray:
    """The pixels (n,) of a still of one frame."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.filepath = f"{folder}/{frame}.png"
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:])
    bpy.data.images.remove(image)
    return pixels


def filmed_arm() -> bpy.types.Object:
    """An arm whose hand carries a cube in the sun, before a camera that sees the plane in which the target moves."""
    ob = rigs.bent_arm()
    target = rigs.empty((0, 0, 0))
    frames = range(1, 9)
    rigs.key_path(target, frames, [(1.3 - 0.1 * f, -0.9 + 0.25 * f, 0.0) for f in frames])
    rigs.goal(ob, "b", target)
    scene = filmed(ob, "b", 0.15, 5.0, (0.5, 0, 5))
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 10.0
    scene.collection.objects.link(sun)
    scene.render.resolution_x = scene.render.resolution_y = 24
    scene.cycles.samples = 4
    return ob
