# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the random walks and the tests notice faults that are put into the extension on purpose.

    python tests/fuzz/mutants.py                              walks on each fault of `faults.py`, and a table
    python tests/fuzz/mutants.py --only pole-sign,goal-mute   some of them
    python tests/fuzz/mutants.py --tests                      also the tests that concern each fault
    python tests/fuzz/mutants.py --quick                      those that few steps, or tests of seconds, show; ends with
                                                              1 if one is missed

Each fault gets a copy of the checkout of its own. Needs a Python with bpy; `make mutants` has one.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from faults import FAULTS, Fault
from motion_faults import MOTION_FAULTS

ROOT = Path(__file__).resolve().parents[2]
QUICK_STEPS = 900
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.pyc")


class Outcome(NamedTuple):
    """What noticed a fault. walks, tests : in words; empty if they were not asked. seen : whether anything did."""

    fault: Fault
    walks: str
    tests: str
    applies: bool
    by_walks: bool
    by_tests: bool


def applies(fault: Fault) -> bool:
    """Whether the text that a fault replaces is there, once."""
    path = ROOT / fault.path
    return path.is_file() and path.read_text(encoding="utf-8").count(fault.old) == 1


def faulty_copy(fault: Fault, folder: Path) -> Path:
    """A copy of the checkout with a fault."""
    copy = folder / fault.name
    shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
    if (ROOT / "build").exists():
        (copy / "build").symlink_to((ROOT / "build").resolve())
    path = copy / fault.path
    path.write_text(path.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
    return copy


def try_fault(fault: Fault, folder: Path, arguments: argparse.Namespace) -> Outcome:
    """Put a fault in and ask the walks, and on request the tests."""
    if not applies(fault):
        return Outcome(fault, "", "", False, False, False)
    copy = faulty_copy(fault, folder)
    environment = {**os.environ, **({"DQIK_KERNEL": "numpy"} if fault.numpy else {})}
    walks = tests = ""
    by_tests = arguments.quick and not fault.groups  # walks of all groups would take many steps
    if arguments.steps and not by_tests:
        walks = _walks(copy, environment, arguments, fault.groups if arguments.focus else "")
    if (arguments.tests or by_tests) and fault.tests and not (arguments.missed and "step" in walks):
        tests = _tests(copy, fault, environment, arguments.time)
    shutil.rmtree(copy)
    outcome = Outcome(fault, walks, tests, True, walks.startswith("step"), tests.startswith("failed"))
    print(f"{fault.name}: {walks} {tests}", flush=True)
    return outcome


def _walks(copy: Path, environment: dict[str, str], arguments: argparse.Namespace, groups: str) -> str:
    """The step at which the walks, on request of some groups only, notice a fault; "not seen" if they do not."""
    command = [sys.executable, "tests/fuzz/run.py", "--stop", "--steps", str(arguments.steps)]
    command += ["--seed", str(arguments.seed), *(["--only", groups] if groups else []), *arguments.walk]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^Stopped after (\d+) steps: (.*)$", done.stdout, re.M)
    if found:
        return f"step {found[1]}: {found[2]}"
    return "not seen" if done.returncode == 0 else f"did not run: {(done.stdout + done.stderr)[-200:]}"


def _tests(copy: Path, fault: Fault, environment: dict[str, str], seconds: float) -> str:
    """The first of the tests that concern a fault that fails; "not seen" if none does."""
    files = []
    for name, colons, test in (name.partition("::") for name in fault.tests.split()):
        room, _, stem = name.rpartition("/")  # "../solvers/test_x", or a file of tests/blender
        path = next((copy / "tests" / (room.removeprefix("../") or "blender")).rglob(f"{stem}.py"))
        files.append(f"{path}{colons}{test}")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return "not seen in time"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    if failed:
        return f"failed: {failed[1].rsplit('/', 1)[-1][:70]}"
    if done.returncode in (4, 5):  # of pytest: names that do not exist
        return "no such tests"
    return "not seen" if done.returncode == 0 else f"failed with code {done.returncode}"


def table(outcomes: list[Outcome], tests: bool) -> str:
    """The outcomes as a table, and how many of the visible faults were noticed."""
    rows = [("fault", "by walks", *(("by tests",) if tests else ()), "what it breaks")]
    for one in outcomes:
        words = (one.walks if one.applies else "no longer applies", *((one.tests,) if tests else ()))
        rows.append((one.fault.name + ("" if one.fault.visible else " (not visible)"), *words, one.fault.breaks))
    widths = [min(60, max(len(row[k]) for row in rows)) for k in range(len(rows[0]))]
    lines = ["  ".join(cell[:60].ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    visible = [one for one in outcomes if one.applies and one.fault.visible]
    walks, any_way = sum(one.by_walks for one in visible), sum(one.by_walks or one.by_tests for one in visible)
    lines.append(f"\nOf {len(visible)} visible faults the walks noticed {walks}, walks or tests {any_way}.")
    gone = [one.fault.name for one in outcomes if not one.applies]
    if gone:
        lines.append(f"These no longer apply, since their text has changed: {', '.join(gone)}.")
    return "\n".join(lines)


def main() -> int:
    """Do what the command line says. With --quick, returns 1 where a fault is missed or no longer applies."""
    parser = argparse.ArgumentParser(description="Whether walks and tests notice faults put in on purpose.")
    parser.add_argument("--only", default="", help="names of faults, with commas")
    parser.add_argument("--steps", type=int, default=6000, help="steps of walks on each fault; 0 for none")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first walk")
    parser.add_argument("--tests", action="store_true", help="also run the tests that concern each fault")
    parser.add_argument("--missed", action="store_true", help="run tests only on faults that the walks miss")
    parser.add_argument("--time", type=float, default=240.0, help="seconds for the tests of one fault")
    parser.add_argument("--quick", action="store_true", help="faults that few steps or seconds show")
    parser.add_argument("--focus", action="store_true", help="only the groups of steps that concern each fault")
    parser.add_argument("--jobs", type=int, default=2, choices=(1, 2), help="faults at a time")
    parser.add_argument("--list", action="store_true", help="list the faults and whether they still apply")
    parser.add_argument("walk", nargs="*", help="more words for run.py, after --")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.steps, arguments.focus = min(arguments.steps, QUICK_STEPS), True
    names = set(arguments.only.split(",")) if arguments.only else None
    chosen = [
        fault for fault in (*FAULTS, *MOTION_FAULTS)
        if (names is None or fault.name in names) and (fault.quick or not arguments.quick)
    ]  # fmt: skip
    if arguments.list:
        for fault in chosen:
            print(f"{'applies' if applies(fault) else 'GONE':8} {fault.name:22} {fault.breaks}")
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dqik-mutants-") as name, ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(lambda fault: try_fault(fault, Path(name), arguments), chosen))
    print(f"\n{table(outcomes, arguments.tests or arguments.quick)}\n{time.monotonic() - began:.0f} s")
    return 1 if arguments.quick and not all(one.by_walks or one.by_tests for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
