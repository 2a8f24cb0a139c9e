# SPDX-License-Identifier: GPL-3.0-or-later
"""No two files need each other, directly or through others: those of the extension, the scripts, the kernel."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from build_zip import ROOT
from rooms import RIG, SOLVERS

import solvers

pytestmark = pytest.mark.newest

MOST_FILES = 20
"""In a folder: with more it is a list."""
EXTENSION = ("__init__.py", "live.py", "operators", "properties", "rig", "solvers", "ui")


def circle(needs: Mapping[str, set[str]]) -> set[str]:
    """Names that need each other in a ring, with those that need them; empty where there is no ring."""
    left = {name: others & needs.keys() for name, others in needs.items()}
    while ready := {name for name, others in left.items() if not others}:
        left = {name: others - ready for name, others in left.items() if name not in ready}
    return set(left)


def sources(*places: str) -> list[Path]:
    """The Python files of folders and files of the project."""
    paths = [ROOT / place for place in places]
    return sorted(file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path]))


@cache
def parsed(path: Path) -> ast.Module:
    """A Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(path: Path, root: Path) -> list[tuple[str, str]]:
    """What a file imports by `from ... import`: the module, by its dotted name below `root`, and each name."""
    package = path.relative_to(root).parent.parts
    found: list[tuple[str, str]] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level] if node.level else ())
            base = ".".join(part for part in (base, node.module) if part)
            found += [(base, alias.name) for alias in node.names]
    return found


def imports(path: Path, modules: Mapping[str, Path], root: Path) -> set[str]:
    """The modules, by dotted name below `root`, that a file imports anywhere in it, for types as well."""
    tree = parsed(path)
    wanted = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for base, name in imported_names(path, root):
        inside = ".".join(part for part in (base, name) if part)
        wanted.add(inside if inside in modules else base)
    return wanted & modules.keys()


def python_needs(root: Path, *places: str) -> dict[str, set[str]]:
    """Which modules below `root` import which."""
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
        for path in sources(*places)
    }
    return {name: imports(path, modules, root) - {name} for name, path in modules.items()}


def kernel_needs() -> dict[str, set[str]]:
    """Which C files of the kernel call functions of which."""
    paths = sorted((ROOT / "kernel" / "src").rglob("*.c"))
    texts = {path.name: re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S) for path in paths}
    definition = re.compile(r"^(?!static|typedef)[\w ]+[ *](\w+)\([^;{]*\)\s*\{", re.M)
    owner = {name: file for file, text in texts.items() for name in definition.findall(text)}
    call = re.compile(r"(?<![\w.>])(\w+)\s*\(")
    calls = {file: set(call.findall(text)) & owner.keys() for file, text in texts.items()}
    return {file: {owner[name] for name in names} - {file} for file, names in calls.items()}


def test_a_circle_is_found() -> None:
    """Among three names, of which one is outside it."""
    assert circle({"a": {"b"}, "b": {"a"}, "c": set()}) == {"a", "b"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


def test_no_files_of_the_extension_import_each_other() -> None:
    """Not even inside functions, or for types alone."""
    needs = python_needs(ROOT, *EXTENSION)
    assert needs["solvers.group.plan"] >= {"solvers.group.stage", "solvers.model.goals", "solvers.space.arc"}
    assert circle(needs) == set()


def test_solvers_are_imported_when_they_are_asked_for() -> None:
    """Most sessions of Blender solve nothing, and each enables the extension; of papers only the one that is named."""
    program = """
import sys, solvers as ik
def loaded(room=""): return sorted(name for name in sys.modules if name.startswith(f"solvers.{room}"))
assert not loaded(), loaded()
ik.solve
assert loaded("api") and not loaded("papers."), loaded()
ik.prepare(ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0))]), [], "svd")
assert loaded("papers.") == ["solvers.papers.svd"], loaded()
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def room_of(module: str, rooms: Sequence[str]) -> str:
    """The room of a module, by its dotted name below the folder of all rooms."""
    return max((room for room in rooms if module == room or module.startswith(f"{room}.")), key=len)


@pytest.mark.parametrize(("folder", "rooms"), [("solvers", SOLVERS), ("rig", RIG)])
def test_rooms_import_from_those_below(folder: str, rooms: Sequence[str]) -> None:
    """Never from one above; in the solvers, nor from the entry points."""
    needs = python_needs(ROOT / folder, folder)
    inner = {name: others for name, others in needs.items() if name and ("." in name or folder == "rig")}
    upward = [
        f"{name} imports {other}"
        for name, others in inner.items() for other in others
        if other and rooms.index(room_of(name, rooms)) < rooms.index(room_of(other, rooms))
    ]  # fmt: skip
    assert {room_of(name, rooms) for name in inner} == set(rooms)
    assert upward == []


def test_no_folder_is_a_list() -> None:
    """Of the extension's, and of the tests'."""
    folders = {path.parent for place in (*EXTENSION, "tests") for path in sources(place)} - {ROOT}
    counts = {str(one.relative_to(ROOT)): len(list(one.glob("*.py"))) for one in folders}
    assert max(counts.values()) > 10
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_the_extension_imports_public_names_of_the_solvers_only() -> None:
    """Those that `solvers` and the packages in it list; so a file inside them may move."""
    public = {"solvers": set(solvers.__all__)}
    for room in SOLVERS:
        listed = getattr(importlib.import_module(f"solvers.{room}"), "__all__", ())
        public[f"solvers.{room}"] = set(listed)
    outside = [(file, *each) for place in EXTENSION if place != "solvers"
               for file in sources(place) for each in imported_names(file, ROOT)]  # fmt: skip
    reached = {name for _, module, name in outside if module == "solvers.algebra"}
    assert "quaternion" in reached
    inner = [f"{file.relative_to(ROOT)}: {module}.{name}" for file, module, name in outside
             if module.partition(".")[0] == "solvers" and name not in public.get(module, ())]  # fmt: skip
    assert inner == []


@pytest.mark.parametrize("folder", ["benchmarks", "benchmarks/parts", "tools"])
def test_no_scripts_import_each_other(folder: str) -> None:
    """Each folder's own files."""
    needs = python_needs(ROOT / folder, folder)
    assert any(needs.values())
    assert circle(needs) == set()


def test_no_files_of_the_kernel_call_each_other() -> None:
    """A stage calls the iteration, and the iteration the step, never back."""
    needs = kernel_needs()
    assert "descent.c" in needs["polish.c"]
    assert circle(needs) == set()


LARGEST, MOST_BRANCHES = 60, 25
"""Lines of a function without its docstring, and its branches."""
LARGER = {
    "solvers/group/settings.py:runs": "a table of the settings of all runs of a stage",
    "solvers/model/goals.py:check_targets": "a list of refusals, each one sentence",
    "rig/figure/bone_names.py:_read": "a list of spellings",
    "rig/keys/users.py:of_bones": "a list of what may use a bone",
    "rig/motion/key_effects.py:_part": "a list of channels",
    "rig/shot/limb_switch.py:switch": "what each of both ways keeps",
    "rig/skeleton/plan.py:plan": "the steps of a plan in their order",
    "operators/body/full_body.py:run": "what a figure may already have, case by case",
    "operators/body/full_body.py:_report": "a list of sentences",
}
"""Functions that are larger, each with the reason."""


def branches(function: ast.FunctionDef) -> int:
    """One, and one more for each way through a function."""
    ways = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert, ast.match_case)
    nodes = list(ast.walk(function))
    return 1 + sum(isinstance(node, ways) for node in nodes) + sum(
        len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp)
    )  # fmt: skip


def test_functions_are_read_at_once() -> None:
    """None has more than some lines (docstrings apart) or branches but with a reason, in `LARGER`."""
    large: set[str] = set()
    for path in [path for place in EXTENSION for path in sources(place)]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                documented = (ast.get_docstring(node, clean=False) or "").count("\n") + 1
                lines = (node.end_lineno or node.lineno) - node.lineno + 1 - documented
                if lines > LARGEST or branches(node) > MOST_BRANCHES:
                    large.add(f"{path.relative_to(ROOT).as_posix()}:{node.name}")
    more = large - LARGER.keys()
    assert not more, f"more than {LARGEST} lines or {MOST_BRANCHES} branches: take a part out"


@pytest.mark.parametrize("places", [("solvers",), tuple(place for place in EXTENSION if place != "solvers")])
def test_a_class_has_a_name_of_its_own(places: Sequence[str]) -> None:
    """In the solvers, and around Blender."""
    names = [
        node.name for path in sources(*places) for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    ]  # fmt: skip
    assert len(names) > 40
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
