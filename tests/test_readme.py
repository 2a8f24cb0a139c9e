# SPDX-License-Identifier: GPL-3.0-or-later
"""What README and docs say is so: examples run as they stand and print what is said, names, links and pictures exist.

Each example runs in a process of its own, in an empty folder: with the extension's zip in `dist/`, as `make zip` leaves
it, and a Blender profile of its own. So does the start of `make demo`.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import build_zip
import pytest
from PIL import Image, ImageSequence

README = (build_zip.ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*build_zip.ROOT.glob("*.md"), *(build_zip.ROOT / "docs").glob("*.md")])
SCRIPTS = (build_zip.ROOT / "docs" / "scripting.md").read_text(encoding="utf-8")
LOOPS = build_zip.ROOT / "docs" / "images" / "gallery"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Blender 4.2's bpy package crashes while it exits if an add-on's property has an update function.
HAS_BLENDER = importlib.util.find_spec("bpy") is not None  # without it, `make test` gets it
QUIT = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"


class Example(NamedTuple):
    code: str
    printed: str  # what the page says it prints, if it does


def examples() -> list[Example]:
    """The blocks of the page on scripts that need Blender, each with the text block that follows it.

    `tests/solvers/kernel/test_examples.py` runs the others.
    """
    blocks = [*BLOCK.findall(SCRIPTS), ("", "")]
    return [
        Example(text, after if following == "text" else "")
        for (language, text), (following, after) in pairwise(blocks)
        if language == "python" and "import bpy" in text
    ]


def run(example: Example, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example as a script whose folder is `folder`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_USER_")}
    environment["PYTHONPATH"] = str(build_zip.ROOT)
    environment["PWD"] = str(folder)  # Blender asks this, not the system, where it is
    build_zip.build(folder / "dist")
    (folder / "profile").mkdir()
    environment["BLENDER_USER_RESOURCES"] = str(folder / "profile")
    script = folder / "example.py"
    script.write_text(example.code + QUIT, encoding="utf-8")
    return subprocess.run(
        [sys.executable, script.name], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_there_is_an_example_for_blender() -> None:
    assert examples()


@pytest.mark.parametrize("example", examples() if HAS_BLENDER else [])
def test_an_example_runs_and_prints_what_it_says(example: Example, tmp_path: Path) -> None:
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


def test_the_readme_fits_on_a_screen_or_two() -> None:
    """At most 700 words, with a moving picture before the first heading, and no names of solvers."""
    assert len(README.split()) <= 700
    assert ".webp)" in README.split("\n## ")[0]
    assert not re.search(r"Levenberg|Gauss|Jacobian|\bDLS\b|\bPGS\b|\bCCD\b|%", README)


@pytest.mark.parametrize("page", ["README.md", "docs/first-steps.md"])
def test_buttons_that_are_named_are_in_the_interface(page: str) -> None:
    """What is bold in steps is a button or a box, or opens a step: that ends with a full stop."""
    text = (build_zip.ROOT / page).read_text(encoding="utf-8")
    section = text.split("## Four steps to a pose")[-1].split("\n## ")[0]
    names = re.findall(r"\*\*(.+?)\*\*", re.sub(r"\s+", " ", section))
    names = [name for name in names if name.endswith("...") or not name.endswith(".")]
    assert names
    folders = (build_zip.ROOT / folder for folder in ("ui", "operators", "properties"))
    files = [path for folder in folders for path in folder.rglob("*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    missing = [name for name in names if f'"{name}"' not in source]
    assert not missing


def test_panels_are_where_pages_say() -> None:
    """In "the panel *Limits*, in *Body*" the second is a panel above the first."""
    classes: dict[str, tuple[str, str]] = {}  # of the tab: the label, and the class or panel above
    for path in (build_zip.ROOT / "ui" / "tab").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        for name, base, body in re.findall(r"(?ms)^class (\w+)\((\w+).*?:\n(.*?)(?=^class |\Z)", source):
            label, parent = (re.search(rf'{key} = "(.+?)"', body) for key in ("bl_label", "bl_parent_id"))
            classes[name] = (label[1] if label else "", parent[1] if parent else base)
    above = {}
    for name, (label, _) in classes.items():
        names = [name]
        while names[-1] in classes:
            names.append(classes[names[-1]][1])
        above[label] = {classes[one][0] for one in names[1:] if one in classes}
    assert above["Comparison"] >= {"Solver", "Rig"}
    wrong = []
    for page in PAGES:
        text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
        for label, parent in re.findall(r"panel \*([A-Z][A-Za-z ]*)\*(?:, in \*([A-Z][a-z]+)\*)?", text):
            if label not in (*above, "Cache") or (parent and parent not in above[label]):  # Cache is one of Blender's
                wrong.append(f"{page.name}: {label}, in {parent}")
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_and_pages_that_are_linked_to_exist(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def test_moving_pictures_are_small_and_of_this_version() -> None:
    """Each is a WebP of six seconds and less than 1.5 MB, and was made from the version of the manifest."""
    made = json.loads((LOOPS / "made.json").read_text(encoding="utf-8"))
    pictures = sorted(LOOPS.glob("*.webp"))
    assert {path.stem for path in pictures} == made.keys()
    assert set(made.values()) == {build_zip.manifest()["version"]}
    for path in pictures:
        assert path.stat().st_size < 1.5e6
        with Image.open(path) as picture:
            still = [image.copy().info["duration"] for image in ImageSequence.Iterator(picture)]
        assert len(still) > 24
        assert 5500 < sum(still) < 6500


def test_shortcuts_are_those_of_the_keymap() -> None:
    """The page of words lists the keys of all shortcuts but the mouse's."""
    words = (build_zip.ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("## Shortcuts")[1]
    keys = re.findall(r'"([A-Z])"[,)]', (build_zip.ROOT / "ui" / "keymap.py").read_text(encoding="utf-8"))
    listed = {key for row in re.findall(r"^\| ([A-Z, ]+) \|", words, re.MULTILINE) for key in row.split(", ")}
    assert listed == set(keys)
