# SPDX-License-Identifier: GPL-3.0-or-later
"""The process in which operators are pressed: real Blender with the extension installed, as `tests/fuzz` has it.

Run by run.py: `worker.py ZIP FOLDER`. It reads a cell a line from its input, and answers with a line.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

ZIP, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "profile")
sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parents[1] / name) for name in ("fuzz", "blender"))]

from log import Log, traceback_in  # noqa: E402

LOG = Log(FOLDER / "log.txt")  # from here on, since bpy may print when it is imported
import bpy  # noqa: E402  it reads the profile's place when it is imported


def main() -> None:
    """Judge cells until the input ends."""
    import traceback

    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=str(ZIP), repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "dqik"):
        raise SystemExit("Blender could not enable the extension")
    from cell import judge
    from presses import PRESSES
    from situations import SITUATIONS

    LOG.answer(ready=bpy.app.version_string, presses=list(PRESSES), situations=list(SITUATIONS))
    for line in sys.stdin:
        press, situation = json.loads(line)
        try:
            answer = asdict(judge(PRESSES[press], situation))
        except Exception:
            text = traceback.format_exc()
            answer = {"outcome": "broken", "said": "", "faults": [f"the test broke: {traceback_in(text)}"]}
            print(text)
        LOG.answer(**answer)
    os._exit(0)  # Blender 4.2 crashes in Python's own clean-up


if __name__ == "__main__":
    main()
