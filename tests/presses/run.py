# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator that writes, pressed in every situation: a table of what it did, and the faults with their figures.

    python tests/presses/run.py                                                         the whole table
    python tests/presses/run.py --presses "pin;unpin" --situations "no keys;NLA strip"  some of its cells

Needs a Python with bpy; `make presses` has one. Cells are in a process of its own, so that a crash of Blender is a
fault like any other. Returns 1 where there is a fault.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
MARKS = {"done": "done", "refused": "refused", "none": ""}
Cells = dict[tuple[str, str], dict]


class Worker:
    """The process that judges cells; started again where it ends."""

    def __init__(self, zip_path: Path, folder: Path) -> None:
        self.zip_path, self.folder, self.starts = zip_path, folder, 0
        self.process: subprocess.Popen | None = None

    def start(self) -> dict:
        """Start it; what it can do."""
        self.starts += 1
        folder = self.folder / str(self.starts)
        folder.mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_USER_")}
        environment.update(TMPDIR=str(folder), PYTHONHASHSEED="0")
        command = [sys.executable, str(HERE / "worker.py"), str(self.zip_path), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        ready = self.process.stdout.readline()
        if not ready:
            raise SystemExit(f"Blender did not start: {(folder / 'log.txt').read_text()[-2000:]}")
        return json.loads(ready)

    def judge(self, press: str, situation: str) -> dict:
        """Judge one cell."""
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps([press, situation]).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code, self.process = self.process.wait(), None
        return {"outcome": "broken", "said": "", "faults": [f"Blender ended with code {code}"]}

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()


def chosen(names: Sequence[str], wanted: str) -> list[str]:
    """The names that are asked for, with semicolons between them; all if none is."""
    words = [word.strip() for word in wanted.split(";") if word.strip()]
    if unknown := [word for word in words if word not in names]:
        raise SystemExit(f"{unknown[0]!r} is none of: {'; '.join(names)}")
    return words or list(names)


def table(cells: Cells, presses: Sequence[str], situations: Sequence[str]) -> Iterator[str]:
    """The table in Markdown: a line for each situation."""
    yield "| | " + " | ".join(presses) + " |"
    yield "|---" * (len(presses) + 1) + "|"
    for situation in situations:
        row = [cells[press, situation] for press in presses]
        yield f"| {situation} | " + " | ".join("**fault**" if x["faults"] else MARKS[x["outcome"]] for x in row) + " |"


def main() -> int:
    """Judge the cells, and print."""
    parser = argparse.ArgumentParser(description="Every operator that writes, pressed in every situation.")
    parser.add_argument("--presses", default="", help="lines of the table of operators, with semicolons between them")
    parser.add_argument("--situations", default="", help="situations, with semicolons between them")
    parser.add_argument("--zip", type=Path, help="the extension to test; this checkout's if not given")
    parser.add_argument("--verbose", action="store_true", help="print what each cell said")
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dqik-presses-") as name:
        worker = Worker(arguments.zip or extension_zip(Path(name) / "zip"), Path(name))
        try:
            names = worker.start()
            presses = chosen(names["presses"], arguments.presses)
            situations = chosen(names["situations"], arguments.situations)
            cells: Cells = {}
            for press in presses:
                for situation in situations:
                    cell = cells[press, situation] = worker.judge(press, situation)
                    if arguments.verbose or cell["faults"]:
                        said = f" [{cell['said'][:160]}]" if cell["said"] else ""
                        print(f"{press} x {situation}: {cell['outcome']}{said}", flush=True)
                    for fault in cell["faults"]:
                        print(f"    FAULT {fault}", flush=True)
        finally:
            worker.stop()
    print("\n".join(["", *table(cells, presses, situations), ""]))
    count = Counter("fault" if cell["faults"] else cell["outcome"] for cell in cells.values())
    print(f"{len(cells) - count['none']} cells in Blender {names['ready']}: {count['done']} done, {count['refused']} "
          f"refused, {count['fault'] + count['broken']} faults, {time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if count["fault"] else 0


def extension_zip(folder: Path) -> Path:
    """The extension's zip, built from this checkout."""
    sys.path.insert(0, str(HERE.parents[1] / "tools"))
    import build_zip

    return build_zip.build(folder)


if __name__ == "__main__":
    sys.exit(main())
