# SPDX-License-Identifier: GPL-3.0-or-later
"""What enabling builds of DQIK costs at the start of Blender, beside Rigify, which Blender brings.

    python benchmarks/enable.py ZIP [ZIP ...] [--rounds 5]

Run it with a Python that has the bpy package. Each figure comes from processes of its own, in turns: the least CPU time
of `addon_utils.enable`, once with the bytecode that Python keeps after the first start, and once without it, as at the
first start after an installation. `executed` counts the modules of the add-on that enabling runs, `lines` their lines.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

_MEASURE = """
import json, os, sys, time
import bpy, addon_utils, numpy
name = sys.argv[1]
began = time.process_time()
addon_utils.enable(name, default_set=True)
took = time.process_time() - began
own = [module for key, module in sys.modules.items() if key == name or key.startswith(name + ".")]
executed = [module for module in own if type(module).__name__ != "_LazyModule" and module.__file__]
lines = sum(len(open(module.__file__, encoding="utf-8").readlines()) for module in executed)
print(json.dumps([took, len(executed), lines]), flush=True)
os._exit(0)
"""


def main() -> None:
    """Measure builds and Rigify, and print a Markdown table."""
    parser = argparse.ArgumentParser(description="What enabling builds of DQIK costs, beside Rigify.")
    parser.add_argument("zips", nargs="+", type=Path, metavar="ZIP")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        names = {}
        for number, path in enumerate(arguments.zips):
            folder = Path(profile, "extensions", "user_default", f"build{number}")
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
            names[path.stem] = f"bl_ext.user_default.build{number}"
        names["Rigify"] = "rigify"
        figures = {label: {True: [], False: []} for label in names}
        for bytecode in (True, False):
            for _ in range(arguments.rounds + bytecode):  # the first start writes the bytecode
                for label, name in names.items():
                    figures[label][bytecode].append(_enabled(name, profile, bytecode))
    print("| add-on | with bytecode, s | / Rigify | without, s | / Rigify | executed | lines |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    rigify = {bytecode: min(runs)[0] for bytecode, runs in figures["Rigify"].items()}
    for label, runs in figures.items():
        times = [cell for bytecode in (True, False) for cell in _times(min(runs[bytecode])[0], rigify[bytecode])]
        executed, lines = runs[True][0][1:]
        print(f"| {label} | {' | '.join(times)} | {executed} | {lines:,} |")


def _times(seconds: float, rigify: float) -> list[str]:
    return [f"{seconds:.3f}", f"{seconds / rigify:.1f}"]


def _enabled(name: str, profile: str, bytecode: bool) -> list[float]:
    """CPU seconds, executed modules and their lines, of an add-on in a new process."""
    environment = os.environ | {"BLENDER_USER_RESOURCES": profile}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(profile, "kept" if bytecode else "none"))
    command = [sys.executable, *(() if bytecode else ("-B",)), "-c", _MEASURE, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
