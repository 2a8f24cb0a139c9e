# SPDX-License-Identifier: GPL-3.0-or-later
"""The process in which walks take place: real Blender with the extension installed, as `tests/blender` has it.

It reads a walk a line from its input, and answers with a line on its first output: what broke, and the steps so far.
Each step is written to a journal before it runs, so that the last step is on record if Blender crashes.
Everything that Blender prints goes to a log, where tracebacks are looked for.

Run by run.py: `walker.py ZIP FOLDER`.
"""

import json
import os
import sys
from pathlib import Path

ZIP, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "profile")
HERE = Path(__file__).parent
sys.path[:0] = [str(path) for path in (HERE, HERE / "steps", HERE / "checks", HERE.parent / "blender")]

from log import Log  # noqa: E402

LOG = Log(FOLDER / "log.txt")  # from here on, since bpy may print when it is imported
import bpy  # noqa: E402  it reads the profile's place when it is imported


def install() -> None:
    """Install the zip, as a user does."""
    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=str(ZIP), repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "dqik"):
        raise SystemExit("Blender could not enable the extension")


def main() -> None:
    """Do walks until the input ends."""
    install()
    import walk  # it needs the extension

    LOG.answer(ready=bpy.app.version_string)
    for line in sys.stdin:
        order = json.loads(line)
        with (FOLDER / "journal.jsonl").open("w") as journal:
            LOG.new()
            LOG.answer(**walk.walk(LOG, journal, **order))
    os._exit(0)  # Blender 4.2 crashes in Python's own clean-up


if __name__ == "__main__":
    main()
