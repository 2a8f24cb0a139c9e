# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws ghosts and arcs of the active armature in 3D views. Frames that are missing are asked for, never read here."""

from functools import cache
from typing import NamedTuple

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..operators.motion import see_motion
from ..rig.clip import seen_motion
from ..rig.overlay import motion as seen
from ..rig.remembered import Remembered
from .drawing import Color, blended, dots_of, draw_dots, draw_lines, figure_in_view, linear, lines_of, own_shader

_BEFORE, _AFTER = (0.95, 0.18, 0.14), (0.47, 0.95, 0.27)  # where themes have no colours of motion paths: before 4.3
_OLD = (0.5, 0.5, 0.5)
_NEAR, _FAR = 0.9, 0.25  # alpha of the nearest and the farthest ghost
_BEHIND = 1e-5  # by this much depth a ghost is behind what is nearer in time, where both are at one place
_BONE_WIDTH, _ARC_WIDTH, _RIM = 2.0, 1.5, 2.0  # pixels
_DOT, _KEY, _NOW = 4.0, 8.0, 13.0  # pixels
_LINE, _EDGE, _MISSED, _KEYED = (0.9, 0.9, 0.9, 1.0), (0.0, 0.0, 0.0, 0.6), (1.0, 0.15, 0.1, 1.0), (1.0, 0.8, 0.1, 1.0)

_Batch = gpu.types.GPUBatch


class _Ghost(NamedTuple):
    """The batches of a ghost: of its bones and of each of its meshes."""

    bones: _Batch | None
    meshes: list[_Batch]


class _Cache:
    known: seen_motion.SeenMotion | None = None  # that the batches of ghosts were made from
    of: frozenset[str] = frozenset()  # what is drawn of each ghost
    ghosts: dict[int, _Ghost] = {}  # by frame


_arcs: Remembered[tuple, list[tuple[_Batch, str, Color, float]]] = Remembered(1)
"""Batches with shader, colour and width or size."""


def draw() -> None:
    """Draw what is known, and ask for what is missing."""
    context = bpy.context
    ob = figure_in_view(context)
    if ob is None or not seen_motion.is_asked(ob):
        return
    if seen_motion.missing(ob, context.scene)[0] and see_motion.may_read(ob, context.scene):
        see_motion.ask(context)
    with blended():
        if ob.dqik.ghosts:
            _draw_ghosts(context, ob)
        if ob.dqik.arcs:
            _draw_arcs(context, ob)


# -- ghosts ------------------------------------------------------------------------------------------------------------


def _draw_ghosts(context: bpy.types.Context, ob: bpy.types.Object) -> None:
    known, of = seen_motion.known(ob), frozenset(ob.dqik.ghosts_of)
    if known is not _Cache.known or of != _Cache.of:
        _Cache.known, _Cache.of, _Cache.ghosts = known, of, {}
    ghosts = seen.ghosts(ob, context.scene)
    batches = {ghost.frame: _Cache.ghosts.get(ghost.frame) or _ghost(ghost) for ghost in ghosts}
    _Cache.ghosts = batches
    reach = {sign: max((ghost.away * sign for ghost in ghosts), default=1) for sign in (-1, 1)}
    for ghost in ghosts:
        sign = 1 if ghost.away > 0 else -1
        fade = _NEAR + (_FAR - _NEAR) * (abs(ghost.away) - 1) / max(reach[sign] - 1, 1)
        color = (*(_OLD if known.is_old else _colors(context)[sign > 0]), fade)
        for mesh in batches[ghost.frame].meshes:
            _draw_mesh(context, mesh, color, _BEHIND * abs(ghost.away))
        if batches[ghost.frame].bones is not None:
            draw_lines(context, batches[ghost.frame].bones, color, _BONE_WIDTH)


def _ghost(ghost: seen.Ghost) -> _Ghost:
    return _Ghost(lines_of(ghost.bones) if len(ghost.bones) else None, [
        batch_for_shader(_mesh_shader(), "TRIS", {"pos": mesh.vertices, "normal": mesh.normals}, indices=mesh.triangles)
        for mesh in ghost.meshes if len(mesh.triangles)
    ])  # fmt: skip


def _colors(context: bpy.types.Context) -> tuple[tuple, tuple]:
    """The theme's colours of motion paths before and after the present frame."""
    theme = context.preferences.themes[0].view_3d
    before, after = (getattr(theme, f"{name}_current_frame", None) for name in ("before", "after"))
    return tuple(before or _BEFORE)[:3], tuple(after or _AFTER)[:3]


@cache
def _mesh_shader() -> gpu.types.GPUShader:
    """Shades a surface by how far it turns away from the viewer: its outline is dense, its middle thin.

    viewer : its place, or with 0 in the end, the direction to it.
    """
    return own_shader(
        "dqik_ghost", {"outward": "VEC3", "toward": "VEC3"},
        {"projection": "MAT4", "viewer": "VEC4", "color": "VEC4", "behind": "FLOAT"},
        {"pos": "VEC3", "normal": "VEC3"},
        "void main() { outward = normal; toward = viewer.xyz - viewer.w * pos;"
        " gl_Position = projection * vec4(pos, 1.0); gl_Position.z += behind * gl_Position.w; }",
        "void main() { float rim = 1.0 - abs(dot(normalize(outward), normalize(toward)));"
        " result = vec4(color.rgb, color.a * mix(0.10, 1.0, rim * rim * rim)); }",
    )  # fmt: skip


def _draw_mesh(context: bpy.types.Context, mesh: _Batch, color: Color, behind: float) -> None:
    """Only what is nearest to the viewer of each mesh: its depth comes first, then its colour."""
    view, shader = context.region_data, _mesh_shader()
    back = view.view_matrix.inverted()
    viewer = (*back.translation, 1.0) if view.is_perspective else (*back.col[2].xyz, 0.0)
    shader.bind()
    shader.uniform_float("projection", view.perspective_matrix)
    shader.uniform_float("viewer", viewer)
    shader.uniform_float("color", linear(color))
    shader.uniform_float("behind", behind)
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    gpu.state.color_mask_set(False, False, False, False)
    mesh.draw(shader)
    gpu.state.color_mask_set(True, True, True, True)
    gpu.state.depth_mask_set(False)
    mesh.draw(shader)
    gpu.state.depth_test_set("NONE")


# -- arcs --------------------------------------------------------------------------------------------------------------


def _draw_arcs(context: bpy.types.Context, ob: bpy.types.Object) -> None:
    known, scene = seen_motion.known(ob), context.scene
    if ob.mode == "POSE":
        bones, objects = [bone.name for bone in context.selected_pose_bones or () if bone.id_data == ob], []
    else:
        bones, objects = [], context.selected_objects
    uids, now = [one.session_uid for one in objects], scene.frame_current
    of = (known, known.is_old, len(known.frames), now, *bones, *uids)
    parts = _arcs.of(of, lambda: [
        part for arc in seen.arcs(ob, scene, bones, objects) for part in _arc(arc, now)
    ])  # fmt: skip
    for batch, kind, color, size in parts:
        if kind == "DOTS":
            draw_dots(context, batch, color, size)
        else:
            draw_lines(context, batch, color, size)


def _arc(arc: seen.Arc, now: int) -> list[tuple[_Batch, str, Color, float]]:
    """The parts of an arc in the order in which they are drawn: its line with a dark edge, then dots over it."""
    line, points = np.stack([arc.places[:-1], arc.places[1:]], 1), arc.places
    misses = np.stack([points, arc.reached], 1)[arc.is_missed]
    parts = [
        ("LINES", line, _EDGE, _ARC_WIDTH + _RIM), ("LINES", line, _LINE, _ARC_WIDTH),
        ("LINES", misses, _MISSED, _ARC_WIDTH),
    ]  # fmt: skip
    for which, color, size in (
        (arc.frames == now, _LINE, _NOW), (~arc.is_keyed & ~arc.is_missed, _LINE, _DOT),
        (arc.is_keyed & ~arc.is_missed, _KEYED, _KEY), (~arc.is_keyed & arc.is_missed, _MISSED, _DOT + 1.0),
        (arc.is_keyed & arc.is_missed, _MISSED, _KEY),
    ):  # fmt: skip
        parts.append(("DOTS", points[which], color, size))
    return [
        ((dots_of if kind == "DOTS" else lines_of)(places), kind, color, size)
        for kind, places, color, size in parts if len(places)
    ]  # fmt: skip


def forget() -> None:
    """Let go what was drawn last."""
    _Cache.known, _Cache.ghosts = None, {}
    _arcs.clear()
    _mesh_shader.cache_clear()
