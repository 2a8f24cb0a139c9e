# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions in files of other programs: Blender's importers read them into an empty scene, at their own rate.

The scene is Blender's own, not the user's, so that it is the same on all machines.
"""

import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import addon_utils
import bpy

from ...rig.blender.files import bvh_file, gltf_file


@contextlib.contextmanager
def silence():
    """Importers and exporters print a lot."""
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


class Exchange(NamedTuple):
    """An operator that imports or exports, what it is told, and the add-on that brings it, if it is not Blender's."""

    module: str
    name: str
    options: Callable[[], dict[str, Any]] = dict
    add_on: str = ""

    def is_there(self) -> bool:
        """Whether this Blender has it; enables its add-on."""
        if self.add_on and self.name not in dir(getattr(bpy.ops, self.module)):
            addon_utils.enable(self.add_on)
        return self.name in dir(getattr(bpy.ops, self.module))

    def run(self, path: str, **arguments: object) -> bool:
        """Read or write a file; whether Blender did."""
        operator = getattr(getattr(bpy.ops, self.module), self.name)
        with silence():
            return operator(filepath=path, **self.options(), **arguments) == {"FINISHED"}


class FileFormat(NamedTuple):
    """The importers of files of an ending, of which the first that this Blender has reads them.

    fault : what is wrong with a file, if anything. rate : the frames a second of a file, if the importer leaves the
    scene's; None if they are not known.
    """

    importers: tuple[Exchange, ...]
    fault: Callable[[str], str | None] = lambda path: None
    rate: Callable[[str], float | None] = lambda path: None


def _usd_fault(path: str) -> str | None:
    stage_of = _usd()
    if stage_of is not None:
        try:
            stage_of(path)
        except RuntimeError:  # a page about the inside of USD
            return "it is no USD file, or not all of one"
    return None


def _usd_rate(path: str) -> float | None:
    stage_of = _usd()
    return None if stage_of is None else float(stage_of(path).GetTimeCodesPerSecond())


def _usd() -> Callable[[str], Any] | None:
    """Returns the function that opens a stage of USD; None in a Blender without its library for Python."""
    before = list(sys.path)
    getattr(bpy.utils, "expose_bundled_modules", lambda: None)()  # from Blender 4.4 on
    try:
        from pxr import Usd  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    finally:
        sys.path[:] = before
    return Usd.Stage.Open


_BVH = partial(dict, rotate_mode="NATIVE", update_scene_fps=True, update_scene_duration=True)
# A glTF has no tails of bones. TEMPERANCE gives toes and hands the length of the bone above, at any scale.
_TAILS = partial(dict, disable_bone_shape=True, bone_heuristic="TEMPERANCE")
_GLTF = FileFormat((Exchange("import_scene", "gltf", _TAILS, "io_scene_gltf2"),), gltf_file.fault, gltf_file.rate)
_USD = FileFormat((Exchange("wm", "usd_import"),), _usd_fault, _usd_rate)
_FORMATS = {
    ".bvh": FileFormat((Exchange("import_anim", "bvh", _BVH, "io_anim_bvh"),), bvh_file.fault),
    ".fbx": FileFormat((Exchange("wm", "fbx_import"), Exchange("import_scene", "fbx", add_on="io_scene_fbx"))),
    ".glb": _GLTF, ".gltf": _GLTF, ".usd": _USD, ".usda": _USD, ".usdc": _USD, ".usdz": _USD,
}  # fmt: skip

ENDINGS = (".blend", *_FORMATS)
"""The endings of the names of such files and of Blender's own."""


def read(path: str, up: str = "Y") -> str | None:
    """Import a file into an empty scene; what is wrong with it, as a sentence, or None.

    up : the axis that is up in a .bvh.

    Raises `OSError` if it cannot be read, and `RuntimeError` with the importer's report.
    """
    ending = os.path.splitext(path)[1].lower()
    own = _FORMATS[ending]
    fault = own.fault(path)
    if fault is not None:
        return fault
    with open(path, "rb"):
        pass  # importers say less of why it cannot be read
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    importer = next((one for one in own.importers if one.is_there()), None)
    if importer is None:
        return f"this Blender cannot import {ending} files"
    if (rate := own.rate(path)) is not None:
        render = bpy.context.scene.render
        render.fps = max(round(rate), 1)
        render.fps_base = render.fps / rate
    axes = {"axis_up": up, "axis_forward": {"Y": "-Z", "Z": "Y"}[up]} if ending == ".bvh" else {}
    return None if importer.run(path, **axes) else "Blender did not import it"
