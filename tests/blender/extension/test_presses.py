# SPDX-License-Identifier: GPL-3.0-or-later
"""Some cells of the table in tests/presses, which has Blender in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RUN = ROOT / "tests" / "presses" / "run.py"
PRESSES = "key_controls;overlap;bake;edit_range"
SITUATIONS = "no keys;locked curves;NLA strip;shared action;override;between frames;centimetres"

OF_FILES = "setup_full_body;goals_from_constraints;goal_add;goals_clear;solve;reset_pose;limits_clear"

SHOW = {"check_range", "compare_solvers", "missed_clear", "missed_frame", "motion_paths", "reach_hide", "reach_show",
        "report_problem", "see_motion", "select_controls", "target_select"}  # fmt: skip
SET = {"avoid_add", "avoid_remove", "couple", "couplings_mirror", "fit_capsules", "lock_interface", "swap_sides",
       "uncouple"}  # fmt: skip
ELSEWHERE = {"key_from_motion", "limb_keep_body", "mend"}
"""Not in the table: what shows or marks something, what changes settings without keys, what tests of its own press."""


def test_every_tool_that_writes_is_pressed() -> None:
    """A new tool gets its entry in `PRESSES` of tests/presses/presses.py, or its name above."""
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "operators").rglob("*.py"))
    tools = {name for text in files for name in re.findall(r"^class DQIK_OT_(\w+)", text, re.MULTILINE)}
    pressed = (ROOT / "tests" / "presses" / "presses.py").read_text(encoding="utf-8")
    assert len(tools) > 50
    assert tools - SHOW - SET - ELSEWHERE == {name for name in tools if re.search(rf'\W{name}[("]', pressed)}


@pytest.mark.parametrize(
    ("presses", "situations"), [("", "few keys"), (PRESSES, SITUATIONS), (OF_FILES, "linked;override")],
    ids=["all", "some", "from libraries"],
)  # fmt: skip
def test_a_press_does_what_it_says_or_changes_nothing(presses: str, situations: str, extension_zip: Path) -> None:
    """All presses where all is usual, and some in other situations.

    Refused with a sentence, or done as promised, with everything else as it was; undo and redo are exact.
    """
    command = [sys.executable, str(RUN), "--presses", presses, "--situations", situations, "--zip", str(extension_zip)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout.replace("Traceback (", "A traceback (")  # this process printed none
