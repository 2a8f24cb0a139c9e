# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the commands: opened one after another, and written beside what they replace."""

import os
from collections.abc import Sequence
from typing import Any

import bpy

from ...rig.blender.files import blend_file, replaced_file
from . import clip_files, result_files

_LONGEST_PATH = 1000  # bytes; Blender cuts off what is longer than 1023


class Refusal(Exception):
    """Says in one sentence why nothing can be done to an armature or a file: because of what it is."""


class Failure(Exception):
    """Says in one sentence why a file cannot be read or written."""


def last_line(text: str) -> str:
    """The last line of a text that is not empty: of a traceback, the error, after which Blender says where it was."""
    lines = (line.strip() for line in reversed(text.splitlines()))
    return next((line for line in lines if line and not line.startswith("Location: ")), "")


def reported(error: RuntimeError) -> str:
    """The sentence in what Blender raises for an operator that reports an error."""
    return last_line(str(error)).removeprefix("Error: ")


def open_file(path: str | None, up: str = "Y") -> None:
    """Open a .blend, or import another file; None: nothing to do. Raises a `Failure`.

    up : the axis that is up in a .bvh.
    """
    if path is None:
        return
    fault = None
    try:
        if path.lower().endswith(".blend"):
            bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        else:
            fault = clip_files.read(path, up)
    except RuntimeError as error:
        raise Failure(f"Blender cannot read it: {reported(error)}") from None
    except OSError as error:
        raise Failure(f"it cannot be read: {error.strerror}") from None
    if fault is not None:
        raise Failure(fault)


def armatures(scene: bpy.types.Scene) -> dict[str, bpy.types.Object]:
    """The armatures of a scene by their names."""
    return {ob.name: ob for ob in scene.objects if ob.type == "ARMATURE"}


def armature(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """The scene's armature of this name, ready to be worked on; a local one is preferred to a linked one."""
    every = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    uids = {ob.session_uid for ob in scene.objects}
    found = sorted(
        (ob for ob in every if ob.name == name), key=lambda ob: (ob.session_uid not in uids, ob.library is not None)
    )
    if not found:
        names = ", ".join(repr(ob.name) for ob in every) or "none"
        raise Refusal(f"there is no armature {name!r}; this file's armatures: {names}")
    ob = found[0]
    if ob.session_uid not in uids:
        raise Refusal(f"armature {name!r} is not in the open scene {scene.name!r}")
    if ob.mode == "EDIT":
        raise Refusal(f"armature {name!r} is in Edit Mode: leave it, and save the file")
    return ob


def output(name: str) -> str:
    """The path of the .blend to write, symbolic links followed, after a check that it can be written."""
    path = replaced_file.resolved(bpy.path.abspath(name))
    if os.path.isdir(path) or name.endswith(("/", os.sep)):
        raise Failure(f"cannot write {name!r}: it is a folder")
    if os.path.exists(path) and not (os.path.isfile(path) and os.access(path, os.W_OK)):
        raise Failure(f"cannot write {name!r}: it is not a file that can be written")
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise Failure(f"cannot write {name!r}: the path is longer than {_LONGEST_PATH} bytes")
    try:
        replaced_file.check_writable(path)
    except OSError as error:
        raise Failure(f"cannot write {name!r}: {error.strerror}") from None
    return path


def check_not_linked(path: str, name: str) -> None:
    """Refuse to write a file from which the open one links data. name : of the path, for the user."""
    libraries = (bpy.path.abspath(library.filepath) for library in bpy.data.libraries)
    if path in map(replaced_file.resolved, libraries):
        raise Failure(f"cannot write {name!r}: this file links data from it")


def save(path: str, name: str, armatures: Sequence[str], span: tuple[int, int]) -> None:
    """Save a copy of the open file with these armatures or, by the path's ending, what another program reads of them.

    name : of the path, for the user. span : the frames that another program gets.
    """
    ending = result_files.ending_of(path)
    exported = ending in result_files.ENDINGS and ending != result_files.BLEND
    if exported and (problem := result_files.problem(ending, armatures)) is not None:
        raise Failure(f"cannot write {name!r}: {problem}")

    def look(written: str) -> None:
        if exported:
            if not os.path.getsize(written):
                raise Failure(f"cannot write {name!r}: what Blender wrote is empty; is the disk full?")
            return
        if not blend_file.is_complete(written):
            raise Failure(f"cannot write {name!r}: what Blender wrote is not complete; is the disk full?")
        loading: Any = bpy.data.libraries.load(written)  # lists the names; loads nothing
        with loading as (found, _):
            for one in armatures:
                if one not in found.objects:
                    raise Failure(f"cannot write {name!r}: armature {one!r} is not in what Blender wrote")

    backups = bpy.context.preferences.filepaths.save_version
    try:
        with replaced_file.replaced(path, look, backups) as written:
            if exported:
                is_done = result_files.export(written, ending, armatures, span)
            else:
                is_done = bpy.ops.wm.save_as_mainfile(filepath=written, copy=True) == {"FINISHED"}
            if not is_done:
                raise Failure(f"cannot write {name!r}: Blender did not save it")
    except RuntimeError as error:
        raise Failure(f"cannot write {name!r}: Blender says {reported(error)!r}; is the disk full?") from None
    except OSError as error:
        raise Failure(f"cannot write {name!r}: {error.strerror or error}") from None
