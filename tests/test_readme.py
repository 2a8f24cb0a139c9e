# SPDX-License-Identifier: GPL-3.0-or-later
"""What the README says is so: its examples run as they stand and print what it says, its names and links exist.

Each example runs in a process of its own, in an empty folder: with the extension's zip in `dist/`, as `make zip` leaves
it, and a Blender profile of its own where it needs Blender. So does the start of `make demo`.
"""

import importlib.util
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import build_zip
import pytest

README = (build_zip.ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function.
HAS_BLENDER = importlib.util.find_spec("bpy") is not None  # without it, `make test` gets it
QUIT = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"


class Example(NamedTuple):
    code: str
    printed: str  # what the README says it prints, if it does

    @property
    def needs_blender(self) -> bool:
        return "import bpy" in self.code


def examples() -> list[Example]:
    """The README's Python blocks, each with the text block that follows it."""
    blocks = [*BLOCK.findall(README), ("", "")]
    return [
        Example(text, after if following == "text" else "")
        for (language, text), (following, after) in pairwise(blocks)
        if language == "python"
    ]


def run(example: Example, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example as a script whose folder is `folder`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_USER_")}
    environment["PYTHONPATH"] = str(build_zip.ROOT)
    environment["PWD"] = str(folder)  # Blender asks this, not the system, where it is
    code = example.code
    if example.needs_blender:
        build_zip.build(folder / "dist")
        (folder / "profile").mkdir()
        environment["BLENDER_USER_RESOURCES"] = str(folder / "profile")
        code += QUIT
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    return subprocess.run(
        [sys.executable, script.name], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_readme_has_an_example_for_blender_and_one_without() -> None:
    assert {example.needs_blender for example in examples()} == {True, False}


@pytest.mark.parametrize(
    "example",
    [example for example in examples() if HAS_BLENDER or not example.needs_blender],
    ids=lambda example: "bpy" if example.needs_blender else "solvers",
)
def test_a_readme_example_runs_and_prints_what_it_says(example: Example, tmp_path: Path) -> None:
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    printed = done.stdout.splitlines()
    for line in example.printed.splitlines():
        assert line in printed


@pytest.mark.parametrize("frames", ["12"] if HAS_BLENDER else [])
def test_the_demonstration_runs(frames: str, tmp_path: Path) -> None:
    """Its own checks included: bake equals live, and the saved file solves when it is opened."""
    script = str(build_zip.ROOT / "examples" / "demo.py")
    words = ["--zip", str(build_zip.build(tmp_path)), "--out", str(tmp_path / "out"), "--frames", frames]
    done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"dqik_demo.blend", "poses.png", "profile"}


def test_the_readme_names_the_version_of_the_manifest() -> None:
    assert set(re.findall(r"dqik-([\d.]+)\.zip", README)) == {build_zip.manifest()["version"]}


def test_buttons_that_the_readme_names_are_in_the_interface() -> None:
    """What is bold in the first five minutes is a button or a box, or opens a step: that ends with a full stop."""
    section = README.split("## The first five minutes")[1].split("\n## ")[0]
    names = re.findall(r"\*\*(.+?)\*\*", re.sub(r"\s+", " ", section))
    names = [name for name in names if name.endswith("...") or not name.endswith(".")]
    assert names
    folders = (build_zip.ROOT / folder for folder in ("ui", "operators", "properties"))
    files = [path for folder in folders for path in folder.glob("*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    missing = [name for name in names if f'"{name}"' not in source]
    assert not missing


def test_pictures_and_pages_that_the_readme_links_to_exist() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    missing = [target for target in targets if not (build_zip.ROOT / target).is_file()]
    assert not missing
