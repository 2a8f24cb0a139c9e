# SPDX-License-Identifier: GPL-3.0-or-later
"""Some cells of the table in tests/presses, which has Blender in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "presses" / "run.py"
PRESSES = "key_controls;overlap;bake;edit_range"
SITUATIONS = "no keys;locked curves;NLA strip;shared action;override;between frames;centimetres"


OF_FILES = "setup_full_body;goals_from_constraints;goal_add;goals_clear;solve;reset_pose;limits_clear"


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
