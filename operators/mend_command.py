# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants the feet of many captured motions from the command line.

`blender -b --command dqik_mend --input FOLDER_OR_FILE --output FOLDER --report out.json`

Each .blend and .bvh file becomes a .blend file of the same name in the output folder, in which each armature is mended
or, with a reason in the report, as it was. The input files stay as they are. The exit code is 0 if all armatures were
mended, 1 if any was refused or nothing could be read, and 2 for arguments that cannot be used.
"""

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from math import degrees
from typing import NoReturn

import addon_utils
import bpy

from ..rig.blender import blend_file, replaced_file, scene_state
from ..rig.clip.ground import LEVEL, MESH, Ground
from ..rig.notes import Code, Note, Refused
from . import mend_motion
from .command_line import evaluated, last_line, say

COMMAND = "dqik_mend"
_ENDINGS = (".blend", ".bvh")
_registered: list[object] = []

Entry = dict[str, str | float | bool | None]
"""Of an armature in the report."""


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{COMMAND}: {message}\n")


def mend(arguments: Sequence[str]) -> int:
    """Mend all armatures of the files, write the results and a report, and return the exit code."""
    parser = _Parser(prog=f"blender -b --command {COMMAND}", description=__doc__.splitlines()[0])
    parser.add_argument("--input", required=True, help="a .blend or .bvh file, or a folder of them")
    parser.add_argument("--output", required=True, help="the folder to write .blend files into; made if it is missing")
    parser.add_argument("--ground", type=float, help="the height of a level ground; without it, feet stand where they "
                        "are lowest at about that time")  # fmt: skip
    parser.add_argument("--ground-object", help="the name of the mesh in the files on which the figures move")
    parser.add_argument("--report", help="the .json to write: what was mended and by how much, or why not")
    try:
        request = parser.parse_args(list(arguments))
        files = _files(parser, os.path.abspath(request.input), os.path.abspath(request.output))
    except SystemExit as end:
        return int(end.code or 0)
    entries: list[Entry] = []
    for path, output in files:
        found = _file(path, output, request.ground, request.ground_object)
        entries += found
        for entry in found:
            say(f"{entry['file']}: {entry['armature'] or 'nothing'}: {_said(entry)}", sys.stdout, COMMAND)
    if request.report is not None and not _write(os.path.abspath(request.report), entries):
        return 1
    return 0 if entries and all(entry["mended"] for entry in entries) else 1


def _files(parser: _Parser, given: str, folder: str) -> list[tuple[str, str]]:
    """The files to read, each with that to write; reports an error if there are none, or one would be overwritten."""
    names = sorted(os.listdir(given)) if os.path.isdir(given) else [os.path.basename(given)]
    above = given if os.path.isdir(given) else os.path.dirname(given)
    paths = [os.path.join(above, name) for name in names if name.lower().endswith(_ENDINGS)]
    paths = [path for path in paths if os.path.isfile(path)]
    if not paths:
        parser.error(f"there is no .blend or .bvh file at {given!r}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        parser.error(f"cannot write into {folder!r}: {error.strerror}")
    if os.path.realpath(folder) == os.path.realpath(above):
        parser.error("the output folder is that of the input: choose another, so that the files there stay")
    written = [os.path.basename(path) + ("" if path.lower().endswith(".blend") else ".blend") for path in paths]
    return [(path, os.path.join(folder, name)) for path, name in zip(paths, written, strict=True)]


def _file(path: str, output: str, height: float | None, mesh: str | None) -> list[Entry]:
    """Mend the armatures of one file and write the result; what was done to each."""
    try:
        _open(path)
        scene = bpy.context.scene
        armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
        ground = _ground(height, mesh)
        entries = [_armature(path, ob, ground) for ob in armatures]
        if not entries:
            return [_entry(path, None, "it has no armature in its scene")]
        if any(entry["mended"] for entry in entries):
            _save(output)
            for entry in entries:
                entry["output"] = output
    except Refused as refused:
        return [_entry(path, None, str(refused.note))]
    except (RuntimeError, OSError) as error:
        return [_entry(path, None, last_line(str(error)).removeprefix("Error: "))]
    return entries


def _open(path: str) -> None:
    """Open a .blend file, or import a .bvh file into an empty scene at its own rate and over its own frames."""
    if path.lower().endswith(".blend"):
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        return
    bpy.ops.wm.read_homefile(use_empty=True)
    if not hasattr(bpy.types, "IMPORT_ANIM_OT_bvh"):
        addon_utils.enable("io_anim_bvh")
    with contextlib.redirect_stdout(io.StringIO()):  # the importer prints a lot
        bpy.ops.import_anim.bvh(filepath=path, rotate_mode="NATIVE", update_scene_fps=True, update_scene_duration=True)


def _ground(height: float | None, mesh: str | None) -> Ground:
    """The ground in the open file. Raises `Refused` if the object is no mesh."""
    if mesh is None:
        return Ground() if height is None else Ground(LEVEL, height)
    ob = bpy.context.scene.objects.get(mesh)
    if ob is None or ob.type != "MESH":
        raise Refused(Note(Code.NO_GROUND, repr(mesh)))
    return Ground(MESH, 0.0, ob)


def _armature(path: str, ob: bpy.types.Object, ground: Ground) -> Entry:
    """Mend an armature over the frames of its action."""
    data = ob.animation_data
    start, end = (0.0, 0.0) if data is None or data.action is None else data.action.frame_range
    frames = range(round(start), round(end) + 1)
    try:
        with evaluated([ob]):
            steps = mend_motion.steps(bpy.context, ob, frames, ground=ground)
            while True:
                next(steps)
    except StopIteration as last:
        done = last.value
    except Refused as refused:
        return _entry(path, ob.name, str(refused.note))
    except scene_state.Disturbed as disturbed:
        return _entry(path, ob.name, str(disturbed.note))
    return _entry(path, ob.name, None) | {
        "mended": True, "contacts": done.contacts, "slide_before": done.before, "slide_after": done.after,
        "knees": degrees(done.knees),
    }  # fmt: skip


def _entry(path: str, armature: str | None, reason: str | None) -> Entry:
    return {"file": path, "armature": armature, "mended": False, "reason": reason, "output": None}


def _said(entry: Entry) -> str:
    if not entry["mended"]:
        return str(entry["reason"])
    before, after = entry["slide_before"], entry["slide_after"]
    return f"{entry['contacts']} contacts, slide {before:.2g} to {after:.2g} heights a second"


def _save(output: str) -> None:
    """Save the open file as another. Raises `OSError` or `RuntimeError` if it cannot be written."""

    def look(written: str) -> None:
        if not blend_file.is_complete(written):
            raise OSError(f"cannot write {output!r}: what Blender wrote is not complete; is the disk full?")

    with replaced_file.replaced(replaced_file.resolved(output), look) as written:
        bpy.ops.wm.save_as_mainfile(filepath=written, copy=True)


def _write(path: str, entries: Sequence[Entry]) -> bool:
    """Write the report; whether it could be written."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=1)
    except OSError as error:
        say(f"cannot write {path!r}: {error.strerror}", sys.stderr, COMMAND)
        return False
    return True


def register() -> None:
    """Register the command with Blender."""
    _registered.append(bpy.utils.register_cli_command(COMMAND, mend))


def unregister() -> None:
    """Unregister the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
