# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the DQIK tab in eight states side by side for `docs/images/tab.png`.

Run by Blender itself (README.md, beside this file). `DQIK_SHOTS` is the folder of the pictures; `tab.png` there is the
sheet.
"""

import os
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

from tab_states import STATES, pixels_of, save_sheet, show_tab, take
from window import SHOTS, Steps, region, run, shot

SCALE = float(os.environ.get("DQIK_SCALE", "1.0"))
SHOWN = ("nothing selected", "not set up", "a hand", "a foot", "the chest", "a missed goal", "a held bone",
         "Object Mode")  # fmt: skip


def draw_tab() -> Steps:
    """Go through the states, and put the pictures of those that are shown together."""
    pictures = []
    yield from show_tab()
    for name, state in STATES.items():
        yield from take(state)
        yield from shot(name)
        if SHOTS and name in SHOWN:
            pictures += pixels_of(name, [region("UI")])
        if len(pictures) == len(SHOWN):
            break
    if pictures:
        save_sheet(pictures, Path(SHOTS) / "tab.png", SCALE)


if __name__ == "__main__":
    run(draw_tab, SCALE)
