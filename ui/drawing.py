# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by what draws in 3D views: batches, lines and points."""

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

Color = tuple[float, float, float, float]

_POINT_SHADERS = ("POINT_UNIFORM_COLOR", "UNIFORM_COLOR")  # the first is missing in old versions of Blender


def lines_of(points: np.ndarray) -> gpu.types.GPUBatch:
    """Lines (..., 2, 3) to be drawn by `draw_lines`."""
    return batch(gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR"), "LINES", points)


def points_of(points: np.ndarray) -> gpu.types.GPUBatch:
    """Points (..., 3) to be drawn by `draw_points`."""
    return batch(_point_shader(), "POINTS", points)


def batch(shader: gpu.types.GPUShader, kind: str, points: np.ndarray) -> gpu.types.GPUBatch:
    """A batch of points (..., 3)."""
    return batch_for_shader(shader, kind, {"pos": points.reshape(-1, 3).astype(np.float32)})


def draw_lines(context: bpy.types.Context, lines: gpu.types.GPUBatch, color: Color, width: float) -> None:
    """Draw lines of a width [pixels at a resolution scale of 1]."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
    shader.uniform_float("color", color)
    lines.draw(shader)


def draw_points(context: bpy.types.Context, points: gpu.types.GPUBatch, color: Color, size: float) -> None:
    """Draw points of a size [pixels at a resolution scale of 1]."""
    shader = _point_shader()
    gpu.state.point_size_set(size * context.preferences.system.ui_scale)
    shader.uniform_float("color", color)
    points.draw(shader)


def _point_shader() -> gpu.types.GPUShader:
    for name in _POINT_SHADERS[:-1]:
        try:
            return gpu.shader.from_builtin(name)
        except (ValueError, SystemError):
            continue
    return gpu.shader.from_builtin(_POINT_SHADERS[-1])
