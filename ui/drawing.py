# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by what draws in editors: batches, lines, points and rectangles."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache

import blf
import bpy
import gpu
import mathutils
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..operators.common import armature

Color = tuple[float, float, float, float]

_CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)], dtype=np.float32)


def figure_in_view(context: bpy.types.Context) -> bpy.types.Object | None:
    """Returns the armature that overlays of a 3D view are about; None if there is none or they are off."""
    ob, space = armature(context), context.space_data
    is_posed = ob is not None and ob.type == "ARMATURE" and ob.pose is not None and ob.mode != "EDIT"
    is_shown = is_posed and space is not None and space.overlay.show_overlays
    return ob if is_shown and ob.visible_get(view_layer=context.view_layer) else None


@contextmanager
def blended() -> Generator[None]:
    """Draw over what is there already; afterwards Blender's state is as it expects it."""
    gpu.state.blend_set("ALPHA")
    try:
        yield
    finally:
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.face_culling_set("NONE")
        gpu.state.point_size_set(1.0)


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


def fill(boxes: Sequence[tuple[float, float, float, float]], color: Color) -> None:
    """Fill rectangles: left, right, bottom, top [pixels]."""
    corners = [
        corner for left, right, bottom, top in boxes
        for corner in ((left, bottom), (right, bottom), (right, top), (left, bottom), (right, top), (left, top))
    ]
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.uniform_float("color", color)
    batch_for_shader(shader, "TRIS", {"pos": np.array(corners, dtype=np.float32)}).draw(shader)


def write(text: str, place: tuple[float, float], size: float, color: Color) -> None:
    """Write a text from a place on, with letters of a size [pixels]."""
    blf.size(0, size)
    blf.color(0, *color)
    blf.position(0, *place, 0)
    blf.draw(0, text)


def linear(color: Color) -> Color:
    """A colour of the interface for a shader of our own: Blender's shaders convert it themselves."""
    red, green, blue = mathutils.Color(color[:3]).from_srgb_to_scene_linear()
    return red, green, blue, color[3]


def dots_of(points: np.ndarray) -> gpu.types.GPUBatch:
    """Round dots at points (N, 3), to be drawn by `draw_dots`."""
    pos = np.repeat(points.astype(np.float32), len(_CORNERS), 0)
    return batch_for_shader(_dot_shader(), "TRIS", {"pos": pos, "corner": np.tile(_CORNERS, (len(points), 1))})


def draw_dots(context: bpy.types.Context, dots: gpu.types.GPUBatch, color: Color, size: float) -> None:
    """Draw round dots with a dark edge, of a size [pixels at a resolution scale of 1]."""
    shader, region, scale = _dot_shader(), context.region, context.preferences.system.ui_scale
    shader.bind()
    shader.uniform_float("projection", context.region_data.perspective_matrix)
    shader.uniform_float("color", linear(color))
    shader.uniform_float("edge", 1.0 - 2.0 / (size + 2.0))
    shader.uniform_float("extent", ((size + 2.0) * scale / region.width, (size + 2.0) * scale / region.height))
    dots.draw(shader)


@cache
def _dot_shader() -> gpu.types.GPUShader:
    """Squares that face the viewer, with a disc in each. Blender's own points are square."""
    return own_shader(
        "dqik_dot", {"across": "VEC2"},
        {"projection": "MAT4", "color": "VEC4", "extent": "VEC2", "edge": "FLOAT"},  # edge: share inside it
        {"pos": "VEC3", "corner": "VEC2"},
        "void main() { across = corner; gl_Position = projection * vec4(pos, 1.0);"
        " gl_Position.xy += corner * extent * gl_Position.w; }",
        "void main() { float r = length(across), soft = fwidth(r);"
        " float inside = 1.0 - smoothstep(edge - soft, edge, r);"
        " result = vec4(color.rgb * inside, color.a * (1.0 - smoothstep(1.0 - soft, 1.0, r))); }",
    )  # fmt: skip


def own_shader(
    name: str, between: dict[str, str], constants: dict[str, str], inputs: dict[str, str], vertex: str, fragment: str
) -> gpu.types.GPUShader:
    """A shader of our own, with the types of what it reads and of what goes from its first program to its second."""
    info, interface = gpu.types.GPUShaderCreateInfo(), gpu.types.GPUStageInterfaceInfo(name)
    for value, kind in between.items():
        interface.smooth(kind, value)
    for value, kind in constants.items():
        info.push_constant(kind, value)
    for slot, (value, kind) in enumerate(inputs.items()):
        info.vertex_in(slot, kind, value)
    info.vertex_out(interface)
    info.fragment_out(0, "VEC4", "result")
    info.vertex_source(vertex)
    info.fragment_source(fragment)
    return gpu.shader.create_from_info(info)


def _point_shader() -> gpu.types.GPUShader:
    try:
        return gpu.shader.from_builtin("POINT_UNIFORM_COLOR")
    except (ValueError, SystemError):  # in old versions of Blender
        return gpu.shader.from_builtin("UNIFORM_COLOR")
