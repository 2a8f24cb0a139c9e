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

HERE = Path(__file__).parent
sys.path[:0] = [str(path) for path in (HERE, HERE / "steps", HERE / "checks", HERE.parent / "blender")]

from installed import FOLDER, LOG, install  # noqa: E402


def main() -> None:
    """Do walks until the input ends."""
    version = install()
    import walk  # it needs the extension

    LOG.answer(ready=version)
    for line in sys.stdin:
        order = json.loads(line)
        with (FOLDER / "journal.jsonl").open("w") as journal:
            LOG.new()
            LOG.answer(**walk.walk(LOG, journal, **order))
    os._exit(0)  # Blender 4.2 crashes in Python's own clean-up


if __name__ == "__main__":
    main()
