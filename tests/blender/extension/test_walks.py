# SPDX-License-Identifier: GPL-3.0-or-later
"""A short run of the walks in tests/fuzz and of the table in tests/presses, which have Blender in their own process."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import reference
from build_zip import ROOT

FUZZ, TABLE = (ROOT / "tests" / folder / "run.py" for folder in ("fuzz", "presses"))
PRESSES = "key_controls;overlap;bake;edit_range"
SITUATIONS = "no keys;locked curves;NLA strip;shared action;override;between frames;centimetres"
OF_FILES = "setup_full_body;goals_from_constraints;goal_add;goals_clear;solve;reset_pose;limits_clear"

SHOW = {"check_range", "compare_solvers", "missed_clear", "missed_frame", "motion_paths", "reach_hide", "reach_show",
        "report_problem", "preview_hide", "see_motion", "select_controls", "solve_shot", "target_select"}  # fmt: skip
SET = {"avoid_add", "avoid_remove", "couple", "couplings_mirror", "fit_capsules", "lock_interface", "swap_sides",
       "uncouple"}  # fmt: skip
ELSEWHERE = {"key_from_motion", "limb_keep_body", "mend"}
"""Not in the table: what shows or marks something, what changes settings without keys, what tests of its own press."""


def run(script: Path, zipped: Path, *words: str) -> None:
    """It must end well; a traceback that it printed is none of this process."""
    command = [sys.executable, str(script), *words, "--zip", str(zipped)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout.replace("Traceback (", "A traceback (")


def test_random_walks_break_nothing(extension_zip: Path) -> None:
    """Ten walks of 60 steps from fixed seeds: poses, reports, limits, undo and bakes hold what they promise."""
    run(FUZZ, extension_zip, "--steps", "600", "--seed", "21", "--shrink", "1")


def test_each_fault_can_be_put_in_and_its_tests_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line is in its file, once."""
    monkeypatch.syspath_prepend(str(FUZZ.parent))
    mutants = importlib.import_module("mutants")
    faults = (*mutants.FAULTS, *mutants.MOTION_FAULTS)
    assert [fault.name for fault in faults if not mutants.applies(fault)] == []
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    named = [name.rpartition("/")[2].partition("::") for fault in faults for name in fault.tests.split()]
    assert [test for stem, _, test in named if f"def {test.partition('[')[0]}" not in texts[stem]] == []


def test_every_tool_that_writes_is_pressed() -> None:
    """A new tool gets its entry in `PRESSES` of tests/presses/presses.py, or its name above."""
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "operators").rglob("*.py"))
    tools = {name for text in files for name in re.findall(r"^class DQIK_OT_(\w+)", text, re.MULTILINE)}
    pressed = (TABLE.parent / "presses.py").read_text(encoding="utf-8")
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
    run(TABLE, extension_zip, "--presses", presses, "--situations", situations)


def test_the_reference_is_up_to_date() -> None:
    is_new = reference.made() == reference.PAGE.read_text(encoding="utf-8")
    assert is_new, "write the page again: .venv-5.2/bin/python tools/reference.py, or the Python of another Blender"
