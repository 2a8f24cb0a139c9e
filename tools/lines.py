# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the lines of each room: code, docstrings, comments and blank ones apart.

    python tools/lines.py [COMMIT ...]

Without a commit it counts the files as they are; with several, a column for each, of all lines. Standard library only.
"""

import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    "live.py", "rig", "operators", "properties", "ui", "solvers", "kernel", "tests", "tools", "benchmarks", "examples",
)  # fmt: skip
INNER = ("rig", "operators", "solvers")
"""Rooms whose folders are counted apart too."""


class Lines(NamedTuple):
    """Lines of code, of docstrings, of comments alone, and blank ones."""

    code: int = 0
    docstrings: int = 0
    comments: int = 0
    blank: int = 0

    def plus(self, other: "Lines") -> "Lines":
        """The sum of both."""
        return Lines(*(a + b for a, b in zip(self, other, strict=True)))


def of_python(text: str) -> Lines:
    """The lines of a Python file."""
    lines = text.splitlines()
    blank = sum(not line.strip() for line in lines)
    comments = sum(
        token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
            docstrings += sum(bool(line.strip()) for line in lines[first - 1 : last])
    return Lines(len(lines) - blank - comments - docstrings, docstrings, comments, blank)


def of_c(text: str) -> Lines:
    """The lines of a C file. A comment that shares its line with code is code."""
    lines = text.splitlines()
    blank = sum(not line.strip() for line in lines)
    bare = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S).splitlines()
    code = sum(bool(line.strip()) for line in bare)
    return Lines(code, 0, len(lines) - blank - code, blank)


def count(place: Path) -> Lines:
    """The lines of a file, or of a folder with all that is in it."""
    paths = [place] if place.is_file() else sorted(place.rglob("*")) if place.is_dir() else []
    total = Lines()
    for path in paths:
        if path.suffix == ".py":
            total = total.plus(of_python(path.read_text(encoding="utf-8")))
        elif path.suffix in (".c", ".h"):
            total = total.plus(of_c(path.read_text(encoding="utf-8")))
    return total


def table(root: Path) -> dict[str, Lines]:
    """The lines of each room, and of the folders of those that have rooms of their own."""
    found: dict[str, Lines] = {}
    for room in ROOMS:
        found[room] = count(root / room)
        folders = [one for one in sorted((root / room).glob("*")) if one.is_dir() and one.name[0] not in "._"]
        for folder in folders if room in INNER else ():
            found[f"{room}/{folder.name}"] = count(folder)
    return found


def at(commit: str) -> dict[str, Lines]:
    """The table of a commit."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return table(Path(folder))


def main(commits: list[str]) -> None:
    """Print the table as Markdown."""
    if not commits:
        print("| room | lines | code | docstrings | comments | blank |\n|---|--:|--:|--:|--:|--:|")
        for room, lines in table(ROOT).items():
            print(f"| {room} | {sum(lines):,} | " + " | ".join(f"{one:,}" for one in lines) + " |")
        return
    tables = [at(commit) for commit in commits]
    print(f"| room | {' | '.join(commits)} |\n|---|{'--:|' * len(commits)}")
    for room in dict.fromkeys(room for one in tables for room in one):
        print(f"| {room} | " + " | ".join(f"{sum(one.get(room, ())):,}" for one in tables) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
