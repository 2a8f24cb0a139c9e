# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator that writes, pressed in every situation: a table of what it did, and the faults with their figures.

    python tests/presses/run.py                                                         the whole table
    python tests/presses/run.py --presses "pin;unpin" --situations "no keys;NLA strip"  some of its cells

Needs a Python with bpy; `make presses` has one. Cells are in a process of its own, so that a crash of Blender is a
fault like any other. Returns 1 where there is a fault.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fuzz"))

from child import Child, extension_zip  # noqa: E402

MARKS = {"done": "done", "refused": "refused", "none": ""}
Cells = dict[tuple[str, str], dict]


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
        zipped = arguments.zip or extension_zip(Path(name) / "zip")
        worker = Child(HERE / "worker.py", zipped, Path(name) / "cells")
        try:
            names = worker.start()
            presses = chosen(names["presses"], arguments.presses)
            situations = chosen(names["situations"], arguments.situations)
            cells: Cells = {}
            for press in presses:
                for situation in situations:
                    cell = worker.ask([press, situation])
                    if isinstance(cell, str):
                        cell = {"outcome": "broken", "said": "", "faults": [cell]}
                    cells[press, situation] = cell
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


if __name__ == "__main__":
    sys.exit(main())
