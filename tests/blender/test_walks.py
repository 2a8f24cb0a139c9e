# SPDX-License-Identifier: GPL-3.0-or-later
"""A short run of the random walks in tests/fuzz, which have Blender in a process of their own."""

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[1] / "fuzz" / "run.py"


def test_random_walks_break_nothing(extension_zip: Path) -> None:
    """15 walks of 60 steps from fixed seeds: poses, reports, limits, undo and bakes hold what they promise."""
    command = [sys.executable, str(RUN), "--steps", "900", "--seed", "1", "--shrink", "1", "--zip", str(extension_zip)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    said = done.stdout.replace("Traceback (", "A traceback (")  # this process printed none
    assert done.returncode == 0, said
