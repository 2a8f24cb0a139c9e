# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of the commands as files of other programs: Blender's own exporters write the armatures that were worked on.

With them go the meshes that they deform. The frames are those that were worked on, one sample each.
"""

import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from .clip_files import Exchange

BLEND = ".blend"
_LIKE_A_FILE = re.compile(r"\.[A-Za-z]{2,5}$")


def _fbx() -> dict[str, Any]:
    return {"use_selection": True, "object_types": {"ARMATURE", "MESH"}, "add_leaf_bones": False, "bake_anim": True,
            "bake_anim_use_all_bones": True, "bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False,
            "bake_anim_force_startend_keying": True, "bake_anim_step": 1.0,
            "bake_anim_simplify_factor": 0.0}  # fmt: skip


def _glb() -> dict[str, Any]:
    """Asks for the motion that the scene shows: of active actions, Blender 4.2 writes their originals."""
    return {"export_format": "GLB", "use_selection": True, "export_animations": True, "export_animation_mode": "SCENE",
            "export_anim_scene_split_object": False, "export_force_sampling": True, "export_frame_range": True,
            "export_optimize_animation_size": False, "export_def_bones": False}  # fmt: skip


def _bvh() -> dict[str, Any]:
    scene = bpy.context.scene
    return {"frame_start": scene.frame_start, "frame_end": scene.frame_end, "rotate_mode": "NATIVE",
            "root_transform_only": False}  # fmt: skip


_EXPORTERS = {
    ".fbx": Exchange("export_scene", "fbx", _fbx, "io_scene_fbx"),
    ".glb": Exchange("export_scene", "gltf", _glb, "io_scene_gltf2"),
    ".bvh": Exchange("export_anim", "bvh", _bvh, "io_anim_bvh"),
}

ENDINGS = (BLEND, *_EXPORTERS)
"""The endings of the names of results."""


def ending_of(path: str) -> str:
    """The ending that makes a path look like a file's, in lower case; empty for the name of a folder."""
    found = _LIKE_A_FILE.search(path)
    return "" if found is None or os.path.isdir(path) else found[0].lower()


def name_of(path: str, ending: str) -> str:
    """The name of the result that an input becomes: walk.bvh becomes walk.bvh.blend, and shot.blend shot.fbx."""
    name = os.path.basename(path)
    if name.lower().endswith(ending):
        return name
    return (name[: -len(BLEND)] if name.lower().endswith(BLEND) else name) + ending


def problem(ending: str, armatures: Sequence[str]) -> str | None:
    """Returns the reason, as a sentence, why armatures cannot become one file of an ending; None if they can."""
    if ending not in _EXPORTERS:
        return None
    if ending == ".bvh" and len(armatures) > 1:
        return "a .bvh file holds one armature: choose it by --armature"
    return None if _EXPORTERS[ending].is_there() else f"this Blender cannot write {ending} files"


def export(path: str, ending: str, armatures: Sequence[str], span: tuple[int, int]) -> bool:
    """Write armatures of the open file, with the meshes that they deform, over some frames; whether Blender did."""
    exporter, scene = _EXPORTERS[ending], bpy.context.scene
    figures = [scene.objects[name] for name in armatures]
    scene.frame_start, scene.frame_end = span
    objects = [*figures, *(one for one in scene.objects if one.type == "MESH" and one.find_armature() in figures)]
    with shown(objects):
        layer = bpy.context.view_layer
        if layer.objects.active is not None and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for one in layer.objects:
            one.hide_set(one.hide_get() and one not in objects)
            one.select_set(one in objects)
        layer.objects.active = figures[0]
        return exporter.run(path, check_existing=False)


@contextmanager
def shown(objects: Sequence[bpy.types.Object]) -> Generator[None]:
    """Make Blender evaluate objects although they are hidden or in an excluded collection."""
    left_out = [ob for ob in objects if not ob.visible_get()]
    if not left_out:
        yield
        return
    hidden = [ob for ob in left_out if ob.hide_viewport]
    collection = bpy.data.collections.new("DQIK")
    bpy.context.scene.collection.children.link(collection)
    try:
        for ob in left_out:
            collection.objects.link(ob)
        for ob in hidden:
            ob.hide_viewport = False
        bpy.context.view_layer.update()  # only then it has the objects
        yield
    finally:
        for ob in hidden:
            with suppress(ReferenceError):  # a handler removed it
                ob.hide_viewport = True
        bpy.data.collections.remove(collection)
