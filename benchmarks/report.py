# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a part: a table to read, and a CSV file with the machine on which it was measured."""

import csv
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

Row = Mapping[str, object]


@dataclass(frozen=True)
class Result:
    """Rows of plain numbers, and the columns that show them: a title, and what to print of a row."""

    rows: Sequence[Row]
    columns: Sequence[tuple[str, Callable[[Row], str]]]

    def table(self) -> str:
        """The rows as a Markdown table that is aligned as text too."""
        lines = [[title for title, _ in self.columns], *([show(row) for _, show in self.columns] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        words = [not any(cell[0].isdigit() for cell in column[1:]) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * (width - 1) + ("-" if word else ":") for width, word in zip(widths, words, strict=True)])
        pads = [str.ljust if word else str.rjust for word in words]
        padded = [[pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in padded)

    def write(self, path: Path, heading: str) -> None:
        """Write the rows, under a heading that begins with a `#`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {heading}\n")
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in self.rows for name in row)))
            writer.writeheader()
            writer.writerows({name: _plain(value) for name, value in row.items()} for row in self.rows)


def number(name: str, form: str, scale: float = 1.0, unit: str = "") -> Callable[[Row], str]:
    """Format a number of a row; a dash if there is none."""
    return lambda row: "-" if row.get(name) is None else f"{scale * row[name]:{form}}{unit}"


def machine(command: str) -> str:
    """The machine, versions and command of the measurement, in a line."""
    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    load = [f"load {os.getloadavg()[0]:.1f} before"] if hasattr(os, "getloadavg") else []
    try:
        blender = metadata.version("bpy")
    except metadata.PackageNotFoundError:
        blender = "none"
    parts = [
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores", *names[:1], *load,
        f"Python {platform.python_version()}", f"NumPy {metadata.version('numpy')}", f"Blender {blender}", command,
    ]  # fmt: skip
    return "; ".join(parts)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _plain(value: object) -> object:
    """A number as short as it may be."""
    return f"{value:.6g}" if isinstance(value, float) else value
