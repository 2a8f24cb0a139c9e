# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for the commands, and what is in them afterwards."""

import contextlib
import hashlib
import json
import re
import sys
import warnings
from pathlib import Path

import bpy
import numpy as np
import rigs
from build_zip import ROOT

_COMMAND = re.compile(r'^COMMAND = commands\.Command\(\s*"(\w+)"', re.MULTILINE)
MODULES = {
    f"dqik_{match[1]}": path.stem for path in sorted((ROOT / "operators" / "commands").glob("*.py"))
    if (match := _COMMAND.search(path.read_text(encoding="utf-8"))) is not None
}  # fmt: skip
"""All commands, each with its module."""


def run(command: str, *arguments: object) -> int:
    """Run a command as Blender does."""
    operators = "bl_ext.user_default.dqik.operators.commands"
    own = sys.modules[f"{operators}.{MODULES[command]}"].COMMAND
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Blender's importer leaves its file open
        warnings.simplefilter("ignore", DeprecationWarning)  # its exporters use what newer NumPys will not have
        return sys.modules[f"{operators}.commands"].run(own, [str(argument) for argument in arguments])


def clip(path: Path, frames: int = 90, first: int = 0) -> Path:
    """Some frames of the captured clip."""
    lines = (ROOT / "examples" / "cmu_01_01.bvh").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    head = [f"Frames: {frames}" if line.startswith("Frames:") else line for line in lines[:start]]
    path.write_text("\n".join([*head, *lines[start + first : start + first + frames], ""]))
    return path


def imported(path: Path, up: str = "Y") -> bpy.types.Object:
    """The armature of a file, in an empty scene; `up` is the axis that points up in a .bvh."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rigs.part("operators.commands.command_files").open_file(str(path), up)
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")


def shot(path: Path, arms: int = 1, height: float = 0.9, frames: int = 10) -> Path:
    """A .blend with arms, each of which has a goal whose target moves over some frames."""
    rigs.new_file()
    for number in range(arms):
        name = "Arm" if number == 0 else f"Arm {number + 1}"
        ob = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)], name)
        target = rigs.empty((0.5, 0.5, height + 0.1 * number), f"{name} target")
        rigs.key_path(target, (1, frames), (target.location.copy(), (-0.5, 0.6, 1.1)))
        rigs.goal(ob, "b", target)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def report(path: Path) -> list[dict]:
    """What a command has reported."""
    return json.loads(path.read_text(encoding="utf-8"))


def keys(path: Path) -> dict[str, str]:
    """A digest of the keys of each armature in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = {}
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and rigs.keys(ob):
            own = hashlib.sha256()
            for name, values in sorted(rigs.keys(ob).items()):
                own.update(repr(name).encode() + np.array(values, dtype=np.float32).tobytes())
            found[ob.name] = own.hexdigest()
    return found


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextlib.contextmanager
def untouched(folder: Path):
    """All files of a folder stay as they are, and none is added."""
    before = snapshot(folder)
    yield
    assert snapshot(folder) == before
