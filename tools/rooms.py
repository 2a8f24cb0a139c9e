# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of the house in the order of their imports, and their picture in the documents.

    python tools/rooms.py [FILE.svg]

Each room imports only from those before it in its tuple, which a test checks. The picture says of each what the first
sentence of its own docstring says. Standard library only.
"""

import argparse
import ast
from pathlib import Path
from xml.sax.saxutils import escape

from lines import ROOT, count

SOLVERS = (
    "algebra", "model", "space", "reach", "iterate", "methods", "papers", "group", "keyed", "rest", "figure",
    "compiled", "motion", "clip",
)  # fmt: skip
"""Folders of `solvers`. The files beside them may import from all."""
RIG = (
    "notes", "remembered", "curves", "blender", "figure", "keys", "skeleton", "controls", "frame.read", "frame.memory",
    "frame.step", "frame", "clip", "bake", "shot", "motion", "overlay", "compare",
)  # fmt: skip
"""Folders and files of `rig`. `frame` stands for the files beside its three rooms."""
TOP = ("live.py", "operators", "ui", "properties")
PICTURE = ROOT / "docs" / "images" / "house.svg"

_WIDTH, _ROW, _TITLE, _GAP = 1000, 22, 30, 26
_FONTS = {
    "": 'font-family="sans-serif"', "title": 'font-family="sans-serif" font-weight="bold"',
    "room": 'font-family="monospace"', "lines": 'font-family="sans-serif" text-anchor="end" fill="#777"',
}  # fmt: skip
_COLORS = {"top": "#e8eef7", "rig": "#e9f4ea", "solvers": "#fbf1df", "kernel": "#f3e6ee"}


def purpose(place: Path) -> str:
    """The first sentence of a room's docstring."""
    if place == ROOT / "kernel":
        return "The hot path of the solvers, one frame at a time"
    file = place if place.suffix else place / "__init__.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def _place(folder: str, room: str) -> Path:
    place = ROOT / folder / room.replace(".", "/")
    return place if place.is_dir() else place.with_suffix(".py")


def _boxes() -> list[tuple[str, str, list[tuple[str, int, str]]]]:
    """Title, color, and rows (room, lines, purpose) of each box, from the top of the house to its ground."""
    boxes = [
        ("What Blender calls and shows", "top", [(room, ROOT / room) for room in TOP]),
        ("rig: between Blender and the solvers, the only code that knows both", "rig", _rooms("rig", RIG)),
        ("solvers: the mathematics in NumPy, without Blender", "solvers", _rooms("solvers", SOLVERS)),
        ("The same in C, optional", "kernel", [("kernel", ROOT / "kernel")]),
    ]
    return [(title, color, [(room, _lines(place), purpose(place)) for room, place in rows])
            for title, color, rows in boxes]  # fmt: skip


def _lines(place: Path) -> int:
    """The lines of a room without those of rooms inside it that stand in a row of their own."""
    inner = ("read", "memory", "step") if place == ROOT / "rig" / "frame" else ()
    return sum(count(place)) - sum(sum(count(place / room)) for room in inner)


def _rooms(folder: str, rooms: tuple[str, ...]) -> list[tuple[str, Path]]:
    return [(f"{folder}/{room.replace('.', '/')}", _place(folder, room)) for room in reversed(rooms)]


def picture() -> str:
    """The house as SVG: boxes import downward, and so do the rooms in them."""
    parts, y = [], 10
    boxes = _boxes()
    for number, (title, color, rows) in enumerate(boxes):
        height = _TITLE + _ROW * len(rows) + 8
        parts.append(f'<rect x="10" y="{y}" width="{_WIDTH - 20}" height="{height}" rx="6" fill="{_COLORS[color]}"/>')
        parts.append(_text(22, y + 21, title, "title"))
        for row, (room, lines, text) in enumerate(rows):
            at = y + _TITLE + _ROW * row + 15
            parts += [_text(30, at, room, "room"), _text(245, at, f"{round(lines, -1):,}", "lines")]
            parts.append(_text(262, at, text))
        y += height
        if number < len(boxes) - 1:
            arrow = f"M {_WIDTH // 2} {y + 2} v {_GAP - 10} m -5 -6 l 5 7 l 5 -7"
            parts.append(f'<path d="{arrow}" fill="none" stroke="#555"/>')
            y += _GAP
    height = y + 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}">'
    ground = f'<rect width="{_WIDTH}" height="{height}" fill="white"/>'
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" font-size="13" {_FONTS[kind]}>{escape(words)}</text>'


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the rooms of the house, in the order of their imports.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, help="SVG, by default docs/images/house.svg")
    parser.parse_args().file.write_text(picture(), encoding="utf-8")
