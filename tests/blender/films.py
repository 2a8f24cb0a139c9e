# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene whose renders show where a hand is."""

import bpy
import numpy as np
import rigs


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
    """An arm whose hand carries a ball in the sun, before a camera that sees the plane in which the target moves."""
    ob = rigs.bent_arm()
    target = rigs.empty((0, 0, 0))
    frames = range(1, 9)
    rigs.key_path(target, frames, [(1.3 - 0.1 * f, -0.9 + 0.25 * f, 0.0) for f in frames])
    rigs.goal(ob, "b", target)
    ball = bpy.data.objects.new("Ball", bpy.data.meshes.new("Ball"))
    size = 0.15
    corners = [(x * size, y * size, z * size) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    ball.data.from_pydata(corners, [], sides)
    ball.parent, ball.parent_type, ball.parent_bone = ob, "BONE", "b"
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 5.0, (0.5, 0, 5)
    scene = bpy.context.scene
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 10.0
    for made in (ball, camera, sun):
        scene.collection.objects.link(made)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.render.resolution_x = scene.render.resolution_y = 24
    scene.cycles.samples, scene.cycles.device, scene.cycles.use_denoising = 4, "CPU", False
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    return ob
