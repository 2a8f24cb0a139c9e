# SPDX-License-Identifier: GPL-3.0-or-later
"""Real Blender in this process, `SCRIPT ZIP FOLDER`, with a profile of its own, as `tests/blender` has it."""

import os
import sys
from pathlib import Path

from log import Log

ZIP, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "profile")
LOG = Log(FOLDER / "log.txt")  # from here on, since bpy may print when it is imported
import bpy  # noqa: E402  it reads the profile's place when it is imported


def install() -> str:
    """Install the zip, as a user does. Returns Blender's version."""
    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=str(ZIP), repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "dqik"):
        raise SystemExit("Blender could not enable the extension")
    return bpy.app.version_string
