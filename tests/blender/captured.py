# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured figure with a key on every frame."""

import contextlib
import io
import warnings
from pathlib import Path

import addon_utils
import bpy
from build_zip import ROOT


def clip(folder: Path, frames: range) -> bpy.types.Object:
    """Some frames of the example's clip, at 30 frames a second, as frames from 1 on."""
    lines = (ROOT / "examples" / "cmu_01_01.bvh").read_text().splitlines()
    start = next(row for row, line in enumerate(lines) if line.startswith("Frame Time"))
    own = [line for line in lines[start + 1 :] if line][frames.start : frames.stop : frames.step]
    head = [*lines[: start - 1], f"Frames: {len(own)}", "Frame Time: 0.0333333"]
    (folder / "clip.bvh").write_text("\n".join([*head, *own, ""]))
    imported(folder / "clip.bvh")
    bpy.context.scene.frame_end = len(own)
    bpy.ops.object.mode_set(mode="POSE")
    return bpy.context.object


def imported(path: Path, mode: str = "QUATERNION") -> bpy.types.Object:
    """The figure of a file like the example's, in metres."""
    addon_utils.enable("io_anim_bvh")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the importer leaves its file open
        bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.056444, rotate_mode=mode, frame_start=1,
                                update_scene_fps=True)  # fmt: skip
    return bpy.context.object
