# SPDX-License-Identifier: GPL-3.0-or-later
"""A short run of the random walks in tests/fuzz, which have Blender in a process of their own."""

import runpy
import subprocess
import sys
from pathlib import Path

from build_zip import ROOT

RUN = Path(__file__).parents[2] / "fuzz" / "run.py"


def test_random_walks_break_nothing(extension_zip: Path) -> None:
    """15 walks of 60 steps from fixed seeds: poses, reports, limits, undo and bakes hold what they promise."""
    command = [sys.executable, str(RUN), "--steps", "900", "--seed", "21", "--shrink", "1", "--zip", str(extension_zip)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    said = done.stdout.replace("Traceback (", "A traceback (")  # this process printed none
    assert done.returncode == 0, said


def test_each_fault_for_the_walks_can_be_put_in() -> None:
    """Its line is in its file, once."""
    faults = runpy.run_path(str(RUN.with_name("faults.py")))["FAULTS"]
    counts = {fault.name: (ROOT / fault.path).read_text(encoding="utf-8").count(fault.old) for fault in faults}
    assert [name for name, count in counts.items() if count != 1] == []
