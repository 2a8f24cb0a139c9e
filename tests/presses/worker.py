# SPDX-License-Identifier: GPL-3.0-or-later
"""The process in which operators are pressed: real Blender with the extension installed, as `tests/fuzz` has it.

Run by run.py: `worker.py ZIP FOLDER`. It reads a cell a line from its input, and answers with a line.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parents[1] / name) for name in ("fuzz", "blender"))]

from installed import LOG, install  # noqa: E402
from log import traceback_in  # noqa: E402


def main() -> None:
    """Judge cells until the input ends."""
    import traceback

    version = install()
    from cell import judge
    from presses import PRESSES
    from situations import SITUATIONS

    LOG.answer(ready=version, presses=list(PRESSES), situations=list(SITUATIONS))
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
